#include "conformance/compare/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace graphgate::conformance {
namespace {

using spec::DType;

constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();

// A binary floating format: widths of the fields, and whether the top exponent means infinity.
struct Layout {
  int exponent_bits;
  int fraction_bits;
  bool ieee;
};

Layout layout_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return {11, 52, true};
    case DType::kFloat32:
      return {8, 23, true};
    case DType::kFloat16:
      return {5, 10, true};
    case DType::kBFloat16:
      return {8, 7, true};
    case DType::kFloat8E4M3FN:
      return {4, 3, false};
    default:
      return {5, 2, true};
  }
}

int bias(const Layout& layout) { return (1 << (layout.exponent_bits - 1)) - 1; }

// Exact; float64's subnormals are counted in a unit that is no normal float64.
long double power_of_two(int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(1.0L, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

long double decode_bits(std::uint64_t bits, const Layout& layout) {
  const std::uint64_t fraction_mask = (std::uint64_t{1} << layout.fraction_bits) - 1;
  const std::uint64_t top = (std::uint64_t{1} << layout.exponent_bits) - 1;
  const std::uint64_t fraction = bits & fraction_mask;
  const std::uint64_t exponent = (bits >> layout.fraction_bits) & top;
  const bool negative = ((bits >> (layout.fraction_bits + layout.exponent_bits)) & 1U) != 0;
  const bool is_top = exponent == top;
  if (layout.ieee && is_top && fraction == 0) return negative ? -kInfinity : kInfinity;
  if (is_top && (layout.ieee || fraction == fraction_mask)) return kNaN;
  const std::uint64_t hidden = exponent == 0 ? 0 : fraction_mask + 1;
  const int power =
      static_cast<int>(std::max<std::uint64_t>(exponent, 1)) - bias(layout) - layout.fraction_bits;
  const long double value = static_cast<long double>(fraction + hidden) * power_of_two(power);
  return negative ? -value : value;
}

// The bits of each element in row-major order, zero-extended.
template <class Bits>
std::vector<std::uint64_t> element_bits(const std::vector<std::byte>& bytes) {
  std::vector<std::uint64_t> out(bytes.size() / sizeof(Bits));
  for (std::size_t i = 0; i < out.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
    out[i] = bits;
  }
  return out;
}
std::vector<std::uint64_t> element_bits(const spec::HostTensor& tensor) {
  const std::vector<std::byte> bytes = spec::packed_bytes(tensor);
  switch (spec::item_size_bytes(tensor.dtype)) {
    case 1:
      return element_bits<std::uint8_t>(bytes);
    case 2:
      return element_bits<std::uint16_t>(bytes);
    case 4:
      return element_bits<std::uint32_t>(bytes);
    default:
      return element_bits<std::uint64_t>(bytes);
  }
}

long double decode_integer(std::uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return static_cast<long double>(static_cast<std::int64_t>(bits));
    case DType::kInt32:
      return static_cast<std::int32_t>(bits);
    case DType::kInt16:
      return static_cast<std::int16_t>(bits);
    case DType::kInt8:
      return static_cast<std::int8_t>(bits);
    case DType::kUInt8:
      return static_cast<long double>(bits);
    default:
      return bits != 0 ? 1 : 0;
  }
}

}  // namespace

std::vector<long double> decode_elements(const spec::HostTensor& tensor) {
  const std::vector<std::uint64_t> bits = element_bits(tensor);
  std::vector<long double> values(bits.size());
  const bool real = spec::is_floating_point(tensor.dtype);
  const Layout layout = layout_of(tensor.dtype);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    values[i] = real ? decode_bits(bits[i], layout) : decode_integer(bits[i], tensor.dtype);
  }
  return values;
}

std::vector<bool> decode_signs(const spec::HostTensor& tensor) {
  std::vector<bool> signs;
  for (const long double value : decode_elements(tensor)) signs.push_back(std::signbit(value));
  return signs;
}

long double half_spacing(long double value, DType dtype) {
  if (!spec::is_floating_point(dtype) || !std::isfinite(value)) return 0;
  const Layout layout = layout_of(dtype);
  const int least = 1 - bias(layout);
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0L, exponent - layout.fraction_bits - 1);
}

long double overflow_threshold(DType dtype) {
  if (!spec::is_floating_point(dtype)) return kInfinity;
  const Layout layout = layout_of(dtype);
  // The top exponent is for infinity and NaN; float8_e4m3fn uses all of it but one pattern.
  const int exponent = bias(layout) + (layout.ieee ? 0 : 1);
  const long double units = std::ldexp(2.0L, layout.fraction_bits) - (layout.ieee ? 1 : 2);
  return std::ldexp(units + 0.5L, exponent - layout.fraction_bits);
}

}  // namespace graphgate::conformance
