// Pointwise works as one kernel: what they read and make in between stays in registers.
//
//   PointwiseGroup group(first);
//   while (group.takes(next)) group.add(next);
//   TextWork kernel = group.text([&](std::size_t work) { return is_read_later(work); });
//
// A work joins when its result has the group's sizes (but for dimensions of size 1), and when every
// thread can go on with what it has: an operand that the group makes is read at the very places
// where it is made, and no thread reads or writes a byte that another one writes.
//
// A copy of what the group makes is a copy of the maker's numbers, whose dtype it takes; what reads
// a copy of bytes from memory reads those bytes where they came from.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "optimized/device/work.h"

namespace graphgate::optimized {

class PointwiseGroup {
 public:
  explicit PointwiseGroup(const PointwiseWork& first);

  [[nodiscard]] bool takes(const PointwiseWork& work) const;
  void add(const PointwiseWork& work);
  [[nodiscard]] std::size_t size() const { return works_.size(); }
  // What it consists of, at its sizes.
  [[nodiscard]] const std::vector<PointwiseWork>& works() const { return works_; }
  // Whether a work that it takes reads what it makes.
  [[nodiscard]] bool feeds(const PointwiseWork& work) const;
  // `is_stored(i)`: whether the result of the i-th work has to be in memory afterwards.
  [[nodiscard]] TextWork text(const std::function<bool(std::size_t)>& is_stored) const;

 private:
  [[nodiscard]] const PointwiseWork* last_at(const Tensor& tensor) const;
  [[nodiscard]] const PointwiseWork* maker_of(const Tensor& tensor) const;
  [[nodiscard]] bool may_write(const Tensor& tensor) const;
  [[nodiscard]] PointwiseWork fitted(const PointwiseWork& work) const;

  std::vector<PointwiseWork> works_;
};

// What stands behind a kernel that makes tensors [rows, columns], and has their elements at hand.
struct PointwiseEpilogue {
  // A callable: function.operator()<count>(row, column, given) takes `count` neighbouring elements
  // of each tensor, const float (&given)[tensors][count]; it puts them into memory, rounded, and
  // then what the works make of them. `count` is at most `width` and divides `column`.
  std::string function;
  std::int64_t width = 1;            // 1, 2 or 4, and divides the columns
  std::vector<std::byte*> pointers;  // p0, p1...
  std::vector<DeviceAccess> accesses;
  std::string what;
};
// `given`: of one 16-bit dtype, columns next to each other, no byte in two of them. `behind`: what
// follows, or null; nothing where it does not go on with what the kernel has.
[[nodiscard]] std::optional<PointwiseEpilogue> epilogue_of(
    std::span<const Tensor> given, const PointwiseGroup* behind,
    const std::function<bool(std::size_t)>& is_stored);

// One work alone.
[[nodiscard]] TextWork pointwise_text(const PointwiseWork& work);

}  // namespace graphgate::optimized
