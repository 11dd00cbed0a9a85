#include "optimized/arithmetic/tile.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "optimized/arithmetic/float_format.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  all.reserve(spec::kDTypeCount);
  for (int i = 0; i < spec::kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!spec::is_complex(dtype)) all.push_back(dtype);
  }
  return all;
}

// Bytes that hold any pattern: NaNs, infinities, large integers, bools that are neither 0 nor 1.
std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

template <class C>
bool same_bits(C a, C b) {
  using Bytes = std::array<std::byte, sizeof(C)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

// Loads and stores of every length and many strides agree with one element at a time.
template <class C>
void check_all_lengths(DType dtype) {
  const std::int64_t size = spec::item_size_bytes(dtype);
  for (int n = 1; n <= 67; ++n) {
    for (const std::int64_t stride : {size, 2 * size, -size, std::int64_t{13}, std::int64_t{0}}) {
      const std::int64_t reach = (n - 1) * std::abs(stride);
      const auto bytes = static_cast<std::size_t>(reach + size + 1);
      const std::vector<std::byte> source = random_bytes(bytes, static_cast<std::uint32_t>(n));
      const std::int64_t start = 1 + (stride < 0 ? reach : 0);  // unaligned on purpose
      std::vector<C> values(static_cast<std::size_t>(n));
      load_tile<C>(dtype, source.data() + start, stride, n, values.data());
      std::vector<std::byte> stored(bytes, std::byte{0x5a});
      std::vector<std::byte> one_by_one = stored;
      store_tile<C>(dtype, values.data(), n, stored.data() + start, stride);
      for (int i = 0; i < n; ++i) {
        const std::byte* at = source.data() + start + i * stride;
        const C value = values[static_cast<std::size_t>(i)];
        ASSERT_TRUE(same_bits(value, load_element<C>(dtype, at))) << n << " " << stride;
        store_element<C>(dtype, value, one_by_one.data() + start + i * stride);
      }
      ASSERT_EQ(stored, one_by_one) << spec::torch_name(dtype) << " " << n << " " << stride;
    }
  }
}

TEST(Tile, GivesTheSameBitsAtEveryLengthAndStride) {
  for (const DType dtype : all_dtypes()) {
    check_all_lengths<float>(dtype);
    check_all_lengths<double>(dtype);
    check_all_lengths<std::int64_t>(dtype);
  }
}

// What a load followed by a store must leave unchanged: all patterns but NaNs.
template <class C, class Bits>
void check_round_trip(DType dtype, Bits bits) {
  std::byte in[8] = {};
  std::byte out[8] = {};
  std::memcpy(in, &bits, sizeof bits);
  const C value = load_element<C>(dtype, in);
  if (value != value) return;
  store_element<C>(dtype, value, out);
  ASSERT_EQ(std::memcmp(in, out, sizeof bits), 0) << spec::torch_name(dtype) << " " << bits;
}

TEST(Tile, RoundTripsEveryNarrowPattern) {
  for (int i = 0; i < 0x10000; ++i) {
    const auto wide = static_cast<std::uint16_t>(i);
    check_round_trip<float>(DType::kFloat16, wide);
    check_round_trip<double>(DType::kFloat16, wide);
    check_round_trip<float>(DType::kBFloat16, wide);
    check_round_trip<std::int64_t>(DType::kInt16, wide);
    const auto narrow = static_cast<std::uint8_t>(i & 0xff);
    check_round_trip<float>(DType::kFloat8E4M3FN, narrow);
    check_round_trip<float>(DType::kFloat8E5M2, narrow);
    check_round_trip<std::int64_t>(DType::kInt8, narrow);
    check_round_trip<std::int64_t>(DType::kUInt8, narrow);
  }
}

RC_GTEST_PROP(Tile, RoundTripsWideElementsInTheirOwnType, (std::uint64_t bits)) {
  check_round_trip<double>(DType::kFloat64, bits);
  check_round_trip<std::int64_t>(DType::kInt64, bits);
  check_round_trip<float>(DType::kFloat32, static_cast<std::uint32_t>(bits));
  check_round_trip<std::int64_t>(DType::kInt32, static_cast<std::uint32_t>(bits));
}

template <class To, class C>
To stored(DType dtype, C value) {
  To out{};
  std::byte bytes[sizeof(To)];
  store_element<C>(dtype, value, bytes);
  std::memcpy(&out, bytes, sizeof out);
  return out;
}

TEST(Tile, StoresWithOneRoundingFromTheComputeType) {
  EXPECT_EQ((stored<float, double>(DType::kFloat32, 0.1)), 0.1F);
  EXPECT_EQ((stored<float, std::int64_t>(DType::kFloat32, (1LL << 24) + 1)), 0x1p24F);
  // Through double this would round twice and land on the even neighbour below.
  EXPECT_EQ((stored<float, std::int64_t>(DType::kFloat32, (1LL << 60) + (1LL << 36) + 1)),
            0x1.000002p60F);
  EXPECT_EQ((stored<double, std::int64_t>(DType::kFloat64, (1LL << 53) + 1)), 0x1p53);
  // To 16 bits by way of float, as PyTorch: the last 1 is lost before the tie is seen.
  EXPECT_EQ((stored<std::uint16_t, std::int64_t>(DType::kBFloat16, (1LL << 24) + (1LL << 16) + 1)),
            float_to_bf16(0x1p24F));
  EXPECT_EQ((stored<std::uint16_t, double>(DType::kFloat16, 1 + 0x1p-11 + 0x1p-40)), 0x3c00);
}

TEST(Tile, WrapsIntegersAndTestsForZeroWhenStoringBools) {
  EXPECT_EQ((stored<std::int8_t, std::int64_t>(DType::kInt8, 300)), 44);
  EXPECT_EQ((stored<std::uint8_t, std::int64_t>(DType::kUInt8, -1)), 255);
  EXPECT_EQ((stored<std::int16_t, std::int64_t>(DType::kInt16, 1LL << 40 | 7)), 7);
  EXPECT_EQ((stored<std::int32_t, std::int64_t>(DType::kInt32, 1LL << 31)),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((stored<std::uint8_t, std::int64_t>(DType::kBool, 256)), 1);
  EXPECT_EQ((stored<std::uint8_t, double>(DType::kBool, 0.25)), 1);
  EXPECT_EQ((stored<std::uint8_t, float>(DType::kBool, std::nanf(""))), 1);
  EXPECT_EQ((stored<std::uint8_t, float>(DType::kBool, -0.0F)), 0);
  const std::byte strange{0x80};
  EXPECT_EQ((load_element<std::int64_t>(DType::kBool, &strange)), 1);
}

}  // namespace
}  // namespace graphgate::optimized
