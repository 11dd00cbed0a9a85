// Products that broadcast or flatten their operands: matmul, linear, and their kin.
#include <algorithm>
#include <array>

#include "reference/ops/product.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

Sizes leading(const Sizes& sizes) { return {sizes.begin(), sizes.end() - 2}; }

// a [..., rows, inner] times b, given as [..., columns, inner]; the leading dimensions broadcast.
// `parts` as batched_product has it.
template <class N>
Array<N> broadcast_product(const Array<N>& a, const Array<N>& b_transposed, spec::DType parts) {
  const std::int64_t rows = a.size(a.rank() - 2);
  const std::int64_t inner = a.size(a.rank() - 1);
  const std::int64_t columns = b_transposed.size(b_transposed.rank() - 2);
  const Sizes a_batches = leading(a.sizes);
  const Sizes b_batches = leading(b_transposed.sizes);
  const Sizes batches = broadcast_sizes({a_batches, b_batches});
  const Sizes a_steps = batch_steps(a_batches, batches.size(), rows * inner);
  const Sizes b_steps = batch_steps(b_batches, batches.size(), columns * inner);
  Sizes sizes = batches;
  sizes.insert(sizes.end(), {rows, columns});
  Array<N> out(sizes);
  std::int64_t next = 0;
  for_each_index(batches, [&](const Sizes& batch) {
    const N* left = a.data.data() + offset_at(batch, a_steps);
    const N* right = b_transposed.data.data() + offset_at(batch, b_steps);
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const N* row = left + i / columns * inner;
      const N* column = right + i % columns * inner;
      const N sum = dot_from(Sum<N>(), row, column, inner);
      out[next++] = allow_split(sum, N(0), row, column, inner, parts);
    }
  });
  return out;
}

// `sizes` without its second last or its last dimension, or both.
Sizes dropping(Sizes sizes, bool second_last, bool last) {
  if (last) sizes.pop_back();
  if (second_last) sizes.erase(sizes.end() - (last ? 1 : 2));
  return sizes;
}

// A vector on the left is one row, on the right one column; the result drops what was added.
template <class N>
Array<N> matmul_of(const Tensor& a, const Tensor& b) {
  Array<N> left = load<N>(a, a.dtype);
  Array<N> right = load<N>(b.rank() == 1 ? b : *transposed(b), a.dtype);
  if (a.rank() == 1) left.sizes.insert(left.sizes.begin(), 1);
  if (b.rank() == 1) right.sizes.insert(right.sizes.begin(), 1);
  if (left.sizes.back() != right.sizes.back()) {
    throw OpError("matmul: inner sizes " + std::to_string(left.sizes.back()) + " and " +
                  std::to_string(right.sizes.back()) + " differ");
  }
  const bool are_vectors = a.rank() == 1 && b.rank() == 1;
  const spec::DType parts = are_vectors ? compute_dtype(a.dtype) : a.dtype;
  Array<N> out = broadcast_product(left, right, parts);
  Sizes sizes = dropping(out.sizes, a.rank() == 1, b.rank() == 1);
  return with_sizes(std::move(out), std::move(sizes));
}

void check_matmul(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) throw OpError("matmul: both operands need dimensions");
  require_one_dtype({&a, &b});
}

void matmul(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("other");
  check_matmul(a, b);
  with_number(call.mode(), a.dtype, [&]<class N>() { call.emit(matmul_of<N>(a, b), a.dtype); });
}

// Whether PyTorch adds the bias inside the product (addmm, one rounding). Elsewhere the product is
// rounded first, then the sum.
bool fuses_bias(const Call& call, const Tensor& input, const Tensor& bias) {
  if (input.rank() == 2) return true;
  if (call.next_is_written()) return false;  // linear.out asks for no more
  const auto wide = std::count_if(bias.sizes.begin(), bias.sizes.end(),
                                  [](std::int64_t size) { return size != 1; });
  return (bias.rank() == 1 || wide == 1) && is_contiguous(bias) && is_contiguous(input);
}

template <class N>
Array<N> add_bias(Array<N> product, const Array<N>& bias, spec::DType dtype) {
  if (broadcast_sizes({bias.sizes, product.sizes}) != product.sizes) {
    throw OpError("linear: the bias does not stretch to the result");
  }
  if constexpr (!std::is_same_v<N, Whole>) product = round_all(std::move(product), dtype);
  const Array<N> stretched = broadcast_to(bias, product.sizes);
  for (std::int64_t i = 0; i < product.count(); ++i) product[i] = product[i] + stretched[i];
  return product;
}

// input [..., inner] as rows times weight [columns, inner], plus the bias, in one rounding.
template <class N>
Array<N> fused_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Array<N> rows = load<N>(input, input.dtype);
  Array<N> columns = load<N>(weight, input.dtype);
  Sizes sizes = input.sizes;
  sizes.back() = columns.size(0);
  const std::int64_t inner = input.sizes.back();
  const std::int64_t row_count = count_of({input.sizes.begin(), input.sizes.end() - 1});
  rows.sizes = {1, row_count, inner};
  columns.sizes = {1, columns.size(0), inner};
  Array<N> addend = load<N>(bias, input.dtype);
  if (addend.rank() > 2) throw OpError("linear: the bias has more than two dimensions");
  addend = broadcast_to(addend, {row_count, sizes.back()});
  Array<N> out = batched_product<N>(rows, columns, input.dtype, Addend<N>{addend, N(1), false});
  for (std::int64_t i = 0; i < out.count(); ++i) {
    out[i] = allow_rounded_product(out[i], addend[i], input.dtype);
  }
  return with_sizes(std::move(out), std::move(sizes));
}

void linear(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& weight = *call.tensor("weight");
  const TensorRef bias = call.optional_tensor("bias");
  check_matmul(input, weight);
  if (bias) require_one_dtype({&input, bias.get()});
  if (weight.rank() > 2) throw OpError("linear: the weight has more than two dimensions");
  if (input.sizes.back() != weight.sizes.back()) {
    throw OpError("linear: an input of " + std::to_string(input.sizes.back()) +
                  " features, a weight for " + std::to_string(weight.sizes.back()));
  }
  const TensorRef right = weight.rank() == 2 ? transposed(weight) : call.tensor("weight");
  with_number(call.mode(), input.dtype, [&]<class N>() {
    if (bias && fuses_bias(call, input, *bias)) {
      if (weight.rank() != 2) throw OpError("linear: a bias wants a weight of two dimensions");
      call.emit(fused_linear<N>(input, weight, *bias), input.dtype);
      return;
    }
    Array<N> product = matmul_of<N>(input, *right);
    if (bias) product = add_bias(std::move(product), load<N>(*bias, input.dtype), input.dtype);
    call.emit(product, input.dtype);
  });
}

constexpr std::array kContractionOps = {
    OpBody{"aten.linear", linear},
    OpBody{"aten.matmul", matmul},
};

}  // namespace

std::span<const OpBody> contraction_ops() { return kContractionOps; }

}  // namespace graphgate::reference
