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

// The node's own op, with another self.
Argument same_op(Parts& parts, const Argument& self) {
  std::vector<Argument> arguments;
  for (const spec::SchemaArgument& declared : parts.row().schema.arguments) {
    const bool is_self = declared.name == "self";
    const bool is_dtype = declared.name == "dtype";
    arguments.push_back(is_self ? self : is_dtype ? Argument{spec::None{}} : parts[declared.name]);
  }
  return parts.run(parts.row().schema.qualified_name(), std::move(arguments));
}

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
  const Pair self = c.pair("self");
  return run_apart(c, {{"self", self}, {other, c.pair(other)}});
}

Values add_at_index(Parts& parts) {
  if (parts.item("alpha").as<spec::ComplexNumber>()) throw Unsupported(no_complex_text(parts));
  return by_components_of(parts, "source");
}
Values add_at_places(Parts& parts) {
  if (parts.has("reduce") && parts.text("reduce") != "sum" && parts.text("reduce") != "mean") {
    throw Unsupported(no_complex_text(parts));
  }
  return by_components_of(parts, "src");
}
Values put_values(Parts& parts) { return by_components_of(parts, "values"); }
Values put_source(Parts& parts) { return by_components_of(parts, "source"); }

Values differences(Parts& parts) {
  if (parts.has("prepend") || parts.has("append")) throw Unsupported(no_complex_text(parts));
  return by_component(parts);
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

// --- Spread: that of both components

Argument spread(Parts& parts) {
  const Pair z = component_views(parts, parts["self"]);
  const std::string base = "aten.var";
  const std::string overload = parts.row().schema.overload.starts_with("correction") ? ".correction"
                               : parts.has("dim")                                    ? ".dim"
                                                                                     : ".default";
  const auto of = [&](const Argument& component) {
    std::vector<Argument> arguments = {component};
    if (overload == ".correction") {
      arguments.insert(arguments.end(), {parts["dim"], parts["correction"], parts["keepdim"]});
    } else if (overload == ".dim") {
      arguments.insert(arguments.end(), {parts["dim"], parts["unbiased"], parts["keepdim"]});
    } else {
      arguments.push_back(parts["unbiased"]);
    }
    return parts.run(base + overload, std::move(arguments));
  };
  const Argument re = of(z.re);
  const Argument im = of(z.im);
  return parts.run("aten.add.Tensor", {re, im});
}
Values variance(Parts& parts) { return {make_real(parts, spread(parts))}; }
Values deviation(Parts& parts) {
  return {make_real(parts, parts.run("aten.sqrt.default", {spread(parts)}))};
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

Values product(Parts& parts) {
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
    {"aten.all", of_nonzero},
    {"aten.any", of_nonzero},
    {"aten.count_nonzero", of_nonzero},
    {"aten.cumprod", running_product},
    {"aten.cumsum", by_component},
    {"aten.diff", differences},
    {"aten.dist", distance},
    {"aten.index_add", add_at_index},
    {"aten.index_put", put_values},
    {"aten.linalg_vector_norm", of_magnitudes},
    {"aten.mean", by_component},
    {"aten.nan_to_num", by_component},
    {"aten.nansum", by_component},
    {"aten.norm", of_magnitudes},
    {"aten.prod", product},
    {"aten.put", put_source},
    {"aten.scatter_add", add_at_places},
    {"aten.scatter_reduce", add_at_places},
    {"aten.std", deviation},
    {"aten.sum", by_component},
    {"aten.trace", by_component},
    {"aten.tril", by_component},
    {"aten.triu", by_component},
    {"aten.var", variance},
};

}  // namespace

std::span<const CompositeOp> complex_reductions() { return kComplexReductions; }

}  // namespace graphgate::optimized
