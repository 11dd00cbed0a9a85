// What stands before the kernels of every generated device program.
#pragma once

#include "optimized/codegen/text/standard.cuh"
// The standard headers that follow are empty.
#include "optimized/arithmetic/formats.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/bessel.cpp"
#include "optimized/arithmetic/error_function.cpp"
#include "optimized/arithmetic/gamma.cpp"
#include "optimized/arithmetic/power.cpp"
#include "optimized/arithmetic/trigonometric.cpp"
#include "optimized/arithmetic/sum.h"
#include "optimized/kernels/elements/bins.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/order.h"
#include "optimized/kernels/elements/planes.h"
#include "optimized/kernels/elements/resampling.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/elements/scans.h"
#include "optimized/kernels/elements/stable_order.h"
#include "optimized/codegen/text/order.cuh"

namespace graphgate::optimized::device {

// The compute type of a format: what its numbers widen to.
template <class Format>
using Wide = std::conditional_t<std::is_same_v<NumberOf<Format>, double>, double,
                                std::conditional_t<std::is_same_v<NumberOf<Format>, float>, float,
                                                   std::int64_t>>;

// What runtime/device/device.h calls DeviceFault: the first value that is refused, or broken canary.
struct Fault {
  std::int32_t kind;
  std::int32_t unused;
  std::int64_t index, dim, size;
};
constexpr std::int32_t kIndexOutOfRange = 1;
constexpr std::int32_t kBrokenCanary = 2;
constexpr std::int32_t kDivisionByZero = 3;
constexpr std::int32_t kIndexOutsidePlane = 4;
constexpr std::int32_t kGroupsDoNotAscend = 5;
constexpr std::int32_t kSourceTooShort = 6;
constexpr std::int32_t kSorterOutOfRange = 7;
constexpr std::int32_t kElementsNotFinite = 8;
constexpr std::int32_t kBinsNotFinite = 9;
inline void report(Fault* fault, std::int64_t index, std::int64_t dim, std::int64_t size,
                   std::int32_t kind = kIndexOutOfRange) {
  if (atomicCAS(&fault->kind, 0, kind) != 0) return;
  fault->index = index;
  fault->dim = dim;
  fault->size = size;
}
inline void report(Fault* fault, std::int32_t kind) { report(fault, 0, 0, 0, kind); }

// A quotient of integers that refuses a divisor of 0.
template <class Quotient>
struct Checked {
  Fault* fault;
  std::int64_t operator()(std::int64_t x, std::int64_t y) const {
    if (y != 0) return Quotient()(x, y);
    report(fault, 0, 0, 0, kDivisionByZero);
    return 0;
  }
};

// An element at an address, in a compute type.
template <class Format, class C>
C load(const char* at) {
  return convert<C>(Format::decode(*reinterpret_cast<const typename Format::Bits*>(at)));
}
// One NaN for all: which of two operands' NaNs comes out depends on how a compiler orders them.
template <class C>
C settled(C value) {
  if constexpr (std::is_floating_point_v<C>) {
    return value != value ? std::numeric_limits<C>::quiet_NaN() : value;
  } else {
    return value;
  }
}
// An element that was read, moved: a NaN keeps its bits.
template <class Format, class C>
void put(char* at, C value) {
  *reinterpret_cast<typename Format::Bits*>(at) = Format::encode(convert<NumberOf<Format>>(value));
}
template <class Format, class C>
void store(char* at, C value) {
  put<Format>(at, settled(value));
}
// Neighbouring elements, which memory gives and takes at once: the address is a multiple of their
// bytes together, at most 16.
template <int item_bytes, int count>
struct Word {
  static constexpr int kBytes = item_bytes * count;
  using All = std::conditional_t<
      kBytes == 16, uint4,
      std::conditional_t<kBytes == 8, uint2,
                         std::conditional_t<
                             kBytes == 4, std::uint32_t,
                             std::conditional_t<kBytes == 2, std::uint16_t, std::uint8_t>>>>;
  static_assert(sizeof(All) == kBytes);

  const char* at(int i) const { return bytes + i * item_bytes; }
  char* at(int i) { return bytes + i * item_bytes; }
  void load(const char* from) {
    *reinterpret_cast<All*>(bytes) = *reinterpret_cast<const All*>(from);
  }
  void store(char* to) const {
    *reinterpret_cast<All*>(to) = *reinterpret_cast<const All*>(bytes);
  }

  alignas(kBytes) char bytes[kBytes];
};
// A number rounded into a format, and widened again.
template <class Format, class C>
Wide<Format> rounded(C value) {
  return convert<Wide<Format>>(
      Format::decode(Format::encode(convert<NumberOf<Format>>(settled(value)))));
}
// What a function gives, as a compute type: bool as an integer.
constexpr std::int64_t widened(bool x) { return x ? 1 : 0; }
constexpr std::int64_t widened(std::int64_t x) { return x; }
constexpr float widened(float x) { return x; }
constexpr double widened(double x) { return x; }

// Terms with an operator[], as rows.h and order.h read them.
template <class C, class Term>
struct Terms {
  const Term& term;
  C operator[](std::int64_t i) const { return term(i); }
};

// A sum of products in the order of gemm.h, by one thread: `depth` terms, then the next ones.
template <class C, std::int64_t depth, class Term>
C product_sum(std::int64_t n, Term&& term) {
  using W = internal::Accumulator<C>;
  W total = 0;
  for (std::int64_t begin = 0; begin < n; begin += depth) {
    W sum = 0;
    for (std::int64_t k = begin; k < n && k < begin + depth; ++k) sum += static_cast<W>(term(k));
    total = begin == 0 ? sum : total + sum;
  }
  return static_cast<C>(total);
}

// What kernels/normalization.cpp does to a row of n terms, by a warp. put(i, y) stores element i.
template <class C, class Term, class Put>
void softmax(std::int64_t n, Term&& term, Put&& put) {
  const C top = greatest_of<C>(n, term);
  const C sum = ordered_sum_of<C>(n, [&](std::int64_t i) { return exp(term(i) - top); });
  for (std::int64_t i = threadIdx.x % 32; i < n; i += 32) put(i, exp(term(i) - top) / sum);
}
// A row of nothing but -inf gives 0.
template <class C, class Term, class Put>
void safe_softmax(std::int64_t n, Term&& term, Put&& put) {
  const C top = greatest_of<C>(n, term);
  if (top == -std::numeric_limits<C>::infinity()) {
    for (std::int64_t i = threadIdx.x % 32; i < n; i += 32) put(i, C(0));
    return;
  }
  softmax<C>(n, term, put);
}
template <class C, class Term, class Put>
void log_softmax(std::int64_t n, Term&& term, Put&& put) {
  const C top = greatest_of<C>(n, term);
  const C sum = ordered_sum_of<C>(n, [&](std::int64_t i) { return exp(term(i) - top); });
  const C log_sum = log(sum);
  for (std::int64_t i = threadIdx.x % 32; i < n; i += 32) put(i, term(i) - top - log_sum);
}

// What kernels/fused_norm.cpp does to a row, with its roundings. put(i, x, y) takes element i and
// what it is normalized to, before the weight.
template <class Own, class Compute, bool by_power, class C, class Term, class Put>
void rms_norm(std::int64_t n, C epsilon, Term&& term, Put&& put) {
  const C squares = ordered_sum_of<C>(n, [&](std::int64_t i) -> C {
    const C x = term(i);
    return rounded_in<Compute>(by_power ? element::square_by_power(x) : x * x);
  });
  const C mean = rounded_in<Compute>(squares / static_cast<C>(n));
  const C factor = rounded_in<Compute>(rsqrt(rounded_in<Compute>(mean + epsilon)));
  for (std::int64_t i = threadIdx.x % 32; i < n; i += 32) {
    const C x = term(i);
    put(i, x, rounded_in<Own>(rounded_in<Compute>(x * factor)));
  }
}

// What kernels/extremum.cpp finds in a row, by a warp: the element, in the host's eight lanes, so
// that of 0 and -0 the same one comes out.
template <class C, bool greatest>
struct ExtremeValue {
  static bool beats(C x, C best) { return greatest ? x > best : x < best; }
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    const int lane = threadIdx.x % 32;
    C best = x[0];
    const auto keep = [&](C value) {
      if (best == best && (beats(value, best) || value != value)) best = value;
    };
    const std::int64_t whole = n / 8 * 8;
    for (std::int64_t i = lane; lane < 8 && i < whole; i += 8) keep(x[i]);
    for (std::int64_t i = whole; lane == 0 && i < n; ++i) keep(x[i]);
    for (int j = 1; j < 8; ++j) {
      const C other = __shfl_sync(internal::kWarp, best, j);
      if (lane == 0) keep(other);
    }
    return __shfl_sync(internal::kWarp, best, 0);
  }
};
// Its first place, or that of the first NaN.
template <class C, bool greatest>
struct ExtremeIndex {
  template <class Row>
  std::int64_t operator()(const Row& x, std::int64_t n) const {
    std::int64_t at = -1;
    const auto keep = [&](std::int64_t i) {
      if (i < 0) return;
      if (at < 0) {
        at = i;
        return;
      }
      const C value = x[i];
      const C best = x[at];
      const bool is_nan = value != value;
      const bool was_nan = best != best;
      const bool is_equal = is_nan || was_nan ? is_nan && was_nan : value == best;
      if (is_equal ? i < at : is_nan || (!was_nan && ExtremeValue<C, greatest>::beats(value, best))) {
        at = i;
      }
    };
    for (std::int64_t i = threadIdx.x % 32; i < n; i += 32) keep(i);
    for (int width = 16; width > 0; width /= 2) {
      keep(__shfl_down_sync(internal::kWarp, at, width));
    }
    return __shfl_sync(internal::kWarp, at, 0);
  }
};

// The element there.
template <class C, bool greatest>
struct ExtremeElement {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    return x[ExtremeIndex<C, greatest>()(x, n)];
  }
};

// What kernels/attention.cpp keeps of a row of scores: log(sum(exp)), 0 where all are masked.
template <class C>
struct LogOfScores {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    const C top = greatest_of<C>(n, [&](std::int64_t i) -> C { return x[i]; });
    if (top == -std::numeric_limits<C>::infinity()) return C(0);
    return log(ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return exp(x[i] - top); })) + top;
  }
};

// Calls visit(i, rank) for every i below n that is chosen; rank counts the chosen ones before it.
// By a block, whose threads take neighbouring parts. Returns how many are chosen.
template <class Chosen, class Visit>
std::int64_t for_each_chosen(std::int64_t n, Chosen&& is_chosen, Visit&& visit) {
  constexpr int kThreads = 256;
  __shared__ std::int64_t counts[kThreads];
  const std::int64_t each = (n + kThreads - 1) / kThreads;
  const std::int64_t begin = threadIdx.x * each;
  const std::int64_t end = begin + each < n ? begin + each : n;
  std::int64_t own = 0;
  for (std::int64_t i = begin; i < end; ++i) own += is_chosen(i) ? 1 : 0;
  counts[threadIdx.x] = own;
  __syncthreads();
  std::int64_t rank = 0;
  std::int64_t all = 0;
  for (int t = 0; t < kThreads; ++t) {
    if (t < static_cast<int>(threadIdx.x)) rank += counts[t];
    all += counts[t];
  }
  for (std::int64_t i = begin; i < end; ++i) {
    if (is_chosen(i)) visit(i, rank++);
  }
  return all;
}

// Layer and group normalization of a row, before weight and bias. Returns center and factor.
template <class C>
struct Statistics {
  C center, factor;
};
template <class C, class Term>
Statistics<C> statistics(std::int64_t n, C epsilon, Term&& term) {
  const C center = ordered_sum_of<C>(n, term) / static_cast<C>(n);
  const C squares = ordered_sum_of<C>(n, [&](std::int64_t i) {
    const C x = term(i) - center;
    return x * x;
  });
  return {center, rsqrt(squares / static_cast<C>(n) + epsilon)};
}

}  // namespace graphgate::optimized::device
