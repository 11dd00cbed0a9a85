// Tiles: runs of elements converted between a dtype's bytes and the type a kernel computes in.
//
// Used by: every pointwise, reduction and normalisation kernel: load a tile, compute, store.
// The conversions are those of float_format.h, one body for every stride and length, so that an
// element's bits never depend on its place in a tile.
// C is the compute type: float (f32, f16, bf16, f8), double (f64), std::int64_t (integers, bool);
// any pairing with a dtype is allowed and converts as PyTorch does.
//
// Elements need not be aligned. stride_bytes may be 0 (an expanded size) or negative; n >= 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/dtype.h"

namespace graphgate::optimized {

// Reads n elements, the i-th at first + i * stride_bytes, into out[0..n).
// Narrow floats widen exactly to float or double; double to float and int64 to float or double
// round once. Floats to int64 truncate (out of range: the least int64). bool reads as 0 or 1 (any
// byte but 0 is true).
template <class C>
void load_tile(spec::DType dtype, const std::byte* first, std::int64_t stride_bytes, int n, C* out);

// Writes in[0..n) as n elements of `dtype`. Rounds to nearest even, once; but double and int64
// reach the 16- and 8-bit floats through float, as in PyTorch. int64 to narrower integers wraps
// modulo 2^bits; floats to integers follow truncate_to; bool is "not equal to 0" (NaN is true).
// With stride 0 the last element wins.
template <class C>
void store_tile(spec::DType dtype, const C* in, int n, std::byte* first, std::int64_t stride_bytes);

// Single elements, by the same conversions: scalars and fills.
template <class C>
[[nodiscard]] C load_element(spec::DType dtype, const std::byte* at) {
  C value{};
  load_tile<C>(dtype, at, 0, 1, &value);
  return value;
}
template <class C>
void store_element(spec::DType dtype, C value, std::byte* at) {
  store_tile<C>(dtype, &value, 1, at, 0);
}

// Defined in tile.cpp for float, double and std::int64_t.
extern template void load_tile<float>(spec::DType, const std::byte*, std::int64_t, int, float*);
extern template void load_tile<double>(spec::DType, const std::byte*, std::int64_t, int, double*);
extern template void load_tile<std::int64_t>(spec::DType, const std::byte*, std::int64_t, int,
                                             std::int64_t*);
extern template void store_tile<float>(spec::DType, const float*, int, std::byte*, std::int64_t);
extern template void store_tile<double>(spec::DType, const double*, int, std::byte*, std::int64_t);
extern template void store_tile<std::int64_t>(spec::DType, const std::int64_t*, int, std::byte*,
                                              std::int64_t);

}  // namespace graphgate::optimized
