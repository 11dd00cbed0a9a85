// Pointwise arithmetic of two or three operands: tensors or numbers. Division is next door
// (pointwise_division.cpp).
#include <array>
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

// x * log(y): 0 for x == 0 unless y is NaN. The logarithm is held in the common dtype.
void xlogy(Call& call) {
  const DType dtype = to_floating(gather_operands(call, {"self", "other"}).common);
  pointwise_real(call, {"self", "other"}, [dtype]<class N>(const N& x, const N& y) {
    const N product = x * held_in(log(y), dtype);
    return select(is_nan(y), y, select(is_zero(x), N(0), product));
  });
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
    call.emit(detail::apply_formula<N>(operands, dtype, f, std::make_index_sequence<2>()), dtype);
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
    OpBody{"aten.heaviside", heaviside},
    OpBody{"aten.hypot", hypotenuse},
    OpBody{"aten.lerp", lerp},
    OpBody{"aten.logaddexp", logaddexp},
    OpBody{"aten.mul", mul},
    OpBody{"aten.pow", pow_of},
    OpBody{"aten.rsub", rsub},
    OpBody{"aten.sub", sub},
    OpBody{"aten.xlogy", xlogy},
};

}  // namespace

std::span<const OpBody> pointwise_binary_ops() { return kPointwiseBinaryOps; }

}  // namespace graphgate::reference
