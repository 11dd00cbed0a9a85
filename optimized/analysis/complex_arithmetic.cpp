// Arithmetic of complex tensors, comparisons and choices: each component is one of the few real ops
// that its definition names.
#include <algorithm>

#include "optimized/analysis/complex.h"
#include "optimized/complex_numbers.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

// --- Sums and products

// A factor that is a number: 1 changes nothing.
Components scaled(ComplexParts& c, const Components& value, std::string_view factor) {
  const Components by = c.pair(factor);
  const bool is_one = by.re == Argument{1.0} && by.im == Argument{0.0};
  return is_one ? value : c.mul(by, value);
}

template <class Combine>
Values of_two(Parts& parts, Combine combine) {
  const DType dtype = complex_result(parts, {"self", "other"});
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components a = c.pair("self");
  const Components b = c.pair("other");
  return {make_pointwise_complex(parts, combine(c, a, b), dtype, {"self", "other"})};
}

Values sum_of_two(Parts& parts) {
  return of_two(parts, [](ComplexParts& c, const Components& a, const Components& b) {
    return c.add(a, scaled(c, b, "alpha"));
  });
}
Values difference(Parts& parts) {
  return of_two(parts, [](ComplexParts& c, const Components& a, const Components& b) {
    return c.sub(a, scaled(c, b, "alpha"));
  });
}
Values reversed_difference(Parts& parts) {
  return of_two(parts, [](ComplexParts& c, const Components& a, const Components& b) {
    return c.sub(b, scaled(c, a, "alpha"));
  });
}
Values product(Parts& parts) {
  return of_two(
      parts, [](ComplexParts& c, const Components& a, const Components& b) { return c.mul(a, b); });
}
Values quotient(Parts& parts) {
  if (parts.has("rounding_mode")) throw OpError("a complex quotient is not rounded");
  return of_two(
      parts, [](ComplexParts& c, const Components& a, const Components& b) { return c.div(a, b); });
}

template <bool kDivides>
Values add_scaled(Parts& parts) {
  const DType dtype = complex_result(parts, {"self", "tensor1", "tensor2"});
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components self = c.pair("self");
  const Components first = scaled(c, c.pair("tensor1"), "value");
  const Components second = c.pair("tensor2");
  const Components term = kDivides ? c.div(first, second) : c.mul(first, second);
  return {make_pointwise_complex(parts, c.add(self, term), dtype, {"self", "tensor1", "tensor2"})};
}

// From the nearer end: self + w (end - self), or end - (end - self) (1 - w) where |w| >= 0.5.
Values between(Parts& parts) {
  const DType dtype = complex_result(parts, {"self", "end"});
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components self = c.pair("self");
  const Components end = c.pair("end");
  const Components weight = c.pair("weight");
  const Components way = c.sub(end, self);
  const Components from_self = c.add(self, c.mul(weight, way));
  const Components from_end = c.sub(end, c.mul(way, c.sub({{1.0}, {0.0}}, weight)));
  const Argument is_near = c.compared("lt", c.absolute(weight), 0.5);
  return {make_pointwise_complex(parts, c.chosen(is_near, from_self, from_end), dtype,
                                 {"self", "end", "weight"})};
}

// --- Of one tensor

template <class F>
Values of_one(Parts& parts, F f) {
  const DType dtype = parts.tensor("self").dtype;
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components z = c.pair("self");
  return {make_pointwise_complex(parts, f(c, z), dtype, {"self"})};
}

Values negative(Parts& parts) {
  return of_one(parts, [](ComplexParts& c, const Components& z) { return c.negated(z); });
}
Values conjugate(Parts& parts) {
  return of_one(parts, [](ComplexParts& c, const Components& z) { return c.conjugate(z); });
}
Values reciprocal(Parts& parts) {
  return of_one(parts, [](ComplexParts& c, const Components& z) {
    return c.div({{1.0}, {0.0}}, z);
  });
}
Values square(Parts& parts) {
  return of_one(parts, [](ComplexParts& c, const Components& z) { return c.mul(z, z); });
}

// z / |z|, and 0 of 0.
Values direction(Parts& parts) {
  return of_one(parts, [](ComplexParts& c, const Components& z) {
    const Argument size = c.absolute(z);
    const Argument is_zero = c.compared("eq", size, 0);
    const Components unit = {c.div(z.re, size), c.div(z.im, size)};
    return c.chosen(is_zero, {{0.0}, {0.0}}, unit);
  });
}

Values size_of(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(parts.tensor("self").dtype));
  return {make_real(parts, c.absolute(c.pair("self")))};
}
Values angle_of(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(parts.tensor("self").dtype));
  const Argument angle = c.angle(c.pair("self"));
  // Row-major, whatever the operand is.
  return {make_real(parts,
                    parts.run("aten.clone.default", {angle, {spec::MemoryFormat::kContiguous}}))};
}

// --- Questions

template <class F>
Values asked_of_both(Parts& parts, std::string_view ask, std::string_view join, F make) {
  const Components z = component_views(parts, parts["self"]);
  const Argument re = parts.run(ask, {z.re});
  const Argument im = parts.run(ask, {z.im});
  return {make(parts.run(join, {re, im}))};
}

Values is_nan(Parts& parts) {
  return asked_of_both(parts, "aten.isnan.default", "aten.logical_or.default",
                       [&](const Argument& value) { return make_real(parts, value); });
}
Values is_infinite(Parts& parts) {
  return asked_of_both(parts, "aten.isinf.default", "aten.logical_or.default",
                       [&](const Argument& value) { return make_real(parts, value); });
}
Values is_finite(Parts& parts) {
  return asked_of_both(parts, "aten.isfinite.default", "aten.logical_and.default",
                       [&](const Argument& value) { return make_real(parts, value); });
}
Values is_real(Parts& parts) {
  const Argument im = component_view(parts, parts["self"], 1);
  return {parts.run("aten.eq.Scalar", {im, {std::int64_t{0}}})};
}

DType comparison_dtype(const Parts& parts) { return complex_result(parts, {"self", "other"}); }

Values is_equal(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(comparison_dtype(parts)));
  const Components a = c.pair("self");
  const Components b = c.pair("other");
  return {make_real(parts, c.equal(a, b))};
}
Values is_unequal(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(comparison_dtype(parts)));
  const Components a = c.pair("self");
  const Components b = c.pair("other");
  const Argument re = c.call("aten.ne.Tensor", a.re, b.re);
  return {make_real(parts,
                    c.call("aten.logical_or.default", re, c.call("aten.ne.Tensor", a.im, b.im)))};
}

// Whether the numbers of a tensor are not 0.
Argument is_nonzero(Parts& parts, const Argument& value) {
  if (!spec::is_complex(parts.of(value).dtype)) {
    return parts.run("aten.ne.Scalar", {value, {std::int64_t{0}}});
  }
  const Components z = component_views(parts, value);
  const Argument re = parts.run("aten.ne.Scalar", {z.re, {std::int64_t{0}}});
  const Argument im = parts.run("aten.ne.Scalar", {z.im, {std::int64_t{0}}});
  return parts.run("aten.logical_or.default", {re, im});
}

Values logical_not(Parts& parts) {
  const Argument any = is_nonzero(parts, parts["self"]);
  return {make_real(parts, parts.run("aten.logical_not.default", {any}))};
}

template <class Op>
Values logical_of_two(Parts& parts, Op op) {
  const Argument a = is_nonzero(parts, parts["self"]);
  const Argument b = is_nonzero(parts, parts["other"]);
  return {make_real(parts, parts.run(op, {a, b}))};
}
Values logical_and(Parts& parts) { return logical_of_two(parts, "aten.logical_and.default"); }
Values logical_or(Parts& parts) { return logical_of_two(parts, "aten.logical_or.default"); }
Values logical_xor(Parts& parts) { return logical_of_two(parts, "aten.logical_xor.default"); }

// --- Conversions to bool, of which a kernel would have to know what the number is

Values to_bool(Parts& parts) {
  const Tensor self = parts.tensor("self");
  if (const auto written = parts.written()) {
    const std::string_view source = parts.has("src") ? "src" : "self";
    const Argument any = is_nonzero(parts, parts[source]);
    return {parts.run("aten.copy_.default", {*written, any})};
  }
  if (parts.has("src")) {  // copy(self, src)
    const Argument any = is_nonzero(parts, parts["src"]);
    return {parts.run("aten.copy.default", {parts["self"], any})};
  }
  const Argument any = is_nonzero(parts, parts["self"]);
  const auto format = parts.optional_format("memory_format");
  return {
      parts.run("aten._to_copy.default", {any,
                                          {DType::kBool},
                                          {spec::None{}},
                                          {parts.device_or(self.device)},
                                          {spec::None{}},
                                          {false},
                                          format ? Argument{*format} : Argument{spec::None{}}})};
}

// --- Choices

Values chosen(Parts& parts) {
  if (!parts.has("self")) throw Unsupported(no_complex_text(parts));
  const DType dtype = complex_result(parts, {"self", "other"});
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components a = c.pair("self");
  const Components b = c.pair("other");
  const Components value = c.chosen(parts["condition"], a, b);
  return {make_pointwise_complex(parts, value, dtype, {"condition", "self", "other"})};
}

// Each component of self takes that of the value.
Values filled_with_value(Parts& parts) {
  const DType dtype = parts.tensor("self").dtype;
  if (!spec::is_complex(dtype)) {
    throw OpError("a complex value does not go into " + std::string(spec::torch_name(dtype)));
  }
  if (parts.is_tensor("value") && parts.tensor("value").rank() != 0) {
    throw OpError("the value is a tensor with dimensions");
  }
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components self = c.pair("self");
  return run_apart(c, {{"self", self}, {"value", c.pair("value")}});
}

// A number that is written, or numbers that are added up.
Values scatter(Parts& parts) {
  const bool adds = parts.has("reduce") && parts.text("reduce") == "add";
  if (parts.has("reduce") && !adds) throw Unsupported(no_complex_text(parts));
  if (parts.has("value")) return filled_with_value(parts);
  const DType dtype = parts.tensor("self").dtype;
  if (!spec::is_complex(dtype) || parts.tensor("src").dtype != dtype) {
    throw OpError("self and the source differ in dtype");
  }
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components self = c.pair("self");
  return run_apart(c, {{"self", self}, {"src", c.pair("src")}});
}

// self 2^other
Values scaled_by_power(Parts& parts) {
  const DType dtype = complex_result(parts, {"self", "other"});
  const Argument power = parts.run("aten.pow.Scalar", {{std::int64_t{2}}, parts["other"]});
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components self = c.pair("self");
  return {make_pointwise_complex(parts, c.mul(self, c.pair(power)), dtype, {"self", "other"})};
}

constexpr CompositeOp kComplexArithmetic[] = {
    {"aten._to_copy", to_bool},
    {"aten.abs", size_of},
    {"aten.add", sum_of_two},
    {"aten.addcdiv", add_scaled<true>},
    {"aten.addcmul", add_scaled<false>},
    {"aten.angle", angle_of},
    {"aten.conj_physical", conjugate},
    {"aten.copy", to_bool},
    {"aten.div", quotient},
    {"aten.eq", is_equal},
    {"aten.index_fill", filled_with_value},
    {"aten.isfinite", is_finite},
    {"aten.isinf", is_infinite},
    {"aten.isnan", is_nan},
    {"aten.isreal", is_real},
    {"aten.ldexp", scaled_by_power},
    {"aten.lerp", between},
    {"aten.logical_and", logical_and},
    {"aten.logical_not", logical_not},
    {"aten.logical_or", logical_or},
    {"aten.logical_xor", logical_xor},
    {"aten.masked_fill", filled_with_value},
    {"aten.mul", product},
    {"aten.ne", is_unequal},
    {"aten.neg", negative},
    {"aten.reciprocal", reciprocal},
    {"aten.rsub", reversed_difference},
    {"aten.scatter", scatter},
    {"aten.sgn", direction},
    {"aten.square", square},
    {"aten.sub", difference},
    {"aten.to", to_bool},
    {"aten.type_as", to_bool},
    {"aten.where", chosen},
};

}  // namespace

std::span<const CompositeOp> complex_arithmetic() { return kComplexArithmetic; }

}  // namespace graphgate::optimized
