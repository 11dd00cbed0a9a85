// Planes resized, and sampled at points: which elements take part, and with what weights.
//
// As planes.h: callables whose members are whole numbers. A dimension gives taps, and an element of
// the result is a weighted sum over them.
#pragma once

#include <bit>

#include "optimized/kernels/elements/planes.h"

namespace graphgate::optimized::element {

// The weights of the elements at distances 1 + t, t, 1 - t and 2 - t from a point, t in [0, 1):
// cubic convolution with a = -0.75. R. G. Keys, "Cubic convolution interpolation for digital image
// processing", 1981.
template <class C>
std::array<C, 4> cubic_weights(C t) {
  constexpr C a = C(-0.75);
  const auto near = [](C x) { return ((a + C{2}) * x - (a + C{3})) * x * x + C{1}; };
  const auto far = [](C x) { return ((a * x - C{5} * a) * x + C{8} * a) * x - C{4} * a; };
  return {far(t + C{1}), near(t), near(C{1} - t), far(C{2} - t)};
}

// The places of one dimension that an element of the result takes part of, and their weights. A
// place of -1 lies outside, where zeros are.
template <class C>
struct Taps {
  std::size_t width = 0;
  std::array<std::int64_t, 4> places{};
  std::array<C, 4> weights{};

  void add(std::int64_t place, C weight) {
    places[width] = place;
    weights[width++] = weight;
  }
};

// ---- resizing

enum class Resize : std::int64_t { kNearest, kNearestExact, kLinear, kCubic };

// One dimension that is resized. `scale_bits`: of the double that was given, not that of the sizes;
// 0 where none was.
struct ResizedAxis {
  Resize mode;
  std::int64_t in, out, aligns_corners, scale_bits;

  template <class C>
  Taps<C> taps(std::int64_t at) const {
    Taps<C> out_taps;
    const C step = step_of<C>();
    if (mode == Resize::kNearest || mode == Resize::kNearestExact) {
      out_taps.add(nearest(at, step), C{1});
      return out_taps;
    }
    const C moved = step * (static_cast<C>(at) + C(0.5)) - C(0.5);
    C source = aligns_corners != 0 ? step * static_cast<C>(at) : moved;
    if (mode == Resize::kLinear) {
      source = std::max(source, C{0});
      const std::int64_t first = std::min(static_cast<std::int64_t>(source), in - 1);
      const C weight = std::clamp(source - static_cast<C>(first), C{0}, C{1});
      out_taps.add(first, C{1} - weight);
      out_taps.add(std::min(first + 1, in - 1), weight);
      return out_taps;
    }
    const C first = std::floor(source);
    const std::array<C, 4> weights = cubic_weights<C>(source - first);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::int64_t place =
          static_cast<std::int64_t>(first) - 1 + static_cast<std::int64_t>(i);
      out_taps.add(std::clamp(place, std::int64_t{0}, in - 1), weights[i]);
    }
    return out_taps;
  }

  // Input elements per output element.
  template <class C>
  C step_of() const {
    if (aligns_corners != 0) {
      return out > 1 ? static_cast<C>(in - 1) / static_cast<C>(out - 1) : C{0};
    }
    const double scale = std::bit_cast<double>(scale_bits);
    if (scale > 0) return static_cast<C>(1.0 / scale);
    return static_cast<C>(in) / static_cast<C>(out);
  }

  template <class C>
  std::int64_t nearest(std::int64_t at, C step) const {
    // Equal and doubled sizes are mapped as they are, whatever scale is given.
    const bool is_exact = mode == Resize::kNearestExact;
    if (!is_exact && out == in) return at;
    if (!is_exact && out == 2 * in) return at / 2;
    const C middle = is_exact ? static_cast<C>(at) + C(0.5) : static_cast<C>(at);
    return std::min(static_cast<std::int64_t>(std::floor(middle * step)), in - 1);
  }
};

// One result element: sums over x inside sums over y inside sums over z. Integers are moved alone.
template <class C, class W, class Plane>
C interpolated(const Plane& plane, const Taps<W>& z, const Taps<W>& y, const Taps<W>& x) {
  if constexpr (std::is_same_v<C, std::int64_t>) {
    return plane(z.places[0], y.places[0], x.places[0]);
  } else {
    C whole{};
    for (std::size_t i = 0; i < z.width; ++i) {
      C slice{};
      for (std::size_t j = 0; j < y.width; ++j) {
        C line = plane(z.places[i], y.places[j], x.places[0]) * x.weights[0];
        for (std::size_t k = 1; k < x.width; ++k) {
          line += plane(z.places[i], y.places[j], x.places[k]) * x.weights[k];
        }
        slice = j == 0 ? line * y.weights[j] : slice + line * y.weights[j];
      }
      whole = i == 0 ? slice * z.weights[i] : whole + slice * z.weights[i];
    }
    return whole;
  }
}

// ---- sampling

enum class Interpolation : std::int64_t { kLinear, kNearest, kCubic };
enum class Padding : std::int64_t { kZeros, kBorder, kReflection };

// Points whose coordinates go from -1 to 1.
struct Sampling {
  Interpolation interpolation;
  Padding padding;
  std::int64_t aligns_corners;

  template <class C>
  Taps<C> taps(C coordinate, std::int64_t size) const {
    Taps<C> out;
    const auto add = [&](C at, C weight) {
      const bool is_inside = at >= C{0} && at <= static_cast<C>(size - 1);
      out.add(is_inside ? static_cast<std::int64_t>(at) : -1, weight);
    };
    const C at = to_elements(coordinate, size);
    if (interpolation == Interpolation::kCubic) {
      const C first = std::floor(at);
      const std::array<C, 4> weights = cubic_weights<C>(at - first);
      for (std::size_t i = 0; i < 4; ++i) {
        const C place = first - C{1} + static_cast<C>(i);
        add(padded(place, size), weights[i]);
      }
      return out;
    }
    const C inside = padded(at, size);
    if (interpolation == Interpolation::kNearest) {
      add(std::nearbyint(inside), C{1});
      return out;
    }
    const C first = std::floor(inside);
    add(first, first + C{1} - inside);
    add(first + C{1}, inside - first);
    return out;
  }

  // From [-1, 1] to elements.
  template <class C>
  C to_elements(C coordinate, std::int64_t size) const {
    const C extent = static_cast<C>(size);
    if (aligns_corners != 0) return (coordinate + C{1}) / C{2} * (extent - C{1});
    return ((coordinate + C{1}) * extent - C{1}) / C{2};
  }

  template <class C>
  static C clipped(C at, std::int64_t size) {
    return std::min(static_cast<C>(size - 1), std::max(at, C{0}));
  }

  // Folded back at the ends: the outer elements' middles, or their outer edges.
  template <class C>
  C reflected(C at, std::int64_t size) const {
    const C low = aligns_corners != 0 ? C{0} : C(-0.5);
    const C span = static_cast<C>(aligns_corners != 0 ? size - 1 : size);
    if (span == C{0}) return C{0};
    const C distance = std::fabs(at - low);
    const C folds = std::floor(distance / span);
    const C rest = std::fmod(distance, span);
    const bool is_even = std::fmod(folds, C{2}) == C{0};
    return is_even ? rest + low : span - rest + low;
  }

  template <class C>
  C padded(C at, std::int64_t size) const {
    if (padding == Padding::kBorder) return clipped(at, size);
    if (padding == Padding::kReflection) return clipped(reflected(at, size), size);
    return at;
  }
};

// A plane's value at a point. Beyond the plane lie zeros, which a weight of NaN makes NaN.
template <class C, class Plane>
C sampled(const Plane& plane, const Taps<C>& z, const Taps<C>& y, const Taps<C>& x) {
  C sum{};
  for (std::size_t i = 0; i < z.width; ++i) {
    for (std::size_t j = 0; j < y.width; ++j) {
      const C outer = z.weights[i] * y.weights[j];
      for (std::size_t k = 0; k < x.width; ++k) {
        const bool is_inside = z.places[i] >= 0 && y.places[j] >= 0 && x.places[k] >= 0;
        const C pixel = is_inside ? plane(z.places[i], y.places[j], x.places[k]) : C{0};
        sum += pixel * (outer * x.weights[k]);
      }
    }
  }
  return sum;
}

}  // namespace graphgate::optimized::element
