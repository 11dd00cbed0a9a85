// Product<N>: the accumulator of prod and cumprod, as Sum<N> is of sums.
//
// Eager: long double, rounded once by whoever stores the result. Oracle: the value and the error of
// *any* order of multiplication that rounds every partial product to `accumulator`. PyTorch's CPU
// kernel of prod multiplies 16-bit dtypes in the dtype itself; cumprod and CUDA do in float32. A
// product of k factors that are no powers of two takes k - 1 roundings whatever the order: gamma_k
// (Higham, 2nd ed., section 3.1). When the odd parts of all factors fit one significand together,
// nothing rounds and the radius stays 0. Where some order can overflow or underflow though the
// whole product does neither, the radius says so.
#pragma once

#include <cmath>

#include "reference/number/functions.h"

namespace graphgate::reference {

template <class N>
class Product;

template <>
class Product<double> {
 public:
  explicit Product(spec::DType) {}
  void include(double x) { total_ *= static_cast<long double>(x); }
  [[nodiscard]] double result() const { return static_cast<double>(total_); }

 private:
  long double total_ = 1;
};

template <>
class Product<Whole> {
 public:
  explicit Product(spec::DType) {}
  void include(Whole x) { total_ = total_ * x; }
  [[nodiscard]] Whole result() const { return total_; }

 private:
  Whole total_ = 1;
};

template <class P>
class Product<Tracked<P>> {
 public:
  using Number = Tracked<P>;
  // `accumulator` is the floating dtype that every partial product rounds to.
  explicit Product(spec::DType accumulator) : accumulator_(accumulator) {}

  void include(const Number& x) {
    if (x.value == repeated_) {
      run_ = multiplied(run_, x, true);
    } else {
      total_ = multiplied(total_, run_, false);
      run_ = x;
      repeated_ = x.value;
    }
    const long double size = std::fabs(x.value);
    (size > 1 ? above_one_ : below_one_) *= size == 0 ? 1 : size;
    const long double odd = odd_part(size);
    odd_parts_ *= odd;
    if (odd != 1) ++roundings_;
  }

  [[nodiscard]] Number result() const {
    const Number total = multiplied(total_, run_, false);
    if (!std::isfinite(above_one_) || std::isnan(total.value)) return overflowed(total);
    const auto most = static_cast<long double>(max_finite(accumulator_));
    if (above_one_ > most) return overflowed(total);
    const double radius = P::combine(total.radius, is_exact() ? 0 : rounding_radius(total));
    return detail::or_flushed<P>({total.value, radius, total.arithmetic});
  }

 private:
  // The product before rounding. Equal factors that follow each other, as when one number fills a
  // tensor, come from one number and have one error: `is_one`, and theirs add up.
  static Number multiplied(const Number& a, const Number& b, bool is_one) {
    double radius = detail::product_radius(a, b);
    if (is_one) {
      radius =
          std::max(radius, detail::scaled(b.value, a.radius) + detail::scaled(a.value, b.radius));
    }
    return {a.value * b.value, radius, detail::wider<P>(a.arithmetic, b.arithmetic)};
  }
  // The significand of a finite x without its trailing zeros: 1 for powers of two and zero.
  static long double odd_part(long double x) {
    if (x == 0 || !std::isfinite(x)) return 1;
    int exponent = 0;
    const auto bits = static_cast<std::uint64_t>(std::ldexp(std::frexp(x, &exponent), 64));
    return bits == 0 ? 1 : static_cast<long double>(bits >> __builtin_ctzll(bits));
  }
  // Half of the least subnormal: what one underflowing product may lose.
  [[nodiscard]] double tiny() const { return half_ulp(0, accumulator_); }
  [[nodiscard]] double unit() const { return unit_roundoff(accumulator_); }

  [[nodiscard]] bool may_underflow() const {
    return below_one_ * static_cast<long double>(unit()) < static_cast<long double>(tiny());
  }
  [[nodiscard]] bool is_exact() const {
    return odd_parts_ * static_cast<long double>(unit()) <= 1 && !may_underflow();
  }
  [[nodiscard]] double rounding_radius(const Number& total) const {
    const double size = static_cast<double>(std::fabs(total.value)) + total.radius;
    const double k = roundings_ > 1 ? roundings_ - 1 : 0;
    const double lost = may_underflow() ? (k + 1) * tiny() * static_cast<double>(above_one_) : 0;
    if constexpr (P::kDecisionRadii != 1)
      return P::of_rounding(std::sqrt(k) * unit() * size + lost);
    const double n = k * unit();
    return n < 1 ? n / (1 - n) * size + lost : detail::kInfinity;
  }
  // Some order passes the largest number: certain only when nothing can bring it back.
  [[nodiscard]] Number overflowed(const Number& total) const {
    const auto most = static_cast<long double>(max_finite(accumulator_));
    const bool certain = !(std::fabs(total.value) <= most) && !may_underflow();
    const bool is_moved = total.radius > 0 && std::isfinite(total.value);
    const bool is_plain = certain && !is_moved && !std::isinf(total.radius);
    const bool passes = std::isfinite(total.value) && is_plain;
    const long double value =
        passes ? std::copysign(static_cast<long double>(detail::kInfinity), total.value)
               : total.value;
    return {value, is_plain ? 0 : detail::kInfinity, total.arithmetic};
  }

  spec::DType accumulator_;
  Number total_ = Number(1.0);  // of the factors before the run
  Number run_ = Number(1.0);    // of the equal factors at the end
  long double repeated_ = 1;    // one of these
  long double above_one_ = 1;   // product of the magnitudes above 1: the largest partial product
  long double below_one_ = 1;   // of those below 1, zeros left out: the smallest
  long double odd_parts_ = 1;
  double roundings_ = 0;
};

}  // namespace graphgate::reference
