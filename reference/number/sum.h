// Sum<N>: the accumulator of every reduction and dot product in the reference.
//
// Eager: long double, so that float32 and narrower data is summed nearly exactly. Oracle: the value
// and the error of *any* order of summation in the declared arithmetic, with or without fused
// multiply-adds (Higham, ch. 4: gamma_n times the sum of magnitudes for the worst case). When every
// term is a multiple of one quantum and the magnitudes sum to fewer quanta than the significand
// holds, no order rounds at all, and the radius stays 0.
#pragma once

#include <cmath>
#include <cstdint>

#include "reference/number/functions.h"

namespace graphgate::reference {

template <class N>
class Sum;

template <>
class Sum<double> {
 public:
  void add(double x) { total_ += static_cast<long double>(x); }
  void add_product(double a, double b) {
    total_ += static_cast<long double>(a) * static_cast<long double>(b);
  }
  [[nodiscard]] double result() const { return static_cast<double>(total_); }

 private:
  long double total_ = 0;
};

template <>
class Sum<Whole> {
 public:
  void add(Whole x) { total_ = total_ + x; }
  void add_product(Whole a, Whole b) { total_ = total_ + a * b; }
  [[nodiscard]] Whole result() const { return total_; }

 private:
  Whole total_;
};

template <class P>
class Sum<Tracked<P>> {
 public:
  using Number = Tracked<P>;

  void add(const Number& x) {
    if (x.radius != 0) radii_ += weight(x.radius);
    include(x.value, x.arithmetic, false);
  }
  void add_product(const Number& a, const Number& b) {
    if (a.radius != 0 || b.radius != 0) radii_ += product_weight(a, b);
    include(a.value * b.value, detail::wider<P>(a.arithmetic, b.arithmetic), true);
  }

  [[nodiscard]] Number result() const {
    const double spread = terms_radius();
    if (arithmetic_ == Number::Arithmetic::kNone || count_ == 0 || !std::isfinite(total_)) {
      const bool is_open = std::isfinite(total_) || std::isinf(spread);
      return {total_, is_open ? spread : 0, arithmetic_};
    }
    const double rounding = is_exact(spread) ? 0 : rounding_radius(spread);
    const double radius = P::combine(spread, rounding);
    const auto most = static_cast<long double>(max_finite(detail::dtype_of<P>(arithmetic_)));
    if (magnitudes_ > most) {  // some order may overflow
      return detail::rounded<P>(total_, detail::kInfinity, arithmetic_);
    }
    return {total_, std::isnan(radius) ? detail::kInfinity : radius, arithmetic_};
  }

 private:
  static constexpr bool kIsWorstCase = P::kDecisionRadii == 1;

  // What a term's own radius adds to radii_: radii add up, standard deviations add in square.
  static long double weight(double radius) {
    const auto r = static_cast<long double>(radius);
    return kIsWorstCase ? r : r * r;
  }
  static long double product_weight(const Number& a, const Number& b) {
    if constexpr (kIsWorstCase) {
      return weight(detail::product_radius(a, b));
    } else {
      const long double weights = weight(detail::scaled(a.value, b.radius)) +
                                  weight(detail::scaled(b.value, a.radius)) +
                                  weight(a.radius * b.radius);
      return std::isnan(weights) ? weight(detail::kInfinity) : weights;
    }
  }
  [[nodiscard]] double terms_radius() const {
    return static_cast<double>(kIsWorstCase ? radii_ : std::sqrt(radii_));
  }

  void include(long double x, typename Number::Arithmetic arithmetic, bool product) {
    total_ += x;
    arithmetic_ = detail::wider<P>(arithmetic_, arithmetic);
    ++count_;
    products_ = products_ || product;
    magnitudes_ += std::fabs(x);
    if constexpr (!kIsWorstCase) {
      squares_ += x * x;
      path_ += std::max(total_ * total_, squares_) + (product ? x * x : 0);
    }
    if (may_be_exact_ && x != 0) watch_quantum(x);
  }

  // Keeps the quantum of the terms until they are too many quanta for the significand: more terms
  // cannot mend that.
  void watch_quantum(long double x) {
    may_be_exact_ = std::isfinite(x) && radii_ == 0;
    if (!may_be_exact_) return;
    quantum_exponent_ = std::min(quantum_exponent_, low_bit(x));
    const bool is_known = arithmetic_ != Number::Arithmetic::kNone;
    may_be_exact_ = !is_known || fits_significand();
  }
  [[nodiscard]] bool fits_significand() const {
    return std::ldexp(magnitudes_, -quantum_exponent_) * unit() <= 1;
  }

  // The exponent of the lowest set bit of x.
  static int low_bit(long double x) {
    int exponent = 0;
    const long double fraction = std::frexp(std::fabs(x), &exponent);
    const auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    return exponent - 64 + (bits == 0 ? 63 : __builtin_ctzll(bits));
  }

  [[nodiscard]] double unit() const {
    return unit_roundoff(detail::dtype_of<P>(arithmetic_)) * (1 + 0x1p-8);
  }
  [[nodiscard]] bool is_exact(double spread) const {
    if (spread != 0) return false;
    if (magnitudes_ == 0 || count_ == 1) {
      return magnitudes_ == 0 || detail::holds(total_, detail::dtype_of<P>(arithmetic_));
    }
    return may_be_exact_ && fits_significand();
  }
  [[nodiscard]] double rounding_radius(double spread) const {
    if constexpr (kIsWorstCase) {
      const double n = static_cast<double>(products_ ? count_ : count_ - 1) * unit();
      const double gamma = n < 1 ? n / (1 - n) : detail::kInfinity;
      return gamma * (static_cast<double>(magnitudes_) + spread) +
             static_cast<double>(count_) * tiny();
    } else {
      return P::of_rounding(unit() * static_cast<double>(std::sqrt(path_)));
    }
  }
  // The most that one rounding of a subnormal loses.
  [[nodiscard]] double tiny() const { return half_ulp(0, detail::dtype_of<P>(arithmetic_)); }

  long double total_ = 0;
  long double magnitudes_ = 0;  // sum of |term|
  long double squares_ = 0;     // sum of term^2
  long double path_ = 0;        // sum of squared partial sums: what the roundings are relative to
  long double radii_ = 0;       // of the terms: their sum, or the sum of their squares
  std::int64_t count_ = 0;
  int quantum_exponent_ = 1 << 20;
  bool products_ = false;
  bool may_be_exact_ = true;
  typename Number::Arithmetic arithmetic_ = {};
};

}  // namespace graphgate::reference
