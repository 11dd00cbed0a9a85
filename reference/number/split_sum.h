// SplitSum: what a sum of 16-bit products may lose where it is computed in parts that are rounded
// to the dtype (split-K), as an executor may declare (Arithmetic::splits). Used by products of
// matrices, beside Sum<N>, which has what float32 accumulators lose.
//
// cuBLASLt (cublasLt.h, cublasLtReductionScheme_t) has two schemes with such parts. OUTPUT_TYPE
// stores each part's sum in the dtype of the result and adds them in a separate step. INPLACE adds
// one part after the other in the buffer of the result, and in its dtype. So of S parts each
// product passes through S - 1 roundings at most before the result's own: by Higham, ch. 4, what is
// lost is at most ((1 + u)^(S - 1) - 1) times the sum of magnitudes.
//
// How many parts there are cuBLASLt does not limit (CUBLASLT_ALGO_CONFIG_SPLITK_NUM; 792 were asked
// for on an H200, for 2 products as for 64). A part is assumed to be one step of a matrix unit at
// least: 8 products, the least depth that units have for 16-bit operands (PTX ISA 9.0, mma.m16n8k8)
// and the least seen (docs/bounds.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reference/number/partial_roundings.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

inline constexpr std::int64_t kLeastPart = 8;  // products

template <class P>
class SplitSum {
 public:
  using Number = Tracked<P>;

  // `addend` is what the products are added to, 0 where there is none.
  SplitSum(spec::DType dtype, const Number& addend) : dtype_(dtype) {
    roundings_.add(addend.value, addend.radius);
    total_ = addend.value;
    squares_ = addend.value * addend.value;
  }

  void add_product(const Number& a, const Number& b) {
    const long double term = a.value * b.value;
    if (count_ > 0 && count_ % kLeastPart == 0) close_part();
    roundings_.add(term, detail::product_radius(a, b));
    total_ += term;
    squares_ += term * term;
    part_ += term;
    part_squares_ += term * term;
    ++count_;
  }

  // What the parts' roundings add to the radius of the sum; infinite where one may overflow.
  [[nodiscard]] double radius() const {
    const auto most_parts = (count_ + kLeastPart - 1) / kLeastPart;
    const auto parts = static_cast<double>(most_parts);
    const double largest = roundings_.largest(dtype_);
    if (parts < 2 || largest == 0 || std::isinf(largest)) return parts < 2 ? 0 : largest;
    const double unit = unit_roundoff(dtype_) * (1 + 0x1p-8);
    const auto magnitudes = static_cast<double>(roundings_.magnitudes());
    const double growth = std::expm1((parts - 1) * std::log1p(unit));
    const double tiny = parts * half_ulp(0, dtype_);
    const double most = growth * magnitudes + tiny * (1 + growth);
    if (magnitudes + most > max_finite(dtype_)) return detail::kInfinity;
    if constexpr (P::kDecisionRadii == 1) return most;
    const auto paths = static_cast<double>(std::sqrt(std::max(path_, parts_path_ + last_part())));
    return std::min(most, P::of_rounding(unit * paths + tiny / std::sqrt(parts)));
  }

 private:
  // The sum so far, and this part's, are numbers that may be rounded: their squares, or those that
  // sums of as many terms of either sign have.
  void close_part() {
    path_ += std::max(total_ * total_, squares_);
    parts_path_ += last_part();
    part_ = part_squares_ = 0;
  }
  [[nodiscard]] long double last_part() const { return std::max(part_ * part_, part_squares_); }

  spec::DType dtype_;
  PartialRoundings roundings_;
  std::int64_t count_ = 0;
  long double total_ = 0;
  long double squares_ = 0;
  long double part_ = 0;
  long double part_squares_ = 0;
  long double path_ = 0;        // of INPLACE: squares of the sums after each part but the last
  long double parts_path_ = 0;  // of OUTPUT_TYPE: squares of the parts but the last
};

// `sum`, which is of a[i * a_step] * b[i * b_step] over `count` elements and of `addend`, where
// products of tensors of `dtype` may be summed in parts.
inline double allow_split(double sum, double /*addend*/, const double* /*a*/, const double* /*b*/,
                          std::int64_t /*count*/, spec::DType, std::int64_t /*b_step*/ = 1) {
  return sum;
}
inline Whole allow_split(Whole sum, Whole /*addend*/, const Whole* /*a*/, const Whole* /*b*/,
                         std::int64_t /*count*/, spec::DType, std::int64_t /*b_step*/ = 1) {
  return sum;
}
template <class P>
[[nodiscard]] Tracked<P> allow_split(const Tracked<P>& sum, const Tracked<P>& addend,
                                     const Tracked<P>* a, const Tracked<P>* b, std::int64_t count,
                                     spec::DType dtype, std::int64_t b_step = 1) {
  if (count <= kLeastPart || !declared_arithmetic().splits(dtype)) return sum;
  if (!std::isfinite(sum.value)) return sum;
  SplitSum<P> parts(dtype, addend);
  for (std::int64_t i = 0; i < count; ++i) parts.add_product(a[i], b[i * b_step]);
  return {sum.value, P::combine(sum.radius, parts.radius()), sum.arithmetic};
}

}  // namespace graphgate::reference
