#include "optimized/arithmetic/tile.h"

#include <cstring>

#include "base/result.h"
#include "optimized/arithmetic/formats.h"

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

// Calls visit with the format of `dtype`.
template <class Visit>
void with_format(spec::DType dtype, Visit visit) {
  switch (dtype) {
    case spec::DType::kFloat64:
      return visit(Plain<double>{});
    case spec::DType::kFloat32:
      return visit(Plain<float>{});
    case spec::DType::kFloat16:
      return visit(F16{});
    case spec::DType::kBFloat16:
      return visit(BF16{});
    case spec::DType::kFloat8E4M3FN:
      return visit(F8E4M3FN{});
    case spec::DType::kFloat8E5M2:
      return visit(F8E5M2{});
    case spec::DType::kInt64:
      return visit(Plain<std::int64_t>{});
    case spec::DType::kInt32:
      return visit(Plain<std::int32_t>{});
    case spec::DType::kInt16:
      return visit(Plain<std::int16_t>{});
    case spec::DType::kInt8:
      return visit(Plain<std::int8_t>{});
    case spec::DType::kUInt8:
      return visit(Plain<std::uint8_t>{});
    case spec::DType::kBool:
      return visit(Boolean{});
  }
  GRAPHGATE_CHECK(false);
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
