#include "fuzz/generate/drawn_data.h"

#include <array>
#include <cstring>

#include "base/split_mix.h"
#include "conformance/judges/exact_data.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// The bits of special numbers of a binary format: sign, exponent, fraction.
std::uint64_t special_bits(int exponent_bits, int fraction_bits, std::uint64_t which) {
  const std::uint64_t exponent = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  const std::uint64_t sign = std::uint64_t{1} << (exponent_bits + fraction_bits);
  const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits - 1);
  switch (which % 7) {
    case 0:
      return sign;  // -0
    case 1:
      return 0;
    case 2:
      return exponent;  // infinity
    case 3:
      return exponent | sign;
    case 4:
      return exponent | quiet;  // NaN
    case 5:
      return 1;  // the smallest subnormal number
    default:
      return sign | (quiet - 1);  // a negative subnormal number
  }
}

std::optional<std::uint64_t> special(DType dtype, std::uint64_t which) {
  switch (dtype) {
    case DType::kFloat64:
      return special_bits(11, 52, which);
    case DType::kFloat32:
      return special_bits(8, 23, which);
    case DType::kFloat16:
      return special_bits(5, 10, which);
    case DType::kBFloat16:
      return special_bits(8, 7, which);
    default:
      return std::nullopt;
  }
}

}  // namespace

spec::HostTensor draw_tensor(const SizeTable& table, const DrawnTensor& like,
                             const std::vector<std::int64_t>& symbols, DataClass data,
                             std::uint64_t seed, std::int64_t offset) {
  spec::HostTensor tensor;
  tensor.dtype = like.dtype;
  std::int64_t elements = 1;
  for (int d = 0; d < like.sizes.rank; ++d) {
    tensor.sizes.push_back(table.evaluate(like.sizes[d], symbols));
    tensor.strides.push_back(table.evaluate(like.strides[d], symbols));
    elements *= tensor.sizes.back();
  }
  tensor.storage_offset = offset;
  tensor.storage = std::make_shared<spec::HostStorage>();
  tensor.storage->bytes.resize(
      static_cast<std::size_t>((offset + elements) * spec::item_size_bytes(like.dtype)));
  // The parts of a complex number are drawn one by one.
  const DType dtype = spec::component_dtype(like.dtype);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(dtype));
  constexpr std::uint64_t kIntegers = 9;  // -4 to 4
  std::array<std::array<std::byte, sizeof(std::uint64_t)>, kIntegers> integers;
  for (std::uint64_t i = 0; i < kIntegers; ++i) {
    conformance::write_integer(integers[i].data(), dtype, static_cast<int>(i) - 4);
  }
  SplitMix64 random(seed);
  for (std::size_t at = 0; at < tensor.storage->bytes.size(); at += item) {
    const std::uint64_t draw = random.next();
    std::byte* const place = tensor.storage->bytes.data() + at;
    const auto bits =
        data == DataClass::kSpecial && draw % 3 == 0 ? special(dtype, draw / 3) : std::nullopt;
    if (bits) {
      std::memcpy(place, &*bits, item);
    } else {
      std::memcpy(place, integers[(draw >> 32U) % kIntegers].data(), item);
    }
  }
  return tensor;
}

}  // namespace graphgate::fuzz
