// Pointwise arithmetic of two or three operands: tensors or numbers. Division is next door
// (pointwise_division.cpp).
#include <algorithm>
#include <array>
#include <numbers>
#include <string_view>

#include "reference/number/left_open.h"
#include "reference/ops/root.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The factor `name` of a sum, in the common dtype: an integer sum wants an integer factor.
template <class N>
N factor(const Call& call, std::string_view name, DType common) {
  if (!call.has(name)) return N(1);
  const Datum& datum = call.datum(name);
  if (!spec::is_floating_point(common) && is_float(datum)) {
    throw OpError("for integral tensors, argument '" + std::string(name) +
                  "' must not be a floating point number");
  }
  return checked_number<N>(datum, common);
}

// alpha * x. 16-bit dtypes may hold the product in the dtype (ATen's kernel does for the last
// elements of a row that does not fill a vector). Where it overflows there, who holds it has an
// infinity and who does not a number.
Whole scaled(Whole alpha, Whole x, DType /*dtype*/) { return alpha * x; }
template <class N>
N scaled(const N& alpha, const N& x, DType dtype) {
  const N product = alpha * x;
  return covering(held_in(product, dtype), product);
}

// first + alpha * second. alpha is converted to the common dtype, as ATen's kernel does.
void sum_of(Call& call, std::string_view first, std::string_view second, bool negate) {
  const Operands operands = gather_operands(call, {first, second});
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    const N alpha = factor<N>(call, "alpha", dtype);
    const N signed_alpha = negate ? -alpha : alpha;
    emit_formula<N>(call, operands, dtype, dtype,
                    [&](const N& a, const N& b) { return a + scaled(signed_alpha, b, dtype); });
  });
}

void add(Call& call) { sum_of(call, "self", "other", false); }

void refuse_two_bools(const Call& call) {
  if (gather_operands(call, {"self", "other"}).common == DType::kBool) {
    throw OpError("subtraction of two bool tensors is not supported");
  }
}
void sub(Call& call) {
  refuse_two_bools(call);
  sum_of(call, "self", "other", true);
}
void rsub(Call& call) {
  refuse_two_bools(call);
  sum_of(call, "other", "self", true);
}

void mul(Call& call) {
  Operands operands = gather_operands(call, {"self", "other"});
  operands.wide_last = true;
  refuse_float8(call, operands.common);
  with_number(call.mode(), operands.common, [&]<class N>() {
    emit_formula<N>(call, operands, operands.common, operands.common,
                    [](const N& a, const N& b) { return a * b; });
  });
}

void arctangent(Call& call) {
  pointwise_real(call, {"self", "other"}, [](auto y, auto x) { return atan2(y, x); });
}

void hypotenuse(Call& call) {
  require_floating(call, gather_operands(call, {"self", "other"}).common);
  pointwise_real(call, {"self", "other"}, [](auto x, auto y) { return hypot(x, y); });
}

void with_sign_of(Call& call) {
  pointwise_real(call, {"self", "other"}, [](auto x, auto y) { return copysign(x, y); });
}

// log(exp(a) + exp(b)).
void logaddexp(Call& call) {
  require_floating(call, gather_operands(call, {"self", "other"}).common);
  pointwise_real(call, {"self", "other"}, []<class N>(const N& a, const N& b) {
    const Whole same_infinity = is_infinite(a) & equal(a, b);
    return select(same_infinity, a, maximum(a, b) + log1p(exp(-abs(a - b))));
  });
}

// log2(2^a + 2^b), by way of log1p; the factor 1 / log(2) is held in the compute dtype.
void logaddexp2(Call& call) {
  const DType common = gather_operands(call, {"self", "other"}).common;
  require_floating(call, common);
  const double inverse = round_to_dtype(1 / std::numbers::ln2, compute_dtype(common));
  pointwise_real(call, {"self", "other"}, [inverse]<class N>(const N& a, const N& b) {
    const Whole same_infinity = is_infinite(a) & equal(a, b);
    const N above = log1p(exp2(-abs(a - b))) * N(inverse);
    return select(same_infinity, a, maximum(a, b) + above);
  });
}

// x times a logarithm of y: 0 for x == 0 unless y is NaN. The logarithm is held in the common
// dtype.
template <class F>
void product_with_log(Call& call, F logarithm) {
  const DType dtype = to_floating(gather_operands(call, {"self", "other"}).common);
  pointwise_real(call, {"self", "other"}, [=]<class N>(const N& x, const N& y) {
    const N product = x * held_in(logarithm(y), dtype);
    return select(is_nan(y), y, select(is_zero(x), N(0), product));
  });
}
void xlogy(Call& call) {
  product_with_log(call, [](auto y) { return log(y); });
}
void xlog1py(Call& call) {
  product_with_log(call, [](auto y) { return log1p(y); });
}

// The larger or the smaller, of a number and NaN the number.
Whole number_of(Whole /*a*/, Whole /*b*/, Whole better) { return better; }
template <class N>
N number_of(const N& a, const N& b, const N& better) {
  return select(is_nan(a), b, select(is_nan(b), a, better));
}
void larger_number(Call& call) {
  pointwise(call, {"self", "other"}, [](auto a, auto b) { return number_of(a, b, maximum(a, b)); });
}
void smaller_number(Call& call) {
  pointwise(call, {"self", "other"}, [](auto a, auto b) { return number_of(a, b, minimum(a, b)); });
}

// The greatest common divisor by Euclid's algorithm in the dtype: the magnitude of its least number
// is itself, so that what is found beside it may be negative, as PyTorch's is.
Whole common_divisor(Whole a, Whole b, DType dtype) {
  const bool undecided = a.undecided || b.undecided;
  a.value = wrap_to(abs(a).value, dtype);
  b.value = wrap_to(abs(b).value, dtype);
  while (a.value != 0) {
    const Whole rest = truncated_remainder(b, a);
    b = a;
    a = rest;
  }
  return {b.value, undecided};
}
// Of a multiple, int32 and int64 wrap before its magnitude is taken, narrower dtypes after.
Whole common_multiple(Whole a, Whole b, DType dtype) {
  const Whole divisor = common_divisor(a, b, dtype);
  if (divisor.value == 0) return divisor;
  Whole multiple = truncated_quotient(a, divisor) * b;
  if (dtype == DType::kInt32) multiple.value = wrap_to(multiple.value, dtype);
  return {abs(multiple).value, divisor.undecided};
}
template <class F>
void of_integers(Call& call, F f) {
  const Operands operands = gather_operands(call, {"self", "other"});
  const DType dtype = operands.common;
  refuse_bool(call, dtype);
  require_integral(call, dtype);
  emit_formula<Whole>(call, operands, dtype, dtype,
                      [f, dtype](Whole a, Whole b) { return f(a, b, dtype); });
}
void gcd_of(Call& call) { of_integers(call, common_divisor); }
void lcm_of(Call& call) { of_integers(call, common_multiple); }

// x * 2^exponent, rounded once.
double times_power_of_two(double x, Whole exponent) {
  return std::ldexp(x, static_cast<int>(exponent.value));
}
template <class P>
Tracked<P> times_power_of_two(const Tracked<P>& x, Whole exponent) {
  constexpr std::int64_t kFarEnough = 8000;  // nothing or infinity
  const std::int64_t power = std::clamp(exponent.value, -kFarEnough, kFarEnough);
  const Tracked<P> factor(std::ldexp(1.0L, static_cast<int>(power)), 0, x.arithmetic);
  return exponent.undecided ? left_open(x * factor) : x * factor;
}

// Of a floating self and an integer, which is cut to 32 bits.
void scale_by_integers(Call& call) {
  const Operands operands = gather_operands(call, {"self", "other"});
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  refuse_bool(call, call.tensor("other")->dtype);
  check_result_fits(call, dtype);
  const auto exponents =
      broadcast_to(load<Whole>(*call.tensor("other"), DType::kInt32), operands.sizes);
  with_real(call.mode(), [&]<class N>() {
    Array<N> out = broadcast_to(load<N>(*call.tensor("self"), dtype), operands.sizes);
    for (std::int64_t i = 0; i < out.count(); ++i)
      out[i] = times_power_of_two(out[i], exponents[i]);
    call.emit(out, dtype, operand_strides(operands));
  });
}

// self * 2^other. Of other dtypes than above the power is a row-major float of its own (float32 of
// integers), which may overflow, and the product is mul's.
void ldexp_of(Call& call) {
  const TensorRef other = call.tensor("other");
  const bool is_real = spec::is_floating_point(call.tensor("self")->dtype);
  if (is_real && !spec::is_floating_point(other->dtype)) return scale_by_integers(call);
  Operands operands = gather_operands(call, {"self", "other"});
  const DType power_dtype = to_floating(other->dtype);
  refuse_float8(call, power_dtype);
  const TensorRef power = new_tensor(power_dtype, other->sizes, other->device);
  with_real(call.mode(), [&]<class N>() {
    Array<N> powers = load<N>(*other, power_dtype);
    const N two = number<N>(Datum{2.0}, power_dtype);
    for (N& x : powers.data) x = pow(two, x);
    store(*power, powers);
  });
  operands.data[1] = {power};
  operands.tensors[1] = power;
  operands.common = result_type(operands.data);
  operands.wide_last = true;
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, dtype, dtype, [](const N& a, const N& b) { return a * b; });
  });
}

// The number of the dtype that comes next to x toward y; NaN beside NaN.
double next_number(long double x, long double y, DType dtype) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  if (x == y) return static_cast<double>(y);
  if (x == 0) {
    // Half of float64's smallest number is itself (half_ulp).
    const double least = dtype == DType::kFloat64 ? half_ulp(0, dtype) : 2 * half_ulp(0, dtype);
    return std::copysign(least, static_cast<double>(y));
  }
  const auto size = static_cast<double>(std::fabs(x));
  const bool grows = (y > x) == (x > 0);
  double next = 0;
  if (std::isinf(size)) {
    next = max_finite(dtype);
  } else if (dtype == DType::kFloat64) {
    next = std::nextafter(size, grows ? std::numeric_limits<double>::infinity() : 0);
  } else {
    const double half = half_ulp(static_cast<long double>(size), dtype);
    // Below a power of two numbers are half as far apart.
    const bool is_held = round_to_dtype(size - half, dtype) == size - half;
    next = grows ? round_to_dtype(size + 2 * half, dtype) : size - (is_held ? half : 2 * half);
  }
  return std::copysign(next, static_cast<double>(x));
}
double next_after(double x, double y, DType dtype) {
  return next_number(static_cast<long double>(x), static_cast<long double>(y), dtype);
}
template <class P>
Tracked<P> next_after(const Tracked<P>& x, const Tracked<P>& y, DType dtype) {
  const double next = next_number(x.value, y.value, dtype);
  const bool is_exact = x.radius == 0 && y.radius == 0;
  const double reach =
      is_exact
          ? 0
          : x.radius + 4 * half_ulp(std::fabs(x.value) + static_cast<long double>(x.radius), dtype);
  return {static_cast<long double>(next), reach, x.arithmetic};
}
void nextafter_of(Call& call) {
  const DType dtype = gather_operands(call, {"self", "other"}).common;
  require_floating(call, dtype);
  pointwise_real(call, {"self", "other"},
                 [dtype](auto x, auto y) { return next_after(x, y, dtype); });
}

void heaviside(Call& call) {
  pointwise(call, {"self", "values"}, []<class N>(const N& x, const N& at_zero) {
    return select(is_zero(x), at_zero, select(less(N(0), x), N(1), N(0)));
  });
}

// A power of tensors, or of a number; the latter's result is contiguous, and a power of 1 takes
// any exponent.
void power_of_operands(Call& call) {
  const Operands operands = gather_operands(call, {"self", "exponent"});
  const DType dtype = operands.common;
  const bool of_number = !call.datum("self").as<TensorRef>();
  const bool of_one = of_number && call.real("self") == 1;
  if (!of_one) refuse_bool(call, dtype);
  refuse_float8(call, dtype);
  check_result_fits(call, dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    const auto f = [of_one](const N& x, const N& y) { return of_one ? N(1) : pow(x, y); };
    if (!of_number) return emit_formula<N>(call, operands, dtype, dtype, f);
    emit_formula_as<N, 2>(call, operands, dtype, dtype, {}, f);
  });
}

// Exponents with kernels of their own. bfloat16 rounds between the multiplications, float16 takes
// the general kernel for roots and computes in float32; CUDA's kernels round both.
template <class N>
N fixed_power(const N& x, double exponent, DType dtype) {
  const bool rounds = dtype == DType::kBFloat16 || declared_arithmetic().has_cuda_kernels;
  const DType between = rounds ? dtype : compute_dtype(dtype);
  if (exponent == 2) return x * x;
  if (exponent == 3) return held_in(x * x, between) * x;
  if (exponent == -2) return inverse_square(x, between);
  if (exponent == -1) return 1.0 / x;
  if (exponent == 0.5 && dtype != DType::kFloat16) return sqrt(x);
  if (exponent == -0.5 && dtype != DType::kFloat16) return reciprocal_root(x, dtype);
  return pow(x, N(exponent));
}

void power_of_number(Call& call) {
  const Datum& exponent = call.datum("exponent");
  Operands operands = gather_operands(call, {"self"});
  const std::array both = {operands.data.front(), exponent};
  operands.common = result_type(both);
  const DType dtype = operands.common;
  const double as_real = call.real("exponent");
  refuse_float8(call, dtype);
  if (spec::is_floating_point(dtype)) {
    with_real(call.mode(), [&]<class N>() {
      const double held = round_to_dtype(as_real, dtype);
      emit_formula<N>(call, operands, dtype, dtype, [&](const N& x) {
        return as_real == 0 ? N(1) : as_real == 1 ? x : fixed_power<N>(x, held, dtype);
      });
    });
    return;
  }
  if (as_real < 0) throw OpError("Integers to negative integer powers are not allowed.");
  const auto held = checked_number<Whole>(exponent, dtype);
  emit_formula<Whole>(call, operands, dtype, dtype, [&](Whole x) { return pow(x, held); });
}

void pow_of(Call& call) {
  const bool by_number = !call.datum("exponent").as<TensorRef>();
  by_number ? power_of_number(call) : power_of_operands(call);
}

// In float64, whatever the operands are; that of a number is row-major, as pow's.
void float_power(Call& call) {
  Operands operands = gather_operands(call, {"self", "exponent"});
  operands.common = DType::kFloat64;
  if (!call.datum("self").as<TensorRef>()) {
    check_result_fits(call, DType::kFloat64);
    return with_real(call.mode(), [&]<class N>() {
      const auto f = [](const N& x, const N& y) { return pow(x, y); };
      emit_formula_as<N, 2>(call, operands, DType::kFloat64, DType::kFloat64, {}, f);
    });
  }
  const auto* as_tensor = call.datum("exponent").as<TensorRef>();
  const double exponent = as_tensor ? 0 : call.real("exponent");
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, DType::kFloat64, DType::kFloat64, [&](const N& x, const N& y) {
      if (as_tensor) return pow(x, y);
      return exponent == 0   ? N(1)
             : exponent == 1 ? x
                             : fixed_power<N>(x, exponent, DType::kFloat64);
    });
  });
}

// self + value * tensor1 * tensor2, or with a quotient. The number stays in the compute dtype.
// ATen's kernels for CPUs multiply tensor1 by it, those for CUDA the product or the quotient.
void addcmul(Call& call) {
  const Operands operands = gather_operands(call, {"self", "tensor1", "tensor2"});
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    const N value = number<N>(call.datum("value"), dtype);
    emit_formula<N>(call, operands, dtype, dtype, [&](const N& x, const N& a, const N& b) {
      const N of_either = covering(value * a * b, value * b * a);
      return x + covering(of_either, value * (a * b));
    });
  });
}
void addcdiv(Call& call) {
  const Operands operands = gather_operands(call, {"self", "tensor1", "tensor2"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    const N value = number<N>(call.datum("value"), dtype);
    emit_formula<N>(call, operands, dtype, dtype, [&](const N& x, const N& a, const N& b) {
      return x + covering(value * a / b, value * (a / b));
    });
  });
}

// From self to end by weight, from whichever side is nearer (which keeps both ends exact).
template <class N>
N interpolate(const N& start, const N& end, const N& weight) {
  const N step = end - start;
  const Whole near_start = less(abs(weight), N(0.5));
  return select(near_start, start + weight * step, end - step * (1.0 - weight));
}
void lerp(Call& call) {
  Operands operands = gather_operands(call, {"self", "end"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  if (call.datum("weight").as<TensorRef>()) {
    return pointwise_real(call, {"self", "end", "weight"},
                          [](auto a, auto b, auto w) { return interpolate(a, b, w); });
  }
  with_real(call.mode(), [&]<class N>() {
    const N weight = number<N>(call.datum("weight"), dtype);
    emit_formula<N>(call, operands, dtype, dtype,
                    [&](const N& a, const N& b) { return interpolate(a, b, weight); });
  });
}

constexpr std::array kPointwiseBinaryOps = {
    OpBody{"aten.add", add},
    OpBody{"aten.addcdiv", addcdiv},
    OpBody{"aten.addcmul", addcmul},
    OpBody{"aten.atan2", arctangent},
    OpBody{"aten.copysign", with_sign_of},
    OpBody{"aten.float_power", float_power},
    OpBody{"aten.fmax", larger_number},
    OpBody{"aten.fmin", smaller_number},
    OpBody{"aten.gcd", gcd_of},
    OpBody{"aten.heaviside", heaviside},
    OpBody{"aten.hypot", hypotenuse},
    OpBody{"aten.lcm", lcm_of},
    OpBody{"aten.ldexp", ldexp_of},
    OpBody{"aten.lerp", lerp},
    OpBody{"aten.logaddexp", logaddexp},
    OpBody{"aten.logaddexp2", logaddexp2},
    OpBody{"aten.mul", mul},
    OpBody{"aten.nextafter", nextafter_of},
    OpBody{"aten.pow", pow_of},
    OpBody{"aten.rsub", rsub},
    OpBody{"aten.special_xlog1py", xlog1py},
    OpBody{"aten.sub", sub},
    OpBody{"aten.xlogy", xlogy},
};

}  // namespace

std::span<const OpBody> pointwise_binary_ops() { return kPointwiseBinaryOps; }

}  // namespace graphgate::reference
