#include "spec/element_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace graphgate::spec {
namespace {

// The layout of a float of at most 16 bits: sign, exponent, mantissa.
struct SmallFloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;  // else the top exponent holds numbers too, and only all ones is NaN
};

std::optional<SmallFloat> small_float(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return SmallFloat{5, 10, true};
    case DType::kBFloat16:
      return SmallFloat{8, 7, true};
    case DType::kFloat8E5M2:
      return SmallFloat{5, 2, true};
    case DType::kFloat8E4M3FN:
      return SmallFloat{4, 3, false};
    default:
      return std::nullopt;
  }
}

// The bit pattern of the largest finite value.
unsigned largest_finite(const SmallFloat& format) {
  const unsigned top = ((1U << static_cast<unsigned>(format.exponent_bits)) - 1U)
                       << static_cast<unsigned>(format.mantissa_bits);
  const unsigned mantissa = (1U << static_cast<unsigned>(format.mantissa_bits)) - 1U;
  return format.has_infinity ? top - 1U : (top | mantissa) - 1U;
}

unsigned sign_bit(const SmallFloat& format) {
  return 1U << static_cast<unsigned>(format.exponent_bits + format.mantissa_bits);
}

// What `nan` is written as: the quiet bit alone, or all ones where that is the only NaN.
unsigned quiet_nan(const SmallFloat& format) {
  const unsigned quiet = 1U << static_cast<unsigned>(format.mantissa_bits - 1);
  return format.has_infinity ? (largest_finite(format) + 1U) | quiet : largest_finite(format) + 1U;
}

// The value of a finite pattern without its sign. Patterns are in the order of their values.
double magnitude(const SmallFloat& format, unsigned bits) {
  const unsigned mantissa_size = 1U << static_cast<unsigned>(format.mantissa_bits);
  const auto exponent = static_cast<int>(bits / mantissa_size);
  const unsigned mantissa = bits % mantissa_size;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const unsigned significand = exponent == 0 ? mantissa : mantissa + mantissa_size;
  return std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - format.mantissa_bits);
}

// The pattern nearest to a finite value >= 0, ties to even; nullopt above the range (by half a unit
// in the last place or more).
std::optional<unsigned> nearest(const SmallFloat& format, double value) {
  unsigned low = 0;  // magnitude(low) <= value < magnitude(high)
  unsigned high = largest_finite(format) + 1U;
  const double top = magnitude(format, high - 1U);
  const double limit = top + (top - magnitude(format, high - 2U)) / 2;
  if (value >= limit) return std::nullopt;
  while (high - low > 1U) {
    const unsigned middle = (low + high) / 2U;
    (magnitude(format, middle) <= value ? low : high) = middle;
  }
  if (high > largest_finite(format)) return low;
  const double below = value - magnitude(format, low);
  const double above = magnitude(format, high) - value;
  const bool up = below > above || (below == above && low % 2U == 1U);
  return up ? high : low;
}

template <class T>
T load(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, T value) {
  std::memcpy(bytes.data(), &value, sizeof(T));
}

unsigned load_bits(std::span<const std::byte> bytes) {
  return bytes.size() == 1 ? load<std::uint8_t>(bytes) : load<std::uint16_t>(bytes);
}

template <class T>
std::string shortest(T value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::optional<std::string> print_wide(std::span<const std::byte> element) {
  const T value = load<T>(element);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (!std::isnan(value)) return shortest(value);
  const auto quiet =
      std::bit_cast<std::array<std::byte, sizeof(T)>>(std::numeric_limits<T>::quiet_NaN());
  const bool plain = std::equal(quiet.begin(), quiet.end(), element.begin());
  return plain ? std::optional<std::string>("nan") : std::nullopt;
}

std::optional<std::string> print_small(const SmallFloat& format, unsigned bits) {
  if (bits == quiet_nan(format)) return "nan";
  const std::string sign = (bits & sign_bit(format)) != 0 ? "-" : "";
  const unsigned rest = bits & (sign_bit(format) - 1U);
  if (rest <= largest_finite(format)) {
    return sign + shortest(static_cast<float>(magnitude(format, rest)));
  }
  const bool infinite = format.has_infinity && rest == largest_finite(format) + 1U;
  return infinite ? std::optional<std::string>(sign + "inf") : std::nullopt;
}

// [-] number, inf or nan, as its text.
Result<std::string> take_number(TextReader& reader) {
  const bool negative = reader.accept("-");
  const bool number = reader.at(TokenKind::kInteger) || reader.at(TokenKind::kFloat);
  if (!number && !reader.at("inf") && !reader.at("nan")) return reader.expected("a number");
  return (negative ? "-" : "") + std::string(reader.take().text);
}

Error out_of_range(const TextReader& reader, const Token& token, const std::string& text,
                   DType dtype) {
  return reader.error_at(
      token, "the number " + text + " is out of the range of " + std::string(short_name(dtype)));
}

// Parses `text` as T. A number below the smallest subnormal reads as zero, as strtod has it.
template <class T>
std::optional<T> parse_wide(const std::string& text) {
  if (text == "nan" || text == "-nan") return std::numeric_limits<T>::quiet_NaN();
  T value{};
  const auto code = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  if (code == std::errc()) return value;
  const T rounded = sizeof(T) == sizeof(float) ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                                               : static_cast<T>(std::strtod(text.c_str(), nullptr));
  return std::isinf(rounded) ? std::nullopt : std::optional<T>(rounded);
}

template <class T>
Result<void> read_wide(TextReader& reader, DType dtype, std::span<std::byte> element) {
  const Token start = reader.peek();
  GRAPHGATE_TRY(const std::string text, take_number(reader));
  const auto value = parse_wide<T>(text);
  if (!value) return out_of_range(reader, start, text, dtype);
  store(element, *value);
  return {};
}

Result<void> read_small(TextReader& reader, DType dtype, const SmallFloat& format,
                        std::span<std::byte> element) {
  const Token start = reader.peek();
  GRAPHGATE_TRY(const std::string text, take_number(reader));
  const auto value = parse_wide<double>(text);
  std::optional<unsigned> bits;
  if (value && std::isnan(*value)) {
    bits = quiet_nan(format);
  } else if (value && std::isinf(*value)) {
    if (format.has_infinity) bits = largest_finite(format) + 1U;
  } else if (value) {
    bits = nearest(format, std::abs(*value));
  }
  if (!bits) return out_of_range(reader, start, text, dtype);
  if (std::signbit(*value) && !std::isnan(*value)) *bits |= sign_bit(format);
  if (element.size() == 1) {
    store(element, static_cast<std::uint8_t>(*bits));
  } else {
    store(element, static_cast<std::uint16_t>(*bits));
  }
  return {};
}

template <class T>
Result<void> read_integral(TextReader& reader, DType dtype, std::span<std::byte> element) {
  const Token start = reader.peek();
  GRAPHGATE_TRY(const std::int64_t value, reader.take_integer("an integer"));
  const auto narrow = static_cast<T>(value);
  if (static_cast<std::int64_t>(narrow) != value) {
    return out_of_range(reader, start, std::to_string(value), dtype);
  }
  store(element, narrow);
  return {};
}

Result<void> read_bool(TextReader& reader, std::span<std::byte> element) {
  const bool value = reader.at("True");
  if (!value && !reader.at("False")) return reader.expected("True or False");
  (void)reader.take();
  store(element, static_cast<std::uint8_t>(value));
  return {};
}

// complex(1.0, -2.0): the parts as elements of their own dtype.
std::optional<std::string> print_complex(DType dtype, std::span<const std::byte> element) {
  const std::size_t half = element.size() / 2;
  const auto real = print_element(component_dtype(dtype), element.first(half));
  const auto imag = print_element(component_dtype(dtype), element.subspan(half));
  if (!real || !imag) return std::nullopt;
  return "complex(" + *real + ", " + *imag + ")";
}

Result<void> read_complex(TextReader& reader, DType dtype, std::span<std::byte> element) {
  const std::size_t half = element.size() / 2;
  if (!reader.accept("complex")) return reader.expected("complex(REAL, IMAG)");
  GRAPHGATE_TRY_VOID(reader.expect("("));
  GRAPHGATE_TRY_VOID(read_element(reader, component_dtype(dtype), element.first(half)));
  GRAPHGATE_TRY_VOID(reader.expect(","));
  GRAPHGATE_TRY_VOID(read_element(reader, component_dtype(dtype), element.subspan(half)));
  return reader.expect(")");
}

}  // namespace

std::optional<std::string> print_element(DType dtype, std::span<const std::byte> element) {
  if (is_complex(dtype)) return print_complex(dtype, element);
  if (const auto format = small_float(dtype)) return print_small(*format, load_bits(element));
  switch (dtype) {
    case DType::kFloat64:
      return print_wide<double>(element);
    case DType::kFloat32:
      return print_wide<float>(element);
    case DType::kInt64:
      return std::to_string(load<std::int64_t>(element));
    case DType::kInt32:
      return std::to_string(load<std::int32_t>(element));
    case DType::kInt16:
      return std::to_string(load<std::int16_t>(element));
    case DType::kInt8:
      return std::to_string(load<std::int8_t>(element));
    case DType::kUInt8:
      return std::to_string(load<std::uint8_t>(element));
    default:
      break;
  }
  const auto value = load<std::uint8_t>(element);
  if (value > 1) return std::nullopt;
  return value == 1 ? "True" : "False";
}

Result<void> read_element(TextReader& reader, DType dtype, std::span<std::byte> element) {
  if (is_complex(dtype)) return read_complex(reader, dtype, element);
  if (const auto format = small_float(dtype)) return read_small(reader, dtype, *format, element);
  switch (dtype) {
    case DType::kFloat64:
      return read_wide<double>(reader, dtype, element);
    case DType::kFloat32:
      return read_wide<float>(reader, dtype, element);
    case DType::kInt64:
      return read_integral<std::int64_t>(reader, dtype, element);
    case DType::kInt32:
      return read_integral<std::int32_t>(reader, dtype, element);
    case DType::kInt16:
      return read_integral<std::int16_t>(reader, dtype, element);
    case DType::kInt8:
      return read_integral<std::int8_t>(reader, dtype, element);
    case DType::kUInt8:
      return read_integral<std::uint8_t>(reader, dtype, element);
    default:
      return read_bool(reader, element);
  }
}

}  // namespace graphgate::spec
