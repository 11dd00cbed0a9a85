#include "optimized/memory/pack_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace graphgate::optimized {

namespace {

constexpr std::int64_t kMaxCapacity = std::int64_t{1} << 30;

using Group = std::vector<std::uint32_t>;  // unplaced boxes, in the order of `first`

// The boxes' ranks, 0 first. One multiplication per key: no machine rounds it otherwise.
std::vector<std::uint32_t> ranks(const PackPart& part, const SearchOrder& order,
                                 const std::vector<std::int64_t>& loads) {
  std::uint64_t state = order.seed * 0x9E3779B97F4A7C15U;
  std::vector<std::array<double, 3>> keys;
  for (std::size_t i = 0; i < part.boxes.size(); ++i) {
    const auto duration = static_cast<double>(part.boxes[i].duration);
    const double area = duration * static_cast<double>(part.boxes[i].size);
    const auto load = static_cast<double>(loads[i]);
    if (order.ties == SearchTies::kAreaLoadDuration) keys.push_back({area, load, duration});
    if (order.ties == SearchTies::kLoadDurationArea) keys.push_back({load, duration, area});
    if (order.ties == SearchTies::kDurationAreaLoad) keys.push_back({duration, area, load});
    state = state * 6364136223846793005U + 1442695040888963407U;
    if (order.seed > 0) keys.back()[0] *= static_cast<double>(1024 + (state >> 33) % 342);
  }
  std::vector<std::uint32_t> by_rank(part.boxes.size());
  std::iota(by_rank.begin(), by_rank.end(), 0U);
  std::ranges::stable_sort(by_rank,
                           [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  std::vector<std::uint32_t> result(by_rank.size());
  for (std::uint32_t i = 0; i < by_rank.size(); ++i) result[by_rank[i]] = i;
  return result;
}

// `Unit` is the shortest integer that holds the capacity: the loops over sections are the hot ones,
// and a register holds twice as many short numbers. Loops run over whole registers; `outside_`
// turns the lanes beyond a box's last section into kNoUnit.
template <class Unit>
class Search {
 public:
  Search(const PackPart& part, std::int64_t capacity, const SearchOrder& order, std::int64_t& work,
         const PackStop* stop)
      : capacity_(static_cast<Unit>(capacity)),
        pick_(order.pick),
        work_(work),
        stop_(stop),
        next_look_(work) {
    const std::size_t sections = static_cast<std::size_t>(part.section_count) + kLanes;
    room_.assign(sections, capacity_);
    lowest_begin_.assign(sections, 0);
    lowest_top_.assign(sections, 0);
    candidates_.assign(sections, 0);
    for (const PackBox& box : part.boxes) {
      boxes_.push_back({box.first, box.last, static_cast<Unit>(box.size)});
      add_room(boxes_.back(), -boxes_.back().size);
    }
    for (std::size_t lanes = 0; lanes < outside_.size(); ++lanes) {
      for (std::size_t k = lanes; k < kLanes; ++k) outside_[lanes][k] = kNoUnit;
    }
    beliefs_.resize(boxes_.size());
    offsets_.assign(boxes_.size(), 0);
    std::vector<std::int64_t> loads;
    loads.reserve(boxes_.size());
    for (const Box& box : boxes_) {
      loads.push_back(capacity_ -
                      *std::min_element(room_.begin() + box.first, room_.begin() + box.last));
    }
    rank_ = ranks(part, order, loads);
  }

  SearchResult run() {
    Group all(boxes_.size());
    std::iota(all.begin(), all.end(), 0U);
    if (solve(all)) return {SearchEnd::kFound, std::move(offsets_)};
    return {work_ < 0 ? SearchEnd::kBudget : SearchEnd::kExhausted, {}};
  }

 private:
  static constexpr Unit kNoUnit = std::numeric_limits<Unit>::max();
  static constexpr std::int64_t kLookEvery = 1'000'000;  // some milliseconds
  static constexpr std::int32_t kLanes = 16 / sizeof(Unit);
  using Lanes = std::array<Unit, kLanes>;

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

  [[nodiscard]] bool may_go_on() {
    if (work_ < next_look_ && stop_ != nullptr) {
      next_look_ = work_ - kLookEvery;
      if (stop_->is_over()) work_ = -1;
    }
    return work_ >= 0;
  }

  void add_room(const Box& box, std::int32_t size) {
    for (std::int32_t s = box.first; s < box.last; ++s) {
      room_[at(s)] = static_cast<Unit>(room_[at(s)] + size);
    }
  }
  static std::size_t at(std::int32_t section) { return static_cast<std::size_t>(section); }
  void pay_for(const Box& box) { work_ -= 2 + (box.last - box.first) / kLanes; }

  // The lowest begin and the lowest top of the group's boxes, by section.
  void sweep(const Group& group) {
    span_begin_ = boxes_[group.front()].first;
    span_end_ = span_begin_;
    for (const std::uint32_t i : group) span_end_ = std::max(span_end_, boxes_[i].last);
    std::fill(lowest_begin_.begin() + span_begin_, lowest_begin_.begin() + span_end_, kNoUnit);
    std::fill(lowest_top_.begin() + span_begin_, lowest_top_.begin() + span_end_, kNoUnit);
    for (const std::uint32_t i : group) {
      const Box& box = boxes_[i];
      const Unit lowest = beliefs_[i].lowest;
      const Unit top = static_cast<Unit>(lowest + box.size);
      Unit* begins = lowest_begin_.data() + box.first;
      Unit* tops = lowest_top_.data() + box.first;
      std::int32_t left = box.last - box.first;
      for (; left >= kLanes; left -= kLanes, begins += kLanes, tops += kLanes) {
        for (std::int32_t k = 0; k < kLanes; ++k) begins[k] = std::min(begins[k], lowest);
        for (std::int32_t k = 0; k < kLanes; ++k) tops[k] = std::min(tops[k], top);
      }
      const Unit* outside = outside_[at(left)].data();
      for (std::int32_t k = 0; k < kLanes; ++k) {
        begins[k] = std::min(begins[k], static_cast<Unit>(lowest | outside[k]));
        tops[k] = std::min(tops[k], static_cast<Unit>(top | outside[k]));
      }
      pay_for(box);
    }
  }

  // The lowest top among unplaced boxes that meet this one.
  Unit lowest_top_under(const Box& box) {
    Lanes least;
    least.fill(kNoUnit);
    const Unit* tops = lowest_top_.data() + box.first;
    std::int32_t left = box.last - box.first;
    for (; left >= kLanes; left -= kLanes, tops += kLanes) {
      for (std::int32_t k = 0; k < kLanes; ++k) least[at(k)] = std::min(least[at(k)], tops[k]);
    }
    const Lanes& outside = outside_[at(left)];
    for (std::int32_t k = 0; k < kLanes; ++k) {
      least[at(k)] = std::min(least[at(k)], static_cast<Unit>(tops[k] | outside[at(k)]));
    }
    pay_for(box);
    return *std::ranges::min_element(least);
  }

  [[nodiscard]] bool every_section_has_room() const {
    bool room = true;
    for (std::int32_t s = span_begin_; s < span_end_; ++s) {
      room &= lowest_begin_[at(s)] <= room_[at(s)];
    }
    return room;
  }

  // Raises boxes that something lies under above the lowest such top, until nothing changes. False
  // when a section, or a box, has no room left.
  bool propagate(const Group& group) {
    for (bool changed = true; changed;) {
      changed = false;
      sweep(group);
      if (!every_section_has_room()) return false;
      for (const std::uint32_t i : group) {
        Belief& belief = beliefs_[i];
        if (!belief.on_top) continue;
        const Unit top = lowest_top_under(boxes_[i]);
        if (top <= belief.lowest) continue;
        if (top > capacity_ - boxes_[i].size) return false;
        belief.lowest = top;
        changed = true;
      }
    }
    return true;
  }

  // How many boxes can begin each section, that is, lie lowest in it.
  void count_candidates(const Group& group) {
    std::fill(candidates_.begin() + span_begin_, candidates_.begin() + span_end_, Unit{0});
    for (const std::uint32_t i : group) {
      const Unit lowest = beliefs_[i].lowest;
      Unit* candidates = candidates_.data();
      for (std::int32_t s = boxes_[i].first; s < boxes_[i].last; ++s) {
        candidates[s] = static_cast<Unit>(candidates[s] + (lowest <= room_[at(s)] ? 1 : 0));
      }
      pay_for(boxes_[i]);
    }
  }

  // The fewest candidates of a section that this box can begin.
  [[nodiscard]] Unit scarcity(std::uint32_t i) const {
    const Unit lowest = beliefs_[i].lowest;
    Unit fewest = kNoUnit;
    for (std::int32_t s = boxes_[i].first; s < boxes_[i].last; ++s) {
      fewest = std::min(fewest, lowest <= room_[at(s)] ? candidates_[at(s)] : kNoUnit);
    }
    return fewest;
  }

  // A box that can be put down now, or nothing: then the boxes rest on each other in a circle.
  std::optional<std::uint32_t> choose(const Group& group) {
    count_candidates(group);
    std::optional<std::uint32_t> best;
    Unit best_scarcity = 0;
    for (const std::uint32_t i : group) {
      const Belief& belief = beliefs_[i];
      if (belief.on_top || belief.lowest > belief.rest) continue;
      Unit scarce = scarcity(i);
      if (pick_ == SearchPick::kUrgent && scarce == 1) return i;
      if (pick_ == SearchPick::kUrgent) scarce = 0;
      if (!best || scarce < best_scarcity || (scarce == best_scarcity && is_lower(i, *best))) {
        best = i;
        best_scarcity = scarce;
      }
    }
    return best;
  }
  [[nodiscard]] bool is_lower(std::uint32_t a, std::uint32_t b) const {
    if (beliefs_[a].rest != beliefs_[b].rest) return beliefs_[a].rest < beliefs_[b].rest;
    return rank_[a] < rank_[b];
  }

  // Puts `placed` down: everything else of the group that meets it lies above. False when something
  // no longer fits.
  bool put_down(std::uint32_t placed, const Group& group) {
    const Box& box = boxes_[placed];
    const Unit top = static_cast<Unit>(beliefs_[placed].rest + box.size);
    offsets_[placed] = beliefs_[placed].rest;
    for (const std::uint32_t i : group) {
      if (boxes_[i].first >= box.last) break;
      if (boxes_[i].last <= box.first || i == placed) continue;
      Belief& belief = beliefs_[i];
      // A box of the same lifetime, put down next, would only have changed places with this one.
      const bool is_twin = boxes_[i].first == box.first && boxes_[i].last == box.last;
      belief.on_top = belief.on_top && is_twin;
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
      if (boxes_[i].first >= end) groups.emplace_back().reserve(group.size());
      groups.back().push_back(i);
      end = std::max(end, boxes_[i].last);
    }
    std::ranges::stable_sort(groups,
                             [](const Group& a, const Group& b) { return a.size() < b.size(); });
    return groups;
  }

  bool solve_rest(std::uint32_t placed, const Group& group) {
    if (!put_down(placed, group)) return false;
    const std::vector<Group> groups = split(group, placed);
    return std::ranges::all_of(groups, [&](const Group& g) { return solve(g); });
  }

  // Finds offsets for the group under the present beliefs. When it returns false the beliefs about
  // the group are not restored: the caller, who has a copy, does.
  bool solve(const Group& group) {
    std::vector<Belief> saved(group.size());
    while (may_go_on() && propagate(group)) {
      const auto chosen = choose(group);
      if (!chosen) return false;
      for (std::size_t k = 0; k < group.size(); ++k) saved[k] = beliefs_[group[k]];
      work_ -= static_cast<std::int64_t>(group.size()) + 50;
      add_room(boxes_[*chosen], boxes_[*chosen].size);
      if (solve_rest(*chosen, group)) return true;
      add_room(boxes_[*chosen], -boxes_[*chosen].size);
      for (std::size_t k = 0; k < group.size(); ++k) beliefs_[group[k]] = saved[k];
      beliefs_[*chosen].on_top = true;
    }
    return false;
  }

  Unit capacity_;
  SearchPick pick_;
  std::int64_t& work_;
  const PackStop* stop_;
  std::int64_t next_look_;  // the work left at which `stop_` is asked next
  std::vector<Box> boxes_;
  std::vector<std::uint32_t> rank_;
  std::vector<Belief> beliefs_;
  std::vector<std::int64_t> offsets_;
  std::vector<Unit> room_;  // by section: the capacity less the sizes of unplaced boxes
  std::vector<Unit> lowest_begin_;
  std::vector<Unit> lowest_top_;
  std::vector<Unit> candidates_;
  std::array<Lanes, kLanes> outside_{};  // by lanes inside: 0 for these, kNoUnit for the others
  std::int32_t span_begin_ = 0;
  std::int32_t span_end_ = 0;
};

}  // namespace

bool can_search(const PackPart& part, std::int64_t capacity) {
  return part.bound <= capacity && capacity < kMaxCapacity;
}

SearchResult search(const PackPart& part, std::int64_t capacity, const SearchOrder& order,
                    std::int64_t& work, const PackStop* stop) {
  GRAPHGATE_CHECK(can_search(part, capacity));
  constexpr std::int64_t kShortMax = std::numeric_limits<std::int16_t>::max();
  const bool is_short =
      capacity < kShortMax && part.boxes.size() < static_cast<std::size_t>(kShortMax);
  if (is_short) return Search<std::int16_t>(part, capacity, order, work, stop).run();
  return Search<std::int32_t>(part, capacity, order, work, stop).run();
}

}  // namespace graphgate::optimized
