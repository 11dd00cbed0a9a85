// Pointwise works as one kernel: what they read and make in between stays in registers.
//
//   PointwiseGroup group(first);
//   while (group.takes(next)) group.add(next);
//   TextWork kernel = group.text([&](std::size_t work) { return is_read_later(work); });
//
// A work joins when its result has the group's sizes (but for dimensions of size 1), and when every
// thread can go on with what it has. Then an operand that the group makes is read at the very
// places where it is made, and no thread reads or writes a byte that another one writes.
//
// A copy of what the group makes is a copy of the maker's numbers, whose dtype it takes; what reads
// a copy of bytes from memory reads those bytes where they came from.
//
// Elements that a group makes may go into cells as well, whatever the sizes of what is written
// there: a thread finds the places of its own elements in it.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "optimized/codegen/group_text.h"

namespace graphgate::optimized {

class PointwiseGroup {
 public:
  explicit PointwiseGroup(const PointwiseWork& first);

  [[nodiscard]] bool takes(const PointwiseWork& work) const;
  void add(const PointwiseWork& work);
  // The group makes all elements of the source, and nobody touches the cells. No work joins then.
  [[nodiscard]] bool takes(const CellsWrite& cells) const;
  void add(std::shared_ptr<const CellsWrite> cells) { cells_.push_back(std::move(cells)); }
  [[nodiscard]] std::size_t size() const { return works_.size(); }
  // What it consists of, at its sizes.
  [[nodiscard]] const std::vector<PointwiseWork>& works() const { return works_; }
  [[nodiscard]] const CellsWrites& cells() const { return cells_; }
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
  CellsWrites cells_;
};

// A group's works that depend on each other, and which ones of the group these are.
struct GroupComponent {
  PointwiseGroup group;
  std::vector<std::size_t> works;
};
[[nodiscard]] std::vector<GroupComponent> components_of(const PointwiseGroup& group);

// One work alone.
[[nodiscard]] TextWork pointwise_text(const PointwiseWork& work);

}  // namespace graphgate::optimized
