// Quotients and remainders, true, floored and truncated.
//
// ATen has two sets of kernels for 16-bit dtypes: with a divisor of one element they compute in
// float32 throughout, with any other they round every step of a floored or truncated quotient to
// the dtype. Remainders are exact before one addition.
#include <array>

#include "reference/number/left_open.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

Whole nonzero(Whole divisor) {
  if (divisor.value == 0) throw OpError("ZeroDivisionError");
  return divisor;
}

// Operands of a quotient of the common dtype.
Operands quotient_operands(const Call& call) {
  Operands operands = gather_operands(call, {"self", "other"});
  operands.wide_last = true;
  refuse_float8(call, operands.common);
  return operands;
}

// The dtype that the steps of a quotient round to.
DType step_dtype(const Operands& operands) {
  return last_is_single(operands) ? compute_dtype(operands.common) : operands.common;
}

// Whether CUDA's kernels multiply by the rounded reciprocal of the divisor: of a number, and of a
// tensor without dimensions that lies on the host.
bool has_reciprocal(const Operands& operands) {
  if (!declared_arithmetic().has_cuda_kernels) return false;
  const auto* divisor = operands.data.back().as<TensorRef>();
  if (!divisor) return true;
  const bool is_apart = (*divisor)->device != operands.tensors.front()->device;
  return (*divisor)->rank() == 0 && is_apart;
}

// a / b; where `multiplies`, what a times the rounded reciprocal of b gives, too.
template <class N>
N quotient_of(const N& a, const N& b, bool multiplies) {
  return multiplies ? covering(a / b, a * (1.0 / b)) : a / b;
}

void true_quotient(Call& call) {
  const Operands operands = quotient_operands(call);
  const DType dtype = to_floating(operands.common);
  const bool multiplies = has_reciprocal(operands);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, dtype, dtype,
                    [multiplies](const N& a, const N& b) { return quotient_of(a, b, multiplies); });
  });
}

// 1 where a floored quotient is one less than the truncated one: there is a rest, and its sign is
// not the divisor's.
template <class N>
Whole rounds_down(const N& rest, const N& divisor) {
  return logical_not(is_zero(rest)) & (less(rest, N(0)) ^ less(divisor, N(0)));
}

// By way of the remainder, so that the quotient is a whole number before rounding, as CPython does.
template <class N>
N floored(const N& a, const N& b, DType steps) {
  const N rest = fmod(a, b);
  const N multiple = held_in(held_in(a - rest, steps) / b, steps);
  const N lowered = multiple - select(rounds_down(rest, b), N(1), N(0));
  const N quotient = round_half_down(held_in(lowered, steps));
  const N signed_zero = copysign(N(0), a / b);
  return select(is_zero(b), a / b, select(is_zero(quotient), signed_zero, quotient));
}

void floored_quotient_of(Call& call) {
  const Operands operands = quotient_operands(call);
  const DType dtype = operands.common;
  refuse_bool(call, dtype);
  if (!spec::is_floating_point(dtype)) {
    return emit_formula<Whole>(call, operands, dtype, dtype,
                               [](Whole a, Whole b) { return floored_quotient(a, nonzero(b)); });
  }
  const DType steps = step_dtype(operands);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, dtype, dtype,
                    [steps](const N& a, const N& b) { return floored(a, b, steps); });
  });
}

void truncated_quotient_of(Call& call) {
  const Operands operands = quotient_operands(call);
  const DType dtype = operands.common;
  refuse_bool(call, dtype);
  if (!spec::is_floating_point(dtype)) {
    return emit_formula<Whole>(call, operands, dtype, dtype,
                               [](Whole a, Whole b) { return truncated_quotient(a, nonzero(b)); });
  }
  const DType steps = step_dtype(operands);
  const bool multiplies = has_reciprocal(operands);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, dtype, dtype, [=](const N& a, const N& b) {
      return trunc(held_in(quotient_of(a, b, multiplies), steps));
    });
  });
}

void div(Call& call) {
  if (!call.has("rounding_mode")) return true_quotient(call);
  const std::string_view mode = call.text("rounding_mode");
  if (mode == "floor") return floored_quotient_of(call);
  if (mode == "trunc") return truncated_quotient_of(call);
  throw OpError("div expected rounding_mode to be one of None, 'trunc', or 'floor'");
}

Whole remainder_of(Whole a, Whole b) { return floored_remainder(a, nonzero(b)); }
template <class N>
N remainder_of(const N& a, const N& b) {
  const N rest = fmod(a, b);
  return select(rounds_down(rest, b), rest + b, rest);
}

void remainder(Call& call) {
  refuse_bool(call, gather_operands(call, {"self", "other"}).common);
  pointwise(call, {"self", "other"}, [](auto a, auto b) { return remainder_of(a, b); });
}

Whole fmod_of(Whole a, Whole b) { return truncated_remainder(a, nonzero(b)); }
template <class N>
N fmod_of(const N& a, const N& b) {
  return fmod(a, b);
}

void modulo(Call& call) {
  refuse_bool(call, gather_operands(call, {"self", "other"}).common);
  pointwise(call, {"self", "other"}, [](auto a, auto b) { return fmod_of(a, b); });
}

constexpr std::array kPointwiseDivisionOps = {
    OpBody{"aten.div", div},
    OpBody{"aten.floor_divide", floored_quotient_of},
    OpBody{"aten.fmod", modulo},
    OpBody{"aten.remainder", remainder},
};

}  // namespace

std::span<const OpBody> pointwise_division_ops() { return kPointwiseDivisionOps; }

}  // namespace graphgate::reference
