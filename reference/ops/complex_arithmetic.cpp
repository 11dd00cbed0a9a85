// Pointwise ops of complex numbers: arithmetic, functions, comparisons, choices.
//
// A real operand beside a complex one may count as a complex number with an imaginary part of 0, or
// as it is (number/complex.h). ATen multiplies by alpha even where that is 1: beside an infinity
// sums are open.
#include <array>

#include "reference/complex_pointwise.h"
#include "reference/movement.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace of_complex {
namespace {

using spec::DType;

// The operands of a binary op, and which of them are real.
struct Pair {
  Operands operands;
  DType dtype;
  bool first_is_real;
  bool second_is_real;
};
Pair pair_of(const Call& call, std::string_view first, std::string_view second) {
  Operands operands = gather_operands(call, {first, second});
  const DType dtype = common_complex(operands);
  return {operands, dtype, detail::is_real_operand(operands.data[0]),
          detail::is_real_operand(operands.data[1])};
}

// A number that is no operand (alpha, value), and whether it is real.
template <class N>
struct Factor {
  Complex<N> number;
  bool is_real = true;
  bool is_one = false;
};
template <class N>
Factor<N> complex_factor(const Call& call, std::string_view name, DType dtype) {
  if (!call.has(name)) return {{N(1), N(0)}, true, true};
  const Datum& datum = call.datum(name);
  const auto* whole = datum.as<std::int64_t>();
  const auto* real = datum.as<double>();
  const bool is_one = (whole != nullptr && *whole == 1) || (real != nullptr && *real == 1);
  return {complex_number<N>(datum, dtype), detail::is_real_operand(datum), is_one};
}
template <class N>
Complex<N> scaled(const Factor<N>& factor, const Complex<N>& z) {
  if (factor.is_one) return z;
  return factor.is_real ? times_real(z, factor.number.re) : factor.number * z;
}

template <class N>
Complex<N> covering(const Complex<N>& x, const Complex<N>& other) {
  return {reference::covering(x.re, other.re), reference::covering(x.im, other.im)};
}

template <class N>
Complex<N> product(const Complex<N>& x, const Complex<N>& y, bool x_is_real, bool y_is_real) {
  if (y_is_real) return times_real(x, y.re);
  return x_is_real ? times_real(y, x.re) : x * y;
}

template <class N>
Complex<N> one() {
  return {N(1), N(0)};
}

// ---- sums, products, quotients

// first + alpha * second.
void sum_of_two(Call& call, std::string_view first, std::string_view second, bool negates) {
  const Pair pair = pair_of(call, first, second);
  const bool has_real = pair.first_is_real || pair.second_is_real;
  with_real(call.mode(), [&]<class N>() {
    Factor<N> alpha = complex_factor<N>(call, "alpha", pair.dtype);
    emit_complex<N, 2>(call, pair.operands, pair.dtype, pair.dtype,
                       [&](const Complex<N>& x, const Complex<N>& y) {
                         const Complex<N> term = scaled(alpha, y);
                         Complex<N> sum = negates ? x - term : x + term;
                         if (has_real) sum.im = detail::of_either_sign(sum.im);
                         return tamed(sum, is_wild(y), is_all_nan(y));
                       });
  });
}
void add(Call& call) { sum_of_two(call, "self", "other", false); }
void sub(Call& call) { sum_of_two(call, "self", "other", true); }
void rsub(Call& call) { sum_of_two(call, "other", "self", true); }

void mul(Call& call) {
  const Pair pair = pair_of(call, "self", "other");
  with_real(call.mode(), [&]<class N>() {
    emit_complex<N, 2>(call, pair.operands, pair.dtype, pair.dtype,
                       [&](const Complex<N>& x, const Complex<N>& y) {
                         return product(x, y, pair.first_is_real, pair.second_is_real);
                       });
  });
}

void div(Call& call) {
  if (call.has("rounding_mode")) throw OpError("div with rounding_mode is not for complex numbers");
  const Pair pair = pair_of(call, "self", "other");
  with_real(call.mode(), [&]<class N>() {
    emit_complex<N, 2>(call, pair.operands, pair.dtype, pair.dtype,
                       [](const Complex<N>& x, const Complex<N>& y) { return x / y; });
  });
}

// self + value * tensor1 * tensor2: who multiplies what first is open.
void addcmul(Call& call) {
  const Operands operands = gather_operands(call, {"self", "tensor1", "tensor2"});
  const DType dtype = common_complex(operands);
  const bool a_is_real = detail::is_real_operand(operands.data[1]);
  const bool b_is_real = detail::is_real_operand(operands.data[2]);
  with_real(call.mode(), [&]<class N>() {
    const Factor<N> value = complex_factor<N>(call, "value", dtype);
    emit_complex<N, 3>(
        call, operands, dtype, dtype,
        [&](const Complex<N>& x, const Complex<N>& a, const Complex<N>& b) {
          const bool stays_real = a_is_real && value.is_real;
          const Complex<N> of_first = product(scaled(value, a), b, stays_real, b_is_real);
          const Complex<N> of_both = scaled(value, product(a, b, a_is_real, b_is_real));
          return x + covering(of_first, of_both);
        });
  });
}
void addcdiv(Call& call) {
  const Operands operands = gather_operands(call, {"self", "tensor1", "tensor2"});
  const DType dtype = common_complex(operands);
  with_real(call.mode(), [&]<class N>() {
    const Factor<N> value = complex_factor<N>(call, "value", dtype);
    emit_complex<N, 3>(call, operands, dtype, dtype,
                       [&](const Complex<N>& x, const Complex<N>& a, const Complex<N>& b) {
                         return x + covering(scaled(value, a) / b, scaled(value, a / b));
                       });
  });
}

// From self to end by weight, from whichever side is nearer: |weight| < 1/2 is the near one. ATen's
// vectors take the other side at times.
template <class N>
Complex<N> interpolated(const Complex<N>& start, const Complex<N>& end, const Complex<N>& weight) {
  const Complex<N> step = end - start;
  const Complex<N> from_start = start + weight * step;
  const Complex<N> from_end = end - step * (one<N>() - weight);
  const Whole near_start = less(abs(weight), N(0.5));
  return select(near_start, covering(from_start, from_end), covering(from_end, from_start));
}
void lerp(Call& call) {
  Operands operands = gather_operands(call, {"self", "end", "weight"});
  const DType dtype = common_complex(operands);
  if (call.datum("weight").as<TensorRef>() == nullptr) {
    operands = gather_operands(call, {"self", "end"});
    return with_real(call.mode(), [&]<class N>() {
      const auto weight = complex_number<N>(call.datum("weight"), dtype);
      emit_complex<N, 2>(
          call, operands, dtype, dtype,
          [&](const Complex<N>& a, const Complex<N>& b) { return interpolated(a, b, weight); });
    });
  }
  with_real(call.mode(), [&]<class N>() {
    emit_complex<N, 3>(call, operands, dtype, dtype,
                       [](const Complex<N>& a, const Complex<N>& b, const Complex<N>& w) {
                         return interpolated(a, b, w);
                       });
  });
}

// ---- powers

// Exponents with formulas of their own.
template <class N>
Complex<N> fixed_complex_power(const Complex<N>& z, double exponent) {
  if (exponent == 0) return one<N>();
  if (exponent == 1) return z;
  if (exponent == 2) return z * z;
  if (exponent == 3) return covering(z * z * z, z * (z * z));
  if (exponent == -1) return one<N>() / z;
  if (exponent == 0.5) return sqrt(z);
  if (exponent == -0.5) return rsqrt(z);
  return pow(z, Complex<N>{N(exponent), N(0)});
}

void power(Call& call, DType dtype) {
  const Datum& exponent = call.datum("exponent");
  const bool is_fixed = call.datum("self").as<TensorRef>() != nullptr &&
                        !exponent.as<TensorRef>() && detail::is_real_operand(exponent);
  if (is_fixed) {
    Operands operands = gather_operands(call, {"self"});
    const double held = round_to_dtype(call.real("exponent"), spec::component_dtype(dtype));
    return with_real(call.mode(), [&]<class N>() {
      emit_complex<N, 1>(call, operands, dtype, dtype,
                         [held](const Complex<N>& z) { return fixed_complex_power(z, held); });
    });
  }
  const Operands operands = gather_operands(call, {"self", "exponent"});
  check_result_fits(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    const auto f = [](const Complex<N>& x, const Complex<N>& y) { return pow(x, y); };
    if (call.datum("self").as<TensorRef>() != nullptr) {
      return emit_complex<N, 2>(call, operands, dtype, dtype, f);
    }
    // Of a number the result is row-major.
    call.emit(detail::apply_complex<N>(operands, dtype, f, std::make_index_sequence<2>()), dtype);
  });
}
void pow_of(Call& call) {
  power(call, common_complex(gather_operands(call, {"self", "exponent"})));
}
void float_power(Call& call) { power(call, DType::kComplex128); }

// ---- functions of one number

template <class F>
constexpr Body complex_function(F /*f*/) {
  return [](Call& call) { pointwise_complex(call, "self", F()); };
}
// The result is real.
template <class F>
constexpr Body real_function(F /*f*/) {
  return [](Call& call) {
    const Operands operands = gather_operands(call, {"self"});
    const DType dtype = common_complex(operands);
    with_real(call.mode(), [&]<class N>() {
      emit_complex<N, 1>(call, operands, dtype, spec::component_dtype(dtype), F());
    });
  };
}
// That of angle is row-major, whatever the operand is.
void angle_of(Call& call) {
  const Operands operands = gather_operands(call, {"self"});
  const DType dtype = common_complex(operands);
  check_result_fits(call, spec::component_dtype(dtype));
  with_real(call.mode(), [&]<class N>() {
    const auto f = [](const Complex<N>& z) { return angle(z); };
    call.emit(detail::apply_complex<N>(operands, dtype, f, std::make_index_sequence<1>()),
              spec::component_dtype(dtype));
  });
}
template <class F>
constexpr Body complex_test(F /*f*/) {
  return [](Call& call) {
    const Operands operands = gather_operands(call, {"self"});
    with_real(call.mode(), [&]<class N>() {
      emit_complex<N, 1>(call, operands, common_complex(operands), DType::kBool, F());
    });
  };
}
template <class F>
constexpr Body complex_comparison(F /*f*/) {
  return [](Call& call) {
    const Operands operands = gather_operands(call, {"self", "other"});
    with_real(call.mode(), [&]<class N>() {
      emit_complex<N, 2>(call, operands, common_complex(operands), DType::kBool, F());
    });
  };
}

template <class N>
Complex<N> over_log(const Complex<N>& z, double base_log) {
  const Complex<N> natural = log(z);
  return {natural.re / N(base_log), natural.im / N(base_log)};
}
// The logarithm of the base may be held in the dtype, or not: its error counts as one more
// rounding.
template <class N>
Complex<N> log2_of(const Complex<N>& z) {
  return over_log(z, std::numbers::ln2);
}
template <class N>
Complex<N> log10_of(const Complex<N>& z) {
  return over_log(z, std::numbers::ln10);
}

// sin(pi z) / (pi z), 1 at 0; the angle is rounded first, which counts where the sine is 0.
template <class N>
Complex<N> sinc_of(const Complex<N>& z) {
  using detail::Wide;
  const auto f = [](const Wide& w) {
    const Wide turned = std::numbers::pi_v<long double> * w;
    return turned == Wide(0) ? Wide(1) : std::sin(turned) / turned;
  };
  const long double most = detail::greatest_inside(z);
  return detail::through_complex(z, f, [most](const Wide& w, const Wide& out) {
    const long double cosine = std::cosh(std::numbers::pi_v<long double> * w.imag());
    if (cosine > most) return std::numeric_limits<long double>::infinity();
    return (kFunctionRoundings + kQuotientRoundings) * std::abs(out) + 3 * cosine;
  });
}

template <class N>
Whole is_true(const Complex<N>& z) {
  return logical_not(is_zero(z));
}
template <class N>
Whole is_finite_number(const Complex<N>& z) {
  const Whole bad = detail::either(is_nan(z), is_infinite(z));
  return logical_not(bad);
}

// ---- choices

void where_of(Call& call) {
  Operands operands = gather_operands(call, {"condition", "self", "other"});
  const Tensor& condition = *call.tensor("condition");
  if (condition.dtype != DType::kBool && condition.dtype != DType::kUInt8) {
    throw OpError("where expected condition to be a boolean tensor");
  }
  const DType dtype = result_type(std::span(operands.data).subspan(1));
  const auto chosen = detail::operand_array<Whole>(operands.data[0], DType::kBool, operands.sizes);
  operands.data.erase(operands.data.begin());
  with_real(call.mode(), [&]<class N>() {
    std::int64_t i = 0;
    emit_complex<N, 2>(call, operands, dtype, dtype, [&](const Complex<N>& a, const Complex<N>& b) {
      return select(chosen[i++], a, b);
    });
  });
}

// A value for all elements, a number or a tensor without dimensions, as a tensor of `self`'s dtype.
TensorRef value_like(const Call& call, const Tensor& self, std::string_view name) {
  const Datum& value = call.datum(name);
  const TensorRef made = new_tensor(self.dtype, {}, self.device);
  const auto* scalar = value.as<TensorRef>();
  if (scalar == nullptr) {
    fill(call.mode(), *made, value);
    return made;
  }
  if ((*scalar)->rank() != 0) throw OpError("expected a 0-dimensional value tensor");
  if (spec::is_complex((*scalar)->dtype) && !spec::is_complex(self.dtype)) {
    throw OpError("a complex value does not go into a tensor of real numbers");
  }
  assign(call.mode(), *made, **scalar);
  return made;
}

void masked_fill(Call& call) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& mask = call.tensor("mask");
  if (mask->dtype != DType::kBool) throw OpError("masked_fill only supports boolean masks");
  const DType dtype = self->dtype;
  const TensorRef value = value_like(call, *self, "value");
  if (!spec::is_complex(dtype)) throw OpError("a complex value does not go into real numbers");
  const Sizes sizes = broadcast_sizes({self->sizes, mask->sizes});
  const auto chosen = broadcast_to(load<Whole>(*mask, DType::kBool), sizes);
  with_real(call.mode(), [&]<class N>() {
    Array<Complex<N>> out = broadcast_to(load_complex<N>(*self, dtype), sizes);
    const Complex<N> filled = load_complex<N>(*value, dtype)[0];
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = select(chosen[i], filled, out[i]);
    call.emit(out, dtype);
  });
}

// One number everywhere.
void emit_everywhere(Call& call, const Tensor& value) {
  const Tensor& self = *call.tensor("self");
  const TensorRef made = new_tensor(self.dtype, self.sizes,
                                    strides_like(self, spec::MemoryFormat::kPreserve), self.device);
  assign(call.mode(), *made,
         *view_of(value, self.sizes, Sizes(self.sizes.size(), 0), value.offset));
  emit_made(call, made);
}
void fill_of(Call& call) {
  emit_everywhere(call, *value_like(call, *call.tensor("self"), "value"));
}
void zero(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_everywhere(call, *new_tensor(self.dtype, {}, self.device));
}

constexpr std::array kComplexArithmetic = {
    ComplexBody{"aten.abs", real_function([](const auto& z) { return abs(z); })},
    ComplexBody{"aten.acos", complex_function([](const auto& z) { return acos(z); })},
    ComplexBody{"aten.acosh", complex_function([](const auto& z) { return acosh(z); })},
    ComplexBody{"aten.add", add},
    ComplexBody{"aten.addcdiv", addcdiv},
    ComplexBody{"aten.addcmul", addcmul},
    ComplexBody{"aten.angle", angle_of},
    ComplexBody{"aten.asin", complex_function([](const auto& z) { return asin(z); })},
    ComplexBody{"aten.asinh", complex_function([](const auto& z) { return asinh(z); })},
    ComplexBody{"aten.atan", complex_function([](const auto& z) { return atan(z); })},
    ComplexBody{"aten.atanh", complex_function([](const auto& z) { return atanh(z); })},
    ComplexBody{"aten.cos", complex_function([](const auto& z) { return cos(z); })},
    ComplexBody{"aten.cosh", complex_function([](const auto& z) { return cosh(z); })},
    ComplexBody{"aten.div", div},
    ComplexBody{"aten.eq",
                complex_comparison([](const auto& a, const auto& b) { return equal(a, b); })},
    ComplexBody{"aten.exp", complex_function([](const auto& z) { return exp(z); })},
    ComplexBody{"aten.exp2", complex_function([](const auto& z) { return exp2(z); })},
    ComplexBody{"aten.expm1", complex_function([](const auto& z) { return expm1(z); })},
    ComplexBody{"aten.fill", fill_of},
    ComplexBody{"aten.float_power", float_power},
    ComplexBody{"aten.isfinite", complex_test([](const auto& z) { return is_finite_number(z); })},
    ComplexBody{"aten.isinf", complex_test([](const auto& z) { return is_infinite(z); })},
    ComplexBody{"aten.isnan", complex_test([](const auto& z) { return is_nan(z); })},
    ComplexBody{"aten.isreal", complex_test([](const auto& z) { return is_zero(z.im); })},
    ComplexBody{"aten.lerp", lerp},
    ComplexBody{"aten.log", complex_function([](const auto& z) { return log(z); })},
    ComplexBody{"aten.log10", complex_function([](const auto& z) { return log10_of(z); })},
    ComplexBody{"aten.log1p", complex_function([](const auto& z) { return log1p(z); })},
    ComplexBody{"aten.log2", complex_function([](const auto& z) { return log2_of(z); })},
    ComplexBody{"aten.logical_and", complex_comparison([](const auto& a, const auto& b) {
                  return is_true(a) & is_true(b);
                })},
    ComplexBody{"aten.logical_not", complex_test([](const auto& z) { return is_zero(z); })},
    ComplexBody{"aten.logical_or", complex_comparison([](const auto& a, const auto& b) {
                  return is_true(a) | is_true(b);
                })},
    ComplexBody{"aten.logical_xor", complex_comparison([](const auto& a, const auto& b) {
                  return is_true(a) ^ is_true(b);
                })},
    ComplexBody{"aten.masked_fill", masked_fill},
    ComplexBody{"aten.mul", mul},
    ComplexBody{"aten.ne", complex_comparison([](const auto& a, const auto& b) {
                  return logical_not(equal(a, b));
                })},
    ComplexBody{"aten.neg", complex_function([](const auto& z) { return -z; })},
    ComplexBody{"aten.pow", pow_of},
    ComplexBody{"aten.reciprocal",
                complex_function([]<class N>(const Complex<N>& z) { return one<N>() / z; })},
    ComplexBody{"aten.rsqrt", complex_function([](const auto& z) { return rsqrt(z); })},
    ComplexBody{"aten.rsub", rsub},
    ComplexBody{"aten.sgn", complex_function([](const auto& z) { return sgn(z); })},
    ComplexBody{"aten.sigmoid", complex_function([](const auto& z) { return sigmoid(z); })},
    ComplexBody{"aten.silu", complex_function([](const auto& z) { return z * sigmoid(z); })},
    ComplexBody{"aten.sin", complex_function([](const auto& z) { return sin(z); })},
    ComplexBody{"aten.sinc", complex_function([](const auto& z) { return sinc_of(z); })},
    ComplexBody{"aten.sinh", complex_function([](const auto& z) { return sinh(z); })},
    ComplexBody{"aten.sqrt", complex_function([](const auto& z) { return sqrt(z); })},
    ComplexBody{"aten.square", complex_function([](const auto& z) { return z * z; })},
    ComplexBody{"aten.sub", sub},
    ComplexBody{"aten.tan", complex_function([](const auto& z) { return tan(z); })},
    ComplexBody{"aten.tanh", complex_function([](const auto& z) { return tanh(z); })},
    ComplexBody{"aten.where", where_of},
    ComplexBody{"aten.zero", zero},
};

}  // namespace
}  // namespace of_complex

std::span<const ComplexBody> complex_arithmetic_bodies() { return of_complex::kComplexArithmetic; }

}  // namespace graphgate::reference
