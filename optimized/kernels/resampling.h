// What upsampling and grid sampling share: cubic weights.
#pragma once

#include <array>

namespace graphgate::optimized {

// The weights of the elements at distances 1 + t, t, 1 - t and 2 - t from a point, t in [0, 1):
// cubic convolution with a = -0.75. R. G. Keys, "Cubic convolution interpolation for digital image
// processing", 1981.
template <class C>
[[nodiscard]] std::array<C, 4> cubic_weights(C t) {
  constexpr C a = C(-0.75);
  const auto near = [](C x) { return ((a + C{2}) * x - (a + C{3})) * x * x + C{1}; };
  const auto far = [](C x) { return ((a * x - C{5} * a) * x + C{8} * a) * x - C{4} * a; };
  return {far(t + C{1}), near(t), near(C{1} - t), far(C{2} - t)};
}

}  // namespace graphgate::optimized
