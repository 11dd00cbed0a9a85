// Special functions: gamma and zeta functions, those of the normal distribution, Bessel functions.
// All compute integers as float32, and 16-bit dtypes in float32.
#include <array>
#include <numbers>

#include "reference/number/special_functions.h"
#include "reference/number/sum.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The body of a function of the first argument, whatever its name.
template <class F>
constexpr Body special(F /*f*/) {
  return [](Call& call) { pointwise_real(call, {call.row().schema.arguments[0].name}, F()); };
}
// The body of a function of two floating tensors.
template <class F>
constexpr Body of_two_floats(F /*f*/) {
  return [](Call& call) {
    require_floating(call, gather_operands(call, {"self", "other"}).common);
    pointwise_real(call, {"self", "other"}, F());
  };
}

// (-1)^(n+1) n! zeta(n + 1, x). ATen takes n! as exp(lgamma(n + 1)), and holds that, its logarithm
// and zeta in the dtype itself.
void polygamma(Call& call) {
  const std::int64_t n = call.integer("n");
  if (n < 0) throw OpError("polygamma(n, x) does not support negative n");
  if (n == 0) return pointwise_real(call, {"self"}, [](auto x) { return digamma(x); });
  if (n == 1) return pointwise_real(call, {"self"}, [](auto x) { return trigamma(x); });
  const Operands operands = gather_operands(call, {"self"});
  const DType dtype = to_floating(operands.common);
  refuse_float8(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    const N order = number<N>(Datum{n + 1}, dtype);
    const N factorial = held_in(exp(held_in(lgamma(order), dtype)), dtype);
    const N signed_factorial = n % 2 != 0 ? factorial : -factorial;
    emit_formula<N>(call, operands, dtype, dtype, [&](const N& x) {
      return signed_factorial * held_in(zeta_in(order, x, dtype), dtype);
    });
  });
}

// The number that mvlgamma adds: p (p - 1) / 4 times a logarithm that executors compute. CUDA's sum
// holds a number in the compute dtype, the CPU's in the dtype.
template <class N>
N constant_of_mvlgamma(double constant, DType dtype) {
  if constexpr (requires { typename N::PolicyType; }) {
    using Policy = typename N::PolicyType;
    const auto arithmetic =
        dtype == DType::kFloat64 ? N::Arithmetic::kFloat64 : N::Arithmetic::kFloat32;
    const auto wide = static_cast<long double>(constant);
    const double logarithm = 2 * function_ulps() * half_ulp(wide, DType::kFloat64);
    return detail::rounded<Policy>(wide, Policy::of_rounding(logarithm), arithmetic);
  } else {
    return constant;
  }
}

// The sum of logarithms with the constant: a step of its own, or one more term of the sum, which is
// added in whatever order.
template <class N>
N with_constant(Sum<N>& sum, const N& constant, DType dtype) {
  if constexpr (requires { typename N::PolicyType; }) {
    if (compute_dtype(dtype) == dtype) {
      sum.add(constant);
      return sum.result();
    }
  }
  return held_in(sum.result(), dtype) + constant;
}

// The sum of lgamma(x - j/2) for j < p, and p (p - 1) / 4 log(pi): a composite op whose steps are
// held in the dtype. The result is row-major.
void mvlgamma(Call& call) {
  const std::int64_t p = call.integer("p");
  if (p < 1) throw OpError("p has to be greater than or equal to 1");
  const Tensor& self = *call.tensor("self");
  const DType dtype = to_floating(self.dtype);
  refuse_float8(call, dtype);
  check_result_fits(call, dtype);
  const auto halves = static_cast<double>(p * (p - 1));
  const DType of_constant = declared_arithmetic().has_cuda_kernels ? compute_dtype(dtype) : dtype;
  const double constant = round_to_dtype(halves * std::log(std::numbers::pi) / 4, of_constant);
  with_real(call.mode(), [&]<class N>() {
    const N added = p == 1 ? N(0) : constant_of_mvlgamma<N>(constant, dtype);
    Array<N> out = load<N>(self, dtype);
    for (N& x : out.data) {
      Sum<N> sum;
      for (std::int64_t j = p - 1; j >= 0; --j) {
        const N shifted = held_in(x + N(-0.5 * static_cast<double>(j)), dtype);
        sum.add(held_in(lgamma(shifted), dtype));
      }
      x = with_constant(sum, added, dtype);
    }
    call.emit(out, dtype);
  });
}

// -x log(x), whose logarithm is held in the dtype; 0 at 0, -infinity below.
void entropy(Call& call) {
  const DType dtype = to_floating(call.tensor("self")->dtype);
  pointwise_real(call, {"self"}, [dtype]<class N>(const N& x) {
    const N inside = -x * held_in(log(x), dtype);
    const N outside = select(less(x, N(0)), N(-std::numeric_limits<double>::infinity()), inside);
    return select(is_nan(x), x, select(is_zero(x), N(0), outside));
  });
}

void scaled_i0(Call& call) {
  const DType dtype = to_floating(call.tensor("self")->dtype);
  pointwise_real(call, {"self"}, [dtype](auto x) { return i0e_in(x, dtype); });
}

void zeta_of(Call& call) {
  pointwise_real(call, {"self", "other"}, [](auto s, auto q) { return zeta(s, q); });
}

constexpr std::array kSpecialOps = {
    OpBody{"aten.digamma", special([](auto x) { return digamma(x); })},
    OpBody{"aten.erfinv", special([](auto x) { return erfinv(x); })},
    OpBody{"aten.i0", special([](auto x) { return i0(x); })},
    OpBody{"aten.igamma", of_two_floats([](auto a, auto x) { return igamma(a, x); })},
    OpBody{"aten.igammac", of_two_floats([](auto a, auto x) { return igammac(a, x); })},
    OpBody{"aten.lgamma", special([](auto x) { return lgamma(x); })},
    OpBody{"aten.mvlgamma", mvlgamma},
    OpBody{"aten.polygamma", polygamma},
    OpBody{"aten.special_airy_ai", special([](auto x) { return airy_ai(x); })},
    OpBody{"aten.special_bessel_j0", special([](auto x) { return bessel_j0(x); })},
    OpBody{"aten.special_bessel_j1", special([](auto x) { return bessel_j1(x); })},
    OpBody{"aten.special_bessel_y0", special([](auto x) { return bessel_y0(x); })},
    OpBody{"aten.special_bessel_y1", special([](auto x) { return bessel_y1(x); })},
    OpBody{"aten.special_entr", entropy},
    OpBody{"aten.special_erfcx", special([](auto x) { return erfcx(x); })},
    OpBody{"aten.special_i0e", scaled_i0},
    OpBody{"aten.special_i1", special([](auto x) { return i1(x); })},
    OpBody{"aten.special_i1e", special([](auto x) { return i1e(x); })},
    OpBody{"aten.special_log_ndtr", special([](auto x) { return log_ndtr(x); })},
    OpBody{"aten.special_modified_bessel_i0", special([](auto x) { return i0(x); })},
    OpBody{"aten.special_modified_bessel_i1", special([](auto x) { return i1(x); })},
    OpBody{"aten.special_modified_bessel_k0", special([](auto x) { return k0(x); })},
    OpBody{"aten.special_modified_bessel_k1", special([](auto x) { return k1(x); })},
    OpBody{"aten.special_ndtri", special([](auto x) { return ndtri(x); })},
    OpBody{"aten.special_scaled_modified_bessel_k0", special([](auto x) { return k0e(x); })},
    OpBody{"aten.special_scaled_modified_bessel_k1", special([](auto x) { return k1e(x); })},
    OpBody{"aten.special_spherical_bessel_j0",
           special([](auto x) { return spherical_bessel_j0(x); })},
    OpBody{"aten.special_zeta", zeta_of},
};

}  // namespace

std::span<const OpBody> special_ops() { return kSpecialOps; }

}  // namespace graphgate::reference
