#include "conformance/compare/element.h"

#include <algorithm>
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
  const long double value = std::ldexp(static_cast<long double>(fraction + hidden), power);
  return negative ? -value : value;
}

// Calls visit(bits) for each element in row-major order, zero-extended.
template <class Visit>
void for_each_element(const spec::HostTensor& tensor, Visit&& visit) {
  const std::vector<std::byte> bytes = spec::packed_bytes(tensor);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  for (std::size_t at = 0; at < bytes.size(); at += item) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, item);
    visit(bits);
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
  std::vector<long double> values;
  values.reserve(static_cast<std::size_t>(spec::element_count(tensor.sizes)));
  const bool real = spec::is_floating_point(tensor.dtype);
  const Layout layout = layout_of(tensor.dtype);
  for_each_element(tensor, [&](std::uint64_t bits) {
    values.push_back(real ? decode_bits(bits, layout) : decode_integer(bits, tensor.dtype));
  });
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
