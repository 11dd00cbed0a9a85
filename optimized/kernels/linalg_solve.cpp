// Systems of linear equations and inverses: by triangles, by Cholesky's, LU and LDL^T factors.
#include "optimized/kernels/families.h"
#include "optimized/kernels/linalg_lu.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// A matrix and a right-hand side of one batch each, stretched.
struct SystemOperands {
  Tensor a;
  Tensor b;

  SystemOperands(const Tensor& matrix, const Tensor& right, bool left) {
    expect_square(matrix);
    expect_matrices(right);
    if (matrix.dtype != right.dtype || matrix.size(-1) != right.size(left ? -2 : -1)) {
      throw OpError("a system of sizes " + print_sizes(matrix.sizes) + " does not fit " +
                    print_sizes(right.sizes));
    }
    const Sizes leading = broadcast_sizes(leading_of(matrix), leading_of(right));
    a = broadcast_to(matrix, extended(leading, {matrix.size(-2), matrix.size(-1)}));
    b = broadcast_to(right, extended(leading, {right.size(-2), right.size(-1)}));
  }
};

// ---- triangles

void infer_solve_triangular(Inference& call) {
  const SystemOperands of(call.tensor("self"), call.tensor("B"), call.boolean_or("left", true));
  call.make(of.b.dtype, of.b.sizes, by_columns(of.b.sizes));
}

// Solves T X = B, or X T = B by rows.
Launch triangle_launch(const SystemOperands& of, const Tensor& out, Triangle by, bool left) {
  if (!left) by.transposed = !by.transposed;
  return [t = MatrixBatch(of.a), b = MatrixBatch(of.b), out = MatrixBatch(out), by, left] {
    for (std::int64_t i = 0; i < b.count(); ++i) {
      DenseMatrix x = left ? b.load(i) : transpose_of(b.load(i));
      solve_triangle(t.load(i), by, x);
      out.store(i, left ? x : transpose_of(x));
    }
  };
}

Launch bind_solve_triangular(const Binding& call) {
  const bool left = call.boolean_or("left", true);
  return triangle_launch({call.tensor("self"), call.tensor("B"), left}, call.result(),
                         {call.boolean("upper"), false, call.boolean_or("unitriangular", false)},
                         left);
}

void infer_triangular_solve(Inference& call) {
  const SystemOperands of(call.tensor("A"), call.tensor("self"), true);
  call.make(of.b.dtype, of.b.sizes, by_columns(of.b.sizes));
  call.make(of.a.dtype, of.a.sizes, by_columns(of.a.sizes));
}

Launch bind_triangular_solve(const Binding& call) {
  const SystemOperands of(call.tensor("A"), call.tensor("self"), true);
  const Triangle by = {call.boolean_or("upper", true), call.boolean_or("transpose", false),
                       call.boolean_or("unitriangular", false)};
  return [solve = triangle_launch(of, call.result(0), by, true).run, a = MatrixBatch(of.a),
          copy = MatrixBatch(call.result(1))] {
    solve();
    for (std::int64_t i = 0; i < a.count(); ++i) copy.store(i, a.load(i));
  };
}

// ---- Cholesky's factors

void solve_cholesky(const DenseMatrix& factor, bool upper, DenseMatrix& b) {
  solve_triangle(factor, {upper, upper, false}, b);
  solve_triangle(factor, {upper, !upper, false}, b);
}

void infer_cholesky_solve(Inference& call) {
  const SystemOperands of(call.tensor("input2"), call.tensor("self"), true);
  call.make(of.b.dtype, of.b.sizes, by_columns(of.b.sizes));
}

Launch bind_cholesky_solve(const Binding& call) {
  const SystemOperands of(call.tensor("input2"), call.tensor("self"), true);
  return [a = MatrixBatch(of.a), b = MatrixBatch(of.b), out = MatrixBatch(call.result()),
          upper = call.boolean_or("upper", false)] {
    for (std::int64_t i = 0; i < b.count(); ++i) {
      DenseMatrix x = b.load(i);
      solve_cholesky(a.load(i), upper, x);
      out.store(i, x);
    }
  };
}

void infer_cholesky_inverse(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_square(a);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
}

Launch bind_cholesky_inverse(const Binding& call) {
  return [a = MatrixBatch(call.tensor("self")), out = MatrixBatch(call.result()),
          upper = call.boolean_or("upper", false)] {
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const DenseMatrix factor = a.load(i);
      DenseMatrix x = unit_matrix(factor.rows, factor.rows);
      solve_cholesky(factor, upper, x);
      out.store(i, x);
    }
  };
}

// ---- LU factors

void infer_lu_solve(Inference& call) {
  const Tensor& lu = call.tensor("LU");
  const Tensor& pivots = call.tensor("pivots");
  const bool left = call.boolean_or("left", true);
  const SystemOperands of(lu, call.tensor("B"), left);
  if (pivots.dtype != DType::kInt32 || pivots.sizes != leading_of(lu, 1)) {
    throw OpError("pivots are not int32, one for each row");
  }
  call.make(of.b.dtype, of.b.sizes, left ? by_columns(of.b.sizes) : Sizes{});
}

Launch bind_lu_solve(const Binding& call) {
  const bool left = call.boolean_or("left", true);
  const SystemOperands of(call.tensor("LU"), call.tensor("B"), left);
  const Tensor pivots = broadcast_to(call.tensor("pivots"), leading_of(of.a, 1));
  return [lu = MatrixBatch(of.a), pivots = VectorBatch(pivots), b = MatrixBatch(of.b),
          out = MatrixBatch(call.result()), left, adjoint = call.boolean_or("adjoint", false)] {
    for (std::int64_t i = 0; i < b.count(); ++i) {
      DenseMatrix x = left ? b.load(i) : transpose_of(b.load(i));
      solve_lu(lu.load(i), counted_from_zero(pivots.load<std::int64_t>(i)), left == adjoint, x);
      out.store(i, left ? x : transpose_of(x));
    }
  };
}

// ---- whole systems

// VectorBatch as matrices of one column.
Tensor with_column(Tensor vectors) {
  vectors.sizes.push_back(1);
  vectors.strides.push_back(1);
  return vectors;
}

// A single vector, or as many as there are matrices.
bool takes_vectors(const Tensor& a, const Tensor& b) {
  return b.rank() == 1 || (b.rank() + 1 == a.rank() && b.sizes == leading_of(a, 1));
}

struct WholeSystem {
  bool left;
  bool vectors;
  SystemOperands of;

  explicit WholeSystem(const KernelCall& call)
      : left(call.boolean_or("left", true)),
        vectors(takes_vectors(call.tensor("A"), call.tensor("B"))),
        of(call.tensor("A"), vectors ? with_column(call.tensor("B")) : call.tensor("B"), left) {
    if (vectors && !left) throw OpError("vectors are solved from the left alone");
  }
};

void infer_solve_ex(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_square(a);
  const WholeSystem system(call);
  Sizes sizes = system.of.b.sizes;
  if (system.vectors) sizes.pop_back();
  call.make(a.dtype, sizes, system.left ? by_columns(sizes) : Sizes{});
  if (call.row().schema.returns.size() == 1) return;  // linalg_solve
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  call.make(DType::kInt32, leading_of(a, 1));
  call.make(DType::kInt32, leading_of(a));
}

struct FactorResults {
  MatrixBatch lu;
  VectorBatch pivots;
  Rows info;
};

Launch bind_solve_ex(const Binding& call) {
  const WholeSystem system(call);
  const Tensor& out = call.result(0);
  // The factors of each matrix, then the solutions with them, stretched. linalg_solve returns none
  // of the factors, and wants them to be there.
  std::optional<FactorResults> factors;
  if (call.result_count() > 1) {
    factors.emplace(FactorResults{MatrixBatch(call.result(1)), VectorBatch(call.result(2)),
                                  Rows(call.result(3), {})});
  }
  return [a = MatrixBatch(call.tensor("A")), b = MatrixBatch(system.of.b), factors,
          out = MatrixBatch(system.vectors ? with_column(out) : out), left = system.left,
          leading = leading_of(system.of.b), own = leading_of(call.tensor("A")),
          checks = !factors || call.boolean_or("check_errors", false)] {
    std::vector<PivotedLu> all;
    for (std::int64_t i = 0; i < a.count(); ++i) {
      all.push_back(pivoted_lu(a.load(i)));
      check_info(checks, i, all.back().info);
      if (!factors) continue;
      factors->lu.store(i, all.back().lu);
      factors->pivots.store(i, counted_from_one(all.back().pivots));
      factors->info.store_one<std::int64_t>(i, all.back().info);
    }
    for (std::int64_t i = 0; i < b.count(); ++i) {
      std::int64_t rest = i;
      std::int64_t matrix = 0;
      std::int64_t step = 1;
      for (std::size_t d = leading.size(); d-- > 0;) {
        const std::size_t missing = leading.size() - own.size();
        if (d >= missing) {
          if (own[d - missing] != 1) matrix += rest % leading[d] * step;
          step *= own[d - missing];
        }
        rest /= leading[d];
      }
      const PivotedLu& lu = all[at(matrix)];
      DenseMatrix x = left ? b.load(i) : transpose_of(b.load(i));
      solve_lu(lu.lu, lu.pivots, !left, x);
      out.store(i, left ? x : transpose_of(x));
    }
  };
}

// Ops of older names call it self.
const Tensor& inverted(const KernelCall& call) { return call.tensor(call.has("A") ? "A" : "self"); }

void infer_inv_ex(Inference& call) {
  const Tensor& a = inverted(call);
  expect_square(a);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  if (call.row().schema.returns.size() == 1) return;  // linalg_inv, inverse
  call.make(DType::kInt32, leading_of(a));
}

Launch bind_inv_ex(const Binding& call) {
  std::optional<Rows> info;
  if (call.result_count() > 1) info.emplace(call.result(1), std::vector<std::int64_t>{});
  return [a = MatrixBatch(inverted(call)), out = MatrixBatch(call.result(0)), info,
          checks = !info || call.boolean_or("check_errors", false)] {
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const PivotedLu lu = pivoted_lu(a.load(i));
      check_info(checks, i, lu.info);
      DenseMatrix x = unit_matrix(lu.lu.rows, lu.lu.rows);
      solve_lu(lu.lu, lu.pivots, false, x);
      out.store(i, x);
      if (info) info->store_one<std::int64_t>(i, lu.info);
    }
  };
}

// ---- LDL^T factors

void infer_ldl_solve(Inference& call) {
  const Tensor& ld = call.tensor("LD");
  const Tensor& pivots = call.tensor("pivots");
  const SystemOperands of(ld, call.tensor("B"), true);
  if (!spec::is_integral(pivots.dtype) || pivots.sizes != leading_of(ld, 1)) {
    throw OpError("pivots are not integers, one for each row");
  }
  call.make(of.b.dtype, of.b.sizes, by_columns(of.b.sizes));
}

// Forward through exchanges, L and D, then backward through L^T and exchanges.
void solve_ldl(const DenseMatrix& ld, const std::vector<std::int64_t>& pivots, DenseMatrix& b) {
  const std::int64_t n = ld.rows;
  const auto is_pair = [&](std::int64_t k) { return pivots[at(k)] < 0 && k + 1 < n; };
  const auto exchange = [&](std::int64_t k, std::int64_t size, double* x) {
    const std::int64_t other = std::abs(pivots[at(k)]) - 1;
    if (other < 0 || other >= n) throw OpError("a pivot is out of range");
    std::swap(x[k + size - 1], x[other]);
  };
  std::vector<std::int64_t> blocks;
  for (std::int64_t k = 0; k < n; k += is_pair(k) ? 2 : 1) blocks.push_back(k);
  for (std::int64_t c = 0; c < b.columns; ++c) {
    double* x = b.column(c);
    for (const std::int64_t k : blocks) {
      const std::int64_t size = is_pair(k) ? 2 : 1;
      exchange(k, size, x);
      for (std::int64_t i = k + size; i < n; ++i) {
        for (std::int64_t j = k; j < k + size; ++j) x[i] -= ld(i, j) * x[j];
      }
      if (size == 1) {
        x[k] /= ld(k, k);
        continue;
      }
      const double below = ld(k + 1, k);
      const double first = ld(k, k) / below;
      const double second = ld(k + 1, k + 1) / below;
      const double scale = first * second - 1;
      const double upper = x[k] / below;
      const double lower = x[k + 1] / below;
      x[k] = (second * upper - lower) / scale;
      x[k + 1] = (first * lower - upper) / scale;
    }
    for (std::size_t at_block = blocks.size(); at_block-- > 0;) {
      const std::int64_t k = blocks[at_block];
      const std::int64_t size = is_pair(k) ? 2 : 1;
      for (std::int64_t j = k; j < k + size; ++j) {
        for (std::int64_t i = k + size; i < n; ++i) x[j] -= ld(i, j) * x[i];
      }
      exchange(k, size, x);
    }
  }
}

Launch bind_ldl_solve(const Binding& call) {
  const SystemOperands of(call.tensor("LD"), call.tensor("B"), true);
  const Tensor pivots = broadcast_to(call.tensor("pivots"), leading_of(of.a, 1));
  return [ld = MatrixBatch(of.a), pivots = VectorBatch(pivots), b = MatrixBatch(of.b),
          out = MatrixBatch(call.result())] {
    for (std::int64_t i = 0; i < b.count(); ++i) {
      DenseMatrix x = b.load(i);
      solve_ldl(ld.load(i), pivots.load<std::int64_t>(i), x);
      out.store(i, x);
    }
  };
}

// ---- errors

// Makes nothing: it states that every factorization came to its end.
void infer_check_errors(Inference& call) {
  const Tensor& info = call.tensor("info");
  if (!spec::is_integral(info.dtype)) throw OpError("info is not an integer");
  if (!call.has_data()) Inference::needs_data();
  const Rows rows(info, wrap_dims({}, info.rank(), true));
  std::vector<std::int64_t> values(at(rows.length()));
  rows.load(0, values.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_info(true, static_cast<std::int64_t>(i), values[i]);
  }
}

}  // namespace

std::span<const Kernel> linalg_solve_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._linalg_check_errors", infer_check_errors},
      {"aten._linalg_solve_ex", infer_solve_ex, bind_solve_ex},
      {"aten.cholesky_inverse", infer_cholesky_inverse, bind_cholesky_inverse},
      {"aten.cholesky_solve", infer_cholesky_solve, bind_cholesky_solve},
      {"aten.inverse", infer_inv_ex, bind_inv_ex},
      {"aten.linalg_inv", infer_inv_ex, bind_inv_ex},
      {"aten.linalg_inv_ex", infer_inv_ex, bind_inv_ex},
      {"aten.linalg_ldl_solve", infer_ldl_solve, bind_ldl_solve},
      {"aten.linalg_lu_solve", infer_lu_solve, bind_lu_solve},
      {"aten.linalg_solve", infer_solve_ex, bind_solve_ex},
      {"aten.linalg_solve_triangular", infer_solve_triangular, bind_solve_triangular},
      {"aten.triangular_solve", infer_triangular_solve, bind_triangular_solve},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
