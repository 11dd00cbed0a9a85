#include "reference/number/float_format.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "spec/result.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// `precision` counts the implicit bit; `min_exponent` is that of the smallest normal number.
struct FloatFormat {
  int exponent_bits;
  int precision;
  int min_exponent;
  double max_finite;
  bool has_infinity;
};

constexpr FloatFormat kFloat64{11, 53, -1022, std::numeric_limits<double>::max(), true};
constexpr FloatFormat kFloat32{8, 24, -126, 3.4028234663852886e38, true};
constexpr FloatFormat kFloat16{5, 11, -14, 65504.0, true};
constexpr FloatFormat kBFloat16{8, 8, -126, 3.3895313892515355e38, true};
constexpr FloatFormat kFloat8E4M3FN{4, 4, -6, 448.0, false};
constexpr FloatFormat kFloat8E5M2{5, 3, -14, 57344.0, true};

const FloatFormat& format_of(DType dtype) {
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
    case DType::kFloat8E5M2:
      return kFloat8E5M2;
    default:
      break;
  }
  GRAPHGATE_CHECK(false && "not a floating dtype");
  return kFloat64;
}

bool is_small(DType dtype) { return dtype != DType::kFloat64 && dtype != DType::kFloat32; }

// 2^exponent, from 2^-1074 to 2^1023.
double power_of_two(int exponent) {
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// That of the leading bit of a finite `value`; at most -1023 for zeros and float64's subnormals.
int exponent_of(double value) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52) & 0x7ff) - 1023;
}

// The spacing of a format's elements around a finite `value`.
double spacing(double value, const FloatFormat& format) {
  const int exponent = std::max(exponent_of(value), format.min_exponent);
  return power_of_two(exponent - (format.precision - 1));
}

// Rounds a float32 value into a narrower format.
double round_narrow(float value, const FloatFormat& format) {
  if (!std::isfinite(value)) {
    return std::isinf(value) && !format.has_infinity ? std::numeric_limits<double>::quiet_NaN()
                                                     : value;
  }
  const double step = spacing(value, format);
  // nearbyint rounds ties to even; the quotient is exact, since step is a power of two.
  const double rounded = std::nearbyint(static_cast<double>(value) / step) * step;
  if (std::fabs(rounded) <= format.max_finite) return std::copysign(rounded, value);
  return format.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), value)
                             : std::numeric_limits<double>::quiet_NaN();
}

// The bit pattern of an element `value` of a narrow format.
std::uint16_t pack_narrow(double value, const FloatFormat& format) {
  const int fraction_bits = format.precision - 1;
  const int exponent_mask = (1 << format.exponent_bits) - 1;
  const int sign = std::signbit(value) ? 1 << (format.exponent_bits + fraction_bits) : 0;
  const double magnitude = std::fabs(value);
  int bits = 0;
  if (std::isnan(value)) {
    // float8_e4m3fn: all ones; the others: a quiet NaN.
    bits = format.has_infinity ? (exponent_mask << fraction_bits) | (1 << (fraction_bits - 1))
                               : (1 << (format.exponent_bits + fraction_bits)) - 1;
  } else if (std::isinf(value)) {
    bits = exponent_mask << fraction_bits;
  } else if (magnitude < power_of_two(format.min_exponent)) {
    bits = static_cast<int>(magnitude * power_of_two(fraction_bits - format.min_exponent));
  } else {
    const int exponent = exponent_of(magnitude);
    const int fraction =
        static_cast<int>(magnitude * power_of_two(fraction_bits - exponent)) - (1 << fraction_bits);
    bits = ((exponent - format.min_exponent + 1) << fraction_bits) | fraction;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

double unpack_narrow(unsigned bits, const FloatFormat& format) {
  const int fraction_bits = format.precision - 1;
  const unsigned exponent_mask = (1U << format.exponent_bits) - 1;
  const unsigned fraction = bits & ((1U << fraction_bits) - 1);
  const unsigned exponent = (bits >> fraction_bits) & exponent_mask;
  const bool negative = ((bits >> (fraction_bits + format.exponent_bits)) & 1U) != 0;
  double magnitude = 0;
  if (format.has_infinity && exponent == exponent_mask) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (!format.has_infinity && exponent == exponent_mask &&
             fraction == (1U << fraction_bits) - 1) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = fraction * power_of_two(format.min_exponent - fraction_bits);
  } else {
    magnitude = (fraction + (1U << fraction_bits)) *
                power_of_two(static_cast<int>(exponent) - 1 + format.min_exponent - fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

template <class T>
T read_as(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

void write_single(double value, std::byte* bytes) {
  const auto narrow = static_cast<float>(value);
  std::memcpy(bytes, &narrow, sizeof(float));
}

}  // namespace

double decode_float(const std::byte* bytes, DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return read_as<double>(bytes);
    case DType::kFloat32:
      return static_cast<double>(read_as<float>(bytes));
    case DType::kFloat16:
    case DType::kBFloat16:
      return unpack_narrow(read_as<std::uint16_t>(bytes), format_of(dtype));
    default:
      return unpack_narrow(read_as<std::uint8_t>(bytes), format_of(dtype));
  }
}

void encode_float(double value, DType dtype, std::byte* bytes) {
  if (dtype == DType::kFloat64) {
    std::memcpy(bytes, &value, sizeof(double));
  } else if (dtype == DType::kFloat32) {
    write_single(value, bytes);
  } else {
    const FloatFormat& format = format_of(dtype);
    const std::uint16_t bits = pack_narrow(round_narrow(static_cast<float>(value), format), format);
    std::memcpy(bytes, &bits, static_cast<std::size_t>(spec::item_size_bytes(dtype)));
  }
}

void decode_floats(const std::byte* bytes, DType dtype, std::span<double> values) {
  const std::int64_t item = spec::item_size_bytes(dtype);
  const bool is_single = dtype == DType::kFloat32;  // no need to ask of each
  for (double& value : values) {
    value = is_single ? static_cast<double>(read_as<float>(bytes)) : decode_float(bytes, dtype);
    bytes += item;
  }
}

void encode_floats(std::span<const double> values, DType dtype, std::byte* bytes) {
  const std::int64_t item = spec::item_size_bytes(dtype);
  const bool is_single = dtype == DType::kFloat32;
  for (const double value : values) {
    if (is_single) {
      write_single(value, bytes);
    } else {
      encode_float(value, dtype, bytes);
    }
    bytes += item;
  }
}

double round_to_dtype(double value, DType dtype) {
  if (dtype == DType::kFloat64) return value;
  const auto single = static_cast<float>(value);
  return is_small(dtype) ? round_narrow(single, format_of(dtype)) : static_cast<double>(single);
}

double round_to_dtype(long double value, DType dtype) {
  if (dtype == DType::kFloat64) return static_cast<double>(value);
  const auto single = static_cast<float>(value);
  return is_small(dtype) ? round_narrow(single, format_of(dtype)) : static_cast<double>(single);
}

double max_finite(DType dtype) { return format_of(dtype).max_finite; }

double half_ulp(long double value, DType dtype) {
  if (!spec::is_floating_point(dtype) || !std::isfinite(value)) return 0;
  const auto narrow = static_cast<double>(value);
  if (!std::isfinite(narrow)) return 0;
  // Half of float64's smallest spacing is no double; the spacing itself bounds it.
  const double half = spacing(narrow, format_of(dtype)) / 2;
  return half > 0 ? half : std::numeric_limits<double>::denorm_min();
}

double unit_roundoff(DType dtype) { return std::ldexp(1.0, -format_of(dtype).precision); }

DType compute_dtype(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

}  // namespace graphgate::reference
