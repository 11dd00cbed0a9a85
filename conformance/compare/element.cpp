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

// float and double are binary32 and binary64 of IEEE 754.
static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4);
static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == 8);

// Decodes numbers that lie one behind the other.
template <class Element, class Decode>
void decode_each(const std::byte* bytes, std::span<long double> numbers, Decode decode) {
  for (long double& number : numbers) {
    Element element;
    std::memcpy(&element, bytes, sizeof(Element));
    bytes += sizeof(Element);
    number = decode(element);
  }
}

template <class Number>
void decode_numbers(const std::byte* bytes, std::span<long double> numbers) {
  decode_each<Number>(bytes, numbers, [](Number x) { return static_cast<long double>(x); });
}

void decode(const std::byte* bytes, DType dtype, std::span<long double> numbers) {
  switch (dtype) {
    case DType::kFloat64:
      return decode_numbers<double>(bytes, numbers);
    case DType::kFloat32:
      return decode_numbers<float>(bytes, numbers);
    case DType::kFloat16:
      return decode_each<std::uint16_t>(bytes, numbers, decode_real<kFloat16>);
    case DType::kBFloat16:
      return decode_each<std::uint16_t>(bytes, numbers, decode_real<kBFloat16>);
    case DType::kFloat8E4M3FN:
      return decode_each<std::uint8_t>(bytes, numbers, decode_real<kFloat8E4M3FN>);
    case DType::kFloat8E5M2:
      return decode_each<std::uint8_t>(bytes, numbers, decode_real<kFloat8E5M2>);
    case DType::kInt64:
      return decode_numbers<std::int64_t>(bytes, numbers);
    case DType::kInt32:
      return decode_numbers<std::int32_t>(bytes, numbers);
    case DType::kInt16:
      return decode_numbers<std::int16_t>(bytes, numbers);
    case DType::kInt8:
      return decode_numbers<std::int8_t>(bytes, numbers);
    case DType::kUInt8:
      return decode_numbers<std::uint8_t>(bytes, numbers);
    default:
      return decode_each<std::uint8_t>(bytes, numbers,
                                       [](std::uint8_t x) { return x != 0 ? 1.0L : 0.0L; });
  }
}

}  // namespace

std::size_t parts_of(DType dtype) { return spec::is_complex(dtype) ? 2 : 1; }

std::vector<long double> decode_elements(const spec::HostTensor& tensor) {
  const DType dtype = spec::component_dtype(tensor.dtype);
  const std::vector<std::byte> bytes = spec::packed_bytes(tensor);
  std::vector<long double> numbers(bytes.size() /
                                   static_cast<std::size_t>(spec::item_size_bytes(dtype)));
  decode(bytes.data(), dtype, numbers);
  return numbers;
}

void decode_row_major(const spec::HostTensor& tensor, std::size_t first,
                      std::span<long double> numbers) {
  const DType dtype = spec::component_dtype(tensor.dtype);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(dtype));
  const auto offset = static_cast<std::size_t>(tensor.storage_offset) * parts_of(tensor.dtype);
  decode(tensor.storage->bytes.data() + (offset + first) * item, dtype, numbers);
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

std::string print_index(std::int64_t element, const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    text = std::to_string(element % sizes[d]) + (text.empty() ? "" : ", ") + text;
    element /= sizes[d];
  }
  return "[" + text + "]";
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
