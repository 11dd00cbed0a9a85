// Composite ops that compute: tests of numbers, sums, products, norms, and two of sampling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

bool is_real(const Tensor& tensor) {
  return spec::is_floating_point(tensor.dtype) || spec::is_complex(tensor.dtype);
}

Argument all_true(Parts& parts, const Argument& like) {
  return parts.run("aten.ones_like.default", {like, {DType::kBool}});
}

Values test_real(Parts& parts) { return {all_true(parts, parts["self"])}; }

// x == x, and |x| is not infinite.
Argument is_finite(Parts& parts, const Argument& x) {
  if (!is_real(parts.of(x))) return all_true(parts, x);
  const Argument is_number = parts.run("aten.eq.Tensor", {x, x});
  const Argument size = parts.run("aten.abs.default", {x});
  const Argument is_bounded =
      parts.run("aten.ne.Scalar", {size, {std::numeric_limits<double>::infinity()}});
  return parts.run("aten.mul.Tensor", {is_number, is_bounded});
}

Values test_finite(Parts& parts) { return {is_finite(parts, parts["self"])}; }

Values test_close(Parts& parts) {
  const Tensor& a = parts.tensor("self");
  const Tensor& b = parts.tensor("other");
  if (a.dtype != b.dtype) throw OpError("isclose takes two tensors of one dtype");
  if (parts.real("rtol") < 0 || parts.real("atol") < 0) throw OpError("a tolerance is negative");
  Argument self = parts["self"];
  Argument other = parts["other"];
  Argument close = parts.run("aten.eq.Tensor", {self, other});
  if (parts.boolean("equal_nan") && is_real(a)) {
    const Argument nan_a = parts.run("aten.isnan.default", {self});
    const Argument nan_b = parts.run("aten.isnan.default", {other});
    close = parts.run("aten.logical_or.default",
                      {close, parts.run("aten.logical_and.default", {nan_a, nan_b})});
  }
  if (parts.real("rtol") == 0 && parts.real("atol") == 0) return {close};
  if (a.dtype == DType::kBool) self = parts.run("aten.to.dtype", {self, {DType::kFloat32}});
  if (!is_real(a)) other = parts.run("aten.to.dtype", {other, {DType::kFloat32}});
  const Argument scaled = parts.run("aten.mul.Scalar", {other, parts["rtol"]});
  const Argument allowed =
      parts.run("aten.add.Scalar", {parts.run("aten.abs.default", {scaled}), parts["atol"]});
  const Argument error =
      parts.run("aten.abs.default", {parts.run("aten.sub.Tensor", {self, other})});
  const Argument is_within = parts.run("aten.le.Tensor", {error, allowed});
  const Argument is_right =
      parts.run("aten.logical_and.default", {is_finite(parts, error), is_within});
  return {parts.run("aten.logical_or.default", {close, is_right})};
}

std::string same_form(const Parts& parts, const std::string& base) {
  return base + (parts.row().effects.is_in_place ? "_.default" : ".default");
}

Values clamp_to_six(Parts& parts) {
  return {parts.run(same_form(parts, "aten.hardtanh"), {parts["self"], {0.0}, {6.0}})};
}

Values scaled_elu(Parts& parts) {
  return {parts.run(
      same_form(parts, "aten.elu"),
      {parts["self"], {1.6732632423543772848170429916717}, {1.0507009873554804934193349852946}})};
}

// (1 + erf(x / sqrt(2))) / 2
Values normal_distribution(Parts& parts) {
  const Argument scaled = parts.run("aten.mul.Scalar", {parts["self"], {std::sqrt(0.5)}});
  const Argument erf = parts.run("aten.erf.default", {scaled});
  const Argument sum = parts.run("aten.add.Scalar", {erf, {std::int64_t{1}}});
  return {parts.run("aten.mul.Scalar", {sum, {0.5}})};
}

Argument sum_along(Parts& parts, const Argument& value, std::initializer_list<std::int64_t> dims,
                   bool keeps = false) {
  return parts.run("aten.sum.dim_IntList", {value, integers_argument(dims), {keeps}});
}

Values sum_to(Parts& parts) {
  const Sizes from = parts.tensor("self").sizes;
  const Sizes to = parts.integers("size");
  const std::size_t leading = from.size() - std::min(from.size(), to.size());
  if (to.size() > from.size()) throw OpError("the size has more dimensions than the tensor");
  if (to.empty()) return {parts.run("aten.sum.default", {parts["self"]})};
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (d < leading || (to[d - leading] == 1 && from[d] != 1)) {
      dims.push_back(static_cast<std::int64_t>(d));
    } else if (to[d - leading] != from[d]) {
      throw OpError("the size does not stretch to the tensor's");
    }
  }
  Argument out = parts["self"];
  if (!dims.empty()) {
    out = parts.run("aten.sum.dim_IntList", {out, integers_argument(dims), {true}});
  }
  if (leading > 0) out = parts.run("aten.view.default", {out, integers_argument(to)});
  return {out};
}

Values mean_of_numbers(Parts& parts) {
  if (!is_real(parts.tensor("self"))) throw OpError("nanmean takes floating point alone");
  const Argument is_nan = parts.run("aten.isnan.default", {parts["self"]});
  const Argument is_number = parts.run("aten.logical_not.default", {is_nan});
  const Argument count =
      parts.run("aten.sum.dim_IntList", {is_number, parts["dim"], parts["keepdim"]});
  const Argument sum = parts.run("aten.nansum.default",
                                 {parts["self"], parts["dim"], parts["keepdim"], parts["dtype"]});
  return {parts.run("aten.div.Tensor", {sum, count})};
}

Values outer_product(Parts& parts) {
  const Tensor& self = parts.tensor("self");
  if (self.rank() != 1 || parts.tensor("vec2").rank() != 1) throw OpError("outer takes vectors");
  const Argument column =
      parts.run("aten.reshape.default", {parts["self"], integers_argument({self.count(), 1})});
  return {parts.run("aten.mul.Tensor", {column, parts["vec2"]})};
}

// One side of a contraction: what is left of it in front or behind, as a matrix.
struct Side {
  Argument value;
  std::vector<std::int64_t> dims;  // contracted
  std::vector<std::int64_t> free = {};
  std::int64_t free_count = 1;
};

void note_free(Parts& parts, Side& side, std::vector<std::int64_t>& sizes) {
  const Sizes own = parts.of(side.value).sizes;
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (std::ranges::find(side.dims, static_cast<std::int64_t>(d)) != side.dims.end()) continue;
    side.free.push_back(static_cast<std::int64_t>(d));
    side.free_count *= own[d];
    sizes.push_back(own[d]);
  }
}

Argument matrix_of(Parts& parts, const Side& side, std::int64_t depth, bool is_left) {
  std::vector<std::int64_t> order = is_left ? side.free : side.dims;
  const std::vector<std::int64_t>& rest = is_left ? side.dims : side.free;
  order.insert(order.end(), rest.begin(), rest.end());
  const Argument ordered =
      parts.run("aten.permute.default", {side.value, integers_argument(order)});
  return parts.run("aten.reshape.default",
                   {ordered, is_left ? integers_argument({side.free_count, depth})
                                     : integers_argument({depth, side.free_count})});
}

Values contract(Parts& parts, Side a, Side b) {
  if (a.dims.size() != b.dims.size()) throw OpError("tensordot: as many dimensions of each");
  if (parts.of(a.value).dtype != parts.of(b.value).dtype) throw OpError("expected one dtype");
  std::int64_t depth = 1;
  const auto sum_away = [&](Side& side, std::int64_t dim) {
    const DType dtype = parts.of(side.value).dtype;
    side.value =
        parts.run("aten.sum.dim_IntList", {side.value, integers_argument({dim}), {true}, {dtype}});
  };
  for (std::size_t i = 0; i < a.dims.size(); ++i) {
    const std::int64_t size_a = parts.of(a.value).size(a.dims[i]);
    const std::int64_t size_b = parts.of(b.value).size(b.dims[i]);
    if (size_a == size_b && size_b != 1) {
      depth *= size_a;
    } else if (size_b == 1) {
      sum_away(a, a.dims[i]);
    } else if (size_a == 1) {
      sum_away(b, b.dims[i]);
    } else {
      throw OpError("the contracted dimensions differ in size");
    }
  }
  std::vector<std::int64_t> sizes;
  note_free(parts, a, sizes);
  note_free(parts, b, sizes);
  const Argument left = matrix_of(parts, a, depth, true);
  const Argument right = matrix_of(parts, b, depth, false);
  const Argument product = parts.run("aten.mm.default", {left, right});
  return {parts.run("aten.reshape.default", {product, integers_argument(sizes)})};
}

Values contract_dims(Parts& parts) {
  const auto dims = [&](std::string_view tensor, std::string_view name) {
    return wrap_dims(parts.integers(name), parts.tensor(tensor).rank(), false);
  };
  return contract(parts, {parts["self"], dims("self", "dims_self")},
                  {parts["other"], dims("other", "dims_other")});
}

Values inner_product(Parts& parts) {
  const Tensor& a = parts.tensor("self");
  const Tensor& b = parts.tensor("other");
  if (a.rank() == 0 || b.rank() == 0) {
    return {parts.run("aten.mul.Tensor", {parts["self"], parts["other"]})};
  }
  if (a.size(-1) != b.size(-1)) throw OpError("the last dimensions differ in size");
  return contract(parts, {parts["self"], {a.rank() - 1}}, {parts["other"], {b.rank() - 1}});
}

Values kronecker_product(Parts& parts) {
  const Tensor& a = parts.tensor("self");
  const Tensor& b = parts.tensor("other");
  const std::int64_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> of_a;
  std::vector<std::int64_t> of_b;
  std::vector<std::int64_t> sizes;
  for (std::int64_t d = -rank; d < 0; ++d) {
    const std::int64_t size_a = d >= -a.rank() ? a.size(d) : 1;
    const std::int64_t size_b = d >= -b.rank() ? b.size(d) : 1;
    of_a.insert(of_a.end(), {size_a, 1});
    of_b.insert(of_b.end(), {1, size_b});
    sizes.push_back(size_a * size_b);
  }
  const Argument left = parts.run("aten.reshape.default", {parts["self"], integers_argument(of_a)});
  const Argument right =
      parts.run("aten.reshape.default", {parts["other"], integers_argument(of_b)});
  const Argument product = parts.run("aten.mul.Tensor", {left, right});
  return {parts.run("aten._unsafe_view.default", {product, integers_argument(sizes)})};
}

Values dot_products(Parts& parts) {
  const Tensor& x = parts.tensor("x");
  if (!is_real(x)) throw OpError("linalg.vecdot takes floating point alone");
  if (x.rank() == 1 && parts.tensor("y").rank() == 1) {
    return {parts.run("aten.vdot.default", {parts["x"], parts["y"]})};
  }
  Argument left = parts["x"];
  if (spec::is_complex(x.dtype)) left = parts.run("aten._conj.default", {left});
  const Argument product = parts.run("aten.mul.Tensor", {left, parts["y"]});
  return {sum_along(parts, product, {parts.integer("dim")})};
}

Argument without_end(Parts& parts, const Argument& value, std::int64_t dim, bool drops_last) {
  const std::int64_t size = parts.of(value).size(dim);
  const std::int64_t first = drops_last ? 0 : 1;
  return parts.run("aten.slice.Tensor", {value, {dim}, {first}, {drops_last ? size - 1 : size}});
}

// (y[i] + y[i + 1]) along `dim`.
Argument neighbours(Parts& parts, std::int64_t dim) {
  const Argument left = without_end(parts, parts["y"], dim, true);
  return parts.run("aten.add.Tensor", {left, without_end(parts, parts["y"], dim, false)});
}

// Neighbours' sums times the steps of x: twice the areas.
Argument areas_between(Parts& parts, const Tensor& y, std::int64_t dim) {
  const Tensor& x = parts.tensor("x");
  Argument places = parts["x"];
  std::vector<std::int64_t> sizes(x.sizes.begin(), x.sizes.end());
  if (x.rank() == 1 && y.rank() != 1) {
    sizes.assign(at(y.rank()), 1);
    sizes[at(dim)] = x.count();
  }
  while (std::ssize(sizes) < y.rank()) sizes.insert(sizes.begin(), 1);
  if (std::ssize(sizes) != x.rank()) {
    places = parts.run("aten.view.default", {places, integers_argument(sizes)});
  }
  const Argument steps = parts.run("aten.sub.Tensor", {without_end(parts, places, dim, false),
                                                       without_end(parts, places, dim, true)});
  return parts.run("aten.mul.Tensor", {neighbours(parts, dim), steps});
}

Values running_integral(Parts& parts) {
  const Tensor& y = parts.tensor("y");
  if (y.rank() == 0) throw OpError("cumulative_trapezoid takes dimensions");
  const std::int64_t dim = wrap_dim(parts.integer("dim"), y.rank());
  if (y.dtype == DType::kBool) throw OpError("cumulative_trapezoid takes no bool");
  if (!parts.has("x")) {
    const Argument areas =
        parts.run("aten.mul.Scalar", {neighbours(parts, dim), {parts.real("dx") * 0.5}});
    return {parts.run("aten.cumsum.default", {areas, {dim}})};
  }
  const Argument total = parts.run("aten.cumsum.default", {areas_between(parts, y, dim), {dim}});
  return {parts.run("aten.div.Scalar", {total, {2.0}})};
}

Values integral(Parts& parts) {
  const Tensor& y = parts.tensor("y");
  const std::int64_t dim = wrap_dim(parts.integer("dim"), y.rank());
  if (y.rank() > 0 && y.size(dim) == 0) {
    std::vector<std::int64_t> sizes(y.sizes.begin(), y.sizes.end());
    sizes.erase(sizes.begin() + dim);
    return {parts.run("aten.new_zeros.default", {parts["y"], integers_argument(sizes)})};
  }
  if (y.dtype == DType::kBool) throw OpError("trapezoid takes no bool");
  if (parts.has("x")) {
    const Argument areas = areas_between(parts, y, dim);
    return {parts.run("aten.div.Scalar", {sum_along(parts, areas, {dim}), {2.0}})};
  }
  const Argument all = sum_along(parts, parts["y"], {dim});
  const auto end = [&](std::int64_t i) {
    return parts.run("aten.select.int", {parts["y"], {dim}, {i}});
  };
  const Argument first = end(0);
  const Argument ends = parts.run("aten.add.Tensor", {first, end(-1)});
  const Argument half = parts.run("aten.mul.Scalar", {ends, {0.5}});
  const Argument rest = parts.run("aten.sub.Tensor", {all, half});
  return {parts.run("aten.mul.Scalar", {rest, parts["dx"]})};
}

Values sample_grid(Parts& parts) {
  const bool is_plane = parts.tensor("input").rank() == 4;
  return {parts.run(is_plane ? "aten.grid_sampler_2d.default" : "aten.grid_sampler_3d.default",
                    {parts["input"], parts["grid"], parts["interpolation_mode"],
                     parts["padding_mode"], parts["align_corners"]})};
}

Values greatest_of_windows(Parts& parts) {
  const Argument plane = parts.run("aten.unsqueeze.default", {parts["self"], {std::int64_t{-2}}});
  Values both = parts.all("aten.adaptive_max_pool2d.default",
                          {plane, integers_argument({1, parts.integers("output_size")[0]})});
  for (Argument& one : both) one = parts.run("aten.squeeze.dim", {one, {std::int64_t{-2}}});
  return both;
}

Values cross_product(Parts& parts) {
  const Sizes& sizes = parts.tensor("self").sizes;
  std::int64_t dim = 0;
  if (parts.has("dim")) {
    dim = parts.integer("dim");
  } else {
    while (at(dim) < sizes.size() && sizes[at(dim)] != 3) ++dim;
    if (at(dim) == sizes.size()) throw OpError("no dimension has size 3");
  }
  return {parts.run("aten.linalg_cross.default", {parts["self"], parts["other"], {dim}})};
}

// x1^T W x2 for each row and each matrix of the weight.
Values bilinear_form(Parts& parts) {
  const Tensor& a = parts.tensor("input1");
  const Tensor& b = parts.tensor("input2");
  const Tensor& weight = parts.tensor("weight");
  if (a.rank() != b.rank() || a.rank() == 0 || weight.rank() != 3) {
    throw OpError("expected inputs of as many dimensions, and a weight of three");
  }
  const auto rows = [&](std::string_view name) {
    return parts.run("aten.reshape.default",
                     {parts[name], integers_argument({-1, parts.tensor(name).size(-1)})});
  };
  const Argument left = rows("input1");
  const Argument right = rows("input2");
  const Argument products =
      parts.run("aten._trilinear.default",
                {left, parts["weight"], right, integers_argument({1, 3}), integers_argument({0}),
                 integers_argument({1, 2}), integers_argument({2, 3})});
  std::vector<std::int64_t> sizes(a.sizes.begin(), a.sizes.end());
  sizes.back() = weight.size(0);
  const Argument out = parts.run("aten.reshape.default", {products, integers_argument(sizes)});
  if (!parts.has("bias")) return {out};
  return {parts.run("aten.add.Tensor", {out, parts["bias"]})};
}

Values distances(Parts& parts) {
  return {parts.run("aten._cdist_forward.default",
                    {parts["x1"], parts["x2"], parts["p"], parts["compute_mode"]})};
}

Values margins_of_labels(Parts& parts) {
  return {parts.run("aten.multilabel_margin_loss_forward.default",
                    {parts["self"], parts["target"], parts["reduction"]})};
}

// all, of bool alone.
Values all_true(Parts& parts) {
  if (parts.tensor("self").dtype != spec::DType::kBool) throw OpError("wants a tensor of bool");
  return {parts.run("aten.all.default", {parts["self"]})};
}

constexpr CompositeOp kCompositeArithmetic[] = {
    {"aten._is_all_true", all_true},
    {"aten.bilinear", bilinear_form},
    {"aten.cdist", distances},
    {"aten.cross", cross_product},
    {"aten.cumulative_trapezoid", running_integral},
    {"aten.multilabel_margin_loss", margins_of_labels},
    {"aten.adaptive_max_pool1d", greatest_of_windows},
    {"aten.grid_sampler", sample_grid},
    {"aten.inner", inner_product},
    {"aten.isclose", test_close},
    {"aten.isfinite", test_finite},
    {"aten.isreal", test_real},
    {"aten.kron", kronecker_product},
    {"aten.linalg_vecdot", dot_products},
    {"aten.nanmean", mean_of_numbers},
    {"aten.outer", outer_product},
    {"aten.relu6", clamp_to_six},
    {"aten.selu", scaled_elu},
    {"aten.special_ndtr", normal_distribution},
    {"aten.sum_to_size", sum_to},
    {"aten.tensordot", contract_dims},
    {"aten.trapezoid", integral},
};

}  // namespace

std::span<const CompositeOp> composite_arithmetic() { return kCompositeArithmetic; }

}  // namespace graphgate::optimized
