// The pointwise forms of maximum and minimum, which `max.other` and `min.other` share with
// `maximum` and `minimum`. Called by the bodies of max and min in reduction.cpp.
#pragma once

#include "reference/pointwise.h"

namespace graphgate::reference {

// The larger (smaller) of `self` and `other`, NaN where either is; the common dtype, broadcast.
inline void pointwise_maximum(Call& call) {
  pointwise(call, {"self", "other"}, [](auto a, auto b) { return maximum(a, b); });
}
inline void pointwise_minimum(Call& call) {
  pointwise(call, {"self", "other"}, [](auto a, auto b) { return minimum(a, b); });
}

}  // namespace graphgate::reference
