// Adding up what several indices send to one element: scatter_add, index_add, index_put,
// bincount...
//
// Elements that nothing reaches keep their bytes and marks. The order of contributions is open, as
// on parallel executors: sums go through Sum<N>. Some of PyTorch's kernels keep float32 sums for
// 16-bit dtypes, others round every partial sum to the dtype: the caller says which, from
// aten/src/ATen/native/cpu (ScatterGatherKernel.cpp has float32 buffers, IndexKernel.cpp adds in
// place). An executor that declares so (Arithmetic::adds_in_dtype) may do either.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/call.h"
#include "reference/movement.h"
#include "reference/number/partial_roundings.h"
#include "reference/number/product.h"
#include "reference/number/sum.h"
#include "reference/ops/index_access.h"

namespace graphgate::reference {

enum class Combining : std::uint8_t { kSum, kProduct, kMean, kLargest, kSmallest };

// PyTorch's names: sum or add, prod or multiply, mean, amax, amin. Throws OpError.
[[nodiscard]] Combining reduction_of(std::string_view name);

// Where partial results round: once at the end, or each to the tensor's own dtype.
enum class Partials : std::uint8_t { kWide, kOwnDtype };

struct Accumulation {
  Combining reduction = Combining::kSum;
  Partials partials = Partials::kWide;
  bool include_self = true;  // the element's own value contributes too
};

namespace detail {

// The value that `dtype` holds for an integer: low bits, sign-extended; bool tells zero.
[[nodiscard]] Whole wrapped(Whole x, spec::DType dtype);

inline Whole rounded_to(Whole x, spec::DType dtype) { return wrapped(x, dtype); }
template <class N>
N rounded_to(const N& x, spec::DType dtype) {
  return round_edge(x, dtype);
}

// One element and what was sent to it.
template <class N>
class Slot {
 public:
  void add(const N& x, const Accumulation& how, spec::DType dtype) {
    const bool first = count_++ == 0;
    switch (how.reduction) {
      case Combining::kSum:
      case Combining::kMean:
        sum_.add(x);
        if constexpr (requires { x.radius; }) {
          roundings_.add(x.value, x.radius);
          has_tiny_ = has_tiny_ || (x.value != 0 && std::fabs(x.value) < 0x1p-100L);
        }
        break;
      case Combining::kProduct:
        if (first) product_.emplace(is_own(how) ? dtype : compute_dtype(dtype));
        product_->include(x);
        break;
      case Combining::kLargest:
        folded_ = first ? x : maximum(folded_, x);
        break;
      case Combining::kSmallest:
        folded_ = first ? x : minimum(folded_, x);
        break;
    }
  }

  [[nodiscard]] N result(const Accumulation& how, spec::DType dtype) const {
    if (how.reduction == Combining::kSum) return total(how, dtype);
    if (how.reduction == Combining::kProduct) return product_ ? product_->result() : N(0);
    if (how.reduction != Combining::kMean) return folded_;
    const N sum = rounded_to(total(how, dtype), dtype);
    if constexpr (std::is_same_v<N, Whole>) {
      return floored_quotient(sum, wrapped(Whole(count_), dtype));
    } else {
      // The count is a tensor of the same dtype.
      return sum / cast(N(static_cast<double>(count_)), dtype);
    }
  }

 private:
  static bool is_own(const Accumulation& how) {
    return how.partials == Partials::kOwnDtype || declared_arithmetic().adds_in_dtype;
  }

  [[nodiscard]] N total(const Accumulation& how, spec::DType dtype) const {
    N sum = sum_.result();
    if constexpr (requires { sum.radius; }) {
      // CUDA's atomic additions of float32 take what is subnormal for zero, and give zero for it.
      if (has_tiny_ && dtype == spec::DType::kFloat32 && declared_arithmetic().has_cuda_kernels) {
        sum.radius = std::max(sum.radius, 0x1p-126 * roundings_.count());
      }
      if (!is_own(how) || compute_dtype(dtype) == dtype) return sum;
      using P = typename N::PolicyType;
      const double each = P::of_rounding(roundings_.largest(dtype));
      const double steps = roundings_.count();
      const double all = P::kDecisionRadii == 1 ? each * steps : each * std::sqrt(steps);
      sum.radius = P::combine(sum.radius, each == 0 ? 0 : all);
    }
    return sum;
  }

  Sum<N> sum_;
  PartialRoundings roundings_;
  std::optional<Product<N>> product_;
  N folded_;
  std::int64_t count_ = 0;
  bool has_tiny_ = false;
};

}  // namespace detail

// Sends terms[i] to element picked[i] of `target`, whose dtype the terms have. Undecided picks are
// the caller's business.
template <class N>
void accumulate(Tensor& target, const std::vector<Picked>& picked, const std::vector<N>& terms,
                const Accumulation& how) {
  const Array<N> before = load<N>(target, target.dtype);
  std::vector<std::int64_t> slot_of(static_cast<std::size_t>(target.count()), -1);
  std::vector<detail::Slot<N>> slots;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    std::int64_t& slot = slot_of[static_cast<std::size_t>(picked[i].position)];
    if (slot < 0) {
      slot = static_cast<std::int64_t>(slots.size());
      slots.emplace_back();
      if (how.include_self) slots.back().add(before[picked[i].position], how, target.dtype);
    }
    slots[static_cast<std::size_t>(slot)].add(terms[i], how, target.dtype);
  }
  Array<N> results({static_cast<std::int64_t>(slots.size())});
  for (std::size_t i = 0; i < slots.size(); ++i) {
    results.data[i] = slots[i].result(how, target.dtype);
  }
  const TensorRef made = new_tensor(target.dtype, results.sizes, target.device);
  store(*made, results);
  move_elements(target, *made, slot_of);
}

// The same with the elements of a tensor as terms: term i is the source's element
// source_positions[i], in row-major order.
void accumulate(Mode mode, Tensor& target, const std::vector<Picked>& picked, const Tensor& source,
                const std::vector<std::int64_t>& source_positions, const Accumulation& how);

}  // namespace graphgate::reference
