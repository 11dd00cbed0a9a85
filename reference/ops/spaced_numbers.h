// Numbers of one distance, as arange, linspace and the edges of a histogram's bins have them.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/array.h"
#include "reference/number/functions.h"

namespace graphgate::reference {

// start, start + step, ... A vector kernel fills its lanes from the first lane's number, which it
// rounded to the dtype first. So an element inherits the rounding of one up to kLanes - 1 before
// it. 32 lanes is the most of any CPU (512 bits of 16-bit elements).
inline constexpr std::int64_t kLanes = 32;

inline double rounding_radius(double, spec::DType) { return 0; }
template <class P>
double rounding_radius(const Tracked<P>& x, spec::DType dtype) {
  return round_edge(Tracked<P>(x.value, 0, x.arithmetic), dtype).radius;
}

inline double widened(double value, double) { return value; }
template <class P>
Tracked<P> widened(const Tracked<P>& x, double by) {
  return {x.value, P::combine(x.radius, by), x.arithmetic};
}

// A constant as a number of the declared arithmetic.
template <class N>
N in_arithmetic(double x, spec::DType dtype) {
  if constexpr (std::is_same_v<N, double>)
    return x;
  else {
    const bool is_wide = dtype == spec::DType::kFloat64;
    return {static_cast<long double>(x), 0,
            is_wide ? N::Arithmetic::kFloat64 : N::Arithmetic::kFloat32};
  }
}

template <class N>
N range_number(const N& start, const N& step, std::int64_t index, spec::DType dtype) {
  const auto at = [&](std::int64_t i) { return start + step * N(static_cast<double>(i)); };
  double lane = 0;
  for (std::int64_t back = std::min(index, kLanes - 1); back > 0; --back) {
    lane = std::max(lane, rounding_radius(at(index - back), dtype));
  }
  return widened(at(index), lane);
}

// `steps` numbers from start to end, both included: the first half counted from the start, the
// second from the end. Integer dtypes compute in float64 and cut toward zero.
template <class N>
Array<N> spaced_numbers(double start, double end, std::int64_t steps, spec::DType dtype) {
  const bool real = spec::is_floating_point(dtype);
  const spec::DType arithmetic = real ? compute_dtype(dtype) : spec::DType::kFloat64;
  const auto held = [&](double x) {
    const double whole = real ? round_to_dtype(x, dtype) : std::trunc(x);
    return in_arithmetic<N>(whole, arithmetic);
  };
  const N first = held(start);
  const N last = held(end);
  const N step = steps > 1 ? round_edge((last - first) / N(static_cast<double>(steps - 1)),
                                        real ? dtype : arithmetic)
                           : N(0.0);
  Array<N> out(Sizes{steps});
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool from_start = i < steps / 2;
    const std::int64_t away = from_start ? i : steps - 1 - i;
    const N& anchor = from_start || steps == 1 ? first : last;
    const N by = from_start ? step : -step;
    out[i] = range_number(anchor, by, away, real ? dtype : arithmetic);
  }
  return out;
}

}  // namespace graphgate::reference
