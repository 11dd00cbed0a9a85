// What arithmetic/ and kernels/elements/ use of the standard library, for generated device kernels.
//
// NVRTC brings no standard library, and the machine that compiles need not have one. Only exact
// functions are here: those that IEEE 754 defines to the last bit. Everything is a device function
// (--device-as-default-execution-space).
#pragma once

#define __extension__

namespace std {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = unsigned long;
using ptrdiff_t = long;

template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
constexpr int countl_zero(uint64_t x) {
  int count = 64;
  for (; x != 0; x >>= 1) --count;
  return count;
}

template <class T>
constexpr T min(T x, T y) {
  return y < x ? y : x;
}
template <class T>
constexpr T max(T x, T y) {
  return x < y ? y : x;
}
template <class T>
constexpr T clamp(T x, T low, T high) {
  return x < low ? low : high < x ? high : x;
}

template <class T, size_t count>
struct array {
  T elements[count];
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr T& operator[](size_t i) { return elements[i]; }
};

template <size_t... steps>
struct index_sequence {};
template <size_t count, size_t... steps>
struct index_sequence_maker : index_sequence_maker<count - 1, count - 1, steps...> {};
template <size_t... steps>
struct index_sequence_maker<0, steps...> {
  using type = index_sequence<steps...>;
};
template <size_t count>
using make_index_sequence = typename index_sequence_maker<count>::type;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_same_v<T, bool> || is_same_v<T, int8_t> || is_same_v<T, int16_t> || is_same_v<T, int32_t> ||
    is_same_v<T, int64_t> || is_same_v<T, uint8_t> || is_same_v<T, uint16_t> ||
    is_same_v<T, uint32_t> || is_same_v<T, uint64_t>;
template <bool condition, class Yes, class No>
struct conditional {
  using type = Yes;
};
template <class Yes, class No>
struct conditional<false, Yes, No> {
  using type = No;
};
template <bool condition, class Yes, class No>
using conditional_t = typename conditional<condition, Yes, No>::type;

inline double fabs(double x) { return ::fabs(x); }
inline float fabs(float x) { return ::fabsf(x); }
inline double copysign(double x, double y) { return ::copysign(x, y); }
inline float copysign(float x, float y) { return ::copysignf(x, y); }
inline double sqrt(double x) { return ::__dsqrt_rn(x); }
inline float sqrt(float x) { return ::__fsqrt_rn(x); }
inline double fmod(double x, double y) { return ::fmod(x, y); }
inline float fmod(float x, float y) { return ::fmodf(x, y); }
inline double trunc(double x) { return ::trunc(x); }
inline float trunc(float x) { return ::truncf(x); }
inline double floor(double x) { return ::floor(x); }
inline float floor(float x) { return ::floorf(x); }
inline double ceil(double x) { return ::ceil(x); }
inline float ceil(float x) { return ::ceilf(x); }
inline double nearbyint(double x) { return ::rint(x); }
inline float nearbyint(float x) { return ::rintf(x); }
inline bool signbit(double x) { return bit_cast<uint64_t>(x) >> 63 != 0; }
inline bool signbit(float x) { return bit_cast<uint32_t>(x) >> 31 != 0; }
inline bool isnan(double x) { return x != x; }
inline bool isnan(float x) { return x != x; }
inline bool isinf(double x) { return (bit_cast<uint64_t>(x) << 1) == uint64_t{0xffe} << 52; }
inline bool isinf(float x) { return (bit_cast<uint32_t>(x) << 1) == 0xff000000u; }

template <class T>
struct numeric_limits;
template <>
struct numeric_limits<double> {
  static constexpr double infinity() { return bit_cast<double>(uint64_t{0x7ff} << 52); }
  static constexpr double quiet_NaN() { return bit_cast<double>(uint64_t{0xfff} << 51); }
};
template <>
struct numeric_limits<float> {
  static constexpr float infinity() { return bit_cast<float>(0x7f800000u); }
  static constexpr float quiet_NaN() { return bit_cast<float>(0x7fc00000u); }
};
template <>
struct numeric_limits<int64_t> {
  static constexpr bool is_signed = true;
  static constexpr int64_t min() { return -0x7fffffffffffffff - 1; }
  static constexpr int64_t max() { return 0x7fffffffffffffff; }
};
template <>
struct numeric_limits<int32_t> {
  static constexpr bool is_signed = true;
  static constexpr int32_t min() { return -0x7fffffff - 1; }
};
template <>
struct numeric_limits<int16_t> {
  static constexpr bool is_signed = true;
};
template <>
struct numeric_limits<int8_t> {
  static constexpr bool is_signed = true;
};
template <>
struct numeric_limits<uint8_t> {
  static constexpr bool is_signed = false;
};

}  // namespace std
