#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "optimized/memory/pack_fit.h"

namespace graphgate::optimized {

namespace {

// Free address space, by offset and by size; the highest hole has no end.
class FreeHoles {
 public:
  FreeHoles() { add(0, std::numeric_limits<std::int64_t>::max()); }

  std::optional<std::int64_t> take(std::int64_t size) {
    const auto tightest = by_size_.lower_bound({size, 0});
    if (tightest == by_size_.end()) return std::nullopt;
    const auto [hole, offset] = *tightest;
    remove(offset, hole);
    if (hole > size) add(offset + size, hole - size);
    return offset;
  }

  void give(std::int64_t offset, std::int64_t size) {
    auto above = by_offset_.lower_bound(offset);
    if (above != by_offset_.end() && above->first == offset + size) {
      const auto [above_offset, above_size] = *above;
      size += above_size;
      remove(above_offset, above_size);
      above = by_offset_.lower_bound(offset);
    }
    if (above != by_offset_.begin()) {
      const auto [below_offset, below_size] = *std::prev(above);
      if (below_offset + below_size == offset) {
        remove(below_offset, below_size);
        offset = below_offset;
        size += below_size;
      }
    }
    add(offset, size);
  }

 private:
  void add(std::int64_t offset, std::int64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void remove(std::int64_t offset, std::int64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<std::int64_t, std::int64_t> by_offset_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
};

// The boxes in the order in which time brings them, and in the order in which it takes them away.
struct Course {
  std::vector<std::uint32_t> births;
  std::vector<std::uint32_t> deaths;
};

Course course_of(const PackPart& part, TimeDirection direction) {
  Course course;
  course.births.resize(part.boxes.size());
  std::iota(course.births.begin(), course.births.end(), 0U);
  course.deaths = course.births;
  const auto sort_by_end = [&](std::vector<std::uint32_t>& boxes, bool backward) {
    std::ranges::stable_sort(boxes, [&](std::uint32_t a, std::uint32_t b) {
      const std::int32_t end_a = part.boxes[a].last;
      const std::int32_t end_b = part.boxes[b].last;
      return backward ? end_a > end_b : end_a < end_b;
    });
  };
  if (direction == TimeDirection::kForward) {
    sort_by_end(course.deaths, false);
  } else {
    sort_by_end(course.births, true);
    std::ranges::reverse(course.deaths);
  }
  return course;
}

}  // namespace

std::optional<PartPacking> fit_online(const PackPart& part, TimeDirection direction) {
  const bool forward = direction == TimeDirection::kForward;
  PartPacking result{std::vector<std::int64_t>(part.boxes.size()), 0,
                     forward ? "online best fit" : "online best fit, backwards"};
  const Course course = course_of(part, direction);
  FreeHoles holes;
  auto dead = course.deaths.begin();
  for (const std::uint32_t i : course.births) {
    const PackBox& box = part.boxes[i];
    const auto is_over = [&](const PackBox& other) {
      return forward ? other.last <= box.first : other.first >= box.last;
    };
    for (; is_over(part.boxes[*dead]); ++dead) {
      holes.give(result.offsets[*dead], part.boxes[*dead].size);
    }
    const auto offset = holes.take(box.size);
    if (!offset) return std::nullopt;
    result.offsets[i] = *offset;
    result.peak = std::max(result.peak, *offset + box.size);
  }
  return result;
}

}  // namespace graphgate::optimized
