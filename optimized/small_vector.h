// A list of plain values that seldom has more than a few elements: those lie in the object itself,
// and only a longer list takes memory of its own.
//
// Sizes and strides of tensors are such lists, and there are many of them: one in four allocations
// of the planner was one. Abseil's, which also comes from and goes to vectors by itself: what lists
// are outside of the executor.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <vector>

namespace graphgate::optimized {

template <class T, std::size_t kInside>
class SmallVector : public absl::InlinedVector<T, kInside> {
  using Base = absl::InlinedVector<T, kInside>;

 public:
  using Base::Base;
  SmallVector() = default;
  SmallVector(const std::vector<T>& list) : Base(list.begin(), list.end()) {}  // NOLINT
  operator std::vector<T>() const { return {this->begin(), this->end()}; }     // NOLINT

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return static_cast<const Base&>(a) == static_cast<const Base&>(b);
  }
};

}  // namespace graphgate::optimized
