// Division, its roundings, and remainders.
#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/integer_arithmetic.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kTrue{.operands = 2, .numbers = Numbers::kReal, .exact_number = true};
constexpr PointwiseSignature kRounded{
    .operands = 2, .numbers = Numbers::kNotBool, .exact_number = true};
constexpr PointwiseSignature kRemainder{.operands = 2, .numbers = Numbers::kNotBool};

// Integer division by 0 is an error of the values: it shows when the launch runs.
template <class C>
void check_divisor(C y) {
  if constexpr (kIsInteger<C>) {
    if (y == 0) throw OpError("ZeroDivisionError: integer division by zero");
  }
}

template <class C>
C truncated_quotient(C x, C y) {
  check_divisor(y);
  if constexpr (kIsInteger<C>) {
    return divide_truncated(x, y);
  } else {
    return std::trunc(x / y);
  }
}

// Python's floor division: the quotient of x less its remainder, which is almost whole, taken to
// the whole number next to it. A zero quotient has the sign of x / y.
template <class C>
C floored_quotient(C x, C y) {
  check_divisor(y);
  if constexpr (kIsInteger<C>) {
    return divide_floored(x, y);
  } else {
    if (y == 0) return x / y;
    const C rest = std::fmod(x, y);
    C quotient = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(C(0), x / y);
    const C whole = std::floor(quotient);
    return quotient - whole > C(0.5) ? whole + 1 : whole;
  }
}

enum class Rounding : std::uint8_t { kNone, kTruncate, kFloor };

Rounding rounding_of(const KernelCall& call) {
  if (!call.has("rounding_mode")) return Rounding::kNone;
  const std::string_view mode = call.text("rounding_mode");
  if (mode == "trunc") return Rounding::kTruncate;
  if (mode == "floor") return Rounding::kFloor;
  throw OpError("rounding_mode is None, 'trunc' or 'floor', not '" + std::string(mode) + "'");
}

void infer_divide(Inference& call) {
  if (rounding_of(call) == Rounding::kNone) return infer_pointwise<kTrue>(call);
  infer_pointwise<kRounded>(call);
}

Launch bind_divide(const Binding& call) {
  switch (rounding_of(call)) {
    case Rounding::kTruncate:
      return launch_pointwise<kRounded>(
          call, []<class C>() { return [](C x, C y) { return truncated_quotient(x, y); }; });
    case Rounding::kFloor:
      return launch_pointwise<kRounded>(
          call, []<class C>() { return [](C x, C y) { return floored_quotient(x, y); }; });
    case Rounding::kNone:
      break;
  }
  return launch_pointwise<kTrue>(call, []<class C>() { return [](C x, C y) { return x / y; }; });
}

template <class C>
C remainder_of(C x, C y) {
  check_divisor(y);
  if constexpr (kIsInteger<C>) {
    return remainder_floored(x, y);
  } else {
    return remainder(x, y);
  }
}

template <class C>
C fmod_of(C x, C y) {
  check_divisor(y);
  if constexpr (kIsInteger<C>) {
    return remainder_truncated(x, y);
  } else {
    return fmod(x, y);
  }
}

}  // namespace

std::span<const Kernel> pointwise_division_kernels() {
  static const Kernel kKernels[] = {
      {"aten.div", infer_divide, bind_divide, Overlap::kSameGeometry},
      pointwise_kernel<kRounded>("aten.floor_divide",
                                 [](auto x, auto y) { return floored_quotient(x, y); }),
      pointwise_kernel<kRemainder>("aten.fmod", [](auto x, auto y) { return fmod_of(x, y); }),
      pointwise_kernel<kRemainder>("aten.remainder",
                                   [](auto x, auto y) { return remainder_of(x, y); }),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
