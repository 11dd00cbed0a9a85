#include "optimized/arithmetic/tile.h"

#include <cstring>

#include "base/result.h"
#include "optimized/arithmetic/format_dispatch.h"

namespace graphgate::optimized {
namespace {

// A constant stride of one element lets the compiler use vectors; the body is the same.
template <class Format, class C>
void load_with(const std::byte* first, std::int64_t stride_bytes, int n, C* out) {
  using Bits = typename Format::Bits;
  const auto read = [first](std::int64_t offset_bytes) {
    Bits bits;
    std::memcpy(&bits, first + offset_bytes, sizeof bits);
    return convert<C>(Format::decode(bits));
  };
  constexpr auto kUnit = static_cast<std::int64_t>(sizeof(Bits));
  if (stride_bytes == kUnit) {
    for (int i = 0; i < n; ++i) out[i] = read(i * kUnit);
  } else {
    for (int i = 0; i < n; ++i) out[i] = read(i * stride_bytes);
  }
}

template <class Format, class C>
void store_with(const C* in, int n, std::byte* first, std::int64_t stride_bytes) {
  using Bits = typename Format::Bits;
  const auto write = [first](C value, std::int64_t offset_bytes) {
    const Bits bits = Format::encode(convert<NumberOf<Format>>(value));
    std::memcpy(first + offset_bytes, &bits, sizeof bits);
  };
  constexpr auto kUnit = static_cast<std::int64_t>(sizeof(Bits));
  if (stride_bytes == kUnit) {
    for (int i = 0; i < n; ++i) write(in[i], i * kUnit);
  } else {
    for (int i = 0; i < n; ++i) write(in[i], i * stride_bytes);
  }
}

}  // namespace

template <class C>
void load_tile(spec::DType dtype, const std::byte* first, std::int64_t stride_bytes, int n,
               C* out) {
  with_format(dtype, [&]<class Format>(Format) { load_with<Format>(first, stride_bytes, n, out); });
}

template <class C>
void store_tile(spec::DType dtype, const C* in, int n, std::byte* first,
                std::int64_t stride_bytes) {
  with_format(dtype, [&]<class Format>(Format) { store_with<Format>(in, n, first, stride_bytes); });
}

template void load_tile<float>(spec::DType, const std::byte*, std::int64_t, int, float*);
template void load_tile<double>(spec::DType, const std::byte*, std::int64_t, int, double*);
template void load_tile<std::int64_t>(spec::DType, const std::byte*, std::int64_t, int,
                                      std::int64_t*);
template void store_tile<float>(spec::DType, const float*, int, std::byte*, std::int64_t);
template void store_tile<double>(spec::DType, const double*, int, std::byte*, std::int64_t);
template void store_tile<std::int64_t>(spec::DType, const std::int64_t*, int, std::byte*,
                                       std::int64_t);

}  // namespace graphgate::optimized
