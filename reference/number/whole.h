// Whole: the number that op bodies see for integer and boolean dtypes.
//
// Arithmetic is on 64 bits and wraps; storing into a narrower dtype keeps the low bits, as PyTorch
// does. `undecided` marks a number that depended on a tie of inexact numbers in an oracle run (the
// index of a maximum, the outcome of a comparison): whatever is computed from it is undecided too.
#pragma once

#include <cstdint>
#include <limits>

namespace graphgate::reference {

struct Whole {
  std::int64_t value = 0;
  bool undecided = false;

  Whole() = default;
  Whole(std::int64_t v, bool u = false) : value(v), undecided(u) {}  // NOLINT: implicit
};

namespace detail {
inline std::int64_t wrap(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
inline std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
}  // namespace detail

inline Whole operator+(Whole a, Whole b) {
  return {detail::wrap(detail::bits(a.value) + detail::bits(b.value)), a.undecided || b.undecided};
}
inline Whole operator-(Whole a, Whole b) {
  return {detail::wrap(detail::bits(a.value) - detail::bits(b.value)), a.undecided || b.undecided};
}
inline Whole operator*(Whole a, Whole b) {
  return {detail::wrap(detail::bits(a.value) * detail::bits(b.value)), a.undecided || b.undecided};
}
inline Whole operator-(Whole a) { return Whole(0) - a; }
inline Whole operator&(Whole a, Whole b) { return {a.value & b.value, a.undecided || b.undecided}; }
inline Whole operator|(Whole a, Whole b) { return {a.value | b.value, a.undecided || b.undecided}; }
inline Whole operator^(Whole a, Whole b) { return {a.value ^ b.value, a.undecided || b.undecided}; }
inline Whole operator~(Whole a) { return {~a.value, a.undecided}; }

inline Whole abs(Whole a) { return a.value < 0 ? -a : a; }
inline Whole maximum(Whole a, Whole b) {
  return {a.value > b.value ? a.value : b.value, a.undecided || b.undecided};
}
inline Whole minimum(Whole a, Whole b) {
  return {a.value < b.value ? a.value : b.value, a.undecided || b.undecided};
}

// Comparisons give 0 or 1.
inline Whole less(Whole a, Whole b) { return {a.value < b.value, a.undecided || b.undecided}; }
inline Whole equal(Whole a, Whole b) { return {a.value == b.value, a.undecided || b.undecided}; }
inline Whole is_nan(Whole a) { return {0, a.undecided}; }
inline Whole is_zero(Whole a) { return {a.value == 0, a.undecided}; }
inline Whole logical_not(Whole a) { return is_zero(a); }

// `a` where the condition holds, else `b`.
inline Whole select(Whole condition, Whole a, Whole b) {
  const Whole chosen = condition.value != 0 ? a : b;
  const bool same = a.value == b.value && !a.undecided && !b.undecided;
  return {chosen.value, chosen.undecided || (condition.undecided && !same)};
}

// Division that rounds toward zero, toward minus infinity, and the remainders that go with each.
// The divisor must not be zero; the one overflowing quotient wraps.
inline Whole truncated_quotient(Whole a, Whole b) {
  const bool wraps = b.value == -1;
  return {wraps ? (-a).value : a.value / b.value, a.undecided || b.undecided};
}
inline Whole truncated_remainder(Whole a, Whole b) {
  return {b.value == -1 ? 0 : a.value % b.value, a.undecided || b.undecided};
}
inline Whole floored_remainder(Whole a, Whole b) {
  const Whole rest = truncated_remainder(a, b);
  const bool shift = rest.value != 0 && (rest.value < 0) != (b.value < 0);
  return shift ? rest + b : rest;
}
inline Whole floored_quotient(Whole a, Whole b) {
  const Whole rest = truncated_remainder(a, b);
  const bool shift = rest.value != 0 && (rest.value < 0) != (b.value < 0);
  return shift ? truncated_quotient(a, b) - Whole(1) : truncated_quotient(a, b);
}

}  // namespace graphgate::reference
