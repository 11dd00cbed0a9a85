// Distances between rows: _cdist_forward and _pdist_forward.
#include <array>

#include "reference/number/left_open.h"
#include "reference/number/sum.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// sqrt(max(x, 0)): a squared distance that cancels may come out negative.
double clamped_sqrt(double x) { return x < 0 ? 0 : std::sqrt(x); }
template <class P>
Tracked<P> clamped_sqrt(const Tracked<P>& x) {
  return through(x, 0.5, [](long double v) { return v < 0 ? 0 : std::sqrt(v); });
}

// The p-norm of the difference of two rows; p is 0, 1, 2, infinity or any other positive number.
template <class N>
N distance(const N* a, const N* b, std::int64_t count, double p) {
  Sum<N> sum;
  N most(0.0);
  for (std::int64_t i = 0; i < count; ++i) {
    const N difference = abs(a[i] - b[i]);
    if (p == 0) {
      sum.add(select(is_zero(difference), N(0.0), select(is_nan(difference), difference, N(1.0))));
    } else if (p == 1) {
      sum.add(difference);
    } else if (p == 2) {
      sum.add_product(difference, difference);
    } else if (std::isinf(p)) {
      most = maximum(most, difference);
    } else {
      sum.add(pow(difference, N(p)));
    }
  }
  if (std::isinf(p)) return most;
  if (p == 0 || p == 1) return sum.result();
  return p == 2 ? clamped_sqrt(sum.result()) : pow(sum.result(), N(1 / p));
}

// |a|^2 - 2ab + |b|^2 as one dot product, whose first terms are the rounded squared norms.
template <class N>
N euclidean_by_product(const N* a, const N* b, std::int64_t count, spec::DType dtype) {
  const auto squared_norm = [&](const N* row) {
    Sum<N> sum;
    for (std::int64_t i = 0; i < count; ++i) sum.add_product(row[i], row[i]);
    return round_edge(sum.result(), dtype);
  };
  Sum<N> sum;
  sum.add_product(squared_norm(a), N(1.0));
  sum.add_product(N(1.0), squared_norm(b));
  for (std::int64_t i = 0; i < count; ++i) sum.add_product(N(-2.0) * a[i], b[i]);
  return clamped_sqrt(round_edge(sum.result(), dtype));
}

// Of infinite elements the product makes NaN where differences are infinite: open, as it is between
// executors that compute the one or the other.
template <class N>
N euclidean(const N* a, const N* b, std::int64_t count, spec::DType dtype) {
  const N product = euclidean_by_product(a, b, count, dtype);
  return is_finite(product) ? product : covering(product, distance(a, b, count, 2));
}

void check_distance(const Tensor& tensor, double p) {
  const bool is_wide =
      tensor.dtype == spec::DType::kFloat32 || tensor.dtype == spec::DType::kFloat64;
  if (!is_wide) throw OpError("distances are defined for float32 and float64");
  if (!(p >= 0)) throw OpError("distances want a p that is not negative");
}

// With two rows sets of more than 25 rows, PyTorch computes Euclidean distances by a matrix product
// (compute_mode 0, the default); mode 1 always does, mode 2 never.
bool uses_product(std::int64_t mode, double p, std::int64_t rows_a, std::int64_t rows_b) {
  return p == 2 && (mode == 1 || (mode == 0 && (rows_a > 25 || rows_b > 25)));
}

Sizes leading(const Sizes& sizes) { return {sizes.begin(), sizes.end() - 2}; }

template <class N>
Array<N> in_batches(const Tensor& tensor, Sizes batches, spec::DType dtype) {
  batches.insert(batches.end(), tensor.sizes.end() - 2, tensor.sizes.end());
  return broadcast_to(load<N>(tensor, dtype), batches);
}

void cdist_forward(Call& call) {
  const Tensor& x1 = *call.tensor("x1");
  const Tensor& x2 = *call.tensor("x2");
  const double p = call.real("p");
  check_distance(x1, p);
  check_distance(x2, p);
  if (x1.rank() < 2 || x2.rank() < 2 || x1.sizes.back() != x2.sizes.back()) {
    throw OpError("cdist wants matrices with rows of one length");
  }
  const spec::DType dtype = promote(x1.dtype, x2.dtype);
  const Sizes batches = broadcast_sizes({leading(x1.sizes), leading(x2.sizes)});
  const std::int64_t rows_a = *(x1.sizes.end() - 2);
  const std::int64_t rows_b = *(x2.sizes.end() - 2);
  const std::int64_t count = x1.sizes.back();
  const std::int64_t compute_mode = call.optional_integer("compute_mode").value_or(0);
  const bool by_product = count > 0 && uses_product(compute_mode, p, rows_a, rows_b);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> a = in_batches<N>(x1, batches, dtype);
    const Array<N> b = in_batches<N>(x2, batches, dtype);
    Sizes sizes = batches;
    sizes.insert(sizes.end(), {rows_a, rows_b});
    Array<N> out(sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const N* row_a = a.data.data() + i / rows_b * count;
      const N* row_b = b.data.data() + (i / (rows_a * rows_b) * rows_b + i % rows_b) * count;
      out[i] =
          by_product ? euclidean(row_a, row_b, count, dtype) : distance(row_a, row_b, count, p);
    }
    call.emit(out, dtype);
  });
}

// The distances of all pairs of rows i < j, row by row.
void pdist_forward(Call& call) {
  const Tensor& self = *call.tensor("self");
  const double p = call.real("p");
  check_distance(self, p);
  if (self.rank() != 2) throw OpError("pdist wants a matrix");
  if (!is_contiguous(self)) throw OpError("_pdist_forward requires contiguous input");
  const std::int64_t rows = self.sizes[0];
  const std::int64_t count = self.sizes[1];
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(self, self.dtype);
    Array<N> out({rows < 2 ? 0 : rows * (rows - 1) / 2});
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = i + 1; j < rows; ++j) {
        out[next++] = distance(in.data.data() + i * count, in.data.data() + j * count, count, p);
      }
    }
    call.emit(out, self.dtype);
  });
}

constexpr std::array kDistanceOps = {
    OpBody{"aten._cdist_forward", cdist_forward},
    OpBody{"aten._pdist_forward", pdist_forward},
};

}  // namespace

std::span<const OpBody> distance_ops() { return kDistanceOps; }

}  // namespace graphgate::reference
