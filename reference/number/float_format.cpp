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

// 2^exponent, from 2^-1074 to 2^1023.
inline double power_of_two(int exponent) {
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// That of the leading bit of a finite `value`; at most -1023 for zeros and float64's subnormals.
inline int exponent_of(double value) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52) & 0x7ff) - 1023;
}

// The spacing of a format's elements around a finite `value`.
inline double spacing(double value, const FloatFormat& format) {
  const int exponent = std::max(exponent_of(value), format.min_exponent);
  return power_of_two(exponent - (format.precision - 1));
}

// How elements of each dtype are read, rounded to and written.
template <class T>
struct Wide {
  static double read(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return static_cast<double>(value);
  }
  static double round(double value) { return static_cast<double>(static_cast<T>(value)); }
  static void write(double value, std::byte* bytes) {
    const auto rounded = static_cast<T>(value);
    std::memcpy(bytes, &rounded, sizeof(T));
  }
};

// `Bits` are those of an element.
template <const FloatFormat& kFormat, class Bits>
struct Narrow {
  static constexpr int kFractionBits = kFormat.precision - 1;
  static constexpr unsigned kSign = 1U << (kFormat.exponent_bits + kFractionBits);
  static constexpr unsigned kInfinity = ((1U << kFormat.exponent_bits) - 1) << kFractionBits;
  static constexpr unsigned kFirstNaN = kFormat.has_infinity ? kInfinity + 1 : kSign - 1;
  // A float64 whose exponent and fraction begin with an element's bits is smaller than the element:
  // float64's exponents begin lower.
  static constexpr int kShift = 52 - kFractionBits;
  static constexpr double kScale =
      std::bit_cast<double>(static_cast<std::uint64_t>(1022 + kFormat.min_exponent + 1023) << 52);

  static double read(const std::byte* bytes) {
    Bits bits;
    std::memcpy(&bits, bytes, sizeof(Bits));
    const unsigned rest = bits & (kSign - 1);
    double magnitude = std::bit_cast<double>(std::uint64_t{rest} << kShift) * kScale;
    if (rest >= kFirstNaN) magnitude = std::numeric_limits<double>::quiet_NaN();
    if (kFormat.has_infinity && rest == kInfinity) {
      magnitude = std::numeric_limits<double>::infinity();
    }
    return (bits & kSign) != 0 ? -magnitude : magnitude;
  }

  // By way of float32.
  static double round(double value) {
    const auto single = static_cast<double>(static_cast<float>(value));
    if (!std::isfinite(single)) {
      return std::isinf(single) && !kFormat.has_infinity ? std::numeric_limits<double>::quiet_NaN()
                                                         : single;
    }
    const double step = spacing(single, kFormat);
    // nearbyint rounds ties to even; the quotient is exact, since step is a power of two.
    const double rounded = std::nearbyint(single / step) * step;
    if (std::fabs(rounded) <= kFormat.max_finite) return std::copysign(rounded, single);
    return kFormat.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), single)
                                : std::numeric_limits<double>::quiet_NaN();
  }

  static void write(double value, std::byte* bytes) {
    const double rounded = round(value);
    std::uint64_t magnitude = std::bit_cast<std::uint64_t>(std::fabs(rounded) / kScale) >> kShift;
    if (std::isinf(rounded)) magnitude = kInfinity;
    // float8_e4m3fn: all ones; the others: a quiet NaN.
    if (std::isnan(rounded)) {
      magnitude = kFormat.has_infinity ? kInfinity | (1U << (kFractionBits - 1)) : kFirstNaN;
    }
    const auto bits = static_cast<Bits>(magnitude | (std::signbit(rounded) ? kSign : 0));
    std::memcpy(bytes, &bits, sizeof(Bits));
  }
};

// Calls visit.operator()<Element>() with one of the above.
template <class Visit>
auto with_element(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat64:
      return visit.template operator()<Wide<double>>();
    case DType::kFloat32:
      return visit.template operator()<Wide<float>>();
    case DType::kFloat16:
      return visit.template operator()<Narrow<kFloat16, std::uint16_t>>();
    case DType::kBFloat16:
      return visit.template operator()<Narrow<kBFloat16, std::uint16_t>>();
    case DType::kFloat8E4M3FN:
      return visit.template operator()<Narrow<kFloat8E4M3FN, std::uint8_t>>();
    default:
      GRAPHGATE_CHECK(dtype == DType::kFloat8E5M2);
      return visit.template operator()<Narrow<kFloat8E5M2, std::uint8_t>>();
  }
}

}  // namespace

double decode_float(const std::byte* bytes, DType dtype) {
  return with_element(dtype, [&]<class Element>() { return Element::read(bytes); });
}

void encode_float(double value, DType dtype, std::byte* bytes) {
  with_element(dtype, [&]<class Element>() { Element::write(value, bytes); });
}

void decode_floats(const std::byte* bytes, std::int64_t step, DType dtype,
                   std::span<double> values) {
  with_element(dtype, [&]<class Element>() {
    for (double& value : values) {
      value = Element::read(bytes);
      bytes += step;
    }
  });
}

void encode_floats(std::span<const double> values, DType dtype, std::byte* bytes,
                   std::int64_t step) {
  with_element(dtype, [&]<class Element>() {
    for (const double value : values) {
      Element::write(value, bytes);
      bytes += step;
    }
  });
}

double round_to_dtype(double value, DType dtype) {
  return with_element(dtype, [&]<class Element>() { return Element::round(value); });
}

double round_to_dtype(long double value, DType dtype) {
  if (dtype == DType::kFloat64) return static_cast<double>(value);
  return round_to_dtype(static_cast<double>(static_cast<float>(value)), dtype);
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
