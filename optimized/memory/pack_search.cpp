#include "optimized/memory/pack_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace graphgate::optimized {

namespace {

// 32 bits: the loops over sections are the hot ones, and twice as many numbers fit into a register.
using Unit = std::int32_t;
constexpr Unit kNoUnit = std::numeric_limits<Unit>::max();
constexpr std::int64_t kMaxCapacity = std::int64_t{1} << 30;

struct Box {
  std::int32_t first = 0;  // sections [first, last)
  std::int32_t last = 0;
  Unit size = 0;
};

// What the branches above say about an unplaced box.
struct Belief {
  Unit rest = 0;        // where it lies when put down now
  Unit lowest = 0;      // it begins here or higher, in every packing left
  bool on_top = false;  // something unplaced lies under it
};

class Search {
 public:
  Search(const PackPart& part, std::int64_t capacity, const SearchOrder& order, std::int64_t& work)
      : capacity_(static_cast<Unit>(capacity)), urgent_first_(order.urgent_first), work_(work) {
    const auto sections = static_cast<std::size_t>(part.section_count);
    load_.assign(sections, 0);
    lowest_begin_.assign(sections, 0);
    second_begin_.assign(sections, 0);
    lowest_top_.assign(sections, 0);
    for (const PackBox& box : part.boxes) {
      boxes_.push_back(Box{box.first, box.last, static_cast<Unit>(box.size)});
      add_load(boxes_.back(), static_cast<Unit>(box.size));
    }
    beliefs_.resize(boxes_.size());
    offsets_.assign(boxes_.size(), 0);
    rank_boxes(part, order.ties);
  }

  SearchEnd run() {
    std::vector<std::uint32_t> all(boxes_.size());
    std::iota(all.begin(), all.end(), 0U);
    if (solve(std::move(all))) return SearchEnd::kFound;
    return work_ < 0 ? SearchEnd::kBudget : SearchEnd::kExhausted;
  }

  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  using Group = std::vector<std::uint32_t>;  // unplaced boxes, in the order of `first`

  void add_load(const Box& box, Unit size) {
    for (std::int32_t s = box.first; s < box.last; ++s) load_[static_cast<std::size_t>(s)] += size;
  }

  void rank_boxes(const PackPart& part, SearchTies ties) {
    std::vector<std::array<double, 3>> keys;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const auto duration = static_cast<double>(part.boxes[i].duration);
      const double area = duration * static_cast<double>(boxes_[i].size);
      const auto load = static_cast<double>(
          *std::max_element(load_.begin() + boxes_[i].first, load_.begin() + boxes_[i].last));
      switch (ties) {
        case SearchTies::kAreaLoadDuration:
          keys.push_back({area, load, duration});
          break;
        case SearchTies::kLoadDurationArea:
          keys.push_back({load, duration, area});
          break;
        case SearchTies::kDurationAreaLoad:
          keys.push_back({duration, area, load});
          break;
      }
    }
    std::vector<std::uint32_t> by_rank(boxes_.size());
    std::iota(by_rank.begin(), by_rank.end(), 0U);
    std::stable_sort(by_rank.begin(), by_rank.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
    rank_.resize(boxes_.size());
    for (std::uint32_t i = 0; i < by_rank.size(); ++i) rank_[by_rank[i]] = i;
  }

  // The lowest begin and the lowest top of the group's boxes, by section.
  void sweep(const Group& group) {
    const std::int32_t begin = boxes_[group.front()].first;
    std::int32_t end = begin;
    for (const std::uint32_t i : group) {
      const Box& box = boxes_[i];
      const Unit lowest = beliefs_[i].lowest;
      const Unit top = lowest + box.size;
      if (box.last > end) {
        std::fill(lowest_begin_.begin() + end, lowest_begin_.begin() + box.last, kNoUnit);
        std::fill(second_begin_.begin() + end, second_begin_.begin() + box.last, kNoUnit);
        std::fill(lowest_top_.begin() + end, lowest_top_.begin() + box.last, kNoUnit);
        end = box.last;
      }
      Unit* const begins = lowest_begin_.data();
      Unit* const seconds = second_begin_.data();
      Unit* const tops = lowest_top_.data();
      for (std::int32_t s = box.first; s < box.last; ++s) {
        seconds[s] = std::min(seconds[s], std::max(begins[s], lowest));
        begins[s] = std::min(begins[s], lowest);
        tops[s] = std::min(tops[s], top);
      }
      work_ -= 4 + (box.last - box.first) / 4;
    }
    span_begin_ = begin;
    span_end_ = end;
  }

  // Raises boxes that something lies under above the lowest such top, until nothing changes. False
  // when a section, or a box, has no room left.
  bool propagate(const Group& group) {
    for (bool changed = true; changed;) {
      changed = false;
      sweep(group);
      for (std::int32_t s = span_begin_; s < span_end_; ++s) {
        const auto at = static_cast<std::size_t>(s);
        if (lowest_begin_[at] > capacity_ - load_[at]) return false;
      }
      for (const std::uint32_t i : group) {
        Belief& belief = beliefs_[i];
        if (!belief.on_top) continue;
        const Box& box = boxes_[i];
        const Unit top =
            *std::min_element(lowest_top_.begin() + box.first, lowest_top_.begin() + box.last);
        work_ -= (box.last - box.first) / 4;
        if (top <= belief.lowest) continue;
        if (top > capacity_ - box.size) return false;
        belief.lowest = top;
        changed = true;
      }
    }
    return true;
  }

  // A box that can be put down now, or nothing: then the boxes rest on each other in a circle.
  std::optional<std::uint32_t> choose(const Group& group) const {
    std::optional<std::uint32_t> best;
    for (const std::uint32_t i : group) {
      const Belief& belief = beliefs_[i];
      if (belief.on_top || belief.lowest > belief.rest) continue;
      if (urgent_first_ && is_urgent(i)) return i;
      if (!best || belief.rest < beliefs_[*best].rest ||
          (belief.rest == beliefs_[*best].rest && rank_[i] < rank_[*best])) {
        best = i;
      }
    }
    return best;
  }

  // Whether a section has no room left if it does not begin with this box.
  [[nodiscard]] bool is_urgent(std::uint32_t i) const {
    const Unit lowest = beliefs_[i].lowest;
    bool urgent = false;
    for (std::int32_t s = boxes_[i].first; s < boxes_[i].last; ++s) {
      const auto at = static_cast<std::size_t>(s);
      urgent |= lowest_begin_[at] == lowest && second_begin_[at] > capacity_ - load_[at];
    }
    return urgent;
  }

  // Puts `placed` down: everything else of the group that meets it lies above. False when something
  // no longer fits.
  bool put_down(std::uint32_t placed, const Group& group) {
    const Box& box = boxes_[placed];
    const Unit top = beliefs_[placed].rest + box.size;
    offsets_[placed] = beliefs_[placed].rest;
    for (const std::uint32_t i : group) {
      if (boxes_[i].first >= box.last) break;
      if (boxes_[i].last <= box.first || i == placed) continue;
      Belief& belief = beliefs_[i];
      belief.on_top = false;
      belief.rest = std::max(belief.rest, top);
      belief.lowest = std::max(belief.lowest, belief.rest);
      if (belief.lowest > capacity_ - boxes_[i].size) return false;
    }
    return true;
  }

  // The group without `placed`, cut where no box crosses from one section to the next.
  std::vector<Group> split(const Group& group, std::uint32_t placed) const {
    std::vector<Group> groups;
    std::int32_t end = -1;
    for (const std::uint32_t i : group) {
      if (i == placed) continue;
      if (boxes_[i].first >= end) groups.emplace_back();
      groups.back().push_back(i);
      end = std::max(end, boxes_[i].last);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.size() < b.size(); });
    return groups;
  }

  bool solve_rest(std::uint32_t placed, const Group& group) {
    if (!put_down(placed, group)) return false;
    for (Group& part : split(group, placed)) {
      if (!solve(std::move(part))) return false;
    }
    return true;
  }

  // Finds offsets for the group under the present beliefs. When it returns false the beliefs about
  // the group are not restored: the caller, who has a copy, does.
  bool solve(Group group) {
    std::vector<Belief> saved(group.size());
    while (work_ >= 0 && propagate(group)) {
      const auto chosen = choose(group);
      if (!chosen) return false;
      for (std::size_t k = 0; k < group.size(); ++k) saved[k] = beliefs_[group[k]];
      work_ -= static_cast<std::int64_t>(group.size());
      add_load(boxes_[*chosen], -boxes_[*chosen].size);
      if (solve_rest(*chosen, group)) return true;
      add_load(boxes_[*chosen], boxes_[*chosen].size);
      for (std::size_t k = 0; k < group.size(); ++k) beliefs_[group[k]] = saved[k];
      beliefs_[*chosen].on_top = true;
    }
    return false;
  }

  Unit capacity_;
  bool urgent_first_;
  std::int64_t& work_;
  std::vector<Box> boxes_;
  std::vector<std::uint32_t> rank_;
  std::vector<Belief> beliefs_;
  std::vector<std::int64_t> offsets_;
  std::vector<Unit> load_;  // by section: sizes of unplaced boxes
  std::vector<Unit> lowest_begin_;
  std::vector<Unit> second_begin_;  // as if the lowest box were not there
  std::vector<Unit> lowest_top_;
  std::int32_t span_begin_ = 0;
  std::int32_t span_end_ = 0;
};

}  // namespace

bool can_search(const PackPart& part, std::int64_t capacity) {
  return part.bound <= capacity && capacity < kMaxCapacity;
}

SearchResult search(const PackPart& part, std::int64_t capacity, const SearchOrder& order,
                    std::int64_t& work) {
  GRAPHGATE_CHECK(can_search(part, capacity));
  Search run(part, capacity, order, work);
  const SearchEnd end = run.run();
  if (end != SearchEnd::kFound) return {end, {}};
  return {end, run.offsets()};
}

}  // namespace graphgate::optimized
