#include "reference/number/float_format.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "reference/tensor.h"

namespace graphgate::reference {

void detail::refuse_dtype(spec::DType dtype) {
  throw OpError("is not implemented for " + std::string(spec::torch_name(dtype)));
}

namespace {

using spec::DType;

using detail::FloatFormat;
using detail::kBFloat16;
using detail::kFloat16;
using detail::kFloat8E4M3FN;
using detail::kFloat8E5M2;

// The spacing of a format's elements around a finite `value`.
inline double spacing(double value, const FloatFormat& format) {
  const int exponent = std::max(detail::exponent_of(value), format.min_exponent);
  return detail::power_of_two(exponent - (format.precision - 1));
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
    case DType::kFloat8E5M2:
      return visit.template operator()<Narrow<kFloat8E5M2, std::uint8_t>>();
    default:
      detail::refuse_dtype(dtype);
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

}  // namespace graphgate::reference
