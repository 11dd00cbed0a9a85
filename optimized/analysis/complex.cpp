#include "optimized/analysis/complex.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "optimized/complex_numbers.h"
#include "optimized/promotion.h"
#include "optimized/strides.h"
#include "optimized/synonym_table.h"

namespace graphgate::optimized {

using spec::Argument;
using spec::DType;

TakeApart find_complex(const spec::OpRow& row) {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, TakeApart> table;
    for (const auto& ops :
         {complex_arithmetic(), complex_functions(), complex_reductions(), complex_products()}) {
      for (const CompositeOp& op : ops) table.emplace(op.base_name, op.take_apart);
    }
    add_same_ops(table);
    return table;
  }();
  const auto found = kTable.find(row.schema.ns + "." + row.schema.base_name());
  return found == kTable.end() ? nullptr : found->second;
}

// --- Components

namespace {

std::optional<double> constant_of(const Argument& argument) {
  if (const auto* x = argument.as<double>()) return *x;
  return std::nullopt;
}

bool is_tensor(const Argument& argument) { return argument.as<spec::ValueId>() != nullptr; }

}  // namespace

Argument component_view(Parts& parts, const Argument& value, int which) {
  return parts.view(component_of(parts.of(value), which));
}

Components component_views(Parts& parts, const Argument& value) {
  return {component_view(parts, value, 0), component_view(parts, value, 1)};
}

Argument ComplexParts::converted(const Argument& value) {
  if (parts_.of(value).dtype == component_) return value;
  return parts_.run("aten.to.dtype", {value, {component_}});
}

Components ComplexParts::pair(const Argument& operand) {
  if (const auto* z = operand.as<spec::ComplexNumber>()) return {{z->real}, {z->imag}};
  if (const auto* x = operand.as<double>()) return {{*x}, {0.0}};
  if (const auto* i = operand.as<std::int64_t>()) return {{static_cast<double>(*i)}, {0.0}};
  if (const auto* b = operand.as<bool>()) return {{*b ? 1.0 : 0.0}, {0.0}};
  if (!is_tensor(operand)) throw OpError("expected a tensor or a number");
  if (!spec::is_complex(parts_.of(operand).dtype)) return {converted(operand), {0.0}};
  const Components views = component_views(parts_, operand);
  const Argument re = converted(views.re);
  return {re, converted(views.im)};
}

Argument ComplexParts::tensor(const Argument& a) {
  const auto constant = constant_of(a);
  if (!constant) return a;
  return parts_.run(
      "aten.full.default",
      {integers_argument({}), {*constant}, {component_}, {spec::None{}}, {parts_.result_device()}});
}

template <class F>
Argument ComplexParts::binary(std::string_view op, const Argument& a, const Argument& b, bool swaps,
                              F fold) {
  const auto x = constant_of(a);
  const auto y = constant_of(b);
  if (x && y) {
    if (component_ == DType::kFloat64) return {fold(*x, *y)};
    return {static_cast<double>(fold(static_cast<float>(*x), static_cast<float>(*y)))};
  }
  if (x && swaps) return parts_.run(op, {b, a});
  const Argument first = tensor(a);
  return parts_.run(op, {first, b});
}

Argument ComplexParts::add(const Argument& a, const Argument& b) {
  return binary("aten.add.Tensor", a, b, true, [](auto x, auto y) { return x + y; });
}
Argument ComplexParts::sub(const Argument& a, const Argument& b) {
  return binary("aten.sub.Tensor", a, b, false, [](auto x, auto y) { return x - y; });
}
Argument ComplexParts::mul(const Argument& a, const Argument& b) {
  return binary("aten.mul.Tensor", a, b, true, [](auto x, auto y) { return x * y; });
}
Argument ComplexParts::div(const Argument& a, const Argument& b) {
  return binary("aten.div.Tensor", a, b, false, [](auto x, auto y) { return x / y; });
}

Argument ComplexParts::negated(const Argument& a) {
  if (const auto x = constant_of(a)) return {-*x};
  return parts_.run("aten.neg.default", {a});
}

Argument ComplexParts::call(std::string_view op, const Argument& a) {
  const Argument operand = tensor(a);
  return parts_.run(op, {operand});
}

Argument ComplexParts::call(std::string_view op, const Argument& a, const Argument& b) {
  const Argument first = tensor(a);
  const Argument second = tensor(b);
  return parts_.run(op, {first, second});
}

Argument ComplexParts::chosen(const Argument& condition, const Argument& a, const Argument& b) {
  const Argument first = tensor(a);
  const Argument second = tensor(b);
  return parts_.run("aten.where.self", {condition, first, second});
}

Argument ComplexParts::compared(std::string_view how, const Argument& a, double b) {
  const Argument first = tensor(a);
  return parts_.run("aten." + std::string(how) + ".Scalar", {first, {b}});
}

// --- Complex numbers

Components ComplexParts::add(const Components& a, const Components& b) {
  const Argument re = add(a.re, b.re);
  return {re, add(a.im, b.im)};
}

Components ComplexParts::sub(const Components& a, const Components& b) {
  const Argument re = sub(a.re, b.re);
  return {re, sub(a.im, b.im)};
}

Components ComplexParts::mul(const Components& a, const Components& b) {
  const Argument re_re = mul(a.re, b.re);
  const Argument re = sub(re_re, mul(a.im, b.im));
  const Argument re_im = mul(a.re, b.im);
  return {re, add(re_im, mul(a.im, b.re))};
}

// Both are first divided by the larger component of the divisor, so that squares stay in range.
Components ComplexParts::div(const Components& a, const Components& b) {
  const auto c = constant_of(b.re);
  const auto d = constant_of(b.im);
  if (c && d && *d == 0 && *c != 0 && std::isfinite(*c)) return {div(a.re, b.re), div(a.im, b.re)};
  const Argument size_re = call("aten.abs.default", b.re);
  const Argument size_im = call("aten.abs.default", b.im);
  const Argument scale = call("aten.maximum.default", size_re, size_im);
  const Components divisor = {div(b.re, scale), div(b.im, scale)};
  const Components dividend = {div(a.re, scale), div(a.im, scale)};
  const Argument square_re = mul(divisor.re, divisor.re);
  const Argument square = add(square_re, mul(divisor.im, divisor.im));
  const Components product = mul(dividend, conjugate(divisor));
  return {div(product.re, square), div(product.im, square)};
}

Components ComplexParts::negated(const Components& a) {
  const Argument re = negated(a.re);
  return {re, negated(a.im)};
}
Components ComplexParts::conjugate(const Components& a) { return {a.re, negated(a.im)}; }
Components ComplexParts::times_i(const Components& a) { return {negated(a.im), a.re}; }
Components ComplexParts::over_i(const Components& a) { return {a.im, negated(a.re)}; }

Components ComplexParts::chosen(const Argument& condition, const Components& a,
                                const Components& b) {
  const Argument re = chosen(condition, a.re, b.re);
  return {re, chosen(condition, a.im, b.im)};
}

Argument ComplexParts::absolute(const Components& a) {
  return call("aten.hypot.default", a.re, a.im);
}
Argument ComplexParts::angle(const Components& a) { return call("aten.atan2.default", a.im, a.re); }

Argument ComplexParts::equal(const Components& a, const Components& b) {
  const Argument re = call("aten.eq.Tensor", a.re, b.re);
  return call("aten.logical_and.default", re, call("aten.eq.Tensor", a.im, b.im));
}

Argument ComplexParts::is_zero(const Components& a) { return equal(a, {{0.0}, {0.0}}); }

// --- Results

namespace {

void check_written_sizes(const Parts& parts, const Tensor& target, const Sizes& sizes) {
  if (target.sizes == sizes) return;
  if (parts.row().effects.is_in_place) {
    throw OpError("the written tensor has sizes " + print_sizes(target.sizes) +
                  ", the operands broadcast to " + print_sizes(sizes));
  }
  throw Unsupported("the written tensor has sizes " + print_sizes(target.sizes) + ", the result " +
                    print_sizes(sizes) + ": it is not resized");
}

void check_written_once(const Tensor& target) {
  for (std::size_t d = 0; d < target.sizes.size(); ++d) {
    if (target.sizes[d] > 1 && target.strides[d] == 0 && target.count() > 0) {
      throw OpError("more than one element of the written-to tensor is one place in memory");
    }
  }
}

void copy_into(Parts& parts, const Argument& target, const Argument& value) {
  if (value.as<double>()) {
    (void)parts.run("aten.fill_.Scalar", {target, value});
  } else {
    (void)parts.run("aten.copy_.default", {target, value});
  }
}

// Both components at once, so that none is written before the other is known.
void write_pairs(Parts& parts, const Argument& target, const Components& value,
                 const Sizes& sizes) {
  const DType own = spec::component_dtype(parts.of(target).dtype);
  const auto of = [&](const Argument& one) { return one.as<double>() ? own : parts.of(one).dtype; };
  const bool is_wide = of(value.re) == DType::kFloat64 || of(value.im) == DType::kFloat64;
  ComplexParts c(parts, is_wide ? DType::kFloat64 : DType::kFloat32);
  const auto laid = [&](const Argument& one) {
    Argument out = c.tensor(one);
    if (parts.of(out).dtype != c.component()) {
      out = parts.run("aten.to.dtype", {out, {c.component()}});
    }
    if (parts.of(out).sizes == sizes) return out;
    return parts.run("aten.expand.default", {out, integers_argument(sizes)});
  };
  const Argument re = laid(value.re);
  const Argument im = laid(value.im);
  (void)parts.run("aten.complex.out", {re, im, target});
}

// Strides of a new tensor of pairs: the dimensions in the order of `strides`, then the pair.
Argument new_pairs(Parts& parts, DType component, const Sizes& sizes, const Sizes& strides) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  std::vector<std::int64_t> physical;
  physical.reserve(sizes.size() + 1);
  for (const std::size_t d : order) physical.push_back(sizes[d]);
  physical.push_back(2);
  return parts.run(
      "aten.empty.memory_format",
      {integers_argument(physical), {component}, {spec::None{}}, {parts.result_device()}});
}

}  // namespace

Argument make_complex(Parts& parts, const Components& value, DType dtype, const Sizes& sizes,
                      const Sizes& strides) {
  if (const auto written = parts.written()) {
    const Tensor target = parts.of(*written);
    if (!spec::is_complex(target.dtype)) {
      throw OpError("result type " + std::string(spec::torch_name(dtype)) +
                    " can't be cast to the desired output type " +
                    std::string(spec::torch_name(target.dtype)));
    }
    check_written_sizes(parts, target, sizes);
    check_written_once(target);
    write_pairs(parts, *written, value, sizes);
    return *written;
  }
  const Argument pairs = new_pairs(parts, spec::component_dtype(dtype), sizes, strides);
  Tensor made = parts.of(pairs);
  made.dtype = dtype;
  made.sizes = sizes;
  made.strides = strides;
  const Argument result = parts.view(made);
  write_pairs(parts, result, value, sizes);
  return result;
}

Argument make_pointwise_complex(Parts& parts, const Components& value, DType dtype,
                                std::initializer_list<std::string_view> over) {
  std::vector<const Tensor*> inputs;
  for (const std::string_view name : over) {
    if (parts.is_tensor(name)) inputs.push_back(&parts.tensor(name));
  }
  const Sizes sizes = broadcast_sizes(inputs);
  return make_complex(parts, value, dtype, sizes, pointwise_strides(inputs, sizes));
}

Argument make_real(Parts& parts, const Argument& value) {
  const auto written = parts.written();
  if (!written) return value;
  const Tensor& target = parts.of(*written);
  if (parts.row().effects.is_in_place && spec::is_complex(target.dtype)) {
    throw Unsupported("a complex tensor that takes a real result in place");
  }
  check_written_sizes(parts, target, parts.of(value).sizes);
  copy_into(parts, *written, value);
  return *written;
}

namespace {

// The arguments of the node, those of one component; of what it writes, a copy.
std::vector<Argument> arguments_of_component(
    ComplexParts& c, const std::vector<std::pair<std::string_view, Components>>& pairs, int which) {
  Parts& parts = c.parts();
  std::vector<Argument> out;
  for (const spec::SchemaArgument& declared : parts.row().schema.arguments) {
    const auto found =
        std::ranges::find(pairs, declared.name, [](const auto& p) { return p.first; });
    if (found != pairs.end()) {
      const Argument& one = which == 0 ? found->second.re : found->second.im;
      const bool is_tensor = declared.type.base == spec::BaseType::kTensor;
      out.push_back(is_tensor && !one.as<spec::None>() ? c.tensor(one) : one);
    } else if (declared.name == "dtype") {
      out.push_back({spec::None{}});
    } else if (parts.written() && *parts.written() == parts[declared.name]) {
      const Argument before = component_view(parts, parts[declared.name], which);
      out.push_back(parts.run("aten.clone.default", {before}));
    } else {
      out.push_back(parts[declared.name]);
    }
  }
  return out;
}

}  // namespace

Argument same_op(Parts& parts, const std::vector<std::pair<std::string_view, Argument>>& others) {
  std::vector<Argument> arguments;
  for (const spec::SchemaArgument& declared : parts.row().schema.arguments) {
    const auto found =
        std::ranges::find(others, declared.name, [](const auto& other) { return other.first; });
    arguments.push_back(found == others.end() ? parts[declared.name] : found->second);
  }
  return parts.run(parts.row().schema.qualified_name(), std::move(arguments));
}

std::vector<Argument> run_apart(ComplexParts& c,
                                const std::vector<std::pair<std::string_view, Components>>& pairs) {
  Parts& parts = c.parts();
  const auto written = parts.written();
  if (written && !spec::is_complex(parts.of(*written).dtype)) {
    throw OpError("a complex result does not go into " +
                  std::string(spec::torch_name(parts.of(*written).dtype)));
  }
  const std::string op = parts.row().schema.qualified_name();
  const Argument re = parts.run(op, arguments_of_component(c, pairs, 0));
  const Argument im = parts.run(op, arguments_of_component(c, pairs, 1));
  if (written) {  // in one step, as one op does
    write_pairs(parts, *written, {re, im}, parts.of(*written).sizes);
    return {*written};
  }
  const Tensor made = parts.of(re);
  return {make_complex(parts, {re, im}, complex_with(c.component()), made.sizes, made.strides)};
}

DType complex_with(DType component) {
  return component == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

DType complex_result(const Parts& parts, std::initializer_list<std::string_view> names) {
  std::vector<const Item*> items;
  for (const std::string_view name : names) items.push_back(&parts.item(name));
  items.resize(3, nullptr);
  const DType dtype = result_type({items[0], items[1], items[2]});
  if (!spec::is_complex(dtype)) throw OpError("expected a complex operand");
  return dtype;
}

}  // namespace graphgate::optimized
