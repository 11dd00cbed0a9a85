// Affine quantization of one element, and back.
//
// Numbers are in the compute type; the cast to the quantized dtype is the store. NaN stays NaN up
// to there.
#pragma once

#include <cmath>

#include "optimized/kernels/elements/choices.h"

namespace graphgate::optimized::element {

// The zero point goes in behind the rounding.
struct Quantize {
  template <class C>
  C operator()(C x, C inverse, C zero_point, C low, C high) const {
    return Clamp()(std::nearbyint(x * inverse) + zero_point, low, high);
  }
};
// And before it.
struct QuantizeShifted {
  template <class C>
  C operator()(C x, C inverse, C zero_point, C low, C high) const {
    return Clamp()(std::nearbyint(x * inverse + zero_point), low, high);
  }
};
// The ends of both, where what comes before is rounded to a dtype of its own.
struct RoundShiftClamp {
  template <class C>
  C operator()(C x, C zero_point, C low, C high) const {
    return Clamp()(std::nearbyint(x) + zero_point, low, high);
  }
};
struct RoundClamp {
  template <class C>
  C operator()(C x, C low, C high) const {
    return Clamp()(std::nearbyint(x), low, high);
  }
};
struct Dequantize {
  template <class C>
  C operator()(C x, C zero_point, C scale) const {
    return (x - zero_point) * scale;
  }
};
// Quantized and back.
struct FakeQuantize {
  template <class C>
  C operator()(C x, C inverse, C zero_point, C scale, C low, C high) const {
    return Dequantize()(Quantize()(x, inverse, zero_point, low, high), zero_point, scale);
  }
};

}  // namespace graphgate::optimized::element
