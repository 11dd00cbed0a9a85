#include "optimized/memory/pack_parts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace graphgate::optimized {

namespace {

Error beyond_64_bits() { return bad_input("the sizes of the items add up to more than 63 bits"); }

// Walks births in order, and deaths in order up to each birth, and cuts sections and parts.
class PartCutter {
 public:
  PartCutter(std::vector<PackBox> boxes, std::span<const PackItem> items)
      : boxes_(std::move(boxes)), items_(items), deaths_(boxes_.size()) {
    std::ranges::sort(boxes_, [&](const PackBox& a, const PackBox& b) {
      const std::int64_t lower_a = items_[a.item].lower;
      const std::int64_t lower_b = items_[b.item].lower;
      return lower_a != lower_b ? lower_a < lower_b : a.item < b.item;
    });
    std::iota(deaths_.begin(), deaths_.end(), std::size_t{0});
    std::ranges::sort(deaths_, [&](std::size_t a, std::size_t b) {
      const std::int64_t upper_a = items_[boxes_[a].item].upper;
      const std::int64_t upper_b = items_[boxes_[b].item].upper;
      return upper_a != upper_b ? upper_a < upper_b : a < b;
    });
  }

  Result<PackParts> cut() {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      if (bury_until(items_[boxes_[i].item].lower)) {
        ++section_;
        if (live_count_ == 0) end_part(i);
      }
      boxes_[i].first = section_;
      if (boxes_[i].size > kPackMax - live_) return beyond_64_bits();
      live_ += boxes_[i].size;
      ++live_count_;
      part_.bound = std::max(part_.bound, live_);
      part_.live_max = std::max(part_.live_max, live_count_);
    }
    bury_until(kPackMax);
    ++section_;
    end_part(boxes_.size());
    for (const PackPart& part : result_.parts) {
      result_.bound = std::max(result_.bound, part.bound);
    }
    return std::move(result_);
  }

 private:
  // Whether anything died.
  bool bury_until(std::int64_t step) {
    const std::size_t before = buried_;
    for (; buried_ < deaths_.size(); ++buried_) {
      PackBox& box = boxes_[deaths_[buried_]];
      if (items_[box.item].upper > step) break;
      box.last = section_ + 1;
      live_ -= box.size;
      --live_count_;
    }
    return buried_ > before;
  }

  // Boxes [begin_, end) are a part.
  void end_part(std::size_t end) {
    if (end > begin_) {
      part_.boxes.assign(boxes_.begin() + static_cast<std::ptrdiff_t>(begin_),
                         boxes_.begin() + static_cast<std::ptrdiff_t>(end));
      part_.section_count = section_;
      result_.parts.push_back(std::move(part_));
    }
    part_ = PackPart{};
    begin_ = end;
    section_ = 0;
  }

  std::vector<PackBox> boxes_;
  std::span<const PackItem> items_;
  std::vector<std::size_t> deaths_;
  std::size_t buried_ = 0;
  std::size_t begin_ = 0;
  std::int32_t section_ = 0;
  std::int64_t live_ = 0;
  std::int32_t live_count_ = 0;
  PackPart part_;
  PackParts result_;
};

}  // namespace

Result<std::int64_t> rounded_size_bytes(const PackItem& item, std::size_t index,
                                        std::int64_t alignment_bytes) {
  GRAPHGATE_CHECK(alignment_bytes > 0);
  const auto refuse = [&](const char* expected) {
    return bad_input("item " + std::to_string(index) + ": expected " + expected);
  };
  if (item.lower >= item.upper) return refuse("a lifetime of some steps");
  if (item.size_bytes < 0) return refuse("a size that is not negative");
  const std::int64_t over = item.size_bytes % alignment_bytes;
  if (over == 0) return item.size_bytes;
  const std::int64_t pad = alignment_bytes - over;
  if (item.size_bytes > kPackMax - pad) return beyond_64_bits();
  return item.size_bytes + pad;
}

Result<PackParts> make_parts(std::span<const PackItem> items, std::int64_t alignment_bytes) {
  std::vector<PackBox> boxes;
  boxes.reserve(items.size());
  std::int64_t unit = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    GRAPHGATE_TRY(const std::int64_t size, rounded_size_bytes(items[i], i, alignment_bytes));
    if (size == 0) continue;
    unit = std::gcd(unit, size);
    // A lifetime may be longer than 63 bits: only comparisons are made with its length.
    const std::int64_t duration = items[i].lower < 0 && items[i].upper > kPackMax + items[i].lower
                                      ? kPackMax
                                      : items[i].upper - items[i].lower;
    boxes.push_back(PackBox{0, 0, size, duration, i});
  }
  unit = std::max<std::int64_t>(unit, 1);
  // Checked in bytes, then kept in units.
  GRAPHGATE_TRY(PackParts result, PartCutter(std::move(boxes), items).cut());
  result.unit_bytes = unit;
  result.bound /= unit;
  for (PackPart& part : result.parts) {
    part.bound /= unit;
    for (PackBox& box : part.boxes) box.size /= unit;
  }
  return result;
}

}  // namespace graphgate::optimized
