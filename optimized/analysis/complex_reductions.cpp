// Sums, products and norms of complex tensors, and what moves or adds elements by component.
#include <algorithm>
#include <cmath>

#include "optimized/analysis/complex.h"
#include "optimized/complex_numbers.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

// The dtype of a reduction: what it is asked for, or self's.
DType reduced_dtype(const Parts& parts) {
  const DType own = parts.tensor("self").dtype;
  const DType dtype = parts.has("dtype") ? parts.optional_dtype("dtype").value_or(own) : own;
  return dtype;
}

// Self as the dtype asks for it, where that is real; nothing where it stays complex.
std::optional<Argument> as_real(Parts& parts) {
  if (spec::is_complex(reduced_dtype(parts))) return std::nullopt;
  return parts.run("aten.to.dtype", {parts["self"], {reduced_dtype(parts)}});
}

Argument same_op(Parts& parts, const Argument& self) {
  return same_op(parts, {{"self", self}, {"dtype", {spec::None{}}}});
}

Components none() { return {{spec::None{}}, {spec::None{}}}; }

// Component by component.
Values by_component(Parts& parts) {
  if (const auto self = as_real(parts)) return {same_op(parts, *self)};
  ComplexParts c(parts, spec::component_dtype(reduced_dtype(parts)));
  return run_apart(c, {{"self", c.pair("self")}});
}

// The same for ops that add a second complex tensor in.
Values by_components_of(Parts& parts, std::string_view other) {
  const DType dtype = parts.tensor("self").dtype;
  if (!spec::is_complex(dtype) || parts.tensor(other).dtype != dtype) {
    throw OpError("self has dtype " + std::string(spec::torch_name(dtype)) + ", the other " +
                  std::string(spec::torch_name(parts.tensor(other).dtype)));
  }
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components self = c.pair("self");
  return run_apart(c, {{"self", self}, {other, c.pair(other)}});
}

Values add_at_index(Parts& parts) {
  if (parts.item("alpha").as<spec::ComplexNumber>()) throw Unsupported(no_complex_text(parts));
  return by_components_of(parts, "source");
}
Values add_at_places(Parts& parts) {
  const std::string_view how = parts.has("reduce") ? parts.text("reduce") : "sum";
  if (how != "sum" && how != "mean" && how != "add") throw Unsupported(no_complex_text(parts));
  return by_components_of(parts, "src");
}
Values put_values(Parts& parts) { return by_components_of(parts, "values"); }
Values put_source(Parts& parts) { return by_components_of(parts, "source"); }

// Of self with what stands in front of it and behind.
Values differences(Parts& parts) {
  Argument value = parts["self"];
  const std::int64_t dim = wrap_dim(parts.integer("dim"), parts.tensor("self").rank());
  Argument::List joined;
  for (const std::string_view name : {"prepend", "self", "append"}) {
    if (parts.has(name)) joined.push_back(parts[name]);
  }
  if (joined.size() > 1) value = parts.run("aten.cat.default", {{std::move(joined)}, {dim}});
  ComplexParts c(parts, spec::component_dtype(parts.of(value).dtype));
  const Components z = c.pair(value);
  return run_apart(c, {{"self", z}, {"prepend", none()}, {"append", none()}});
}

// Softmax and its logarithm of what the dtype leaves of complex numbers.
Values of_real(Parts& parts) {
  const auto self = as_real(parts);
  if (!self) throw Unsupported(no_complex_text(parts));
  return {same_op(parts, *self)};
}

// --- Of magnitudes

Argument magnitudes(Parts& parts) {
  const DType dtype = parts.tensor("self").dtype;
  DType component = spec::component_dtype(dtype);
  if (parts.has("dtype")) component = spec::component_dtype(reduced_dtype(parts));
  ComplexParts c(parts, component);
  return c.absolute(c.pair("self"));
}

Values of_magnitudes(Parts& parts) { return {same_op(parts, magnitudes(parts))}; }

// |self - target|, reduced as the loss says.
Values absolute_loss(Parts& parts) {
  const Argument way = parts.run("aten.sub.Tensor", {parts["self"], parts["target"]});
  const Argument losses = parts.run("aten.abs.default", {way});
  const std::int64_t reduction = parts.integer("reduction");
  if (reduction == 0) return {make_real(parts, losses)};
  const std::string_view op = reduction == 1 ? "aten.mean.default" : "aten.sum.default";
  return {make_real(parts, parts.run(op, {losses}))};
}

Values distance(Parts& parts) {
  const Argument between = parts.run("aten.sub.Tensor", {parts["self"], parts["other"]});
  const Argument norm = parts.run("aten.norm.Scalar", {between, parts["p"]});
  return {make_real(parts, norm)};
}

// --- Of whether they are 0

Values of_nonzero(Parts& parts) {
  const Argument any = parts.run("aten.ne.Scalar", {parts["self"], {std::int64_t{0}}});
  return {same_op(parts, any)};
}

// Whether all components are equal.
Values are_equal(Parts& parts) {
  const Tensor& self = parts.tensor("self");
  if (self.dtype != parts.tensor("other").dtype) throw OpError("expected two tensors of one dtype");
  const Argument a = parts.view(components_of(self));
  const Argument b = parts.view(components_of(parts.tensor("other")));
  return {parts.run("aten.equal.default", {a, b})};
}

// --- Spread: that of both components

// The overload of a reduction that the node's own is, and its arguments behind self.
struct Spread {
  std::string overload;
  std::vector<Argument> behind_self;
};
Spread spread_of(const Parts& parts) {
  if (parts.row().schema.overload.starts_with("correction")) {
    return {"correction", {parts["dim"], parts["correction"], parts["keepdim"]}};
  }
  if (parts.has("dim")) return {"dim", {parts["dim"], parts["unbiased"], parts["keepdim"]}};
  return {"default", {parts["unbiased"]}};
}

Argument variance_of(Parts& parts) {
  const Spread spread = spread_of(parts);
  const auto of = [&](const Argument& component) {
    std::vector<Argument> arguments = {component};
    arguments.insert(arguments.end(), spread.behind_self.begin(), spread.behind_self.end());
    return parts.run("aten.var." + spread.overload, std::move(arguments));
  };
  const Components z = component_views(parts, parts["self"]);
  const Argument re = of(z.re);
  const Argument im = of(z.im);
  return parts.run("aten.add.Tensor", {re, im});
}
Argument deviation_of(Parts& parts) { return parts.run("aten.sqrt.default", {variance_of(parts)}); }
Values variance(Parts& parts) { return {make_real(parts, variance_of(parts))}; }
Values deviation(Parts& parts) { return {make_real(parts, deviation_of(parts))}; }

template <Argument (*spread)(Parts& parts)>
Values spread_and_mean(Parts& parts) {
  if (parts.written()) throw Unsupported(no_complex_text(parts));
  const Argument first = spread(parts);
  if (!parts.row().schema.find_argument("keepdim")) {
    return {first, parts.run("aten.mean.default", {parts["self"]})};
  }
  return {first, parts.run("aten.mean.dim", {parts["self"], parts["dim"], parts["keepdim"]})};
}

// --- Products: halves are multiplied with each other, as often as it takes

Argument slice(Parts& parts, const Argument& value, std::int64_t dim, std::int64_t begin,
               std::int64_t end) {
  return parts.run("aten.slice.Tensor", {value, {dim}, {begin}, {end}});
}

Argument product_along(Parts& parts, Argument value, std::int64_t dim) {
  while (parts.of(value).size(dim) > 1) {
    const std::int64_t size = parts.of(value).size(dim);
    const std::int64_t half = size / 2;
    const Argument first = slice(parts, value, dim, 0, half);
    const Argument second = slice(parts, value, dim, half, 2 * half);
    const Argument both = parts.run("aten.mul.Tensor", {first, second});
    if (size % 2 == 0) {
      value = both;
      continue;
    }
    const Argument last = slice(parts, value, dim, size - 1, size);
    value = parts.run("aten.cat.default", {{Argument::List{both, last}}, {dim}});
  }
  return value;
}

// Self in the dtype that is asked for.
Argument in_dtype(Parts& parts, DType dtype) {
  return parts.run("aten.to.dtype", {parts["self"], {dtype}});
}

Argument finished(Parts& parts, const Argument& value) {
  const auto written = parts.written();
  if (!written) return value;
  if (parts.of(*written).sizes != parts.of(value).sizes) {
    throw Unsupported("the written tensor has other sizes: it is not resized");
  }
  return parts.run("aten.copy_.default", {*written, value});
}

Values product_of_all(Parts& parts) {
  if (const auto self = as_real(parts)) return {same_op(parts, *self)};
  const DType dtype = reduced_dtype(parts);
  Argument value = in_dtype(parts, dtype);
  Sizes sizes = parts.of(value).sizes;
  std::int64_t dim = 0;
  bool keeps = false;
  if (parts.has("dim")) {
    dim = wrap_dim(parts.integer("dim"), static_cast<std::int64_t>(sizes.size()));
    keeps = parts.boolean("keepdim");
  } else {
    value = parts.run("aten.reshape.default", {value, integers_argument({-1})});
    sizes = {parts.of(value).count()};
  }
  if (sizes.empty()) {
    return {finished(parts, parts.run("aten.clone.default", {value}))};
  }
  if (sizes[at(dim)] == 0) {
    sizes[at(dim)] = 1;
    value = parts.run(
        "aten.ones.default",
        {integers_argument(sizes), {dtype}, {spec::None{}}, {parts.tensor("self").device}});
  }
  value = product_along(parts, value, dim);
  if (!keeps) value = parts.run("aten.select.int", {value, {dim}, {std::int64_t{0}}});
  return {
      finished(parts, parts.run("aten.clone.default", {value, {spec::MemoryFormat::kContiguous}}))};
}

// Running products: each is multiplied with the one that is 1, 2, 4... places in front.
Values running_product(Parts& parts) {
  if (const auto self = as_real(parts)) return {same_op(parts, *self)};
  const DType dtype = reduced_dtype(parts);
  Argument value = in_dtype(parts, dtype);
  const std::int64_t rank = parts.of(value).rank();
  const std::int64_t dim = wrap_dim(parts.integer("dim"), rank);
  const std::int64_t size = parts.of(value).size(dim);
  for (std::int64_t step = 1; rank > 0 && step < size; step *= 2) {
    const Argument done = slice(parts, value, dim, 0, step);
    const Argument behind = slice(parts, value, dim, step, size);
    const Argument ahead = slice(parts, value, dim, 0, size - step);
    const Argument more = parts.run("aten.mul.Tensor", {behind, ahead});
    value = parts.run("aten.cat.default", {{Argument::List{done, more}}, {dim}});
  }
  if (parts.written()) return {finished(parts, value)};
  return {parts.run("aten.clone.default", {value})};
}

constexpr CompositeOp kComplexReductions[] = {
    {"aten._index_put_impl", put_values},
    {"aten._unsafe_index_put", put_values},
    {"aten._unsafe_masked_index_put_accumulate", put_values},
    {"aten.all", of_nonzero},
    {"aten.any", of_nonzero},
    {"aten.count_nonzero", of_nonzero},
    {"aten.cumprod", running_product},
    {"aten.cumsum", by_component},
    {"aten.diff", differences},
    {"aten.dist", distance},
    {"aten.equal", are_equal},
    {"aten.index_add", add_at_index},
    {"aten.index_put", put_values},
    {"aten.l1_loss", absolute_loss},
    {"aten.linalg_vector_norm", of_magnitudes},
    {"aten.log_softmax", of_real},
    {"aten.mean", by_component},
    {"aten.nan_to_num", by_component},
    {"aten.nansum", by_component},
    {"aten.nonzero", of_nonzero},
    {"aten.nonzero_static", of_nonzero},
    {"aten.norm", of_magnitudes},
    {"aten.prod", product_of_all},
    {"aten.put", put_source},
    {"aten.scatter_add", add_at_places},
    {"aten.scatter_reduce", add_at_places},
    {"aten.softmax", of_real},
    {"aten.std", deviation},
    {"aten.std_mean", spread_and_mean<deviation_of>},
    {"aten.sum", by_component},
    {"aten.trace", by_component},
    {"aten.tril", by_component},
    {"aten.triu", by_component},
    {"aten.var", variance},
    {"aten.var_mean", spread_and_mean<variance_of>},
};

}  // namespace

std::span<const CompositeOp> complex_reductions() { return kComplexReductions; }

}  // namespace graphgate::optimized
