// Storage formats: what the bytes of a dtype stand for, and conversions between numbers.
//
// Used by: tile.cpp, for the host, and generated device kernels, whose text includes this very
// file. A format has the type of its bytes, and decode and encode between them and a number.
#pragma once

#include <cstdint>
#include <type_traits>

#include "optimized/arithmetic/float_format.h"

namespace graphgate::optimized {

// A storage format: its bytes as an integer or number type, and the number they stand for.
template <class Number>
struct Plain {
  using Bits = Number;
  static Number decode(Bits bits) { return bits; }
  static Bits encode(Number value) { return value; }
};
struct F16 {
  using Bits = std::uint16_t;
  static constexpr Bits kGreatest = 0x7BFF;  // the greatest finite number
  static constexpr Bits kNan = 0x7E00;
  static float decode(Bits bits) { return f16_to_float(bits); }
  static Bits encode(float value) { return float_to_f16(value); }
};
struct BF16 {
  using Bits = std::uint16_t;
  static constexpr Bits kGreatest = 0x7F7F;
  static constexpr Bits kNan = 0x7FC0;
  static float decode(Bits bits) { return bf16_to_float(bits); }
  static Bits encode(float value) { return float_to_bf16(value); }
};
struct F8E4M3FN {
  using Bits = std::uint8_t;
  static constexpr Bits kGreatest = 0x7E;
  static constexpr Bits kNan = 0x7F;
  static float decode(Bits bits) { return f8e4m3fn_to_float(bits); }
  static Bits encode(float value) { return float_to_f8e4m3fn(value); }
};
struct F8E5M2 {
  using Bits = std::uint8_t;
  static constexpr Bits kGreatest = 0x7B;
  static constexpr Bits kNan = 0x7E;
  static float decode(Bits bits) { return f8e5m2_to_float(bits); }
  static Bits encode(float value) { return float_to_f8e5m2(value); }
};
struct Boolean {
  using Bits = std::uint8_t;
  static bool decode(Bits bits) { return bits != 0; }
  static Bits encode(bool value) { return value ? 1 : 0; }
};

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return to_bool(value);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return truncate_to<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    return wrap_to<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class Format>
using NumberOf = decltype(Format::decode(typename Format::Bits{}));

// A number rounded into a format, in its own type again.
template <class Format, class C>
C rounded_in(C value) {
  return convert<C>(Format::decode(Format::encode(convert<NumberOf<Format>>(value))));
}

}  // namespace graphgate::optimized
