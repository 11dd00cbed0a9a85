// What planes are pooled and resized by: which elements of a plane an element of the result stands
// for, by name.
//
// As elements.h, for planes: the host passes planes that it has loaded, a device kernel one whose
// elements it loads as they are asked for. Every member of a callable is a whole number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace graphgate::optimized {

inline constexpr int kSpatialDims = 3;
// Depth, height, width; the ones that a tensor lacks are 1 (sizes) or neutral (parameters).
using Extents = std::array<std::int64_t, kSpatialDims>;

namespace element {

// The elements begin, begin + step... below end in each dimension, and what their sum is divided by
// for an average.
struct PlanePart {
  Extents begin, end, step;
  std::int64_t divisor;

  bool is_empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
  // Of a part whose steps are 1.
  std::int64_t count() const {
    return is_empty() ? 0 : (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
};

// The windows of max_pool.
struct MaxWindows {
  Extents in, kernel, stride, padding, dilation;
  PlanePart operator()(const Extents& at) const {
    PlanePart part{{}, {}, dilation, 1};
    for (std::size_t d = 0; d < kSpatialDims; ++d) {
      const std::int64_t start = at[d] * stride[d] - padding[d];
      const std::int64_t step = dilation[d];
      part.end[d] = std::min(start + (kernel[d] - 1) * step + 1, in[d]);
      part.begin[d] = start < 0 ? start + (-start + step - 1) / step * step : start;
    }
    return part;
  }
};

// The windows of avg_pool. A divisor of 0 stands for the number of elements, with or without those
// of the padding.
struct AverageWindows {
  Extents in, kernel, stride, padding;
  std::int64_t divisor, counts_padding;
  PlanePart operator()(const Extents& at) const {
    PlanePart part{{}, {}, {1, 1, 1}, 1};
    std::int64_t padded_count = 1;
    for (std::size_t d = 0; d < kSpatialDims; ++d) {
      const std::int64_t begin = at[d] * stride[d] - padding[d];
      const std::int64_t end = std::min(begin + kernel[d], in[d] + padding[d]);
      padded_count *= end - begin;
      part.begin[d] = std::max(begin, std::int64_t{0});
      part.end[d] = std::min(end, in[d]);
    }
    part.divisor = divisor != 0 ? divisor : counts_padding != 0 ? padded_count : part.count();
    return part;
  }
};

// The parts of adaptive pooling.
struct AdaptiveParts {
  Extents in, out;
  PlanePart operator()(const Extents& at) const {
    PlanePart part{{}, {}, {1, 1, 1}, 1};
    for (std::size_t d = 0; d < kSpatialDims; ++d) {
      part.begin[d] = at[d] * in[d] / out[d];
      part.end[d] = ((at[d] + 1) * in[d] + out[d] - 1) / out[d];
    }
    part.divisor = part.count();
    return part;
  }
};

// The greatest element of a part, and its place, counted row-major in a plane of extents `in`. A
// later NaN wins over an earlier one. Of no elements: `least`, at the part's beginning, for
// dilation can step over a whole plane. plane(z, y, x) reads an element.
template <class C>
struct Greatest {
  C value;
  std::int64_t place;
};
template <class C, class Plane>
Greatest<C> greatest_of_part(const Plane& plane, const Extents& in, const PlanePart& part,
                             C least) {
  const auto place_of = [&in](std::int64_t z, std::int64_t y, std::int64_t x) {
    return (z * in[1] + y) * in[2] + x;
  };
  Greatest<C> best{least, place_of(part.begin[0], part.begin[1], part.begin[2])};
  if (part.is_empty()) return best;
  best.value = plane(part.begin[0], part.begin[1], part.begin[2]);
  for (std::int64_t z = part.begin[0]; z < part.end[0]; z += part.step[0]) {
    for (std::int64_t y = part.begin[1]; y < part.end[1]; y += part.step[1]) {
      for (std::int64_t x = part.begin[2]; x < part.end[2]; x += part.step[2]) {
        const C value = plane(z, y, x);
        if (value > best.value || value != value) best = {value, place_of(z, y, x)};
      }
    }
  }
  return best;
}

}  // namespace element
}  // namespace graphgate::optimized
