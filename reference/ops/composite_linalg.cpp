// Norms, products and decompositions of matrices that PyTorch defines by others (ATen's
// LinearAlgebra.cpp and BatchLinearAlgebra.cpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/ops/composition.h"
#include "reference/ops/linalg_frame.h"

namespace graphgate::reference {
namespace composite {
namespace {

using spec::DType;

// --- norms ---

TensorRef vector_norm(const Composition& run, const TensorRef& tensor, const Datum& order,
                      const Datum& dims, const Datum& keeps, const Datum& dtype) {
  return run("aten.linalg_vector_norm.default", {{tensor}, order, dims, keeps, dtype});
}

void frobenius_norm(Call& call) {
  const Composition run(call);
  call.emit_datum({vector_norm(run, call.tensor("self"), {2.0}, call.datum("dim"),
                               call.datum("keepdim"), {spec::None{}})});
}

// The dimensions of matrices behind all others, in their order.
Sizes behind_others(std::int64_t rank, const Sizes& dims) {
  Sizes order;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
  }
  order.insert(order.end(), dims.begin(), dims.end());
  return order;
}

TensorRef singular_values(const Composition& run, const TensorRef& matrices) {
  return run("aten.linalg_svdvals.default", {{matrices}});
}

// The greatest singular value, the least, or their sum.
TensorRef spectral_norm(const Composition& run, TensorRef self, const Sizes& dims, bool keeps,
                        const Datum& dtype, std::string_view reduction) {
  if (const auto* wanted = dtype.as<DType>()) self = to_dtype(run, self, *wanted);
  const std::int64_t rank = self->rank();
  const Sizes order = behind_others(rank, dims);
  const TensorRef values =
      singular_values(run, run("aten.permute.default", {{self}, list_of(order)}));
  const bool sums = reduction == "sum" || (reduction == "amax" && values->sizes.back() == 0);
  TensorRef norm = sums ? sum_of(run, values, {-1}, keeps)
                        : run("aten." + std::string(reduction) + ".default",
                              {{values}, list_of(Sizes{-1}), {keeps}});
  if (!keeps) return norm;
  norm = unsqueezed(run, norm, -1);
  Sizes back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[nth(order[i])] = static_cast<std::int64_t>(i);
  }
  return run("aten.permute.default", {{norm}, list_of(back)});
}

// By order: fro; 1 and infinity of both signs, which sum; nuc and 2 of both signs, by singular
// values.
TensorRef matrix_norm(const Composition& run, const TensorRef& self, const Datum& order, Sizes dims,
                      bool keeps, const Datum& dtype) {
  if (dims.size() != 2) throw OpError("linalg.matrix_norm: dim must be a pair");
  for (std::int64_t& dim : dims) dim = wrap_dim(dim, self->rank());
  if (dims[0] == dims[1]) throw OpError("linalg.matrix_norm: dims must be different");
  if (const auto* text = order.as<std::string>()) {
    if (*text == "fro") {
      return vector_norm(run, self, {2.0}, list_of(dims), {keeps}, dtype);
    }
    if (*text != "nuc") throw OpError("linalg.matrix_norm: Order " + *text + " not supported.");
    return spectral_norm(run, self, dims, keeps, dtype, "sum");
  }
  const auto p = number<double>(order, DType::kFloat64);
  const bool is_infinite = std::isinf(p);
  if (std::abs(p) == 2)
    return spectral_norm(run, self, dims, keeps, dtype, p > 0 ? "amax" : "amin");
  if (!is_infinite && std::abs(p) != 1) {
    throw OpError("linalg.matrix_norm: the order is none of 1, 2, infinity, and their negatives");
  }
  if (is_infinite) std::swap(dims[0], dims[1]);
  const TensorRef sums = vector_norm(run, self, {1.0}, list_of(Sizes{dims[0]}), {keeps}, dtype);
  const std::int64_t left = !keeps && dims[0] < dims[1] ? dims[1] - 1 : dims[1];
  if (p > 0 && sums->sizes[nth(left)] == 0) return sum_of(run, sums, {left}, keeps);
  return run(p > 0 ? "aten.amax.default" : "aten.amin.default",
             {{sums}, list_of(Sizes{left}), {keeps}});
}

void linalg_matrix_norm(Call& call) {
  const Composition run(call);
  call.emit_datum({matrix_norm(run, call.tensor("self"), call.datum("ord"), call.integers("dim"),
                               call.boolean("keepdim"), call.datum("dtype"))});
}

void linalg_norm(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const Datum& order = call.datum("ord");
  const std::optional<Sizes> dims = call.optional_integers("dim");
  if (dims && dims->size() > 2) throw OpError("linalg.norm: dim must be one or two dimensions");
  if (!dims && !order.is_none() && self->rank() > 2) {
    throw OpError("linalg.norm: with ord, the input must be 1D or 2D");
  }
  const bool is_matrix = dims ? dims->size() == 2 : self->rank() == 2;
  if (!order.is_none() && is_matrix) {
    return call.emit_datum({matrix_norm(run, self, order, dims.value_or(Sizes{0, 1}),
                                        call.boolean("keepdim"), call.datum("dtype"))});
  }
  if (order.as<std::string>() != nullptr) throw OpError("linalg.norm: a matrix norm of a vector");
  call.emit_datum({vector_norm(run, self, order.is_none() ? Datum{2.0} : order, call.datum("dim"),
                               call.datum("keepdim"), call.datum("dtype"))});
}

// v times g over the norm of v along all dimensions but one.
void weight_norm(Call& call) {
  const Composition run(call);
  const TensorRef& v = call.tensor("v");
  const std::int64_t dim = wrap_dim(call.integer("dim"), v->rank());
  Sizes others;
  for (std::int64_t d = 0; d < v->rank(); ++d) {
    if (d != dim) others.push_back(d);
  }
  const TensorRef norm =
      run("aten.norm.ScalarOpt_dim", {{v}, {std::int64_t{2}}, list_of(others), {true}});
  const TensorRef scale = run("aten.div.Tensor", {{call.tensor("g")}, {norm}});
  call.emit_datum({run("aten.mul.Tensor", {{v}, {scale}})});
}

// --- linear algebra ---

// NaN of a matrix whose determinant is negative.
void logdet(Call& call) {
  const Composition run(call);
  const std::vector<Datum> both = run.all("aten.linalg_slogdet.default", {{call.tensor("self")}});
  const TensorRef is_negative = run("aten.eq.Scalar", {both[0], {-1.0}});
  call.emit_datum({run("aten.masked_fill.Scalar",
                       {both[1], {is_negative}, {std::numeric_limits<double>::quiet_NaN()}})});
}

// The first `count` results of the op behind.
void emit_first(Call& call, const std::vector<Datum>& results, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) call.emit_datum(results[i]);
}

void lu_factor(Call& call) {
  const Composition run(call);
  emit_first(call,
             run.all("aten.linalg_lu_factor_ex.default", {{call.tensor("A")}, call.datum("pivot")}),
             2);
}

void ldl_factor(Call& call) {
  const Composition run(call);
  emit_first(call,
             run.all("aten.linalg_ldl_factor_ex.default",
                     {{call.tensor("self")}, call.datum("hermitian")}),
             2);
}

void solve_ex(Call& call) {
  const Composition run(call);
  const std::vector<Datum> all = run.all(
      "aten._linalg_solve_ex.default",
      {{call.tensor("A")}, {call.tensor("B")}, call.datum("left"), call.datum("check_errors")});
  call.emit_datum(all[0]);
  call.emit_datum(all[3]);
}

std::vector<Datum> eigh_of(const Call& call, bool has_vectors) {
  const Composition run(call);
  return run.all("aten._linalg_eigh.default",
                 {{call.tensor("self")}, call.datum("UPLO"), {has_vectors}});
}
void linalg_eigh(Call& call) { emit_first(call, eigh_of(call, true), 2); }
void linalg_eigvalsh(Call& call) { emit_first(call, eigh_of(call, false), 1); }

void linalg_svd(Call& call) {
  const Composition run(call);
  emit_first(
      call,
      run.all("aten._linalg_svd.default",
              {{call.tensor("A")}, call.datum("full_matrices"), {true}, call.datum("driver")}),
      3);
}
void linalg_svdvals(Call& call) {
  const Composition run(call);
  call.emit_datum(run.all("aten._linalg_svd.default",
                          {{call.tensor("A")}, {false}, {false}, call.datum("driver")})[1]);
}

// --- norms of slices ---

void nuclear_norm(Call& call) {
  const Composition run(call);
  const Sizes dims = call.has("dim") ? call.integers("dim") : Sizes{0, 1};
  const TensorRef& self = call.tensor("self");
  if (dims.size() != 2) throw OpError("nuclear_norm requires a 'dim' argument of size 2");
  call.emit_datum(
      {matrix_norm(run, self, {std::string("nuc")}, dims, call.boolean("keepdim"), {})});
}

// The norm of each slice along `dim`, as sizes that stretch over v; of -1 the norm of all.
TensorRef norm_of_slices(const Composition& run, const TensorRef& v, const Datum& order,
                         std::int64_t dim) {
  const std::int64_t rank = v->rank();
  if (dim == -1) return run("aten.norm.Scalar", {{v}, order});
  const auto along = [&](const TensorRef& rows, std::int64_t summed) {
    return run("aten.norm.ScalarOpt_dim", {{rows}, order, list_of(Sizes{summed})});
  };
  Sizes sizes(nth(rank), 1);
  if (dim == 0) {
    sizes[0] = v->sizes[0];
    return reshaped(run, along(reshaped(run, v, {v->sizes[0], -1}), 1), sizes);
  }
  if (dim == rank - 1) {
    sizes.back() = v->sizes.back();
    return reshaped(run, along(reshaped(run, v, {-1, v->sizes.back()}), 0), sizes);
  }
  return transposed(run, norm_of_slices(run, transposed(run, v, 0, dim), order, 0), 0, dim);
}

void norm_except_dim(Call& call) {
  const Composition run(call);
  call.emit_datum({norm_of_slices(run, call.tensor("v"), call.datum("pow"), call.integer("dim"))});
}

// v g / |v|, and |v|. In 16 bits the norms are float32, and the weight is rounded once.
void weight_norm_interface(Call& call) {
  const Composition run(call);
  const TensorRef& v = call.tensor("v");
  const std::int64_t dim = call.integer("dim");
  if (dim != 0 && dim != v->rank() - 1) {
    throw OpError("fused kernels can only be applied for first or last dim");
  }
  const DType wide = compute_dtype(v->dtype);
  const TensorRef from = to_dtype(run, v, wide);
  const TensorRef norms = norm_of_slices(run, from, {std::int64_t{2}}, dim);
  const TensorRef scale =
      run("aten.div.Tensor", {{to_dtype(run, call.tensor("g"), wide)}, {norms}});
  call.emit_datum({to_dtype(run, run("aten.mul.Tensor", {{from}, {scale}}), v->dtype)});
  call.emit_datum({norms});
}

// --- condition and rank ---

void require_matrix(const TensorRef& tensor, std::string_view name) {
  if (tensor->rank() >= 2) return;
  throw OpError(std::string(name) + ": the input must have at least 2 dimensions");
}

// |A| |A^-1|; a singular matrix counts as having an infinite inverse.
TensorRef condition_by_inverse(const Composition& run, const TensorRef& self, const Datum& order) {
  const std::vector<Datum> both = run.all("aten.linalg_inv_ex.default", {{self}});
  const TensorRef& info = *both[1].as<TensorRef>();
  const TensorRef failed =
      run("aten.gt.Scalar", {{unsqueezed(run, unsqueezed(run, info, -1), -1)}, {std::int64_t{0}}});
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const TensorRef inverse = run("aten.masked_fill.Scalar", {both[0], {failed}, {kInfinite}});
  const auto norm = [&](const TensorRef& matrix) {
    return matrix_norm(run, matrix, order, {-2, -1}, false, {});
  };
  const TensorRef product = run("aten.mul.Tensor", {{norm(self)}, {norm(inverse)}});
  return run("aten.nan_to_num.default", {{product}, {kInfinite}, {kInfinite}, {-kInfinite}});
}

void linalg_cond(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  require_matrix(self, "linalg.cond");
  const Datum& order = call.datum("p");
  const auto* text = order.as<std::string>();
  if (self->count() == 0) {
    return call.emit_datum({run("aten.new_zeros.default", {{self}, list_of(batch_sizes(*self))})});
  }
  if (text != nullptr && *text == "nuc") {
    const TensorRef values = singular_values(run, self);
    const TensorRef inverse = run("aten.reciprocal.default", {{values}});
    return call.emit_datum({run("aten.mul.Tensor", {{sum_of(run, values, {-1}, false)},
                                                    {sum_of(run, inverse, {-1}, false)}})});
  }
  const double p = order.is_none() || text != nullptr ? 2 : call.real("p");
  if (text != nullptr || std::abs(p) != 2) {
    return call.emit_datum({condition_by_inverse(run, self, order)});
  }
  const TensorRef values = singular_values(run, self);
  const std::int64_t last = values->sizes.back();
  const TensorRef most = part(run, values, -1, 0, 1);
  const TensorRef least = part(run, values, -1, last - 1, last);
  const TensorRef ratio = run("aten.div.Tensor", {{p > 0 ? most : least}, {p > 0 ? least : most}});
  call.emit_datum({run("aten.squeeze.dim", {{ratio}, {std::int64_t{-1}}})});
}

// What a singular value must exceed to count: atol, and rtol times the greatest.
struct RankTolerances {
  TensorRef atol;
  TensorRef rtol;
};

RankTolerances rank_tolerances(const Composition& run, const Call& call, const TensorRef& self) {
  const Datum device = {self->device};
  const auto scalar = [&](double value) {
    return run("aten.full.default", {list_of(Sizes{}), {value}, {DType::kFloat64}, {}, device});
  };
  const double by_default = 2 * static_cast<double>(unit_roundoff(self->dtype)) *
                            static_cast<double>(std::max(row_count(*self), column_count(*self)));
  if (call.has("tol")) {
    if (const auto* tol = call.datum("tol").as<TensorRef>()) {
      return {*tol, run("aten.zeros_like.default", {{*tol}})};
    }
    return {scalar(call.real("tol")), scalar(0)};
  }
  const auto* atol = call.datum("atol").as<TensorRef>();
  const auto* rtol = call.datum("rtol").as<TensorRef>();
  if (atol == nullptr && rtol == nullptr) {
    const double absolute = call.optional_real("atol").value_or(0);
    return {scalar(absolute),
            scalar(call.optional_real("rtol").value_or(absolute > 0 ? 0 : by_default))};
  }
  RankTolerances out{atol != nullptr ? *atol : scalar(0),
                     rtol != nullptr ? *rtol : scalar(by_default)};
  if (rtol == nullptr) {
    const TensorRef is_given = run("aten.gt.Scalar", {{*atol}, {std::int64_t{0}}});
    out.rtol = run("aten.where.self", {{is_given}, {scalar(0)}, {out.rtol}});
  }
  return out;
}

void linalg_matrix_rank(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor(call.has("self") ? "self" : "input");
  require_matrix(self, "linalg.matrix_rank");
  if (self->count() == 0) {
    return call.emit_datum(
        {run("aten.new_zeros.default", {{self}, list_of(batch_sizes(*self)), {DType::kInt64}})});
  }
  const RankTolerances tolerances = rank_tolerances(run, call, self);
  TensorRef values;
  TensorRef most;
  if (call.boolean("hermitian")) {
    const TensorRef signed_values =
        run("aten.linalg_eigvalsh.default", {{self}, {std::string("L")}});
    values = run("aten.abs.default", {{signed_values}});
    most = run("aten.amax.default", {{values}, list_of(Sizes{-1}), {true}});
  } else {
    values = singular_values(run, self);
    most = part(run, values, -1, 0, 1);
  }
  const TensorRef relative =
      run("aten.mul.Tensor", {{unsqueezed(run, tolerances.rtol, -1)}, {most}});
  const TensorRef limit =
      run("aten.maximum.default", {{unsqueezed(run, tolerances.atol, -1)}, {relative}});
  const TensorRef counts = run("aten.gt.Tensor", {{values}, {limit}});
  call.emit_datum({sum_of(run, counts, {-1}, false)});
}

// --- products ---

// By squaring: the bits of the exponent from the lowest, and three factors one after the other.
void matrix_power(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  require_matrix(self, "linalg.matrix_power");
  if (row_count(*self) != column_count(*self))
    throw OpError("A must be batches of square matrices");
  std::int64_t n = call.integer("n");
  if (n == 0) {
    const TensorRef one =
        run("aten.eye.default", {{row_count(*self)}, {self->dtype}, {}, {self->device}});
    const TensorRef ones = run("aten.expand.default", {{one}, list_of(self->sizes)});
    return call.emit_datum(
        {run("aten.clone.default", {{ones}, {spec::MemoryFormat::kContiguous}})});
  }
  if (n == 1) {
    return call.emit_datum(
        {run("aten.clone.default", {{self}, {spec::MemoryFormat::kContiguous}})});
  }
  const auto product = [&](const TensorRef& a, const TensorRef& b) {
    return run("aten.matmul.default", {{a}, {b}});
  };
  const TensorRef base = n < 0 ? run("aten.linalg_inv.default", {{self}}) : self;
  n = std::abs(n);
  if (n == 3) return call.emit_datum({product(product(base, base), base)});
  TensorRef power = base;
  TensorRef out;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) out = out ? product(out, power) : power;
    if (n > 1) power = product(power, power);
  }
  call.emit_datum({out});
}

// The product of a chain of matrices, put in brackets so that it costs the least
// multiplications; of equal costs the split that comes first, of three matrices the left one.
class Chain {
 public:
  Chain(const Composition& run, std::vector<TensorRef> matrices)
      : run_(run), matrices_(std::move(matrices)) {
    const std::size_t n = matrices_.size();
    std::vector<std::vector<std::int64_t>> costs(n, std::vector<std::int64_t>(n));
    splits_.assign(n, std::vector<std::size_t>(n));
    const auto rows = [&](std::size_t i) { return row_count(*matrices_[i]); };
    for (std::size_t length = 1; length < n; ++length) {
      for (std::size_t i = 0; i + length < n; ++i) {
        const std::size_t j = i + length;
        costs[i][j] = std::numeric_limits<std::int64_t>::max();
        for (std::size_t k = i; k < j; ++k) {
          const std::int64_t cost =
              costs[i][k] + costs[k + 1][j] + rows(i) * rows(k + 1) * column_count(*matrices_[j]);
          // Three are compared the other way round.
          const bool is_less = n == 3 ? cost <= costs[i][j] : cost < costs[i][j];
          if (is_less) {
            costs[i][j] = cost;
            splits_[i][j] = k;
          }
        }
      }
    }
  }

  [[nodiscard]] TensorRef product() const { return product_of(0, matrices_.size() - 1); }

 private:
  [[nodiscard]] TensorRef product_of(std::size_t first, std::size_t last) const {
    if (first == last) return matrices_[first];
    const std::size_t split = splits_[first][last];
    const TensorRef left = product_of(first, split);
    return run_("aten.mm.default", {{left}, {product_of(split + 1, last)}});
  }

  const Composition& run_;
  std::vector<TensorRef> matrices_;
  std::vector<std::vector<std::size_t>> splits_;  // the last of the left part
};

void multi_dot(Call& call) {
  const Composition run(call);
  std::vector<TensorRef> matrices = call.tensors("tensors");
  if (matrices.size() < 2) throw OpError("multi_dot(): expected at least 2 tensors");
  Sizes sizes;
  if (matrices.front()->rank() == 1) {
    matrices.front() = unsqueezed(run, matrices.front(), 0);
  } else if (matrices.front()->rank() == 2) {
    sizes.push_back(matrices.front()->sizes[0]);
  }
  if (matrices.back()->rank() == 1) {
    matrices.back() = unsqueezed(run, matrices.back(), -1);
  } else if (matrices.back()->rank() == 2) {
    sizes.push_back(matrices.back()->sizes[1]);
  }
  for (const TensorRef& matrix : matrices) {
    if (matrix->rank() != 2) throw OpError("multi_dot(): expected matrices");
  }
  call.emit_datum({run("aten.view.default", {{Chain(run, matrices).product()}, list_of(sizes)})});
}

void chain_matmul(Call& call) {
  const Composition run(call);
  const std::vector<TensorRef> matrices = call.tensors("matrices");
  for (const TensorRef& matrix : matrices) {
    if (matrix->rank() != 2) throw OpError("chain_matmul: expected matrices");
  }
  if (matrices.empty()) throw OpError("chain_matmul: expected one or more matrices");
  call.emit_datum(matrices.size() == 1 ? run.datum("aten.clone.default", {{matrices.front()}})
                                       : Datum{Chain(run, matrices).product()});
}

// --- tensors as matrices ---

std::int64_t product_of_sizes(const Sizes& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

void tensorinv(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::int64_t split = call.integer("ind");
  if (split <= 0) throw OpError("Expected a strictly positive integer for 'ind'");
  const std::int64_t rows = std::min(split, self->rank());
  const Sizes front(self->sizes.begin(), self->sizes.begin() + rows);
  Sizes sizes(self->sizes.begin() + rows, self->sizes.end());
  const std::int64_t count = product_of_sizes(sizes);
  if (count != product_of_sizes(front)) {
    throw OpError(
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
        "prod(self.shape[:ind])");
  }
  sizes.insert(sizes.end(), front.begin(), front.end());
  const TensorRef inverse = run("aten.linalg_inv.default", {{reshaped(run, self, {count, count})}});
  call.emit_datum({reshaped(run, inverse, sizes)});
}

void tensorsolve(Call& call) {
  const Composition run(call);
  TensorRef self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (const std::optional<Sizes> dims = call.optional_integers("dims")) {
    Sizes last;
    for (std::int64_t i = 0; i < std::ssize(*dims); ++i) {
      last.push_back(self->rank() - std::ssize(*dims) + i);
    }
    self = run("aten.movedim.intlist", {{self}, list_of(*dims), list_of(last)});
  }
  if (other->rank() > self->rank()) throw OpError("tensorsolve: other has too many dimensions");
  const Sizes sizes(self->sizes.begin() + other->rank(), self->sizes.end());
  const std::int64_t count = product_of_sizes(sizes);
  if (count != product_of_sizes({self->sizes.begin(), self->sizes.begin() + other->rank()})) {
    throw OpError("tensorsolve: expected self to be as many equations as unknowns");
  }
  const TensorRef solution =
      run("aten.linalg_solve.default",
          {{reshaped(run, self, {count, count})}, {reshaped(run, other, {other->count()})}});
  call.emit_datum({reshaped(run, solution, sizes)});
}

// Powers 0 to count - 1 of each element, along a dimension behind.
TensorRef powers(const Composition& run, const TensorRef& x, std::int64_t count) {
  Sizes sizes = x->sizes;
  sizes.push_back(count - 1);
  const TensorRef factors = run("aten.expand.default", {{unsqueezed(run, x, -1)}, list_of(sizes)});
  const TensorRef rest = run("aten.cumprod.default", {{factors}, {std::int64_t{-1}}});
  sizes.back() = 1;
  const TensorRef ones = run("aten.new_ones.default", {{rest}, list_of(sizes)});
  return run("aten.cat.default", {list_of(std::vector{ones, rest}), {std::int64_t{-1}}});
}

void linalg_vander(Call& call) {
  const Composition run(call);
  TensorRef x = call.tensor("x");
  if (x->rank() == 0) {
    if (!call.has("N")) throw OpError("N must be greater than 1.");
    x = unsqueezed(run, x, 0);
  }
  const bool is_narrow = spec::is_floating_point(x->dtype) && compute_dtype(x->dtype) != x->dtype;
  if (x->dtype == DType::kBool || is_narrow) {
    throw OpError("linalg.vander supports floating point, complex, and integer tensors");
  }
  const std::int64_t count = call.optional_integer("N").value_or(x->sizes.back());
  if (count <= 1) throw OpError("N must be greater than 1.");
  call.emit_datum({powers(run, x, count)});
}

void vander(Call& call) {
  const Composition run(call);
  TensorRef x = call.tensor("x");
  if (x->rank() != 1) throw OpError("x must be a one-dimensional tensor.");
  const std::int64_t count = call.optional_integer("N").value_or(x->count());
  if (count < 0) throw OpError("N must be non-negative.");
  if (!spec::is_floating_point(x->dtype)) x = to_dtype(run, x, DType::kInt64);
  TensorRef out;
  if (count == 0) {
    out = run("aten.new_empty.default", {{x}, list_of(Sizes{x->count(), 0})});
  } else {
    out = powers(run, x, count);
  }
  if (!call.boolean("increasing")) {
    out = run("aten.flip.default", {{out}, list_of(Sizes{1})});
  }
  call.emit_datum({out});
}

// --- decompositions of other names ---

void svd(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  require_matrix(self, "linalg.svd");
  if (call.boolean("compute_uv")) {
    const std::vector<Datum> all =
        run.all("aten._linalg_svd.default", {{self}, {!call.boolean("some")}, {true}});
    call.emit_datum(all[0]);
    call.emit_datum(all[1]);
    return call.emit_datum({transposed(run, *all[2].as<TensorRef>(), -2, -1)});
  }
  const auto zeros = [&](std::int64_t size) {
    return run("aten.new_zeros.default",
               {{self}, list_of(with_inner(batch_sizes(*self), {size, size}))});
  };
  call.emit_datum({zeros(row_count(*self))});
  call.emit_datum({singular_values(run, self)});
  call.emit_datum({transposed(run, zeros(column_count(*self)), -2, -1)});
}

void pinverse(Call& call) {
  const Composition run(call);
  call.emit_datum(
      {run("aten.linalg_pinv.default", {{call.tensor("self")}, call.datum("rcond"), {false}})});
}

void lu_solve(Call& call) {
  const Composition run(call);
  call.emit_datum(
      {run("aten.linalg_lu_solve.default",
           {{call.tensor("LU_data")}, {call.tensor("LU_pivots")}, {call.tensor("self")}})});
}

void lu_with_info(Call& call) {
  const Composition run(call);
  emit_first(
      call,
      run.all("aten.linalg_lu_factor_ex.default", {{call.tensor("self")}, call.datum("pivot")}), 3);
}

void orgqr(Call& call) {
  const Composition run(call);
  call.emit_datum({run("aten.linalg_householder_product.default",
                       {{call.tensor("self")}, {call.tensor("input2")}})});
}

void pdist(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() != 2) throw OpError("pdist only supports 2D tensors");
  if (call.real("p") < 0) throw OpError("pdist only supports non-negative p values");
  const TensorRef rows = run("aten.contiguous.default", {{self}});
  call.emit_datum({run("aten._pdist_forward.default", {{rows}, call.datum("p")})});
}

constexpr OpBody kCompositeLinalgOps[] = {
    OpBody{"aten._lu_with_info", lu_with_info},
    OpBody{"aten._weight_norm", weight_norm},
    OpBody{"aten._weight_norm_interface", weight_norm_interface},
    OpBody{"aten.chain_matmul", chain_matmul}.any_dtype(),
    OpBody{"aten.frobenius_norm", frobenius_norm}.any_dtype(),
    OpBody{"aten.linalg_cond", linalg_cond},
    OpBody{"aten.linalg_eigh", linalg_eigh},
    OpBody{"aten.linalg_eigvalsh", linalg_eigvalsh},
    OpBody{"aten.linalg_ldl_factor", ldl_factor},
    OpBody{"aten.linalg_lu_factor", lu_factor},
    OpBody{"aten.linalg_matrix_norm", linalg_matrix_norm}.any_dtype(),
    OpBody{"aten.linalg_matrix_power", matrix_power}.any_dtype(),
    OpBody{"aten.linalg_matrix_rank", linalg_matrix_rank},
    OpBody{"aten.linalg_multi_dot", multi_dot}.any_dtype(),
    OpBody{"aten.linalg_norm", linalg_norm}.any_dtype(),
    OpBody{"aten.linalg_solve_ex", solve_ex},
    OpBody{"aten.linalg_svd", linalg_svd},
    OpBody{"aten.linalg_svdvals", linalg_svdvals},
    OpBody{"aten.linalg_tensorinv", tensorinv},
    OpBody{"aten.linalg_tensorsolve", tensorsolve},
    OpBody{"aten.linalg_vander", linalg_vander}.any_dtype(),
    OpBody{"aten.logdet", logdet},
    OpBody{"aten.lu_solve", lu_solve},
    OpBody{"aten.norm_except_dim", norm_except_dim},
    OpBody{"aten.nuclear_norm", nuclear_norm},
    OpBody{"aten.orgqr", orgqr},
    OpBody{"aten.pdist", pdist},
    OpBody{"aten.pinverse", pinverse},
    OpBody{"aten.svd", svd},
    OpBody{"aten.vander", vander}.any_dtype(),
};

}  // namespace
}  // namespace composite

std::span<const OpBody> composite_linalg_ops() { return composite::kCompositeLinalgOps; }

}  // namespace graphgate::reference
