// Sum<N>: the accumulator of every reduction and dot product in the reference.
//
// Eager: long double, so that float32 and narrower data is summed nearly exactly. Oracle: the value
// and the error of *any* order of summation in the declared arithmetic, with or without fused
// multiply-adds (Higham, ch. 4: gamma_n times the sum of magnitudes for the worst case). When every
// term is a multiple of one quantum and the magnitudes sum to fewer quanta than the significand
// holds, no order rounds at all, and the radius stays 0. Sums of products may be declared to be
// less than IEEE (arithmetic.h): then operands lose bits, and terms are cut off where they are
// added.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "reference/number/arithmetic.h"
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

// Roundings of a running total that are one number each time. The total is a multiple of its own
// spacing. So what a term loses when it is added depends on the term and the total's binade alone:
// the losses of equal terms add up, and do not cancel.
class AlikeRoundings {
 public:
  // Returns how much more than `square` comes to the square of the sum of all roundings. The term
  // was added as number `count`, to a total (itself included) where a rounding has this square.
  // Looks for the first few different terms alone, as long as one term in four is one of them.
  long double more_than_square(long double term, long double total, long double square,
                               std::int64_t count) {
    if (term == 0 || count > 16 + 4 * repeats_) return 0;
    const auto end = terms_.begin() + used_;
    const auto known =
        std::find_if(terms_.begin(), end, [&](const Term& other) { return other.value == term; });
    if (known == end) {
      if (used_ < std::ssize(terms_))
        terms_[static_cast<std::size_t>(used_++)] = {term, total, square};
      return 0;
    }
    ++repeats_;
    const long double more =
        std::ilogb(known->total) == std::ilogb(total) ? 2 * std::sqrt(known->square * square) : 0;
    *known = {term, total, more == 0 ? square : known->square + more + square};
    return more;
  }

 private:
  struct Term {
    long double value;
    long double total;   // the last that it was added to
    long double square;  // of the sum of its roundings in the binade of that
  };
  std::array<Term, 4> terms_;  // the first `used_` of them
  std::ptrdiff_t used_ = 0;
  std::int64_t repeats_ = 0;
};

template <class P>
class Sum<Tracked<P>> {
 public:
  using Number = Tracked<P>;

  void add(const Number& x) {
    if (x.radius != 0) widen(x.value, x.radius);
    include(x.value, x.arithmetic, false);
  }
  void add_product(const Number& left, const Number& right) {
    const Number a = as_operand(left);
    const Number b = as_operand(right);
    if (a.radius != 0 || b.radius != 0) widen(a.value * b.value, detail::product_radius(a, b));
    include(a.value * b.value, detail::wider<P>(a.arithmetic, b.arithmetic), true);
  }

  [[nodiscard]] Number result() const {
    const double spread = terms_radius();
    if (arithmetic_ == Number::Arithmetic::kNone || count_ == 0 || !std::isfinite(total_)) {
      // Beside an infinity, finite terms that may overflow to the other one leave the sum open.
      const bool meets = std::isinf(total_) && finite_ > most();
      const bool is_open = std::isfinite(total_) || std::isinf(spread);
      return {total_, meets ? detail::kInfinity : is_open ? spread : 0, arithmetic_};
    }
    const double rounding = is_exact(spread) ? 0 : rounding_radius(spread);
    const double radius = P::combine(spread, rounding);
    // Negative zeros alone: a sum that begins with a term is -0, one that begins with 0 is 0.
    if (are_negative_zeros_ && radius == 0) return {total_, detail::kOpenSign, arithmetic_};
    if (magnitudes_ > most()) {  // some order may overflow
      return detail::rounded<P>(total_, detail::kInfinity, arithmetic_);
    }
    return detail::or_flushed<P>(
        {total_, std::isnan(radius) ? detail::kInfinity : radius, arithmetic_});
  }

 private:
  static constexpr bool kIsWorstCase = P::kDecisionRadii == 1;
  struct None {};

  // A factor with the bits that the declared arithmetic leaves it. What is cut off is less than one
  // unit in the last place left.
  [[nodiscard]] Number as_operand(const Number& x) const {
    if (declared_.operand_bits >= 24 || x.arithmetic == Number::Arithmetic::kFloat64) return x;
    if (!std::isfinite(x.value) || (x.radius == 0 && has_bits(x.value, declared_.operand_bits))) {
      return x;
    }
    const auto reach = static_cast<double>(std::fabs(x.value)) + x.radius;
    const double cut = std::ldexp(reach, 1 - declared_.operand_bits);
    return {x.value, P::combine(x.radius, cut), x.arithmetic};
  }
  // Whether the lowest bit set lies within that many bits from the highest.
  static bool has_bits(long double x, int bits) {
    if (x == 0) return true;
    int exponent = 0;
    std::frexp(x, &exponent);
    return exponent - low_bit(x) <= bits;
  }
  // Whether the sum goes to an accumulator that is declared to be less than IEEE.
  [[nodiscard]] bool is_declared() const {
    return products_ && declared_.truncates && arithmetic_ == Number::Arithmetic::kFloat32;
  }

  // Takes the radius of a term: radii add up, standard deviations add in square. Equal terms that
  // follow each other, as when one number fills a tensor, come from one number and have one error:
  // theirs add up first. Zeros part none of them (a mask of ones and zeros, and what was made of
  // it).
  void widen(long double term, double radius) {
    const auto r = static_cast<long double>(radius);
    if constexpr (kIsWorstCase) {
      radii_ += r;
    } else if (term == 0) {
      zeros_radius_ += r;
    } else if (term == repeated_) {
      repeated_radius_ += r;
    } else {
      radii_ += repeated_radius_ * repeated_radius_;
      repeated_ = term;
      repeated_radius_ = r;
    }
  }
  [[nodiscard]] bool has_radii() const {
    return radii_ != 0 || repeated_radius_ != 0 || zeros_radius_ != 0;
  }
  [[nodiscard]] double terms_radius() const {
    if constexpr (kIsWorstCase) return static_cast<double>(radii_);
    return static_cast<double>(
        std::sqrt(radii_ + repeated_radius_ * repeated_radius_ + zeros_radius_ * zeros_radius_));
  }

  void include(long double x, typename Number::Arithmetic arithmetic, bool product) {
    total_ += x;
    arithmetic_ = detail::wider<P>(arithmetic_, arithmetic);
    ++count_;
    products_ = products_ || product;
    magnitudes_ += std::fabs(x);
    are_negative_zeros_ = are_negative_zeros_ && x == 0 && std::signbit(x);
    if (std::isfinite(x)) finite_ += std::fabs(x);
    if constexpr (!kIsWorstCase) {
      squares_ += x * x;
      const long double square = std::max(total_ * total_, squares_) + (product ? x * x : 0);
      path_ += square + alike_.more_than_square(x, total_, square, count_);
      if (product && declared_.truncates) drift_ += std::sqrt(std::max(total_ * total_, squares_));
    }
    if (may_be_exact_ && x != 0) watch_quantum(x);
  }

  // Keeps the quantum of the terms until they are too many quanta for the significand: more terms
  // cannot mend that.
  void watch_quantum(long double x) {
    may_be_exact_ = std::isfinite(x) && !has_radii();
    if (!may_be_exact_) return;
    quantum_exponent_ = std::min(quantum_exponent_, low_bit(x));
    const bool is_known = arithmetic_ != Number::Arithmetic::kNone;
    may_be_exact_ = !is_known || fits_significand();
  }
  // And that no term is finer than the least subnormal: a product may be.
  [[nodiscard]] bool fits_significand() const {
    const bool is_wide = detail::dtype_of<P>(arithmetic_) == spec::DType::kFloat64;
    const int least = is_wide ? -1073 : -149;  // of 2 * tiny()
    return quantum_exponent_ >= least && scaled(magnitudes_, -quantum_exponent_) * unit() <= 1;
  }

  // x times 2^exponent.
  static long double scaled(long double x, int exponent) {
    if (exponent < -1022 || exponent > 1023) return std::ldexp(x, exponent);
    return x * static_cast<long double>(detail::power_of_two(exponent));
  }
  // The exponent of the lowest set bit of a finite x that is not zero.
  static int low_bit(long double x) {
    if constexpr (std::numeric_limits<long double>::digits == 64) {
      // Behind 64 bits, of which none is hidden, stand 15 of the exponent, and the sign.
      std::array<std::byte, sizeof(long double)> bytes{};
      std::memcpy(bytes.data(), &x, sizeof(x));
      std::uint64_t bits = 0;
      std::uint16_t exponent = 0;
      std::memcpy(&bits, bytes.data(), sizeof(bits));
      std::memcpy(&exponent, bytes.data() + sizeof(bits), sizeof(exponent));
      return std::max(exponent & 0x7fff, 1) - 16446 + __builtin_ctzll(bits);
    }
    int exponent = 0;
    const long double fraction = std::frexp(std::fabs(x), &exponent);
    const auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    return exponent - 64 + (bits == 0 ? 63 : __builtin_ctzll(bits));
  }

  [[nodiscard]] double unit() const {
    const double u = unit_roundoff(detail::dtype_of<P>(arithmetic_));
    const double declared = is_declared() ? std::ldexp(1.0, -declared_.accumulator_bits) : u;
    return std::max(u, declared) * (1 + 0x1p-8);
  }
  [[nodiscard]] bool is_exact(double spread) const {
    if (spread != 0) return false;
    if (magnitudes_ == 0 || (count_ == 1 && !is_declared())) {
      return magnitudes_ == 0 || detail::holds(total_, detail::dtype_of<P>(arithmetic_));
    }
    return may_be_exact_ && fits_significand();
  }
  // Every term and every block's sum, cut off in the accumulator: 2u of the largest magnitude that
  // any order can meet there, which is at most the sum of all. As a standard deviation: cutting
  // leans to one side, so what it loses adds up along the path instead of cancelling.
  [[nodiscard]] double truncation_radius(double spread) const {
    const double blocks = std::ceil(static_cast<double>(count_) / declared_.block);
    // Sums do not underflow, products do: each may lose a least subnormal.
    const double lost = products_ ? 2 * tiny() * static_cast<double>(count_) : 0;
    if constexpr (kIsWorstCase) {
      const double n = 2 * (static_cast<double>(count_) + blocks) * unit();
      const double gamma = n < 1 ? n / (1 - n) : detail::kInfinity;
      return gamma * (static_cast<double>(magnitudes_) + spread) + lost;
    } else {
      return P::combine(2 * unit() * static_cast<double>(drift_), lost);
    }
  }

  [[nodiscard]] double rounding_radius(double spread) const {
    if (is_declared()) return truncation_radius(spread);
    if constexpr (kIsWorstCase) {
      const double n = static_cast<double>(products_ ? count_ : count_ - 1) * unit();
      const double gamma = n < 1 ? n / (1 - n) : detail::kInfinity;
      return gamma * (static_cast<double>(magnitudes_) + spread) +
             static_cast<double>(count_) * tiny();
    } else {
      // Sums do not underflow, products do.
      const double lost = products_ ? tiny() * std::sqrt(static_cast<double>(count_)) : 0;
      return P::combine(P::of_rounding(unit() * static_cast<double>(std::sqrt(path_))),
                        P::of_rounding(lost));
    }
  }
  [[nodiscard]] long double most() const { return max_finite(detail::dtype_of<P>(arithmetic_)); }
  // The most that one rounding of a subnormal loses.
  [[nodiscard]] double tiny() const { return half_ulp(0, detail::dtype_of<P>(arithmetic_)); }

  long double total_ = 0;
  long double magnitudes_ = 0;  // sum of |term|
  long double finite_ = 0;      // of those that are finite
  long double squares_ = 0;     // sum of term^2
  long double path_ = 0;        // what the roundings are relative to: squared partial sums, with
                                // what is more where roundings are alike
  [[no_unique_address]] std::conditional_t<kIsWorstCase, None, AlikeRoundings> alike_;
  long double radii_ = 0;            // of the terms: their sum, or the sum of their squares
  long double zeros_radius_ = 0;     // of the terms that are 0: a sum
  long double repeated_ = 0;         // the last term that is not, and the sum of the radii of those
  long double repeated_radius_ = 0;  // equal to it since another one, which is not in radii_ yet
  std::int64_t count_ = 0;
  int quantum_exponent_ = 1 << 20;
  bool products_ = false;
  bool may_be_exact_ = true;
  bool are_negative_zeros_ = true;  // all terms
  long double drift_ = 0;           // sum of partial sums' sizes: what cutting off is relative to
  Arithmetic declared_ = declared_arithmetic();
  typename Number::Arithmetic arithmetic_ = {};
};

}  // namespace graphgate::reference
