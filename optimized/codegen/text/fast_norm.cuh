// Normalizations of fast arithmetic: a block takes a row.
#pragma once

#include "optimized/codegen/text/ptx.cuh"

namespace graphgate::optimized::device {

// Neighbouring elements of a 16-bit format, eight at a time; the address is a multiple of 16.
template <class Format>
void load_row(const char* at, float (&out)[8]) {
  const uint4 v = *reinterpret_cast<const uint4*>(at);
  const std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t bits = words[i / 2] >> (i % 2 * 16) & 0xffffu;
    out[i] = Format::decode(static_cast<typename Format::Bits>(bits));
  }
}
template <class Format>
void store_row(char* at, const float (&values)[8]) {
  *reinterpret_cast<uint4*>(at) = {packed2<Format>(values[0], values[1]),
                                   packed2<Format>(values[2], values[3]),
                                   packed2<Format>(values[4], values[5]),
                                   packed2<Format>(values[6], values[7])};
}
// One element, of any format.
template <class Format, class C>
void load_row(const char* at, C (&out)[1]) {
  out[0] = load<Format, C>(at);
}
template <class Format, class C>
void store_row(char* at, const C (&values)[1]) {
  store<Format>(at, values[0]);
}

// RMSNorm of a row by a block, `width` neighbouring elements at a time; otherwise as rms_norm of
// prelude.cuh. weight(i, out) and term(i, out) give elements i, i + 1...;
// put(i, x, normal, weight), where `normal` may be written.
template <class Own, class Compute, int length, int width, bool by_power, bool weight_is_constant,
          class C, class Weight, class Term, class Put>
void rms_norm_by_block(C epsilon, Weight&& weight, Term&& term, Put&& put) {
  constexpr int kEach = (length / width + 255) / 256;
  C x[kEach][width];
  C weights[kEach][width];
  const auto for_own = [](auto&& visit) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = (static_cast<int>(threadIdx.x) + j * 256) * width;
      if (length % (256 * width) == 0 || i < length) visit(j, i);
    }
  };
  let_next_launch_begin();
  if (!weight_is_constant) wait_for_launches_before();
  for_own([&](int j, int i) { weight(i, weights[j]); });
  if (weight_is_constant) wait_for_launches_before();
  for_own([&](int j, int i) { term(i, x[j]); });
  C squares = 0;
  for_own([&](int j, int) {
#pragma unroll
    for (int e = 0; e < width; ++e) {
      const C one = x[j][e];
      squares += rounded_in<Compute>(by_power ? element::square_by_power(one) : one * one);
    }
  });
#pragma unroll
  for (int across = 16; across > 0; across /= 2) {
    squares += __shfl_xor_sync(internal::kWarp, squares, across);
  }
  __shared__ C parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) squares += parts[j];
  const C mean = rounded_in<Compute>(squares / static_cast<C>(length));
  const C factor = rounded_in<Compute>(rsqrt(rounded_in<Compute>(mean + epsilon)));
  for_own([&](int j, int i) {
    C normal[width];
#pragma unroll
    for (int e = 0; e < width; ++e) {
      normal[e] = rounded_in<Own>(rounded_in<Compute>(x[j][e] * factor));
    }
    put(i, x[j], normal, weights[j]);
  });
}

}  // namespace graphgate::optimized::device
