#include "conformance/compare/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
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

constexpr Layout kFloat64{11, 52, true};
constexpr Layout kFloat32{8, 23, true};
constexpr Layout kFloat16{5, 10, true};
constexpr Layout kBFloat16{8, 7, true};
constexpr Layout kFloat8E4M3FN{4, 3, false};
constexpr Layout kFloat8E5M2{5, 2, true};

Layout layout_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return kFloat64;
    case DType::kFloat32:
      return kFloat32;
    case DType::kFloat16:
      return kFloat16;
    case DType::kBFloat16:
      return kBFloat16;
    case DType::kFloat8E4M3FN:
      return kFloat8E4M3FN;
    default:
      return kFloat8E5M2;
  }
}

constexpr int bias(const Layout& layout) { return (1 << (layout.exponent_bits - 1)) - 1; }

// Exact; float64's subnormals are counted in a unit that is no normal float64.
long double power_of_two(int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(1.0L, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

template <Layout kLayout>
long double decode_real(std::uint64_t bits) {
  constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << kLayout.fraction_bits) - 1;
  constexpr std::uint64_t top = (std::uint64_t{1} << kLayout.exponent_bits) - 1;
  const std::uint64_t fraction = bits & fraction_mask;
  const std::uint64_t exponent = (bits >> kLayout.fraction_bits) & top;
  const bool negative = ((bits >> (kLayout.fraction_bits + kLayout.exponent_bits)) & 1U) != 0;
  const bool is_top = exponent == top;
  if (kLayout.ieee && is_top && fraction == 0) return negative ? -kInfinity : kInfinity;
  if (is_top && (kLayout.ieee || fraction == fraction_mask)) return kNaN;
  const std::uint64_t hidden = exponent == 0 ? 0 : fraction_mask + 1;
  const int power = static_cast<int>(std::max<std::uint64_t>(exponent, 1)) - bias(kLayout) -
                    kLayout.fraction_bits;
  const long double value = static_cast<long double>(fraction + hidden) * power_of_two(power);
  return negative ? -value : value;
}

// decode(element) of each in row-major order.
template <class Element, class Decode>
std::vector<long double> decode_all(const spec::HostTensor& tensor, Decode decode) {
  const std::vector<std::byte> bytes = spec::packed_bytes(tensor);
  std::vector<long double> values(bytes.size() / sizeof(Element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    values[i] = decode(element);
  }
  return values;
}

template <class Integer>
std::vector<long double> decode_integers(const spec::HostTensor& tensor) {
  return decode_all<Integer>(tensor, [](Integer x) { return static_cast<long double>(x); });
}

}  // namespace

std::size_t parts_of(DType dtype) { return spec::is_complex(dtype) ? 2 : 1; }

std::vector<long double> decode_elements(const spec::HostTensor& tensor) {
  switch (spec::component_dtype(tensor.dtype)) {
    case DType::kFloat64:
      return decode_all<std::uint64_t>(tensor, decode_real<kFloat64>);
    case DType::kFloat32:
      return decode_all<std::uint32_t>(tensor, decode_real<kFloat32>);
    case DType::kFloat16:
      return decode_all<std::uint16_t>(tensor, decode_real<kFloat16>);
    case DType::kBFloat16:
      return decode_all<std::uint16_t>(tensor, decode_real<kBFloat16>);
    case DType::kFloat8E4M3FN:
      return decode_all<std::uint8_t>(tensor, decode_real<kFloat8E4M3FN>);
    case DType::kFloat8E5M2:
      return decode_all<std::uint8_t>(tensor, decode_real<kFloat8E5M2>);
    case DType::kInt64:
      return decode_integers<std::int64_t>(tensor);
    case DType::kInt32:
      return decode_integers<std::int32_t>(tensor);
    case DType::kInt16:
      return decode_integers<std::int16_t>(tensor);
    case DType::kInt8:
      return decode_integers<std::int8_t>(tensor);
    case DType::kUInt8:
      return decode_integers<std::uint8_t>(tensor);
    default:
      return decode_all<std::uint8_t>(tensor, [](std::uint8_t x) { return x != 0 ? 1.0L : 0.0L; });
  }
}

bool same_elements(const spec::HostTensor& a, const spec::HostTensor& b) {
  if (a.dtype != b.dtype || a.sizes != b.sizes) return false;
  const auto is_dense = [](const spec::HostTensor& tensor) {
    return tensor.strides == spec::contiguous_strides(tensor.sizes);
  };
  if (!is_dense(a) || !is_dense(b)) return spec::packed_bytes(a) == spec::packed_bytes(b);
  const auto count = static_cast<std::size_t>(spec::element_count(a.sizes));
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(a.dtype));
  if (count == 0) return true;
  const auto first = [item](const spec::HostTensor& tensor) {
    return tensor.storage->bytes.data() + static_cast<std::size_t>(tensor.storage_offset) * item;
  };
  return first(a) == first(b) || std::memcmp(first(a), first(b), count * item) == 0;
}

namespace {

std::string shown_number(long double value, DType dtype) {
  char text[48];  // an integer of a tensor has 20 characters at most
  const bool is_whole =
      !spec::is_floating_point(dtype) && std::fabs(value) < 0x1p64L && value == std::trunc(value);
  std::snprintf(text, sizeof(text), is_whole ? "%.0Lf" : "%.9Lg", value);
  return text;
}

}  // namespace

std::string shown_element(std::span<const long double> parts, DType dtype) {
  if (!spec::is_complex(dtype)) return shown_number(parts[0], dtype);
  const DType part = spec::component_dtype(dtype);
  return "complex(" + shown_number(parts[0], part) + ", " + shown_number(parts[1], part) + ")";
}

std::string shown_part(std::size_t part, DType dtype) {
  if (!spec::is_complex(dtype)) return "";
  return part == 0 ? "the real part of " : "the imaginary part of ";
}

long double half_spacing(long double value, DType dtype) {
  dtype = spec::component_dtype(dtype);
  if (!spec::is_floating_point(dtype) || !std::isfinite(value)) return 0;
  const Layout layout = layout_of(dtype);
  const int least = 1 - bias(layout);
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0L, exponent - layout.fraction_bits - 1);
}

long double overflow_threshold(DType dtype) {
  dtype = spec::component_dtype(dtype);
  if (!spec::is_floating_point(dtype)) return kInfinity;
  const Layout layout = layout_of(dtype);
  // The top exponent is for infinity and NaN; float8_e4m3fn uses all of it but one pattern.
  const int exponent = bias(layout) + (layout.ieee ? 0 : 1);
  const long double units = std::ldexp(2.0L, layout.fraction_bits) - (layout.ieee ? 1 : 2);
  return std::ldexp(units + 0.5L, exponent - layout.fraction_bits);
}

}  // namespace graphgate::conformance
