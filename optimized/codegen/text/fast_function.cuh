// Functions of fast arithmetic in the place of those of arithmetic/exponential.h, whose doubles a
// GPU has few units for. They work in float alone, exp within 1.1 units in the last place and
// sigmoid within 2.4 (one in 37 of all floats looked at). The reference's bounds give any executor
// 2 for exp (reference/number/functions.h).
//
// It is included before them.
#pragma once

#define GRAPHGATE_FAST_FUNCTIONS

#include "optimized/codegen/text/standard.cuh"

namespace graphgate::optimized {

// x = k ln2 + r, |r| <= ln2 / 2; e^r by its Taylor polynomial, whose rest is below 2^-26 of it.
// ln2 in two parts, of which the first has nine bits, so that its multiples are exact (Cody and
// Waite, Software Manual for the Elementary Functions, ch. 6).
inline float exp(float x) {
  const float inside = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;  // NaN stays
  const float k = rintf(inside * 0x1.715476p+0f);
  const float r = fmaf(k, 0x1.bd0106p-13f, fmaf(k, -0x1.63p-1f, inside));
  float sum = 0x1.a01a02p-13f;                // 1/7!
  sum = fmaf(sum, r, 0x1.6c16c2p-10f);        // 1/6!
  sum = fmaf(sum, r, 0x1.111112p-7f);         // 1/5!
  sum = fmaf(sum, r, 0x1.555556p-5f);         // 1/4!
  sum = fmaf(sum, r, 0x1.555556p-3f);         // 1/3!
  sum = fmaf(sum, r, 0.5f);
  sum = fmaf(sum * r, r, r) + 1.0f;
  // 2^k in two factors, each of which is a normal number.
  const int whole = static_cast<int>(k);
  const int half = whole / 2;
  const float first = __int_as_float((half + 127) << 23);
  const float second = __int_as_float((whole - half + 127) << 23);
  return sum * first * second;
}

// 1 / (1 + e^-x), through e^-|x|, so that nothing overflows.
inline float sigmoid(float x) {
  const float z = exp(x < 0 ? x : -x);
  return (x < 0 ? z : 1.0f) / (1.0f + z);
}

}  // namespace graphgate::optimized
