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

// ---- equality -----------------------------------------------------------------------------------

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

// |self - other| <= atol + |rtol * other|, or equal.
TensorRef close_elements(const Call& call, const Composition& run) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (self->dtype != other->dtype) throw OpError("self and other have other dtypes");
  const double rtol = call.real("rtol");
  const double atol = call.real("atol");
  if (!(rtol >= 0) || !(atol >= 0)) throw OpError("rtol and atol must not be negative");
  const auto either = [&](const TensorRef& a, const TensorRef& b) {
    return run("aten.logical_or.default", {{a}, {b}});
  };
  const auto both = [&](const TensorRef& a, const TensorRef& b) {
    return run("aten.logical_and.default", {{a}, {b}});
  };
  TensorRef close = run("aten.eq.Tensor", {{self}, {other}});
  if (call.boolean("equal_nan")) {
    close = either(close,
                   both(run("aten.isnan.default", {{self}}), run("aten.isnan.default", {{other}})));
  }
  if (rtol == 0 && atol == 0) return close;
  const TensorRef share = run("aten.abs.default", {{run("aten.mul.Scalar", {{other}, {rtol}})}});
  const TensorRef allowed = run("aten.add.Scalar", {{share}, {atol}});
  const TensorRef apart = run("aten.abs.default", {{run("aten.sub.Tensor", {{self}, {other}})}});
  const TensorRef within =
      both(run("aten.isfinite.default", {{apart}}), run("aten.le.Tensor", {{apart}, {allowed}}));
  return either(close, within);
}
void isclose(Call& call) { call.emit_datum({close_elements(call, Composition(call))}); }
void allclose(Call& call) {
  const Composition run(call);
  emit_all_hold(call, run, close_elements(call, run));
}

// ---- pointwise
// ------------------------------------------------------------------------------------

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
// ----------------------------------------------------------------

void index_add(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& source = call.tensor("source");
  if (self->dtype != source->dtype) throw OpError("self and source must have the same dtype");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
  if (self->rank() == 0 || source->rank() != self->rank()) {
    throw Undecidable("index_add of complex numbers without dimensions is not supported");
  }
  const TensorRef terms = run("aten.mul.Scalar", {{source}, call.datum("alpha")});
  TensorRef index = call.tensor("index");
  if (index->rank() == 0) index = run("aten.unsqueeze.default", {{index}, {std::int64_t{0}}});
  Datum::List indices(static_cast<std::size_t>(dim), Datum{spec::None{}});
  indices.push_back({index});
  const bool in_place = call.next_target() == self;
  const TensorRef out = run(in_place ? "aten.index_put_.default" : "aten.index_put.default",
                            {{self}, {std::move(indices)}, {terms}, {true}});
  if (in_place) return call.emit_datum({out});
  emit_made(call, is_contiguous(*out) ? out : copy_of(*out));
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
// -----------------------------------------------------------------------------------------

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
    ComplexBody{"aten.linalg_cross", cross},
    ComplexBody{"aten.nan_to_num", nan_to_num},
};

}  // namespace
}  // namespace of_complex

std::span<const ComplexBody> complex_composite_bodies() { return of_complex::kComplexComposites; }

}  // namespace graphgate::reference
