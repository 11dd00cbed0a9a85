// Reading an image between its pixels: what grid_sampler and upsample share.
//
// Every result is a sum of pixels times weights. The weight of pixel k for a source coordinate s is
// K(s - k), where K is a kernel: linear (1 - |d|) or cubic (Keys, a = -0.75). K is continuous, so
// in an oracle run an uncertain s gives an uncertain weight to every pixel that it may reach, and
// there is no jump where s crosses a pixel.
#pragma once

#include <cmath>
#include <vector>

#include "reference/number/left_open.h"
#include "reference/ops/contributions.h"

namespace graphgate::reference::resampling {

// In the order of grid_sampler's interpolation_mode.
enum class Kernel : std::uint8_t { kLinear, kNearest, kCubic };

// ---- numbers ----------------------------------------------------------------------------------

inline long double center_of(double x) { return static_cast<long double>(x); }
inline double reach_of(double) { return 0; }
inline double one_like(double) { return 1; }
inline double zero_like(double) { return 0; }
template <class P>
long double center_of(const Tracked<P>& x) {
  return x.value;
}
template <class P>
double reach_of(const Tracked<P>& x) {
  return P::kDecisionRadii * x.radius;
}
// Constants with the arithmetic of a number: only such can carry a radius through a product.
template <class P>
Tracked<P> one_like(const Tracked<P>& x) {
  return {1, 0, x.arithmetic};
}
template <class P>
Tracked<P> zero_like(const Tracked<P>& x) {
  return {0, 0, x.arithmetic};
}

// Rounds an intermediate result as PyTorch's vectorized kernels do: after each operation, into a
// 16-bit dtype; wider ones have rounded already.
template <class N>
struct Settle {
  spec::DType dtype;
  N operator()(const N& x) const {
    return compute_dtype(dtype) == dtype ? x : round_edge(x, dtype);
  }
};

// ---- taps -------------------------------------------------------------------------------------

// One pixel's part in a result. `index` counts along a dimension, later in the whole image.
template <class N>
struct Tap {
  std::int64_t index = 0;
  N weight;
};
template <class N>
using Taps = std::vector<Tap<N>>;

// K(d) for the distance d >= 0 of a pixel.
template <class N>
N kernel_weight(Kernel kernel, const N& distance, const Settle<N>& settle) {
  if (kernel == Kernel::kLinear) return maximum(N(0.0), settle(N(1.0) - distance));
  constexpr double a = -0.75;
  const N& d = distance;
  if (center_of(d) <= 1) {
    const N inner = settle(settle(settle(N(a + 2) * d) - N(a + 3)) * d);
    return settle(settle(inner * d) + N(1.0));
  }
  if (center_of(d) - static_cast<long double>(reach_of(d)) >= 2) return N(0.0);
  const N inner = settle(settle(settle(N(a) * d) - N(5 * a)) * d);
  return settle(settle(settle(inner + N(8 * a)) * d) - N(4 * a));
}

// The pixels that a source coordinate reaches. An uncertainty of a pixel or more says nothing.
template <class N>
Taps<N> taps_around(const N& source, Kernel kernel, const Settle<N>& settle) {
  const long double center = center_of(source);
  const auto reach = static_cast<long double>(reach_of(source));
  if (!std::isfinite(center)) {
    if (kernel == Kernel::kNearest && std::isinf(center)) return {};
    return {{0, N(static_cast<double>(center - center))}};
  }
  if (!(std::fabs(center) < 0x1p40L)) return {};
  if (!(reach < 1)) return {{0, left_open(one_like(source))}};
  if (kernel == Kernel::kNearest) {
    const bool open = std::nearbyint(center - reach) != std::nearbyint(center + reach);
    const auto index = static_cast<std::int64_t>(std::nearbyint(center));
    // Of an open pixel the first stands for all: no padding drops it.
    return open ? Taps<N>{{0, left_open(one_like(source))}} : Taps<N>{{index, N(1.0)}};
  }
  const std::int64_t support = kernel == Kernel::kLinear ? 1 : 2;
  const auto first = static_cast<std::int64_t>(std::floor(center - reach)) - support + 1;
  const auto last = static_cast<std::int64_t>(std::floor(center + reach)) + support;
  const auto below = static_cast<double>(std::floor(center));
  const N fraction = settle(source - N(below));
  Taps<N> taps;
  for (std::int64_t k = first; k <= last; ++k) {
    const N distance = abs(settle(fraction - N(static_cast<double>(k) - below)));
    taps.push_back({k, kernel_weight(kernel, distance, settle)});
  }
  return taps;
}

// The taps of several dimensions as one list: weights multiplied, indices row-major in `sizes`.
template <class N>
Taps<N> cross(const std::vector<Taps<N>>& per_dim, const Sizes& sizes, const Settle<N>& settle) {
  Taps<N> all = {{0, N(1.0)}};
  for (std::size_t d = 0; d < per_dim.size(); ++d) {
    Taps<N> next;
    for (const Tap<N>& outer : all) {
      for (const Tap<N>& inner : per_dim[d]) {
        const N weight = d == 0 ? inner.weight : settle(outer.weight * inner.weight);
        next.push_back({outer.index * sizes[d] + inner.index, weight});
      }
    }
    all = std::move(next);
  }
  return all;
}

// The sum of an image's pixels under the taps. `plane` is where the image starts. Executors differ
// in which pixels they read beside those that every one reads: whose weight is certainly not zero.
template <class N>
N weighted_sum(const Array<N>& input, std::int64_t plane, const Taps<N>& taps, spec::DType dtype,
               const Settle<N>& settle) {
  const Accumulation how{Combining::kSum, Partials::kOwnDtype};
  detail::Slot<N> sum;
  for (const Tap<N>& tap : taps) {
    sum.add(settle(weighted(input[plane + tap.index], tap.weight)), how, dtype);
  }
  return sum.result(how, dtype);
}

// The same by differences, as compiled code has it: along each dimension, the last one first,
// a + (b - a) * weight. Where one pixel outweighs the other that rounds where weights do not.
// `index` is where the image's part begins that the dimensions from `dim` on run through.
template <class N>
N blended(const Array<N>& input, std::int64_t index, const std::vector<Taps<N>>& per_dim,
          const Sizes& sizes, std::size_t dim = 0) {
  if (dim == per_dim.size()) return input[index];
  const std::int64_t stride =
      count_of({sizes.begin() + static_cast<std::ptrdiff_t>(dim) + 1, sizes.end()});
  const auto at = [&](const Tap<N>& tap) {
    return blended(input, index + tap.index * stride, per_dim, sizes, dim + 1);
  };
  const Taps<N>& taps = per_dim[dim];
  if (taps.empty()) return N(0.0);
  const N first = at(taps.front());
  N sum = first;
  for (std::size_t k = 1; k < taps.size(); ++k) {
    sum = sum + (at(taps[k]) - first) * taps[k].weight;
  }
  return sum;
}

inline Sizes spatial_sizes(const Sizes& sizes) { return {sizes.begin() + 2, sizes.end()}; }

}  // namespace graphgate::reference::resampling
