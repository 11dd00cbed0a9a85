// Systems of linear equations and inverses: by triangles, by Cholesky's, LU and LDL^T factors.
//
// The factors are read as the exact numbers that they are: they and the roundings of substitution
// come to an error of the matrix, which is carried to the solution (linalg_errors.h).
#include <algorithm>
#include <array>
#include <functional>

#include "reference/ops/linalg_frame.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// A right-hand side stretched to the batches of the matrices, and these to its.
struct Stretched {
  Sizes batches;
  Sizes b_sizes;

  Stretched(const Tensor& a, const Tensor& b)
      : batches(broadcast_sizes({batch_sizes(a), batch_sizes(b)})),
        b_sizes(with_inner(batches, {row_count(b), column_count(b)})) {}
};

void require_fit(const Tensor& a, const Tensor& b, bool left, std::string_view name) {
  require_square(a, name);
  require_matrices(b, name);
  require_same_dtype(a, b, name);
  if (row_count(a) == (left ? row_count(b) : column_count(b))) return;
  throw OpError(std::string(name) + ": Incompatible shapes of A and B for the equation " +
                (left ? "AX = B" : "XA = B") + " (" + print_sizes(a.sizes) + " and " +
                print_sizes(b.sizes) + ")");
}

// A system's matrix and its error: nothing where the wide matrix says what it is.
struct System {
  WideMatrix a;
  WideMatrix error;
};

// Solves the system of each batch: AX = B, or XA = B where not `left`.
template <class N>
Array<N> solve_batches(const Array<N>& b, bool left, DType dtype,
                       const std::function<System(std::int64_t, const ErrorRule&)>& system_at) {
  const std::int64_t rows = b.sizes[b.sizes.size() - 2];
  const std::int64_t columns = b.sizes.back();
  const std::int64_t count = rows * columns == 0 ? 0 : b.count() / (rows * columns);
  const ErrorRule rule = error_rule<N>(dtype);
  Array<N> out(b.sizes);
  for (std::int64_t batch = 0; batch < count; ++batch) {
    const System system = system_at(batch, rule);
    const KnownMatrix given = matrix_at(b, batch, rows, columns);
    const KnownMatrix solution =
        left ? known_solution(system.a, system.error, given, rule)
             : flipped(
                   known_solution(flipped(system.a), flipped(system.error), flipped(given), rule));
    put_matrix(out, batch, solution, dtype);
  }
  return out;
}

// ---- triangles --------------------------------------------------------------------------------

// Substitution as it goes: infinities and what is no number come out as they do there.
WideMatrix substituted(const WideMatrix& t, WideMatrix b, bool upper) {
  for (std::int64_t step = 0; step < t.rows; ++step) {
    const std::int64_t k = upper ? t.rows - 1 - step : step;
    for (std::int64_t j = 0; j < b.columns; ++j) {
      b(k, j) /= t(k, k);
      for (std::int64_t i = upper ? 0 : k + 1; i < (upper ? k : t.rows); ++i) {
        b(i, j) -= t(i, k) * b(k, j);
      }
    }
  }
  return b;
}

// Solves with a triangle. What is divided by zero, and what is computed of that, is open.
KnownMatrix triangle_solution(const KnownMatrix& t, const KnownMatrix& b, bool upper,
                              const ErrorRule& rule) {
  const std::int64_t n = t.value.rows;
  WideMatrix triangle = t.value;
  std::vector<char> is_open(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool may_be_zero = !(std::fabs(triangle(i, i)) > rule.decision() * t.radius(i, i)) ||
                             !std::isfinite(triangle(i, i));
    if (may_be_zero) is_open[at] = 1;
    if (triangle(i, i) == 0) triangle(i, i) = 1;
  }
  WideMatrix error(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t terms = upper ? n - i : i + 1;
    // A CUDA kernel may multiply with inverses of diagonal blocks.
    const long double roundings = rule.roundings(static_cast<long double>(terms + 1));
    for (std::int64_t j = 0; j < n; ++j) {
      error(i, j) = rule.joined(t.radius(i, j), roundings * std::fabs(triangle(i, j)));
    }
  }
  const WideMatrix inverse = inverse_of_triangle(triangle, upper);
  if (declared_arithmetic().has_cuda_kernels) {
    error = magnitudes(triangle) * magnitudes(inverse) * error;
  }
  KnownMatrix out{inverse * b.value, WideMatrix(n, b.value.columns)};
  const WideMatrix rest = inverse * (b.value - triangle * out.value);
  for (std::size_t i = 0; i < rest.data.size(); ++i) out.value.data[i] += rest.data[i];
  const bool divides_by_zero =
      std::any_of(is_open.begin(), is_open.end(), [](char open) { return open != 0; });
  if (divides_by_zero) out.value = substituted(t.value, b.value, upper);
  if (!rule.tracks()) return out;
  if (!is_finite(KnownMatrix{triangle, t.radius}) || !is_finite(b)) {
    return {out.value, WideMatrix(n, b.value.columns, kOpenRadius)};
  }
  const long double growth = rule.growth(row_norm(rule.carried(inverse, error)));
  out.radius = rule.carried(inverse, rule.joined(rule.carried(error, out.value), b.radius));
  for (std::int64_t i = 0; i < n; ++i) {
    bool hangs = !(growth < kOpenRadius);
    for (std::int64_t k = 0; k < n; ++k) {
      // An infinity times an element that is zero is no number.
      hangs = hangs || (is_open[nth(k)] != 0 && (upper ? k >= i : k <= i));
    }
    for (std::int64_t j = 0; j < b.value.columns; ++j) {
      out.radius(i, j) = hangs ? kOpenRadius : out.radius(i, j) * growth;
    }
  }
  return out;
}

struct TriangleForm {
  bool upper = false;
  bool left = true;
  bool transposes = false;
  bool is_unit = false;
};

template <class N>
Array<N> solve_triangles(const Array<N>& a, const Array<N>& b, const TriangleForm& form,
                         DType dtype) {
  const std::int64_t n = a.sizes.back();
  const std::int64_t rows = b.sizes[b.sizes.size() - 2];
  const std::int64_t columns = b.sizes.back();
  const std::int64_t count = rows * columns == 0 ? 0 : b.count() / (rows * columns);
  const ErrorRule rule = error_rule<N>(dtype);
  Array<N> out(b.sizes);
  for (std::int64_t batch = 0; batch < count; ++batch) {
    const KnownMatrix whole = matrix_at(a, batch, n, n);
    KnownMatrix t{triangle_of(whole.value, form.upper, form.is_unit),
                  triangle_of(whole.radius, form.upper)};
    for (std::int64_t i = 0; form.is_unit && i < n; ++i) t.radius(i, i) = 0;
    KnownMatrix given = matrix_at(b, batch, rows, columns);
    if (!form.left) given = flipped(given);
    const bool flips = form.transposes == form.left;
    if (flips) t = flipped(t);
    KnownMatrix solution = triangle_solution(t, given, form.upper != flips, rule);
    if (!form.left) solution = flipped(solution);
    put_matrix(out, batch, solution, dtype);
  }
  return out;
}

// Emits the solution, and with `keeps` the matrices stretched to the batches.
void emit_triangle_solution(Call& call, const Tensor& a, const Tensor& b, const TriangleForm& form,
                            bool keeps) {
  const Stretched to(a, b);
  const Sizes a_sizes = with_inner(to.batches, {row_count(a), row_count(a)});
  with_real(call.mode(), [&]<class N>() {
    const Array<N> matrices = broadcast_to(load<N>(a, a.dtype), a_sizes);
    const Array<N> given = broadcast_to(load<N>(b, b.dtype), to.b_sizes);
    call.emit(solve_triangles(matrices, given, form, b.dtype), b.dtype,
              column_major_strides(to.b_sizes));
    if (keeps) call.emit(matrices, a.dtype, column_major_strides(a_sizes));
  });
}

void solve_triangular(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("B");
  TriangleForm form;
  form.left = call.boolean("left");
  form.upper = call.boolean("upper");
  form.is_unit = call.boolean("unitriangular");
  require_fit(a, b, form.left, "linalg.solve_triangular");
  emit_triangle_solution(call, a, b, form, false);
}

void triangular_solve(Call& call) {
  const Tensor& b = *call.tensor("self");
  const Tensor& a = *call.tensor("A");
  TriangleForm form;
  form.upper = call.boolean("upper");
  form.transposes = call.boolean("transpose");
  form.is_unit = call.boolean("unitriangular");
  require_fit(a, b, true, "triangular_solve");
  emit_triangle_solution(call, a, b, form, true);
}

// ---- Cholesky's factors -----------------------------------------------------------------------

// The lower factor that a triangle stands for.
KnownMatrix lower_factor_of(const KnownMatrix& whole, bool upper) {
  const KnownMatrix t{triangle_of(whole.value, upper), triangle_of(whole.radius, upper)};
  return upper ? flipped(t) : t;
}

// L L^T, with the errors of two substitutions.
System cholesky_system(const KnownMatrix& lower, const ErrorRule& rule) {
  const auto roundings = rule.roundings(static_cast<long double>(lower.value.rows + 1));
  const WideMatrix moved = rule.joined(lower.radius, times(magnitudes(lower.value), roundings));
  const WideMatrix half = rule.carried(moved, flipped(lower.value));
  return {lower.value * flipped(lower.value), rule.joined(half, flipped(half))};
}

void cholesky_solve(Call& call) {
  const Tensor& b = *call.tensor("self");
  const Tensor& a = *call.tensor("input2");
  const bool upper = call.boolean("upper");
  require_fit(a, b, true, "cholesky_solve");
  const Stretched to(a, b);
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> matrices = broadcast_to(load<N>(a, a.dtype), with_inner(to.batches, {n, n}));
    const Array<N> given = broadcast_to(load<N>(b, b.dtype), to.b_sizes);
    call.emit(solve_batches<N>(given, true, b.dtype,
                               [&](std::int64_t batch, const ErrorRule& rule) {
                                 return cholesky_system(
                                     lower_factor_of(matrix_at(matrices, batch, n, n), upper),
                                     rule);
                               }),
              b.dtype, column_major_strides(to.b_sizes));
  });
}

// (L L^T)^-1 as L^-T L^-1, or by substitution into the identity: whichever is further away counts.
KnownMatrix cholesky_inverse_of(const KnownMatrix& lower, const ErrorRule& rule) {
  const std::int64_t n = lower.value.rows;
  const System system = cholesky_system(lower, rule);
  KnownMatrix out =
      known_solution(system.a, system.error, {identity_matrix(n), WideMatrix(n, n)}, rule);
  if (!rule.tracks() || !is_finite(out)) return out;
  const WideMatrix inverse = inverse_of_triangle(lower.value, false);
  const long double roundings = rule.roundings(static_cast<long double>(n + 1));
  const WideMatrix moved = rule.joined(lower.radius, times(magnitudes(lower.value), roundings));
  const WideMatrix of_inverse = rule.carried(rule.carried(inverse, moved), inverse);
  const WideMatrix half = rule.carried(flipped(inverse), of_inverse);
  WideMatrix product = rule.joined(half, flipped(half));
  product =
      rule.joined(product, times(flipped(magnitudes(inverse)) * magnitudes(inverse), roundings));
  for (std::size_t i = 0; i < product.data.size(); ++i) {
    out.radius.data[i] = std::max(out.radius.data[i], product.data[i]);
  }
  return out;
}

void cholesky_inverse(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_square(a, "cholesky_inverse");
  const bool upper = call.boolean("upper");
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    Array<N> out(a.sizes);
    for (std::int64_t b = 0; b < count_of(batch_sizes(a)); ++b) {
      put_matrix(out, b,
                 cholesky_inverse_of(lower_factor_of(matrix_at(in, b, n, n), upper),
                                     error_rule<N>(a.dtype)),
                 a.dtype);
    }
    call.emit(out, a.dtype, column_major_strides(a.sizes));
  });
}

// ---- LU factors -------------------------------------------------------------------------------

// P L U, with the errors of two substitutions. `order` says which row of A a row of L U is.
System lu_system(const KnownMatrix& lu, const std::vector<std::int64_t>& order,
                 const ErrorRule& rule) {
  const std::int64_t n = lu.value.rows;
  const WideMatrix lower = triangle_of(lu.value, false, true);
  const WideMatrix upper = triangle_of(lu.value, true);
  WideMatrix lower_radius = triangle_of(lu.radius, false);
  for (std::int64_t i = 0; i < n; ++i) lower_radius(i, i) = 0;
  const long double roundings = rule.roundings(static_cast<long double>(n + 1));
  const WideMatrix product = lower * upper;
  const WideMatrix error = rule.joined(
      rule.carried(rule.joined(lower_radius, times(magnitudes(lower), roundings)), upper),
      rule.carried(lower,
                   rule.joined(triangle_of(lu.radius, true), times(magnitudes(upper), roundings))));
  System out{WideMatrix(n, n), WideMatrix(n, n)};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      out.a(order[static_cast<std::size_t>(i)], j) = product(i, j);
      out.error(order[static_cast<std::size_t>(i)], j) = error(i, j);
    }
  }
  return out;
}

// A system of which nobody knows the matrix.
System unknown_system(std::int64_t n) {
  return {identity_matrix(n), WideMatrix(n, n, kOpenRadius)};
}

System flipped(const System& system) { return {flipped(system.a), flipped(system.error)}; }

std::int64_t checked_pivot(Whole pivot, std::int64_t n) {
  const std::int64_t row = std::abs(pivot.value);
  if (row >= 1 && row <= n) return pivot.value;
  throw OpError("a pivot is " + std::to_string(pivot.value) + ", but there are " +
                std::to_string(n) + " rows");
}

void lu_solve(Call& call) {
  const Tensor& lu = *call.tensor("LU");
  const Tensor& pivots = *call.tensor("pivots");
  const Tensor& b = *call.tensor("B");
  const bool left = call.boolean("left");
  const bool adjoint = call.boolean("adjoint");
  require_fit(lu, b, left, "linalg.lu_solve");
  const std::int64_t n = row_count(lu);
  if (pivots.dtype != DType::kInt32 || pivots.sizes != batch_sizes(lu, 1)) {
    throw OpError("linalg.lu_solve: pivots must be int32, one for each row of LU");
  }
  const Stretched to(lu, b);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> matrices = broadcast_to(load<N>(lu, lu.dtype), with_inner(to.batches, {n, n}));
    const Array<Whole> steps =
        broadcast_to(load<Whole>(pivots, DType::kInt32), with_inner(to.batches, {n}));
    const Array<N> given = broadcast_to(load<N>(b, b.dtype), to.b_sizes);
    const auto system_at = [&](std::int64_t batch, const ErrorRule& rule) {
      std::vector<std::int64_t> rows;
      bool is_open = false;
      for (std::int64_t k = 0; k < n; ++k) {
        rows.push_back(std::abs(checked_pivot(steps[batch * n + k], n)) - 1);
        is_open = is_open || steps[batch * n + k].undecided;
      }
      if (is_open) return unknown_system(n);
      const System system =
          lu_system(matrix_at(matrices, batch, n, n), order_of_rows(rows, n), rule);
      return adjoint ? flipped(system) : system;
    };
    call.emit(solve_batches<N>(given, left, b.dtype, system_at), b.dtype,
              left ? column_major_strides(to.b_sizes) : spec::contiguous_strides(to.b_sizes));
  });
}

// ---- whole systems ----------------------------------------------------------------------------

// The factors and the solutions of a batch of systems.
template <class N>
struct Solved {
  Array<N> lu;
  Array<Whole> pivots;
  Array<Whole> infos;
  Array<N> solution;
};

// Solves AX = B (or XA = B) by factoring `a`. Where it is singular nobody says what the solution
// holds.
template <class N>
Solved<N> solve_whole(const Tensor& a, const Array<N>& b, const Sizes& batches, bool left) {
  const std::int64_t n = row_count(a);
  const Array<N> in = load<N>(a, a.dtype);
  const ErrorRule rule = error_rule<N>(a.dtype);
  Solved<N> out{
      Array<N>(a.sizes), Array<Whole>(batch_sizes(a, 1)), Array<Whole>(batch_sizes(a)), {}};
  std::vector<System> systems;
  for (std::int64_t i = 0; i < out.infos.count(); ++i) {
    const KnownMatrix matrix = matrix_at(in, i, n, n);
    const KnownLu known = known_lu(matrix, rule);
    put_matrix(out.lu, i, {known.factors.lu, known.radius}, a.dtype);
    for (std::int64_t k = 0; k < n; ++k) {
      out.pivots[i * n + k] =
          Whole(known.factors.pivots[static_cast<std::size_t>(k)] + 1, k >= known.open_from);
    }
    out.infos[i] = Whole(known.factors.first_zero, known.info_is_open);
    // The roundings of the factors, and those of two substitutions: as many again for each.
    System system{matrix.value, known.error};
    if (rule.tracks() && is_finite(KnownMatrix{system.a, system.error})) {
      const WideMatrix lower = magnitudes(triangle_of(known.factors.lu, false, true));
      const WideMatrix upper = magnitudes(triangle_of(known.factors.lu, true));
      long double growth = 1;
      if (known.open_from < n) growth = 2;  // of other pivots
      const WideMatrix product =
          times(lower * upper, growth * rule.roundings(2 * static_cast<long double>(n + 1)));
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t row = known.factors.order[static_cast<std::size_t>(r)];
        for (std::int64_t c = 0; c < n; ++c) {
          system.error(row, c) = rule.joined(system.error(row, c), product(r, c));
        }
      }
    }
    systems.push_back(std::move(system));
  }
  // Which system a batch of the solution has.
  Array<Whole> places(batch_sizes(a));
  for (std::int64_t i = 0; i < places.count(); ++i) places[i] = Whole(i);
  places = broadcast_to(places, batches);
  out.solution = solve_batches<N>(b, left, a.dtype, [&](std::int64_t batch, const ErrorRule&) {
    return systems[static_cast<std::size_t>(places[batch].value)];
  });
  return out;
}

// B is a batch of vectors where it has one dimension, or the sizes of A without the last.
bool is_vector(const Tensor& a, const Tensor& b) {
  return b.rank() == 1 || (b.rank() == a.rank() - 1 && b.sizes == batch_sizes(a, 1));
}

TensorRef as_columns(const Tensor& vectors) {
  Sizes sizes = vectors.sizes;
  Sizes strides = vectors.strides;
  sizes.push_back(1);
  strides.push_back(1);
  return view_of(vectors, std::move(sizes), std::move(strides), vectors.offset);
}

// Of linalg_solve the solution alone, of a matrix that has one.
void solve_ex(Call& call) {
  const Tensor& a = *call.tensor("A");
  const bool left = call.boolean("left");
  require_square(a, "linalg.solve");
  const bool vectors = is_vector(a, *call.tensor("B"));
  const TensorRef columns = vectors ? as_columns(*call.tensor("B")) : call.tensor("B");
  const Tensor& b = *columns;
  if (vectors && !left) {
    throw OpError("linalg.solve: vectors are not supported for left=False");
  }
  require_fit(a, b, left, "linalg.solve");
  const Stretched to(a, b);
  Sizes sizes = to.b_sizes;
  if (vectors) sizes.pop_back();
  const Sizes strides = left ? column_major_strides(sizes) : spec::contiguous_strides(sizes);
  with_real(call.mode(), [&]<class N>() {
    Solved<N> out =
        solve_whole<N>(a, broadcast_to(load<N>(b, b.dtype), to.b_sizes), to.batches, left);
    const bool is_alone = call.row().schema.returns.size() == 1;
    if (is_alone || call.boolean("check_errors")) require_success(out.infos, "torch.linalg.solve");
    out.solution.sizes = sizes;
    call.emit(out.solution, b.dtype, strides);
    if (is_alone) return;
    call.emit(out.lu, a.dtype, column_major_strides(a.sizes));
    call.emit(out.pivots, DType::kInt32);
    call.emit(out.infos, DType::kInt32);
  });
}

// Of linalg_inv and inverse the inverse alone, of a matrix that has one.
void inv_ex(Call& call) {
  const Tensor& a = *call.tensor(call.has("A") ? "A" : "self");
  require_square(a, "linalg.inv_ex");
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    Array<N> identity(a.sizes);
    for (std::int64_t i = 0; i < identity.count(); ++i) {
      if (i / n % n == i % n) identity[i] = N(1.0);
    }
    const Solved<N> out = solve_whole<N>(a, identity, batch_sizes(a), true);
    const bool is_alone = call.row().schema.returns.size() == 1;
    if (is_alone || call.boolean("check_errors")) require_success(out.infos, "linalg.inv");
    call.emit(out.solution, a.dtype, column_major_strides(a.sizes));
    if (is_alone) return;
    call.emit(out.infos, DType::kInt32);
  });
}

// ---- LDL^T factors ----------------------------------------------------------------------------

void ldl_solve(Call& call) {
  const Tensor& ld = *call.tensor("LD");
  const Tensor& pivots = *call.tensor("pivots");
  const Tensor& b = *call.tensor("B");
  require_fit(ld, b, true, "torch.linalg.ldl_solve");
  if (!spec::is_integral(pivots.dtype) || pivots.sizes != batch_sizes(ld, 1)) {
    throw OpError("torch.linalg.ldl_solve: pivots must be integers, one for each row of LD");
  }
  const Stretched to(ld, b);
  const std::int64_t n = row_count(ld);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> matrices = broadcast_to(load<N>(ld, ld.dtype), with_inner(to.batches, {n, n}));
    const Array<Whole> steps =
        broadcast_to(load<Whole>(pivots, pivots.dtype), with_inner(to.batches, {n}));
    const Array<N> given = broadcast_to(load<N>(b, b.dtype), to.b_sizes);
    const auto system_at = [&](std::int64_t batch, const ErrorRule& rule) {
      std::vector<std::int64_t> rows;
      bool is_open = false;
      for (std::int64_t k = 0; k < n; ++k) {
        rows.push_back(checked_pivot(steps[batch * n + k], n));
        is_open = is_open || steps[batch * n + k].undecided;
      }
      if (is_open) return unknown_system(n);
      const LdlProduct known = ldl_product(matrix_at(matrices, batch, n, n), rows);
      // Substitution with M and its transpose, and blocks of two by a formula that is stable for
      // the pivots' choice (Higham, section 11.1).
      const long double roundings = rule.roundings(static_cast<long double>(n + 2));
      const WideMatrix& m = known.m.value;
      const WideMatrix& d = known.d.value;
      const WideMatrix moved = rule.joined(known.m.radius, times(magnitudes(m), roundings));
      const WideMatrix md = magnitudes(m) * magnitudes(d);
      const WideMatrix half = rule.carried(moved, flipped(md));
      const WideMatrix of_d = rule.joined(known.d.radius, times(magnitudes(d), rule.roundings(12)));
      System out{m * d * flipped(m), rule.joined(half, flipped(half))};
      out.error =
          rule.joined(std::move(out.error), rule.carried(rule.carried(m, of_d), flipped(m)));
      return out;
    };
    call.emit(solve_batches<N>(given, true, b.dtype, system_at), b.dtype,
              column_major_strides(to.b_sizes));
  });
}

// ---- errors -----------------------------------------------------------------------------------

void check_errors(Call& call) {
  require_success(load<Whole>(*call.tensor("info"), DType::kInt64), call.text("api_name"));
}

constexpr std::array kLinalgSolveOps = {
    OpBody{"aten._linalg_check_errors", check_errors},
    OpBody{"aten._linalg_solve_ex", solve_ex},
    OpBody{"aten.cholesky_inverse", cholesky_inverse},
    OpBody{"aten.cholesky_solve", cholesky_solve},
    OpBody{"aten.inverse", inv_ex},
    OpBody{"aten.linalg_inv", inv_ex},
    OpBody{"aten.linalg_inv_ex", inv_ex},
    OpBody{"aten.linalg_ldl_solve", ldl_solve},
    OpBody{"aten.linalg_lu_solve", lu_solve},
    OpBody{"aten.linalg_solve", solve_ex},
    OpBody{"aten.linalg_solve_triangular", solve_triangular},
    OpBody{"aten.triangular_solve", triangular_solve},
};

}  // namespace

std::span<const OpBody> linalg_solve_ops() { return kLinalgSolveOps; }

}  // namespace graphgate::reference
