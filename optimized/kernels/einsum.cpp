// einsum as a chain of products of two operands.
//
// Every operand is brought to the same dimensions: those of the result in order, then those that
// are summed, each of size 1 where an operand lacks it. Two operands are multiplied at a time;
// dimensions that no later operand has are summed on the way. Intermediate results stay in the
// compute type.
#include "optimized/kernels/einsum.h"

#include <algorithm>

#include "optimized/gemm.h"
#include "optimized/kernels/einsum_equation.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/reduction_frame.h"
#include "optimized/scratch.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

DType compute_dtype(DType dtype) {
  if (dtype == DType::kFloat64) return dtype;
  return spec::is_floating_point(dtype) ? DType::kFloat32 : DType::kInt64;
}

// The stride of several dimensions as one, or nothing where there is none.
std::optional<std::int64_t> merged_stride(const Tensor& t, const Dims& dims) {
  std::optional<std::int64_t> innermost;
  std::int64_t expected = 0;
  for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
    if (t.sizes[at(*d)] == 1) continue;
    if (!innermost) innermost = expected = t.strides[at(*d)];
    if (t.strides[at(*d)] != expected) return {};
    expected *= t.sizes[at(*d)];
  }
  return innermost.value_or(0);
}

std::int64_t count_over(const Tensor& t, const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= t.sizes[at(d)];
  return count;
}

// The dimensions of a product of two tensors by their part in it.
struct Labels {
  Dims batch, left, right, summed;

  Labels(const Tensor& a, const Tensor& b, const Dims& sums) : summed(sums) {
    for (std::int64_t d = 0; d < a.rank(); ++d) {
      if (std::find(sums.begin(), sums.end(), d) != sums.end()) continue;
      const bool in_a = a.sizes[at(d)] != 1;
      const bool in_b = b.sizes[at(d)] != 1;
      (in_a && in_b ? batch : in_a ? left : right).push_back(d);
    }
  }

  // Whether the result begins with all that `b` has alone: PyTorch multiplies b by a then.
  [[nodiscard]] bool begin_with_right() const {
    return !left.empty() && !right.empty() && right.back() < left.front();
  }
};

void append(Dims& to, const Dims& more) { to.insert(to.end(), more.begin(), more.end()); }

Tensor selected(const Tensor& t, const Dims& dims) {
  Tensor out = t;
  out.sizes.clear();
  out.strides.clear();
  for (const std::int64_t d : dims) {
    out.sizes.push_back(t.sizes[at(d)]);
    out.strides.push_back(t.strides[at(d)]);
  }
  return out;
}

// The chain as it is inferred (no bytes: it counts its workspace) or bound (it collects launches).
class Chain {
 public:
  explicit Chain(DType dtype) : dtype_(dtype) {}
  Chain(DType dtype, const Binding& call)
      : dtype_(dtype),
        workspace_(call.workspace()),
        result_(&call.result()),
        listener_(call.listener()) {}

  [[nodiscard]] std::int64_t workspace_bytes() const { return used_bytes_; }
  [[nodiscard]] std::vector<Launch> take_launches() { return std::move(launches_); }

  // The sum over `dims`, which stay with size 1.
  Tensor sum(const Tensor& source, const Dims& dims, bool is_last) {
    Sizes sizes = source.sizes;
    for (const std::int64_t d : dims) sizes[at(d)] = 1;
    Tensor target = make(sizes, row_major_strides(sizes), is_last);
    if (result_) add_sum(target, source, dims);
    return target;
  }

  // The product, summed over `dims`.
  Tensor multiply(const Tensor& a, const Tensor& b, const Dims& dims, bool is_last) {
    if (dims.empty()) return multiply_pointwise(a, b, is_last);
    const Labels parts(a, b, dims);
    if (parts.begin_with_right()) return multiply(b, a, dims, is_last);
    Dims order = parts.batch;
    append(order, parts.left);
    append(order, parts.summed);
    append(order, parts.right);
    Sizes sizes = broadcast_sizes(a.sizes, b.sizes);
    for (const std::int64_t d : dims) sizes[at(d)] = 1;
    Sizes strides(sizes.size());
    std::int64_t stride = 1;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      strides[at(*d)] = stride;
      stride *= std::max<std::int64_t>(sizes[at(*d)], 1);
    }
    Tensor target = make(sizes, strides, is_last);
    add_product(target, a, b, parts, is_last);
    return target;
  }

 private:
  Tensor make(const Sizes& sizes, const Sizes& strides, bool is_last) {
    Tensor out = is_last && result_ ? *result_
                                    : scratch(is_last ? dtype_ : compute_dtype(dtype_),
                                              is_last ? Sizes{0} : sizes);
    out.sizes = sizes;
    out.strides = strides;
    return out;
  }

  Tensor scratch(DType dtype, const Sizes& sizes) {
    std::byte* here = workspace_ ? workspace_ + used_bytes_ : nullptr;
    used_bytes_ += scratch_bytes(dtype, sizes);
    return scratch_tensor(dtype, sizes, here);
  }

  Tensor multiply_pointwise(const Tensor& a, const Tensor& b, bool is_last) {
    const Sizes sizes = broadcast_sizes(a.sizes, b.sizes);
    Tensor target = make(sizes, pointwise_strides({&a, &b}, sizes), is_last);
    if (!result_) return target;
    with_compute(dtype_, [&]<class C>() {
      launches_.push_back(
          launch_tensors<C>(listener_, target, target.dtype, element::Multiply(), a, b));
    });
    return target;
  }

  void add_sum(const Tensor& target, const Tensor& source, const Dims& dims) {
    with_compute(dtype_, [&]<class C>() {
      launches_.push_back(reduce_launch<C, C>(listener_, target, source, dims, source.dtype,
                                              target.dtype, element::RowSum<C>()));
    });
  }

  // A factor as [batch..., rows, columns]; copied where its strides do not allow that.
  Tensor flattened(const Tensor& t, const Dims& batch, const Dims& rows, const Dims& columns) {
    Tensor out = selected(t, batch);
    const Sizes batch_sizes = out.sizes;
    out.sizes.insert(out.sizes.end(), {count_over(t, rows), count_over(t, columns)});
    const auto row_stride = merged_stride(t, rows);
    const auto column_stride = merged_stride(t, columns);
    if (row_stride && column_stride) {
      out.strides.insert(out.strides.end(), {*row_stride, *column_stride});
      return out;
    }
    Dims order = batch;
    append(order, rows);
    append(order, columns);
    const Tensor source = selected(t, order);
    Tensor copy = scratch(t.dtype, source.sizes);
    if (result_) launches_.push_back(copy_launch(listener_, copy, source));
    copy.sizes = out.sizes;
    copy.strides = row_major_strides(copy.sizes);
    return copy;
  }

  void add_product(const Tensor& target, const Tensor& a, const Tensor& b, const Labels& parts,
                   bool is_last) {
    Product product;
    product.a = flattened(a, parts.batch, parts.left, parts.summed);
    product.b = flattened(b, parts.batch, parts.summed, parts.right);
    if (!result_) return;
    product.result = target;
    product.result.sizes = product.a.sizes;
    product.result.sizes.back() = product.b.sizes.back();
    product.result.strides = row_major_strides(product.result.sizes);
    product.rounds_to = is_last ? dtype_ : compute_dtype(dtype_);
    launches_.push_back(product_launch(listener_, std::move(product)));
  }

  DType dtype_;
  std::byte* workspace_ = nullptr;
  const Tensor* result_ = nullptr;
  const DeviceListener* listener_ = nullptr;
  std::int64_t used_bytes_ = 0;
  std::vector<Launch> launches_;
};

// How many operands have each dimension (with a size other than 1).
Dims counts_of(const std::vector<Tensor>& operands, std::int64_t rank) {
  Dims counts(at(rank), 0);
  for (const Tensor& operand : operands) {
    for (std::int64_t d = 0; d < rank; ++d) counts[at(d)] += operand.sizes[at(d)] != 1 ? 1 : 0;
  }
  return counts;
}

// Multiplies two operands; dimensions that only they have are summed.
Tensor multiply_pair(Chain& chain, const EinsumOrder& order, Dims& counts, Tensor a, Tensor b,
                     bool is_last) {
  Dims sums_of_a, sums_of_b, sums;
  for (std::int64_t d = order.result_rank; d < order.rank; ++d) {
    const bool in_a = a.sizes[at(d)] != 1;
    const bool in_b = b.sizes[at(d)] != 1;
    if (in_a && in_b) {
      if (--counts[at(d)] == 1) sums.push_back(d);
    } else if (counts[at(d)] == 1 && (in_a || in_b)) {
      (in_a ? sums_of_a : sums_of_b).push_back(d);
    } else {
      continue;
    }
    if (counts[at(d)] == 1) counts[at(d)] = 0;
  }
  if (!sums_of_a.empty()) a = chain.sum(a, sums_of_a, false);
  if (!sums_of_b.empty()) b = chain.sum(b, sums_of_b, false);
  return chain.multiply(a, b, sums, is_last);
}

Tensor take(std::vector<Tensor>& from, std::int64_t index) {
  if (index < 0 || index >= static_cast<std::int64_t>(from.size())) {
    throw OpError("einsum: a path names an operand that is not there");
  }
  Tensor out = from[at(index)];
  from.erase(from.begin() + index);
  return out;
}

// The pairs in the order of `path` (two positions each; the product goes last), or from the left.
Tensor multiply_all(Chain& chain, const EinsumOrder& order, std::vector<Tensor> operands,
                    const std::optional<Sizes>& path) {
  Dims counts = counts_of(operands, order.rank);
  for (std::size_t step = 0; operands.size() > 1; ++step) {
    if (path && path->size() < 2 * step + 2) throw OpError("einsum: the path is too short");
    std::int64_t i = path ? (*path)[2 * step] : 0;
    std::int64_t j = path ? (*path)[2 * step + 1] : 1;
    if (j < i) std::swap(i, j);
    const Tensor b = take(operands, j);
    const Tensor a = take(operands, i);
    Tensor product = multiply_pair(chain, order, counts, a, b, operands.empty());
    operands.insert(path ? operands.end() : operands.begin(), std::move(product));
  }
  return operands.front();
}

Dims summed_dims(const EinsumOrder& order) {
  Dims out;
  for (std::int64_t d = order.result_rank; d < order.rank; ++d) out.push_back(d);
  return out;
}

Tensor run_chain(Chain& chain, const Einsum& einsum, const KernelCall& call) {
  if (einsum.operands.size() == 1) {
    return chain.sum(einsum.operands.front(), summed_dims(einsum.order), true);
  }
  return multiply_all(chain, einsum.order, einsum.operands, call.optional_integers("path"));
}

}  // namespace

void infer_einsum(Inference& call) {
  const Einsum einsum = read_einsum(call);
  const Tensor& first = einsum.operands.front();
  if (einsum.operands.size() == 1 && einsum.order.rank == einsum.order.result_rank) {
    return call.make_view(*call.tensors("tensors").front(), first.sizes, first.strides,
                          first.offset);
  }
  Chain chain(first.dtype);
  Tensor result = run_chain(chain, einsum, call);
  result.sizes.resize(at(einsum.order.result_rank));
  result.strides.resize(at(einsum.order.result_rank));
  call.want_workspace(chain.workspace_bytes());
  call.make(first.dtype, result.sizes, result.strides);
}

Launch bind_einsum(const Binding& call) {
  const Einsum einsum = read_einsum(call);
  Chain chain(einsum.operands.front().dtype, call);
  (void)run_chain(chain, einsum, call);
  return in_turn(chain.take_launches());
}

}  // namespace graphgate::optimized
