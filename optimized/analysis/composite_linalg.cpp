// Composite ops of linear algebra: norms, products, and decompositions under other names.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using Values = std::vector<Argument>;

Values root_of_squares(Parts& parts) {
  return {parts.run("aten.linalg_vector_norm.default",
                    {parts["self"], {2.0}, parts["dim"], parts["keepdim"]})};
}

double number_of(const Argument& argument) {
  if (const auto* integer = argument.as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* is_true = argument.as<bool>()) return *is_true ? 1 : 0;
  if (const auto* real = argument.as<double>()) return *real;
  throw OpError("expected a number");
}

Argument values_of_matrix(Parts& parts, const Argument& matrix) {
  return parts.all("aten._linalg_svd.default", {matrix, {false}, {false}})[1];
}

Argument last_dim(Parts& parts, std::string_view op, const Argument& value, bool keeps) {
  return parts.run(op, {value, integers_argument({-1}), {keeps}});
}

// What a norm is asked of: the dimensions of the matrices, and how the result is to look.
struct NormOf {
  Argument value;
  std::int64_t row;
  std::int64_t column;
  bool keeps = false;
  Argument dtype = {spec::None{}};
};

// The sum of the singular values, or the greatest or the least.
Argument norm_by_singular_values(Parts& parts, const NormOf& of, std::string_view op) {
  Argument value = of.value;
  if (of.dtype.as<spec::DType>() != nullptr) value = parts.run("aten.to.dtype", {value, of.dtype});
  const std::int64_t rank = parts.of(value).rank();
  std::vector<std::int64_t> order;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d != of.row && d != of.column) order.push_back(d);
  }
  order.push_back(of.row);
  order.push_back(of.column);
  const Argument matrices = parts.run("aten.permute.default", {value, integers_argument(order)});
  const Argument values = values_of_matrix(parts, matrices);
  const bool is_empty = parts.of(values).size(-1) == 0 && op == "aten.amax.default";
  const Argument norm = last_dim(parts, is_empty ? "aten.sum.dim_IntList" : op, values, false);
  if (!of.keeps) return norm;
  // The dimensions of the matrix come back as ones, the lower one first.
  Argument out = norm;
  for (const std::int64_t dim : {std::min(of.row, of.column), std::max(of.row, of.column)}) {
    out = parts.run("aten.unsqueeze.default", {out, {dim}});
  }
  return out;
}

// By squares, by sums of magnitudes, or by singular values.
Argument norm_of_matrices(Parts& parts, NormOf of, const Argument& order) {
  const std::int64_t rank = parts.of(of.value).rank();
  of.row = wrap_dim(of.row, rank);
  of.column = wrap_dim(of.column, rank);
  if (of.row == of.column) throw OpError("the dimensions of a matrix must differ");
  const auto norm = [&](double p, const Argument& dims) {
    return parts.run("aten.linalg_vector_norm.default",
                     {of.value, {p}, dims, {of.keeps}, of.dtype});
  };
  if (const auto* word = order.as<std::string>()) {
    if (*word == "fro") return norm(2, integers_argument({of.row, of.column}));
    if (*word == "nuc") return norm_by_singular_values(parts, of, "aten.sum.dim_IntList");
    throw OpError("the order of a matrix norm is fro, nuc or a number");
  }
  const double p = number_of(order);
  const std::string_view extreme = p > 0 ? "aten.amax.default" : "aten.amin.default";
  if (std::abs(p) == 2) return norm_by_singular_values(parts, of, extreme);
  const bool sums_rows = std::isinf(p);
  if (!sums_rows && std::abs(p) != 1) throw OpError("no matrix norm has this order");
  const std::int64_t summed = sums_rows ? of.column : of.row;
  std::int64_t left = sums_rows ? of.row : of.column;
  const Argument sums = norm(1, integers_argument({summed}));
  if (!of.keeps && summed < left) --left;
  if (p > 0 && parts.of(sums).size(left) == 0) {
    return parts.run("aten.sum.dim_IntList", {sums, integers_argument({left}), {of.keeps}});
  }
  return parts.run(extreme, {sums, integers_argument({left}), {of.keeps}});
}

Values matrix_norm(Parts& parts) {
  const Sizes dims = parts.integers("dim");
  if (dims.size() != 2) throw OpError("expected two dimensions");
  return {norm_of_matrices(
      parts, {parts["self"], dims[0], dims[1], parts.boolean("keepdim"), parts["dtype"]},
      parts["ord"])};
}

Values any_norm(Parts& parts) {
  const std::int64_t rank = parts.tensor("self").rank();
  const std::optional<Sizes> dims = parts.optional_integers("dim");
  const bool has_order = parts.has("ord");
  if (dims && dims->size() > 2) throw OpError("expected one dimension or two");
  if (!dims && has_order && rank > 2) throw OpError("an order needs a vector or a matrix");
  if (has_order && (dims ? dims->size() == 2 : rank == 2)) {
    const std::int64_t row = dims ? (*dims)[0] : 0;
    const std::int64_t column = dims ? (*dims)[1] : 1;
    return {norm_of_matrices(parts,
                             {parts["self"], row, column, parts.boolean("keepdim"), parts["dtype"]},
                             parts["ord"])};
  }
  const Argument order = has_order ? parts["ord"] : Argument{2.0};
  if (order.as<std::string>() != nullptr) throw OpError("a matrix norm needs a matrix");
  return {parts.run("aten.linalg_vector_norm.default",
                    {parts["self"], order, parts["dim"], parts["keepdim"], parts["dtype"]})};
}

// Each slice of v along `dim`, divided by its length and multiplied by g.
Values weights_of_length(Parts& parts) {
  const std::int64_t rank = parts.tensor("v").rank();
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < rank; ++d) dims.push_back(d);
  dims.erase(dims.begin() + wrap_dim(parts.integer("dim"), rank));
  const Argument length = parts.run(
      "aten.norm.ScalarOpt_dim", {parts["v"], {std::int64_t{2}}, integers_argument(dims), {true}});
  const Argument factor = parts.run("aten.div.Tensor", {parts["g"], length});
  return {parts.run("aten.mul.Tensor", {parts["v"], factor})};
}

Values log_determinant(Parts& parts) {
  const Values both = parts.all("aten.linalg_slogdet.default", {parts["self"]});
  const Argument is_negative = parts.run("aten.eq.Scalar", {both[0], {-1.0}});
  return {parts.run("aten.masked_fill.Scalar",
                    {both[1], is_negative, {std::numeric_limits<double>::quiet_NaN()}})};
}

Values lu_factors(Parts& parts) {
  Values all = parts.all("aten.linalg_lu_factor_ex.default", {parts["A"], parts["pivot"]});
  all.resize(2);
  return all;
}

Values ldl_factors(Parts& parts) {
  Values all = parts.all("aten.linalg_ldl_factor_ex.default", {parts["self"], parts["hermitian"]});
  all.resize(2);
  return all;
}

Values solution_and_info(Parts& parts) {
  const Values all = parts.all("aten._linalg_solve_ex.default",
                               {parts["A"], parts["B"], parts["left"], parts["check_errors"]});
  return {all[0], all[3]};
}

Values eigenpairs(Parts& parts) {
  return parts.all("aten._linalg_eigh.default", {parts["self"], parts["UPLO"], {true}});
}
Values eigenvalues(Parts& parts) {
  return {parts.run("aten._linalg_eigh.default", {parts["self"], parts["UPLO"], {false}})};
}
Values singular_triplets(Parts& parts) {
  return parts.all("aten._linalg_svd.default",
                   {parts["A"], parts["full_matrices"], {true}, parts["driver"]});
}
Values singular_values(Parts& parts) {
  return {
      parts.all("aten._linalg_svd.default", {parts["A"], {false}, {false}, parts["driver"]})[1]};
}

Values nuclear_norm(Parts& parts) {
  const Sizes dims = parts.has("dim") ? parts.integers("dim") : Sizes{0, 1};
  if (dims.size() != 2) throw OpError("expected two dimensions");
  return {norm_of_matrices(parts, {parts["self"], dims[0], dims[1], parts.boolean("keepdim")},
                           {std::string("nuc")})};
}

// Lengths of the slices along `dim`: all other dimensions are summed over, and kept. -1 is none.
Argument lengths_of_slices(Parts& parts, const Argument& v, const Argument& order,
                           std::int64_t dim) {
  if (dim == -1) return parts.run("aten.norm.Scalar", {v, order});
  const std::int64_t rank = parts.of(v).rank();
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d != dim) others.push_back(d);
  }
  if (others.empty()) {  // each element is a slice
    others.push_back(1);
    const Argument column = parts.run("aten.unsqueeze.default", {v, {std::int64_t{1}}});
    return parts.run("aten.norm.ScalarOpt_dim", {column, order, integers_argument(others)});
  }
  return parts.run("aten.norm.ScalarOpt_dim", {v, order, integers_argument(others), {true}});
}

Values slice_lengths(Parts& parts) {
  return {lengths_of_slices(parts, parts["v"], parts["pow"], parts.integer("dim"))};
}

Values weights_and_lengths(Parts& parts) {
  const Tensor v = parts.tensor("v");
  const std::int64_t dim = parts.integer("dim");
  if (dim != 0 && dim != v.rank() - 1) throw OpError("slices are along the first or last dim");
  Argument wide = parts["v"];
  Argument g = parts["g"];
  const bool is_narrow = spec::item_size_bytes(v.dtype) < 4;
  if (is_narrow) {
    wide = parts.run("aten.to.dtype", {wide, {spec::DType::kFloat32}});
    g = parts.run("aten.to.dtype", {g, {spec::DType::kFloat32}});
  }
  const Argument lengths = lengths_of_slices(parts, wide, {std::int64_t{2}}, dim);
  const Argument factor = parts.run("aten.div.Tensor", {g, lengths});
  Argument weights = parts.run("aten.mul.Tensor", {wide, factor});
  if (is_narrow) weights = parts.run("aten.to.dtype", {weights, {v.dtype}});
  return {weights, lengths};
}

// ---- condition and rank

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<std::int64_t> batches_of(const Tensor& matrices) {
  if (matrices.rank() < 2) throw OpError("expected matrices");
  return {matrices.sizes.begin(), matrices.sizes.end() - 2};
}

Values condition(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const std::vector<std::int64_t> batches = batches_of(self);
  if (self.count() == 0) {
    return {parts.run("aten.new_zeros.default", {parts["self"], integers_argument(batches)})};
  }
  Argument order = parts["p"];
  if (!parts.has("p")) order = {2.0};
  const auto* word = order.as<std::string>();
  const bool is_nuclear = word != nullptr && *word == "nuc";
  if (is_nuclear || (word == nullptr && std::abs(number_of(order)) == 2)) {
    const Argument values = values_of_matrix(parts, parts["self"]);
    if (is_nuclear) {
      const Argument inverses = parts.run("aten.reciprocal.default", {values});
      return {
          parts.run("aten.mul.Tensor", {last_dim(parts, "aten.sum.dim_IntList", values, false),
                                        last_dim(parts, "aten.sum.dim_IntList", inverses, false)})};
    }
    // They come in descending order.
    const auto value_at = [&](std::int64_t i) {
      return parts.run("aten.select.int", {values, {std::int64_t{-1}}, {i}});
    };
    const bool is_inverse = number_of(order) < 0;
    const Argument over = value_at(is_inverse ? -1 : 0);
    return {parts.run("aten.div.Tensor", {over, value_at(is_inverse ? 0 : -1)})};
  }
  const Values both = parts.all("aten.linalg_inv_ex.default", {parts["self"]});
  const Argument has_failed = parts.run("aten.gt.Scalar", {both[1], {std::int64_t{0}}});
  std::vector<std::int64_t> ones = batches;
  ones.insert(ones.end(), {1, 1});
  const Argument mask = parts.run("aten.view.default", {has_failed, integers_argument(ones)});
  const Argument inverse = parts.run("aten.masked_fill.Scalar", {both[0], mask, {kInfinite}});
  const Argument own = norm_of_matrices(parts, {parts["self"], -2, -1}, order);
  const Argument other = norm_of_matrices(parts, {inverse, -2, -1}, order);
  const Argument product = parts.run("aten.mul.Tensor", {own, other});
  return {parts.run("aten.nan_to_num.default", {product, {kInfinite}, {kInfinite}, {-kInfinite}})};
}

// A tolerance of rank_of: a tensor as it is, a number or none as a float64.
Argument tolerance_of(Parts& parts, std::string_view name, double otherwise) {
  if (parts.is_tensor(name)) return parts[name];
  const double value = parts.has(name) ? parts.real(name) : otherwise;
  return parts.run("aten.full.default", {integers_argument({}), {value}, {spec::DType::kFloat64}});
}

// How many singular values, or magnitudes of eigenvalues, exceed max(atol, rtol * the greatest).
Values rank_of(Parts& parts) {
  const std::string_view name = parts.has("self") ? "self" : "input";
  const Tensor self = parts.tensor(name);
  const std::vector<std::int64_t> batches = batches_of(self);
  if (self.count() == 0) {
    return {parts.run("aten.new_zeros.default",
                      {parts[name], integers_argument(batches), {spec::DType::kInt64}})};
  }
  const double epsilon = self.dtype == spec::DType::kFloat64 ? 0x1p-52 : 0x1p-23;
  const double by_size = epsilon * static_cast<double>(std::max(self.size(-1), self.size(-2)));
  const bool has_tol = parts.has("tol");
  const bool has_atol = has_tol || parts.has("atol");
  const bool has_rtol = parts.has("rtol");
  const std::string_view absolute = has_tol ? "tol" : "atol";
  const Argument atol = tolerance_of(parts, absolute, 0);
  Argument rtol;
  if (has_tol) {
    rtol = tolerance_of(parts, "rtol", 0);
    if (parts.is_tensor("tol")) rtol = parts.run("aten.zeros_like.default", {parts["tol"]});
  } else if (has_atol && !has_rtol && parts.is_tensor("atol")) {
    const Argument is_given = parts.run("aten.gt.Scalar", {atol, {std::int64_t{0}}});
    const Argument none = tolerance_of(parts, "rtol", 0);
    rtol = parts.run("aten.where.self", {is_given, none, tolerance_of(parts, "rtol", by_size)});
  } else {
    const bool is_given = has_atol && !parts.is_tensor("atol") && parts.real("atol") > 0;
    rtol = tolerance_of(parts, "rtol", is_given ? 0 : by_size);
  }
  Argument values;
  if (parts.boolean("hermitian")) {
    values = parts.run("aten._linalg_eigh.default", {parts[name], {std::string("L")}, {false}});
    values = parts.run("aten.abs.default", {values});
  } else {
    values = values_of_matrix(parts, parts[name]);
  }
  const Argument most = last_dim(parts, "aten.amax.default", values, true);
  const auto column = [&](const Argument& tolerance) {
    return parts.run("aten.unsqueeze.default", {tolerance, {std::int64_t{-1}}});
  };
  const Argument relative = parts.run("aten.mul.Tensor", {column(rtol), most});
  const Argument limit = parts.run("aten.maximum.default", {column(atol), relative});
  const Argument counts = parts.run("aten.gt.Tensor", {values, limit});
  return {last_dim(parts, "aten.sum.dim_IntList", counts, false)};
}

// ---- products

Argument contiguous_copy(Parts& parts, const Argument& value) {
  return parts.run("aten.clone.default", {value, {spec::MemoryFormat::kContiguous}});
}

// a^n by the squares of a, as the bits of n say from the lowest on.
Values power_of_matrix(Parts& parts) {
  const Tensor self = parts.tensor("self");
  if (self.rank() < 2 || self.size(-1) != self.size(-2)) throw OpError("expected square matrices");
  const std::int64_t n = parts.integer("n");
  if (n == 0) {
    const Argument one = parts.run("aten.eye.default",
                                   {{self.size(-1)}, {self.dtype}, {spec::None{}}, {self.device}});
    return {contiguous_copy(
        parts, parts.run("aten.expand.default", {one, integers_argument(self.sizes)}))};
  }
  if (n == 1) return {contiguous_copy(parts, parts["self"])};
  const auto product = [&](const Argument& a, const Argument& b) {
    return parts.run("aten.matmul.default", {a, b});
  };
  const Argument a = n < 0 ? parts.run("aten.linalg_inv.default", {parts["self"]}) : parts["self"];
  auto left = static_cast<std::uint64_t>(std::abs(n));
  if (left == 1) return {a};
  if (left == 3) return {product(product(a, a), a)};
  Argument square = a;
  while ((left & 1U) == 0) {
    square = product(square, square);
    left >>= 1U;
  }
  Argument out = square;
  while ((left >>= 1U) != 0) {
    square = product(square, square);
    if ((left & 1U) != 0) out = product(out, square);
  }
  return {out};
}

// Matrices one after the other, multiplied in the order of the fewest multiplications.
class CheapestOrder {
 public:
  CheapestOrder(Parts& parts, Values factors) : parts_(parts), factors_(std::move(factors)) {
    for (const Argument& factor : factors_) sizes_.push_back(parts.of(factor).size(0));
    sizes_.push_back(parts.of(factors_.back()).size(1));
    best_.resize(factors_.size() * factors_.size());
  }

  Argument multiply() { return multiply(0, factors_.size()); }

 private:
  struct Best {
    std::int64_t cost = -1;  // not known yet
    std::size_t middle = 0;
  };

  // Factors [first, last). The first of the cheapest splits is taken; of just three factors the
  // last.
  const Best& best(std::size_t first, std::size_t last) {
    Best& found = best_[first * factors_.size() + last - 1];
    if (found.cost >= 0) return found;
    if (last - first == 1) {
      found.cost = 0;
      return found;
    }
    Best cheapest;
    for (std::size_t middle = first + 1; middle < last; ++middle) {
      const std::int64_t cost = best(first, middle).cost + best(middle, last).cost +
                                sizes_[first] * sizes_[middle] * sizes_[last];
      const bool wins = cheapest.cost < 0 || cost < cheapest.cost ||
                        (cost == cheapest.cost && factors_.size() == 3);
      if (wins) cheapest = {cost, middle};
    }
    found = cheapest;
    return found;
  }

  Argument multiply(std::size_t first, std::size_t last) {
    if (last - first == 1) return factors_[first];
    const std::size_t middle = best(first, last).middle;
    const Argument left = multiply(first, middle);
    return parts_.run("aten.mm.default", {left, multiply(middle, last)});
  }

  Parts& parts_;
  Values factors_;
  std::vector<std::int64_t> sizes_;
  std::vector<Best> best_;
};

Values product_of_many(Parts& parts) {
  Values factors = parts.values("tensors");
  if (factors.size() < 2) throw OpError("multi_dot takes two tensors at least");
  const bool is_row = parts.of(factors.front()).rank() == 1;
  const bool is_column = parts.of(factors.back()).rank() == 1;
  if (is_row) {
    factors.front() = parts.run("aten.unsqueeze.default", {factors.front(), {std::int64_t{0}}});
  }
  if (is_column) {
    factors.back() = parts.run("aten.unsqueeze.default", {factors.back(), {std::int64_t{1}}});
  }
  for (const Argument& factor : factors) {
    if (parts.of(factor).rank() != 2) throw OpError("multi_dot takes matrices between its ends");
  }
  Argument out = CheapestOrder(parts, std::move(factors)).multiply();
  if (!is_row && !is_column) return {out};
  if (is_row) out = parts.run("aten.squeeze.dim", {out, {std::int64_t{0}}});
  if (is_column) out = parts.run("aten.squeeze.dim", {out, {std::int64_t{-1}}});
  return {out};
}

Values product_of_chain(Parts& parts) {
  Values factors = parts.values("matrices");
  for (const Argument& factor : factors) {
    if (parts.of(factor).rank() != 2) throw OpError("chain_matmul takes matrices");
  }
  if (factors.size() == 1) return {parts.run("aten.clone.default", {factors.front()})};
  return {CheapestOrder(parts, std::move(factors)).multiply()};
}

// ---- tensors as matrices

std::int64_t count_of_sizes(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Argument square_matrix(Parts& parts, const Argument& value, std::int64_t n) {
  return parts.run("aten.reshape.default", {value, integers_argument({n, n})});
}

Values inverse_of_tensor(Parts& parts) {
  const Sizes all = parts.tensor("self").sizes;
  const std::int64_t split = parts.integer("ind");
  if (split < 1) throw OpError("ind must be positive");
  const std::vector<std::int64_t> sizes(all.begin(), all.end());
  const auto middle = std::min(static_cast<std::size_t>(split), sizes.size());
  const std::span<const std::int64_t> front(sizes.data(), middle);
  const std::span<const std::int64_t> behind(sizes.data() + middle, sizes.size() - middle);
  const std::int64_t n = count_of_sizes(front);
  if (n != count_of_sizes(behind)) throw OpError("the tensor is no square matrix");
  std::vector<std::int64_t> swapped(behind.begin(), behind.end());
  swapped.insert(swapped.end(), front.begin(), front.end());
  const Argument inverse =
      parts.run("aten.linalg_inv.default", {square_matrix(parts, parts["self"], n)});
  return {parts.run("aten.reshape.default", {inverse, integers_argument(swapped)})};
}

Values solution_of_tensor(Parts& parts) {
  Argument self = parts["self"];
  const std::int64_t rank = parts.of(self).rank();
  if (const std::optional<Sizes> dims = parts.optional_integers("dims")) {
    const auto last = wrap_dims(*dims, rank, false);
    std::vector<std::int64_t> order;
    for (std::int64_t d = 0; d < rank; ++d) {
      if (std::ranges::find(last, d) == last.end()) order.push_back(d);
    }
    order.insert(order.end(), last.begin(), last.end());
    self = parts.run("aten.permute.default", {self, integers_argument(order)});
  }
  const Tensor& other = parts.tensor("other");
  const std::int64_t n = other.count();
  if (other.rank() > rank) throw OpError("the right side has more dimensions than the tensor");
  const Sizes sizes = parts.of(self).sizes;
  const std::vector<std::int64_t> unknowns(sizes.begin() + other.rank(), sizes.end());
  if (count_of_sizes(unknowns) != n) throw OpError("there are not as many equations as unknowns");
  const Argument right =
      parts.run("aten.reshape.default", {parts["other"], integers_argument({n})});
  const Argument solution =
      parts.run("aten.linalg_solve.default", {square_matrix(parts, self, n), right});
  return {parts.run("aten.reshape.default", {solution, integers_argument(unknowns)})};
}

// 1, x, x^2, ... along a last dimension.
Argument powers_of(Parts& parts, const Argument& x, std::int64_t count) {
  const Sizes own = parts.of(x).sizes;
  std::vector<std::int64_t> sizes(own.begin(), own.end());
  sizes.push_back(count - 1);
  const Argument column = parts.run("aten.unsqueeze.default", {x, {std::int64_t{-1}}});
  const Argument repeated = parts.run("aten.expand.default", {column, integers_argument(sizes)});
  const Argument rest = parts.run("aten.cumprod.default", {repeated, {std::int64_t{-1}}});
  std::vector<std::int64_t> pad = {1, 0};
  return parts.run("aten.constant_pad_nd.default", {rest, integers_argument(pad), {1.0}});
}

Values vandermonde_matrices(Parts& parts) {
  const Tensor& x = parts.tensor("x");
  if (x.rank() == 0 && !parts.has("N")) throw OpError("N must be greater than 1");
  const bool is_narrow = spec::is_floating_point(x.dtype) && spec::item_size_bytes(x.dtype) < 4;
  if (is_narrow || x.dtype == spec::DType::kBool) throw OpError("linalg.vander takes wide numbers");
  const std::int64_t count = parts.has("N") ? parts.integer("N") : x.size(-1);
  if (count < 2) throw OpError("N must be greater than 1");
  Argument vectors = parts["x"];
  if (parts.tensor("x").rank() == 0) {
    vectors = parts.run("aten.unsqueeze.default", {vectors, {std::int64_t{0}}});
  }
  return {powers_of(parts, vectors, count)};
}

Values vandermonde_matrix(Parts& parts) {
  const Tensor x = parts.tensor("x");
  if (x.rank() != 1) throw OpError("vander takes a vector");
  const std::int64_t count = parts.has("N") ? parts.integer("N") : x.count();
  if (count < 0) throw OpError("N must not be negative");
  Argument value = parts["x"];
  if (!spec::is_floating_point(x.dtype)) {
    value = parts.run("aten.to.dtype", {value, {spec::DType::kInt64}});
  }
  if (count == 0) {
    return {parts.run("aten.new_empty.default", {value, integers_argument({x.count(), 0})})};
  }
  const Argument powers = powers_of(parts, value, count);
  if (parts.boolean("increasing")) return {powers};
  return {parts.run("aten.flip.default", {powers, integers_argument({1})})};
}

// ---- decompositions

// V and not its transpose; without vectors zeros stand for them.
Values singular_vectors(Parts& parts) {
  const Tensor self = parts.tensor("self");
  std::vector<std::int64_t> sizes = batches_of(self);
  const auto transposed = [&](const Argument& value) {
    return parts.run("aten.transpose.int", {value, {std::int64_t{-2}}, {std::int64_t{-1}}});
  };
  const bool has_vectors = parts.boolean("compute_uv");
  Values all = parts.all("aten._linalg_svd.default",
                         {parts["self"], {has_vectors && !parts.boolean("some")}, {has_vectors}});
  if (!has_vectors) {
    const auto zeros = [&](std::int64_t size) {
      std::vector<std::int64_t> square = sizes;
      square.insert(square.end(), {size, size});
      return parts.run("aten.new_zeros.default", {parts["self"], integers_argument(square)});
    };
    all[0] = zeros(self.size(-2));
    all[2] = zeros(self.size(-1));
  }
  all[2] = transposed(all[2]);
  return all;
}

Values pseudoinverse(Parts& parts) {
  return {parts.run("aten.linalg_pinv.default", {parts["self"], parts["rcond"], {false}})};
}

Values solution_by_factors(Parts& parts) {
  return {parts.run("aten.linalg_lu_solve.default",
                    {parts["LU_data"], parts["LU_pivots"], parts["self"]})};
}

Values factors_and_info(Parts& parts) {
  return parts.all("aten.linalg_lu_factor_ex.default", {parts["self"], parts["pivot"]});
}

Values reflections(Parts& parts) {
  return {parts.run("aten.linalg_householder_product.default", {parts["self"], parts["input2"]})};
}

Values distances_of_rows(Parts& parts) {
  if (parts.tensor("self").rank() != 2) throw OpError("pdist takes a matrix");
  if (parts.real("p") < 0) throw OpError("pdist takes no negative p");
  const Argument rows = parts.run("aten.contiguous.default", {parts["self"]});
  return {parts.run("aten._pdist_forward.default", {rows, parts["p"]})};
}

constexpr CompositeOp kCompositeLinalg[] = {
    {"aten._lu_with_info", factors_and_info},
    {"aten._weight_norm", weights_of_length},
    {"aten._weight_norm_interface", weights_and_lengths},
    {"aten.chain_matmul", product_of_chain},
    {"aten.frobenius_norm", root_of_squares},
    {"aten.linalg_cond", condition},
    {"aten.linalg_eigh", eigenpairs},
    {"aten.linalg_eigvalsh", eigenvalues},
    {"aten.linalg_ldl_factor", ldl_factors},
    {"aten.linalg_lu_factor", lu_factors},
    {"aten.linalg_matrix_norm", matrix_norm},
    {"aten.linalg_matrix_power", power_of_matrix},
    {"aten.linalg_matrix_rank", rank_of},
    {"aten.linalg_multi_dot", product_of_many},
    {"aten.linalg_norm", any_norm},
    {"aten.linalg_solve_ex", solution_and_info},
    {"aten.linalg_svd", singular_triplets},
    {"aten.linalg_svdvals", singular_values},
    {"aten.linalg_tensorinv", inverse_of_tensor},
    {"aten.linalg_tensorsolve", solution_of_tensor},
    {"aten.linalg_vander", vandermonde_matrices},
    {"aten.logdet", log_determinant},
    {"aten.lu_solve", solution_by_factors},
    {"aten.norm_except_dim", slice_lengths},
    {"aten.nuclear_norm", nuclear_norm},
    {"aten.orgqr", reflections},
    {"aten.pdist", distances_of_rows},
    {"aten.pinverse", pseudoinverse},
    {"aten.svd", singular_vectors},
    {"aten.vander", vandermonde_matrix},
};

}  // namespace

std::span<const CompositeOp> composite_linalg() { return kCompositeLinalg; }

}  // namespace graphgate::optimized
