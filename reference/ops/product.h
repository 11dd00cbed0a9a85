// The dot products behind matmul, convolution and attention: plain loops over dense rows.
//
// Used by the families matmul, contraction, attention and vllm. Values are those of Sum<N>: any
// order of summation in the compute dtype (float32 for 16-bit dtypes), one rounding when the result
// is stored. Integers wrap.
#pragma once

#include <optional>

#include "reference/call.h"
#include "reference/number/flushed.h"
#include "reference/number/functions.h"
#include "reference/number/left_open.h"
#include "reference/number/split_sum.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

// The sum of a[i] * b[i] over `count` elements, beginning with what `sum` already holds.
template <class N>
[[nodiscard]] N dot_from(Sum<N> sum, const N* a, const N* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum.add_product(a[i], b[i]);
  return sum.result();
}

// What a product is added to: beta * array, summed together with the products (a BLAS may begin its
// accumulator with it, or add it at the end).
template <class N>
struct Addend {
  Array<N> array;  // of the sizes of the result
  N beta;
  bool scales;  // beta is not 1
};

// a [batch, rows, inner] times b, given transposed as [batch, columns, inner] so that both are read
// along rows, gives [batch, rows, columns]. `parts`: the dtype that parts of a sum may be rounded
// to where that is declared, the tensors' own.
template <class N>
[[nodiscard]] Array<N> batched_product(const Array<N>& a, const Array<N>& b_transposed,
                                       spec::DType parts,
                                       const std::optional<Addend<N>>& addend = std::nullopt) {
  const std::int64_t rows = a.size(1);
  const std::int64_t columns = b_transposed.size(1);
  const std::int64_t inner = a.size(2);
  Array<N> out({a.size(0), rows, columns});
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const std::int64_t batch = i / (rows * columns);
    const N* row = a.data.data() + i / columns * inner;
    const N* column = b_transposed.data.data() + (batch * columns + i % columns) * inner;
    Sum<N> sum;
    if (addend && addend->scales) sum.add_product(addend->beta, addend->array[i]);
    if (addend && !addend->scales) sum.add(addend->array[i]);
    const N begin = addend ? addend->beta * addend->array[i] : N(0);
    out[i] = allow_split(dot_from(sum, row, column, inner), begin, row, column, inner, parts);
  }
  return out;
}

// A product plus `addend`, where the product may have been rounded to `dtype` before.
inline double widen_by_rounded_product(double sum, double /*addend*/, spec::DType) { return sum; }
inline Whole widen_by_rounded_product(Whole sum, Whole /*addend*/, spec::DType) { return sum; }
template <class P>
[[nodiscard]] Tracked<P> widen_by_rounded_product(const Tracked<P>& sum, const Tracked<P>& addend,
                                                  spec::DType dtype) {
  if (compute_dtype(dtype) == dtype) return sum;
  const Tracked<P> product = sum - addend;
  if (!is_finite(sum) || !is_finite(product)) return sum;
  const Tracked<P> rounded = round_edge(product, dtype);
  if (!is_finite(rounded)) return is_finite(round_edge(sum, dtype)) ? left_open(sum) : sum;
  if (rounded.radius == 0) return sum;  // held exactly
  const double lost =
      half_ulp(std::fabs(rounded.value) + static_cast<long double>(rounded.radius), dtype);
  const double radius = std::isinf(rounded.radius) ? rounded.radius : P::of_rounding(lost);
  return {sum.value, P::combine(sum.radius, radius), sum.arithmetic};
}

// The same of executors that add in the dtype of the tensors (cuBLAS, cuDNN with a bias), and of
// those that sum the product in parts, be there one alone.
template <class N>
[[nodiscard]] N allow_rounded_product(const N& sum, const N& addend, spec::DType dtype) {
  const Arithmetic& declared = declared_arithmetic();
  const bool may_round = declared.adds_in_dtype || declared.splits(dtype);
  return may_round ? widen_by_rounded_product(sum, addend, dtype) : sum;
}

namespace detail {
template <class N>
[[nodiscard]] Array<N> times(const N& alpha, Array<N> array) {
  for (N& x : array.data) x = alpha * x;
  return array;
}
}  // namespace detail

// The same with alpha * a * b: an executor may multiply a, b or their product by alpha, which round
// and overflow each in their way. BLAS does not read the factors when alpha is 0.
template <class N>
[[nodiscard]] Array<N> scaled_product(const Array<N>& a, const Array<N>& b_transposed,
                                      spec::DType parts, const std::optional<Addend<N>>& addend,
                                      const N& alpha) {
  Array<N> out = batched_product(detail::times(alpha, a), b_transposed, parts, addend);
  if constexpr (requires { alpha.radius; }) {
    const Array<N> other = batched_product(a, detail::times(alpha, b_transposed), parts, addend);
    const Array<N> plain = batched_product(a, b_transposed, parts);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      Sum<N> sum;
      sum.add(alpha * plain[i]);
      if (addend && addend->scales) sum.add_product(addend->beta, addend->array[i]);
      if (addend && !addend->scales) sum.add(addend->array[i]);
      out[i] = covering(covering(out[i], other[i]), sum.result());
      if (is_hidden(plain[i], alpha)) out[i] = left_open(out[i]);
    }
  }
  return out;
}

// `tensor` with its last two dimensions swapped; rank 2 or more.
[[nodiscard]] inline TensorRef transposed(const Tensor& tensor) {
  Sizes sizes = tensor.sizes;
  Sizes strides = tensor.strides;
  const std::size_t last = sizes.size() - 1;
  std::swap(sizes[last], sizes[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return view_of(tensor, std::move(sizes), std::move(strides), tensor.offset);
}

// How far to step in a batch of matrices per index of the result's batch dimensions: 0 where the
// operand is stretched. Matrices lie densely, `matrix_count` elements each.
[[nodiscard]] inline Sizes batch_steps(const Sizes& batches, std::size_t result_rank,
                                       std::int64_t matrix_count) {
  Sizes steps(result_rank, 0);
  std::int64_t step = matrix_count;
  for (std::size_t d = batches.size(); d-- > 0;) {
    steps[result_rank - batches.size() + d] = batches[d] == 1 ? 0 : step;
    step *= batches[d];
  }
  return steps;
}

[[nodiscard]] inline std::int64_t offset_at(const Sizes& index, const Sizes& steps) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * steps[d];
  return offset;
}

// The same elements under other sizes of equal count.
template <class N>
[[nodiscard]] Array<N> with_sizes(Array<N> array, const Sizes& sizes) {
  GRAPHGATE_CHECK(count_of(sizes) == array.count());
  array.sizes = sizes;
  return array;
}

// Rows [row, row + rows) and columns [column, column + columns) of a matrix, whose last two
// dimensions they are, of one index of the dimensions before.
[[nodiscard]] inline Tensor panel_of(const Tensor& matrices, const Sizes& batch, std::int64_t row,
                                     std::int64_t rows, std::int64_t column, std::int64_t columns) {
  const std::size_t last = matrices.sizes.size() - 1;
  Tensor panel = matrices;
  panel.sizes = {1, rows, columns};
  panel.strides = {0, matrices.strides[last - 1], matrices.strides[last]};
  panel.offset += row * panel.strides[1] + column * panel.strides[2];
  for (std::size_t d = 0; d < batch.size(); ++d) panel.offset += batch[d] * matrices.strides[d];
  return panel;
}

// Factors of products, and what `terms` of these were summed to.
template <class N>
Array<N> perhaps_flushed(Array<N> numbers, spec::DType dtype, std::int64_t terms = 1) {
  if constexpr (requires(N x) { x.radius; }) {
    for (N& x : numbers.data) x = perhaps_flushed(x, dtype, static_cast<double>(terms));
  }
  return numbers;
}

// Where a panel of a product lies: in which matrix, from which row and column on.
struct PanelPlace {
  Sizes batch;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// Writes a product of matrices panel by panel, so that no operand is held whole. a [.., rows,
// inner], b_transposed [.., columns, inner] and target [.., rows, columns] are views with the same
// leading dimensions. product(place, left, right) gives [1, r, c] of left [1, r, inner] and right
// [1, c, inner], computed in `dtype`, from operands converted to `as`.
template <class N, class F>
void write_by_panels(const Tensor& a, const Tensor& b_transposed, spec::DType as,
                     const Tensor& target, spec::DType dtype, F product) {
  constexpr std::int64_t kPanelElements = 32768;
  const std::int64_t rows = a.sizes[a.sizes.size() - 2];
  const std::int64_t columns = b_transposed.sizes[b_transposed.sizes.size() - 2];
  const std::int64_t inner = a.sizes.back();
  const std::int64_t lines =
      std::max<std::int64_t>(1, kPanelElements / std::max<std::int64_t>(inner, 1));
  const Sizes batches(target.sizes.begin(), target.sizes.end() - 2);
  if (rows == 0 || columns == 0) return;
  for_each_index(batches, [&](const Sizes& batch) {
    Array<N> right;
    for (PanelPlace at{batch, 0, 0}; at.row < rows; at.row += lines) {
      const std::int64_t r = std::min(lines, rows - at.row);
      const Array<N> left =
          perhaps_flushed(load<N>(panel_of(a, batch, at.row, r, 0, inner), as), as);
      for (at.column = 0; at.column < columns; at.column += lines) {
        const std::int64_t c = std::min(lines, columns - at.column);
        const bool is_held = at.row > 0 && c == columns;  // there is one alone
        if (!is_held) {
          right = perhaps_flushed(
              load<N>(panel_of(b_transposed, batch, at.column, c, 0, inner), as), as);
        }
        Array<N> made = perhaps_flushed(product(static_cast<const PanelPlace&>(at), left, right),
                                        as, std::max<std::int64_t>(inner, 1));
        round_to_common(std::span(made.data), dtype, target);
        Writer<N>(panel_of(target, batch, at.row, r, at.column, c)).write(made.data);
      }
    }
  });
}

// Matrix products want operands of one dtype, which is not bool. Throws OpError.
inline void require_one_dtype(std::initializer_list<const Tensor*> tensors) {
  const spec::DType dtype = (*tensors.begin())->dtype;
  if (dtype == spec::DType::kBool) throw OpError("matrix products of bool are not defined");
  for (const Tensor* tensor : tensors) {
    if (tensor->dtype == dtype) continue;
    throw OpError("expected operands of one dtype, but got " +
                  std::string(spec::torch_name(dtype)) + " and " +
                  std::string(spec::torch_name(tensor->dtype)));
  }
}

}  // namespace graphgate::reference
