// Ops of complex numbers that are steps of others, and questions about all elements at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/complex_array.h"
#include "reference/movement.h"
#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace of_complex {
namespace {

using spec::DType;

// ---- equality

// Whether all elements of a tensor of truths hold, as a Python bool.
void emit_all_hold(Call& call, const Composition& run, const TensorRef& truths) {
  const TensorRef all = run("aten.all.default", {{truths}});
  require_decided(*all);
  call.emit_datum({load<Whole>(*all, DType::kBool)[0].value != 0});
}

void equal_tensors(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (self->sizes != other->sizes) return call.emit_datum({false});
  emit_all_hold(call, run, run("aten.eq.Tensor", {{self}, {other}}));
}

// Two tensors of truths, element by element; what certainly decides counts beside an open one.
TensorRef combined(const TensorRef& a, const TensorRef& b, bool is_or) {
  const Array<Whole> first = load<Whole>(*a, DType::kBool);
  const Array<Whole> second = load<Whole>(*b, DType::kBool);
  const TensorRef out = new_tensor(DType::kBool, a->sizes, a->strides, a->device);
  Array<Whole> both(first.sizes);
  for (std::int64_t i = 0; i < both.count(); ++i) {
    const auto turned = [is_or](Whole x) { return is_or ? x : logical_not(x); };
    both[i] = turned(detail::either(turned(first[i]), turned(second[i])));
  }
  store(*out, both);
  return out;
}

// |self - other| <= atol + |rtol * other|, or equal.
TensorRef close_elements(const Call& call, const Composition& run) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (self->dtype != other->dtype) throw OpError("self and other have other dtypes");
  const double rtol = call.real("rtol");
  const double atol = call.real("atol");
  if (!(rtol >= 0) || !(atol >= 0)) throw OpError("rtol and atol must not be negative");
  TensorRef close = run("aten.eq.Tensor", {{self}, {other}});
  if (call.boolean("equal_nan")) {
    const TensorRef both =
        run("aten.logical_and.default",
            {{run("aten.isnan.default", {{self}})}, {run("aten.isnan.default", {{other}})}});
    close = combined(close, both, true);
  }
  if (rtol == 0 && atol == 0) return close;
  const TensorRef share = run("aten.abs.default", {{run("aten.mul.Scalar", {{other}, {rtol}})}});
  const TensorRef allowed = run("aten.add.Scalar", {{share}, {atol}});
  const TensorRef apart = run("aten.abs.default", {{run("aten.sub.Tensor", {{self}, {other}})}});
  const TensorRef within = combined(run("aten.isfinite.default", {{apart}}),
                                    run("aten.le.Tensor", {{apart}, {allowed}}), false);
  return combined(close, within, true);
}
void isclose(Call& call) { call.emit_datum({close_elements(call, Composition(call))}); }
void allclose(Call& call) {
  const Composition run(call);
  emit_all_hold(call, run, close_elements(call, run));
}

// ---- pointwise

// Of both parts, each for itself.
void nan_to_num(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef parts =
      run("aten.nan_to_num.default", {{std::make_shared<Tensor>(as_components(*self))},
                                      call.datum("nan"),
                                      call.datum("posinf"),
                                      call.datum("neginf")});
  const TensorRef made = new_tensor(
      self->dtype, self->sizes, strides_like(*self, spec::MemoryFormat::kPreserve), self->device);
  Tensor target = as_components(*made);
  assign(call.mode(), target, *parts);
  emit_made(call, made);
}

// self * 2^other: the power is a tensor of its own.
void ldexp_of(Call& call) {
  const Composition run(call);
  const TensorRef power = run("aten.pow.Scalar", {{2.0}, {call.tensor("other")}});
  emit_made(call, run("aten.mul.Tensor", {{call.tensor("self")}, {power}}));
}

// r0 = a1 b2 - a2 b1, and so on around.
void cross(Call& call) {
  const Composition run(call);
  std::vector<TensorRef> factors = {call.tensor("self"), call.tensor("other")};
  if (factors[0]->rank() != factors[1]->rank()) {
    throw OpError("linalg.cross: inputs must have the same number of dimensions");
  }
  const std::int64_t dim = wrap_dim(call.integer("dim"), factors[0]->rank());
  for (const TensorRef& factor : factors) {
    if (factor->rank() == 0 || factor->sizes[static_cast<std::size_t>(dim)] != 3) {
      throw OpError("linalg.cross: inputs dimension must have length 3");
    }
  }
  const Sizes sizes = broadcast_sizes({factors[0]->sizes, factors[1]->sizes});
  for (TensorRef& factor : factors) {
    factor = run("aten.expand.default", {{factor}, list_of(sizes)});
  }
  const auto turned = [&](const TensorRef& factor, std::int64_t by) {
    return run("aten.roll.default", {{factor}, list_of(Sizes{by}), list_of(Sizes{dim})});
  };
  const auto product = [&](std::int64_t first, std::int64_t second) {
    return run("aten.mul.Tensor", {{turned(factors[0], first)}, {turned(factors[1], second)}});
  };
  emit_made(call, run("aten.sub.Tensor", {{product(-1, -2)}, {product(-2, -1)}}));
}

// ---- what indices and vectors add

void index_add(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& source = call.tensor("source");
  if (self->dtype != source->dtype) throw OpError("self and source must have the same dtype");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
  const auto at_least_1d = [&](const TensorRef& tensor) {
    return tensor->rank() > 0 ? tensor
                              : run("aten.unsqueeze.default", {{tensor}, {std::int64_t{0}}});
  };
  const TensorRef terms = at_least_1d(run("aten.mul.Scalar", {{source}, call.datum("alpha")}));
  const TensorRef index = at_least_1d(call.tensor("index"));
  Datum::List indices(static_cast<std::size_t>(dim), Datum{spec::None{}});
  indices.push_back({index});
  const bool in_place = call.next_target() == self;
  const TensorRef out = run(in_place ? "aten.index_put_.default" : "aten.index_put.default",
                            {{at_least_1d(self)}, {std::move(indices)}, {terms}, {true}});
  if (in_place) return call.emit_datum({self});
  const TensorRef dense = is_contiguous(*out) ? out : copy_of(*out);
  emit_made(call, view_of(*dense, self->sizes, spec::contiguous_strides(self->sizes), 0));
}

bool is_the_number(const Datum& datum, double value) {
  if (const auto* x = datum.as<std::int64_t>()) return static_cast<double>(*x) == value;
  if (const auto* x = datum.as<double>()) return *x == value;
  const auto* complex = datum.as<spec::ComplexNumber>();
  return complex != nullptr && complex->real == value && complex->imag == 0;
}

// beta * self + alpha * vec1 * vec2, as a pointwise op.
void addr(Call& call) {
  const Composition run(call);
  const TensorRef& first = call.tensor("vec1");
  const TensorRef& second = call.tensor("vec2");
  if (first->rank() != 1 || second->rank() != 1) throw OpError("addr: expected two vectors");
  const Sizes sizes = {first->count(), second->count()};
  TensorRef self = call.tensor("self");
  if (broadcast_sizes({self->sizes, sizes}) != sizes) throw OpError("self does not stretch");
  const Datum& beta = call.datum("beta");
  if (is_the_number(beta, 0)) {
    self = new_tensor(self->dtype, {}, self->device);
  } else if (!is_the_number(beta, 1)) {
    self = run("aten.mul.Scalar", {{self}, beta});
  }
  const TensorRef column = run("aten.unsqueeze.default", {{first}, {std::int64_t{1}}});
  emit_made(call, run("aten.addcmul.default", {{self}, {column}, {second}, call.datum("alpha")}));
}

// ---- others

// Real numbers of which both parts of a sequence are made, a number or a tensor without dimensions.
spec::ComplexNumber number_or_element(const Call& call, std::string_view name) {
  const Datum& datum = call.datum(name);
  const auto* tensor = datum.as<TensorRef>();
  if (tensor != nullptr && (*tensor)->rank() != 0) {
    throw OpError("start and end of a sequence must be of rank 0");
  }
  if (tensor != nullptr) require_decided(**tensor);
  const Complex<double> z = tensor != nullptr
                                ? load_complex<double>(**tensor, DType::kComplex128)[0]
                                : complex_number<double>(datum, DType::kComplex128);
  return {z.re, z.im};
}

// x, in whose computation four numbers of this reach may be rounded more.
double allow_more_roundings(double x, double /*reach*/, DType /*dtype*/) { return x; }
template <class P>
Tracked<P> allow_more_roundings(const Tracked<P>& x, const Tracked<P>& reach, DType dtype) {
  const double lost = 4 * unit_roundoff(dtype) * static_cast<double>(reach.value);
  return {x.value, P::combine(x.radius, P::of_rounding(lost)), x.arithmetic};
}

// Both parts are sequences of their own: each with a rounding more, of a step that is a complex
// quotient.
void linspace(Call& call) {
  const Composition run(call);
  const spec::ComplexNumber start = number_or_element(call, "start");
  const spec::ComplexNumber end = number_or_element(call, "end");
  DType dtype = DType::kComplex64;
  if (const auto asked = call.optional_dtype("dtype")) dtype = *asked;
  if (const TensorRef target = call.next_target()) dtype = target->dtype;
  if (!spec::is_complex(dtype)) throw OpError("linspace: a complex end and a dtype that is not");
  const DType component = spec::component_dtype(dtype);
  const std::int64_t steps = call.integer("steps");
  const TensorRef made = new_tensor(dtype, {steps}, call.device_or({}));
  for (const int which : {0, 1}) {
    const double first = which == 0 ? start.real : start.imag;
    const double last = which == 0 ? end.real : end.imag;
    const TensorRef reals = run("aten.linspace.default", {{first}, {last}, {steps}, {component}});
    Tensor part = part_of(*made, which);
    with_real(call.mode(), [&]<class N>() {
      Array<N> numbers = load<N>(*reals, component);
      const N reach((std::fabs(first) + std::fabs(last)) * 2);
      for (N& x : numbers.data) {
        if (first != last) x = allow_more_roundings(x, reach, component);
      }
      store(part, numbers);
    });
  }
  emit_made(call, made);
}

// Ones on the diagonal: the parts' dtype is asked for, and the result converted.
void eye(Call& call) {
  std::vector<Datum> arguments = call.arguments();
  DType dtype = DType::kComplex64;
  if (const TensorRef target = call.next_target()) dtype = target->dtype;
  for (Datum& argument : arguments) {
    if (const auto* asked = argument.as<DType>()) {
      dtype = *asked;
      argument = {spec::component_dtype(*asked)};
    }
  }
  if (call.next_target()) throw Undecidable("eye into a complex tensor given is not supported");
  const Composition run(call);
  const TensorRef reals = run(call.row().schema.qualified_name(), std::move(arguments));
  call.emit_datum({run("aten._to_copy.default", {{reals}, {dtype}})});
}

void dist(Call& call) {
  const Composition run(call);
  const TensorRef apart = run("aten.sub.Tensor", {{call.tensor("self")}, {call.tensor("other")}});
  emit_made(call, run("aten.norm.Scalar", {{apart}, call.datum("p")}));
}

constexpr std::array kComplexComposites = {
    ComplexBody{"aten.addr", addr},
    ComplexBody{"aten.allclose", allclose},
    ComplexBody{"aten.dist", dist},
    ComplexBody{"aten.equal", equal_tensors},
    ComplexBody{"aten.eye", eye},
    ComplexBody{"aten.index_add", index_add},
    ComplexBody{"aten.isclose", isclose},
    ComplexBody{"aten.ldexp", ldexp_of},
    ComplexBody{"aten.linalg_cross", cross},
    ComplexBody{"aten.linspace", linspace},
    ComplexBody{"aten.nan_to_num", nan_to_num},
};

}  // namespace
}  // namespace of_complex

std::span<const ComplexBody> complex_composite_bodies() { return of_complex::kComplexComposites; }

}  // namespace graphgate::reference
