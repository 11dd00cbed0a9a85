// Products that broadcast or flatten their operands: matmul, linear, and their kin; products of
// vectors of three elements, and of three tensors.
#include <algorithm>
#include <array>

#include "reference/movement.h"
#include "reference/number/left_open.h"
#include "reference/ops/contributions.h"
#include "reference/ops/product.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

Sizes leading(const Sizes& sizes) { return {sizes.begin(), sizes.end() - 2}; }

// `sizes` without its second last or its last dimension, or both.
Sizes dropping(Sizes sizes, bool second_last, bool last) {
  if (last) sizes.pop_back();
  if (second_last) sizes.erase(sizes.end() - (last ? 1 : 2));
  return sizes;
}

// A tensor as matrices: one of a single dimension as one row.
Tensor as_matrices(const Tensor& tensor) {
  Tensor out = tensor;
  if (tensor.rank() > 1) return out;
  out.sizes.insert(out.sizes.begin(), 1);
  out.strides.insert(out.strides.begin(), 0);
  return out;
}

// Matrices with their leading dimensions stretched to `batches`.
Tensor stretched_matrices(Tensor matrices, const Sizes& batches) {
  Sizes sizes = batches;
  sizes.insert(sizes.end(), matrices.sizes.end() - 2, matrices.sizes.end());
  matrices.strides = stretched_strides(matrices, sizes);
  matrices.sizes = std::move(sizes);
  return matrices;
}

// a times b, both as rows, and what their product is.
struct Matmul {
  Tensor left;   // [.., rows, inner]
  Tensor right;  // [.., columns, inner]
  Sizes full;    // of the product: [.., rows, columns]
  Sizes sizes;   // of the result
  bool drops_rows = false;
  bool drops_columns = false;
  spec::DType parts = spec::DType::kFloat32;  // as batched_product has it
};

// A vector on the left is one row, on the right one column; the result drops what was added.
Matmul plan_matmul(const Tensor& a, const Tensor& b) {
  Matmul plan;
  plan.left = as_matrices(a);
  plan.right = as_matrices(b.rank() == 1 ? b : *transposed(b));
  if (plan.left.sizes.back() != plan.right.sizes.back()) {
    throw OpError("matmul: inner sizes " + std::to_string(plan.left.sizes.back()) + " and " +
                  std::to_string(plan.right.sizes.back()) + " differ");
  }
  const Sizes batches = broadcast_sizes({leading(plan.left.sizes), leading(plan.right.sizes)});
  plan.left = stretched_matrices(std::move(plan.left), batches);
  plan.right = stretched_matrices(std::move(plan.right), batches);
  plan.full = batches;
  plan.full.insert(plan.full.end(),
                   {plan.left.sizes[batches.size()], plan.right.sizes[batches.size()]});
  plan.drops_rows = a.rank() == 1;
  plan.drops_columns = b.rank() == 1;
  plan.sizes = dropping(plan.full, plan.drops_rows, plan.drops_columns);
  plan.parts = plan.drops_rows && plan.drops_columns ? compute_dtype(a.dtype) : a.dtype;
  return plan;
}

// The result as matrices.
Tensor undropped(const Tensor& result, const Matmul& plan) {
  Tensor out = result;
  out.sizes = plan.full;
  if (plan.drops_rows) out.strides.insert(out.strides.end() - (plan.drops_columns ? 0 : 1), 0);
  if (plan.drops_columns) out.strides.push_back(0);
  return out;
}

// Emits finish(place, product) of each panel of a product. Rows of the result depend on all of both
// operands.
template <class N, class F>
void emit_matmul(Call& call, Matmul plan, spec::DType dtype, F finish) {
  const TensorRef written = call.next_target();
  for (Tensor* operand : {&plan.left, &plan.right}) {
    if (written && written->storage == operand->storage) *operand = *copy_of(*operand);
  }
  const TensorRef target = call.place_result(plan.sizes, dtype);
  write_by_panels<N>(plan.left, plan.right, dtype, undropped(*target, plan), dtype,
                     [&](const PanelPlace& at, const Array<N>& left, const Array<N>& right) {
                       return finish(at, left, right);
                     });
  call.emit_datum({target});
}

void check_matmul(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) throw OpError("matmul: both operands need dimensions");
  require_one_dtype({&a, &b});
}

void matmul(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("other");
  check_matmul(a, b);
  const Matmul plan = plan_matmul(a, b);
  with_number(call.mode(), a.dtype, [&]<class N>() {
    emit_matmul<N>(call, plan, a.dtype,
                   [&](const PanelPlace&, const Array<N>& left, const Array<N>& right) {
                     return batched_product(left, right, plan.parts);
                   });
  });
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

// The part of a bias, stretched to the result's matrices, that lies over a panel of the product.
template <class N>
Array<N> bias_at(const Tensor& bias, const PanelPlace& at, const Array<N>& left,
                 const Array<N>& right, spec::DType dtype) {
  return load<N>(panel_of(bias, at.batch, at.row, left.size(1), at.column, right.size(1)), dtype);
}

// The bias of a product that is rounded before the bias is added.
Tensor separate_bias(const Tensor& bias, const Matmul& plan) {
  if (broadcast_sizes({bias.sizes, plan.sizes}) != plan.sizes) {
    throw OpError("linear: the bias does not stretch to the result");
  }
  Tensor out = bias;
  out.strides = stretched_strides(bias, plan.sizes);
  return undropped(out, plan);
}

// The bias of a product to which it is added in one rounding: the input is rows [rows, inner], all
// leading dimensions in one.
Tensor fused_bias(const Tensor& bias, const Matmul& plan) {
  if (bias.rank() > 2) throw OpError("linear: the bias has more than two dimensions");
  const std::int64_t columns = plan.full.back();
  const Sizes rows = {plan.full.begin(), plan.full.end() - 1};
  const Sizes flat = {count_of(rows), columns};
  if (broadcast_sizes({bias.sizes, flat}) != flat) {
    throw OpError("a tensor does not stretch to the sizes of the result");
  }
  const Sizes steps = stretched_strides(bias, flat);
  Tensor out = bias;
  out.sizes = plan.full;
  out.strides = spec::contiguous_strides(rows);
  for (std::int64_t& stride : out.strides) stride *= steps[0];
  out.strides.push_back(steps[1]);
  return out;
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
  const bool is_fused = bias && fuses_bias(call, input, *bias);
  if (is_fused && weight.rank() != 2) {
    throw OpError("linear: a bias wants a weight of two dimensions");
  }
  const Matmul plan = plan_matmul(input, *right);
  std::optional<Tensor> stretched;
  if (bias) stretched = is_fused ? fused_bias(*bias, plan) : separate_bias(*bias, plan);
  const TensorRef written = call.next_target();
  if (stretched && written && written->storage == bias->storage) stretched = *copy_of(*stretched);
  const spec::DType dtype = input.dtype;
  with_number(call.mode(), dtype, [&]<class N>() {
    const auto product = [&](const PanelPlace& at, const Array<N>& left, const Array<N>& weights) {
      if (!stretched) return batched_product(left, weights, plan.parts);
      Array<N> addend = bias_at(*stretched, at, left, weights, dtype);
      if (is_fused) {
        const Addend<N> added{std::move(addend), N(1), false};
        Array<N> out = batched_product<N>(left, weights, dtype, added);
        for (std::int64_t i = 0; i < out.count(); ++i) {
          out[i] = allow_rounded_product(out[i], added.array[i], dtype);
        }
        return out;
      }
      Array<N> out = batched_product(left, weights, plan.parts);
      if constexpr (!std::is_same_v<N, Whole>) out = round_all(std::move(out), dtype);
      for (std::int64_t i = 0; i < out.count(); ++i) out[i] = out[i] + addend[i];
      return out;
    };
    emit_matmul<N>(call, plan, dtype, product);
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
    const N sum = is_narrow ? by_parts(from) : in_any_order(from);
    if constexpr (!std::is_same_v<N, Whole>) {
      if (meets_infinity(from)) return left_open(sum);
    }
    return sum;
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

  // Whether the third operand has an infinity there: times a product of zero it is NaN, times the
  // sum of all products it may be none.
  [[nodiscard]] bool meets_infinity(const Positions& from) const {
    bool is_met = false;
    for_each(plan_.unroll, from, [&](const Positions& part) {
      for_each(plan_.last, part,
               [&](const Positions& at) { is_met |= is_infinite(element(2, at)).value != 0; });
    });
    return is_met;
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
