// Products that broadcast or flatten their operands: matmul, linear, and their kin; products of
// vectors of three elements, and of three tensors.
#include <algorithm>
#include <array>

#include "reference/ops/contributions.h"
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

// ---- linalg_cross

// a x b along a dimension of size 3. Each product and their difference round to the dtype.
void linalg_cross(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& other = *call.tensor("other");
  require_one_dtype({&self, &other});
  if (self.rank() != other.rank()) {
    throw OpError("linalg.cross: inputs must have the same number of dimensions.");
  }
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const auto d = static_cast<std::size_t>(dim);
  if (self.rank() == 0 || self.sizes[d] != 3 || other.sizes[d] != 3) {
    throw OpError("linalg.cross: inputs must have length 3 along the dimension");
  }
  const Sizes sizes = broadcast_sizes({self.sizes, other.sizes});
  const spec::DType dtype = self.dtype;
  with_number(call.mode(), dtype, [&]<class N>() {
    const auto held = [dtype](const N& x) {
      if constexpr (std::is_same_v<N, Whole>) {
        return x;
      } else {
        return held_in(x, dtype);
      }
    };
    const Array<N> a = broadcast_to(load<N>(self, dtype), sizes);
    const Array<N> b = broadcast_to(load<N>(other, dtype), sizes);
    const std::int64_t step = spec::contiguous_strides(sizes)[d];
    Array<N> out(sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const std::int64_t component = i / step % 3;
      const std::int64_t first = i - component * step;
      const std::int64_t p = first + (component + 1) % 3 * step;
      const std::int64_t q = first + (component + 2) % 3 * step;
      out[i] = held(a[p] * b[q]) - held(a[q] * b[p]);
    }
    call.emit(out, dtype);
  });
}

// ---- _trilinear

// Three operands laid over common dimensions, with stride 0 where one has none.
struct Trilinear {
  Sizes sizes;                      // of all dimensions
  std::array<Sizes, 3> strides;     // of each operand, row-major
  std::vector<std::size_t> kept;    // not summed
  std::vector<std::size_t> pair;    // summed, and not of the third operand: the first two's product
  std::vector<std::size_t> last;    // summed with the third operand's elements
  std::vector<std::size_t> unroll;  // summed part by part, if it is summed
};

Sizes at_dims_of(const Sizes& values, const std::vector<std::size_t>& dims) {
  Sizes out;
  for (const std::size_t d : dims) out.push_back(values[d]);
  return out;
}

Trilinear plan_trilinear(const Call& call) {
  constexpr std::array kOperands = {"i1", "i2", "i3"};
  constexpr std::array kExpand = {"expand1", "expand2", "expand3"};
  const std::int64_t rank =
      call.tensor("i1")->rank() + static_cast<std::int64_t>(call.integers("expand1").size());
  const auto flags = [&](std::string_view name) {
    std::vector<bool> out(static_cast<std::size_t>(rank), false);
    for (const std::int64_t dim : call.integers(name)) {
      out[static_cast<std::size_t>(wrap_dim(dim, rank))] = true;
    }
    return out;
  };
  Trilinear plan;
  plan.sizes.assign(static_cast<std::size_t>(rank), 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor& operand = *call.tensor(kOperands[i]);
    const std::vector<bool> is_new = flags(kExpand[i]);
    const Sizes own = spec::contiguous_strides(operand.sizes);
    std::size_t next = 0;
    for (std::size_t d = 0; d < is_new.size(); ++d) {
      if (!is_new[d] && next == operand.sizes.size()) {
        throw OpError("_trilinear: the operands have different numbers of dimensions");
      }
      const std::int64_t size = is_new[d] ? 1 : operand.sizes[next];
      plan.strides[i].push_back(size == 1 ? 0 : own[next]);
      if (size != 1 && plan.sizes[d] != 1 && plan.sizes[d] != size) {
        throw OpError("_trilinear: the operands have different sizes");
      }
      if (size != 1) plan.sizes[d] = size;
      next += is_new[d] ? 0 : 1;
    }
    if (next != operand.sizes.size()) {
      throw OpError("_trilinear: the operands have different numbers of dimensions");
    }
  }
  const std::int64_t unroll = call.integer("unroll_dim");
  if (unroll < 0 || unroll >= rank) throw OpError("_trilinear: unroll_dim is out of range");
  const std::vector<bool> is_summed = flags("sumdim");
  const std::vector<bool> lacks_third = flags("expand3");
  for (std::size_t d = 0; d < is_summed.size(); ++d) {
    auto& where = !is_summed[d]                            ? plan.kept
                  : static_cast<std::int64_t>(d) == unroll ? plan.unroll
                  : lacks_third[d]                         ? plan.pair
                                                           : plan.last;
    where.push_back(d);
  }
  return plan;
}

// Sums of products of three elements. PyTorch multiplies matrices twice, which rounds to a 16-bit
// dtype after each product and each part of the unrolled sum; in wider ones any order is allowed.
template <class N>
class TrilinearSum {
 public:
  TrilinearSum(const Trilinear& plan, const std::array<Array<N>, 3>& operands, spec::DType dtype)
      : plan_(plan), operands_(operands), dtype_(dtype) {}

  [[nodiscard]] N at(const Sizes& kept) const {
    std::array<std::int64_t, 3> from{};
    step(from, plan_.kept, kept);
    const bool is_narrow = spec::is_floating_point(dtype_) && compute_dtype(dtype_) != dtype_;
    return is_narrow ? by_parts(from) : in_any_order(from);
  }

 private:
  using Positions = std::array<std::int64_t, 3>;

  void step(Positions& at, const std::vector<std::size_t>& dims, const Sizes& index) const {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t d = 0; d < dims.size(); ++d) {
        at[i] += plan_.strides[i][dims[d]] * index[d];
      }
    }
  }
  template <class Visit>
  void for_each(const std::vector<std::size_t>& dims, const Positions& from, Visit visit) const {
    for_each_index(at_dims_of(plan_.sizes, dims), [&](const Sizes& index) {
      Positions at = from;
      step(at, dims, index);
      visit(at);
    });
  }
  [[nodiscard]] const N& element(std::size_t operand, const Positions& at) const {
    return operands_[operand][at[operand]];
  }

  [[nodiscard]] N in_any_order(const Positions& from) const {
    Sum<N> sum;
    std::vector<std::size_t> dims = plan_.unroll;
    dims.insert(dims.end(), plan_.last.begin(), plan_.last.end());
    dims.insert(dims.end(), plan_.pair.begin(), plan_.pair.end());
    for_each(dims, from, [&](const Positions& at) {
      sum.add_product(element(0, at) * element(1, at), element(2, at));
    });
    return sum.result();
  }

  [[nodiscard]] N by_parts(const Positions& from) const {
    const Accumulation how{Combining::kSum, Partials::kOwnDtype};
    detail::Slot<N> total;
    for_each(plan_.unroll, from, [&](const Positions& part) {
      Sum<N> sum;
      for_each(plan_.last, part, [&](const Positions& outer) {
        Sum<N> pair;
        for_each(plan_.pair, outer, [&](const Positions& inner) {
          pair.add_product(element(0, inner), element(1, inner));
        });
        sum.add_product(detail::rounded_to(pair.result(), dtype_), element(2, outer));
      });
      total.add(detail::rounded_to(sum.result(), dtype_), how, dtype_);
    });
    return total.result(how, dtype_);
  }

  const Trilinear& plan_;
  const std::array<Array<N>, 3>& operands_;
  spec::DType dtype_;
};

void trilinear(Call& call) {
  const Tensor& first = *call.tensor("i1");
  require_one_dtype({&first, call.tensor("i2").get(), call.tensor("i3").get()});
  const Trilinear plan = plan_trilinear(call);
  const Sizes sizes = at_dims_of(plan.sizes, plan.kept);
  with_number(call.mode(), first.dtype, [&]<class N>() {
    const std::array<Array<N>, 3> operands = {load<N>(first, first.dtype),
                                              load<N>(*call.tensor("i2"), first.dtype),
                                              load<N>(*call.tensor("i3"), first.dtype)};
    const TrilinearSum<N> sum(plan, operands, first.dtype);
    Array<N> out(sizes);
    std::int64_t next = 0;
    for_each_index(sizes, [&](const Sizes& index) { out[next++] = sum.at(index); });
    call.emit(out, first.dtype);
  });
}

constexpr std::array kContractionOps = {
    OpBody{"aten._trilinear", trilinear},
    OpBody{"aten.linalg_cross", linalg_cross},
    OpBody{"aten.linear", linear},
    OpBody{"aten.matmul", matmul},
};

}  // namespace

std::span<const OpBody> contraction_ops() { return kContractionOps; }

}  // namespace graphgate::reference
