// Loops over the elements of tensors, for kernels.
//
// Loop walks several tensors of one shape together: dimensions are sorted by the first tensor's
// strides and merged where every tensor allows, and the innermost run is handed out as pointers and
// byte strides. Kernels convert tiles of elements to a compute type, apply a function, round once
// and store.
//
// The compute type of a dtype: double for float64, float for every narrower float, int64 for
// integers and bool. An integer result is stored modulo its width.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "optimized/arithmetic/float_format.h"
#include "optimized/arithmetic/tile.h"
#include "optimized/kernel.h"

namespace graphgate::optimized {

inline constexpr int kTile = 256;  // elements converted at a time

class Loop {
 public:
  // All tensors are broadcast to the sizes of the first.
  explicit Loop(std::span<const Tensor* const> tensors);

  [[nodiscard]] std::int64_t count() const { return count_; }

  // Calls visit(std::byte* const* firsts, const std::int64_t* strides_bytes, std::int64_t n) for
  // every innermost run: element i of tensor t is at firsts[t] + i * strides_bytes[t].
  template <class Visit>
  void for_each_run(Visit&& visit) const;

 private:
  std::int64_t count_ = 0;
  std::vector<std::byte*> bases_;
  Sizes sizes_;                 // merged, outermost first; at least one
  std::vector<Sizes> strides_;  // per dimension, per tensor, in bytes
};

// The compute type of a dtype, as a template argument: with_compute(dtype, [&]<class C>() {...}).
template <class F>
auto with_compute(spec::DType dtype, F&& f) {
  if (dtype == spec::DType::kFloat64) return f.template operator()<double>();
  if (spec::is_floating_point(dtype)) return f.template operator()<float>();
  return f.template operator()<std::int64_t>();
}
// The same for ops that have no integer form (dtype is floating).
template <class F>
auto with_real(spec::DType dtype, F&& f) {
  if (dtype == spec::DType::kFloat64) return f.template operator()<double>();
  return f.template operator()<float>();
}

// A number argument in the arithmetic of C: int64, or rounded to float or double.
template <class C>
[[nodiscard]] C number_as(const Item& item);

// Stores what a function gave: bool and int64 results as integers, others as they are; in
// `rounds_to` first, where the result's own dtype is another (in-place and out= forms).
template <class R>
void store_rounded(spec::DType rounds_to, const R* values, int n, const Tensor& result,
                   std::byte* first, std::int64_t stride_bytes);

// Converts `source` (broadcast) into `target`, as copy_ does: from any dtype to any dtype.
[[nodiscard]] Launch copy_launch(const DeviceListener* listener, const Tensor& target,
                                 const Tensor& source);
void copy_now(const Tensor& target, const Tensor& source);

}  // namespace graphgate::optimized

#include "optimized/loop_inl.h"
