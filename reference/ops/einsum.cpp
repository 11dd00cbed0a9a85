// einsum: labels are parsed, operands are permuted to one order of dimensions, and pairs of them
// are multiplied and summed from the left (or along `path`).
//
// Each pair is one tensor operation that rounds to the dtype, as PyTorch's bmm, mul and sum do; the
// strides of the result are those of the last one. One operand without sums is returned as a view.
#include <algorithm>
#include <array>
#include <map>

#include "reference/ops/einsum_equation.h"
#include "reference/ops/product.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// One operand as a view with all dimensions in order; size 1 where it lacks a label. A label that
// occurs twice takes the diagonal.
TensorRef in_order(TensorRef operand, const std::string& labels, const Order& order) {
  const std::int64_t covered = covered_dims(labels, *operand);
  Sizes dims(static_cast<std::size_t>(order.dims), -1);
  std::map<char, std::int64_t> seen;
  std::int64_t at = 0;
  const auto put = [&](std::int64_t place) { dims[static_cast<std::size_t>(place)] = at++; };
  for (const char label : labels) {
    const std::int64_t place = order.place.at(label);
    if (label == kEllipsis) {
      for (std::int64_t i = covered; i < order.ellipsis_dims; ++i) {
        operand = view_of(*operand, with_new_dim(*operand, at));
      }
      for (std::int64_t i = 0; i < order.ellipsis_dims; ++i) put(place + i);
    } else if (seen.contains(label)) {
      const std::int64_t first = seen[label];
      if (operand->sizes[static_cast<std::size_t>(first)] !=
          operand->sizes[static_cast<std::size_t>(at)]) {
        throw OpError(std::string("einsum: label '") + label + "' has two sizes");
      }
      operand = view_of(*operand, diagonal_of(*operand, 0, first, at));
      Sizes back;  // the new last dimension to the place of the first
      for (std::int64_t d = 0; d + 1 < operand->rank(); ++d) back.push_back(d);
      back.insert(back.begin() + first, operand->rank() - 1);
      operand = view_of(*operand, permuted(*operand, back));
    } else {
      seen[label] = at;
      put(place);
    }
  }
  for (std::int64_t& dim : dims) {
    if (dim != -1) continue;
    operand = view_of(*operand, with_new_dim(*operand, operand->rank()));
    dim = at++;
  }
  return view_of(*operand, permuted(*operand, dims));
}

// The tensor operations of a contraction, in one mode. Each rounds its result to its dtype.
template <class N>
class Contraction {
 public:
  explicit Contraction(const Call& call) : device_(call.result_device()) {}

  // The sum over some dimensions, which stay with size 1. Integers sum as int64.
  [[nodiscard]] TensorRef sum(const Tensor& tensor, const Sizes& dims) const {
    const bool is_real = spec::is_floating_point(tensor.dtype);
    const Array<N> in = load<N>(tensor, tensor.dtype);
    Sizes sizes = tensor.sizes;
    for (const std::int64_t dim : dims) sizes[static_cast<std::size_t>(dim)] = 1;
    Array<N> out(sizes);
    std::vector<Sum<N>> sums(out.data.size());
    std::int64_t i = 0;
    Sizes to(sizes.size());
    for_each_index(in.sizes, [&](const Sizes& index) {
      for (std::size_t d = 0; d < to.size(); ++d) to[d] = sizes[d] == 1 ? 0 : index[d];
      sums[static_cast<std::size_t>(out.position(to))].add(in[i++]);
    });
    for (std::size_t s = 0; s < sums.size(); ++s) out.data[s] = sums[s].result();
    return made(out, is_real ? tensor.dtype : spec::DType::kInt64, {});
  }

  [[nodiscard]] TensorRef multiply(const TensorRef& a, const TensorRef& b) const {
    const spec::DType dtype = promote(a->dtype, b->dtype);
    const Sizes sizes = broadcast_sizes({a->sizes, b->sizes});
    Array<N> out = broadcast_to(load<N>(*a, dtype), sizes);
    const Array<N> other = broadcast_to(load<N>(*b, dtype), sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = out[i] * other[i];
    const std::array inputs = {a, b};
    return made(out, dtype, pointwise_strides(inputs, sizes));
  }

  // [batch, rows, inner] times [batch, inner, columns].
  [[nodiscard]] TensorRef bmm(const Tensor& a, const Tensor& b) const {
    require_one_dtype({&a, &b});
    const Array<N> product =
        batched_product(load<N>(a, a.dtype), load<N>(*transposed(b), a.dtype), a.dtype);
    return made(product, a.dtype, {});
  }

 private:
  TensorRef made(const Array<N>& array, spec::DType dtype, Sizes strides) const {
    if (strides.empty()) strides = spec::contiguous_strides(array.sizes);
    TensorRef out = new_tensor(dtype, array.sizes, std::move(strides), device_);
    store(*out, array);
    return out;
  }

  spec::Device device_;
};

std::int64_t size_at(const Tensor& tensor, std::int64_t dim) {
  return tensor.sizes[static_cast<std::size_t>(dim)];
}

Sizes joined(std::initializer_list<Sizes> parts) {
  Sizes out;
  for (const Sizes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

std::int64_t product_of(const Tensor& tensor, const Sizes& dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= size_at(tensor, dim);
  return product;
}

// Multiplies two operands and sums over `summed` (dimensions that both have), which stay with size
// 1: a batched matrix product over [shared, left alone] x [summed] x [right alone]. The operands
// are exchanged where all that the right one has alone comes first in the result, which is dense
// then.
template <class N>
TensorRef product_of_pair(const Contraction<N>& run, TensorRef left, TensorRef right,
                          const Sizes& summed) {
  if (summed.empty()) return run.multiply(left, right);
  Sizes shared;
  Sizes left_alone;
  Sizes right_alone;
  for (std::int64_t dim = 0; dim < left->rank(); ++dim) {
    if (std::find(summed.begin(), summed.end(), dim) != summed.end()) continue;
    const bool in_left = size_at(*left, dim) != 1;
    const bool in_right = size_at(*right, dim) != 1;
    (in_left && in_right ? shared : in_left ? left_alone : right_alone).push_back(dim);
  }
  if (!left_alone.empty() && !right_alone.empty() && right_alone.back() < left_alone.front()) {
    std::swap(left, right);
    std::swap(left_alone, right_alone);
  }
  const Sizes left_order = joined({shared, left_alone, summed, right_alone});
  const Sizes right_order = joined({shared, summed, right_alone, left_alone});
  const std::int64_t batch = product_of(*left, shared);
  const std::int64_t inner = product_of(*left, summed);
  const TensorRef a = reshaped(*view_of(*left, permuted(*left, left_order)),
                               {batch, product_of(*left, left_alone), inner});
  const TensorRef b = reshaped(*view_of(*right, permuted(*right, right_order)),
                               {batch, inner, product_of(*right, right_alone)});
  const TensorRef product = run.bmm(*a, *b);
  const Sizes order = joined({shared, left_alone, summed, right_alone});
  Sizes sizes;
  Sizes back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    const std::int64_t from_left = size_at(*left, order[i]);
    const bool is_summed =
        i >= shared.size() + left_alone.size() && i < order.size() - right_alone.size();
    sizes.push_back(is_summed ? 1 : from_left != 1 ? from_left : size_at(*right, order[i]));
  }
  const TensorRef viewed = reshaped(*product, sizes);
  return view_of(*viewed, permuted(*viewed, back));
}

// For each dimension, how many operands have more than one element there.
Sizes count_dims(const std::vector<TensorRef>& operands, std::int64_t dims) {
  Sizes counts(static_cast<std::size_t>(dims), 0);
  std::vector<Sizes> shapes;
  for (const TensorRef& operand : operands) {
    shapes.push_back(operand->sizes);
    for (std::size_t d = 0; d < counts.size(); ++d) counts[d] += operand->sizes[d] != 1 ? 1 : 0;
  }
  (void)broadcast_sizes(shapes);  // throws when the sizes of a label differ
  return counts;
}

// Sums out what only one operand has left, then multiplies the pair.
template <class N>
TensorRef contract_pair(const Contraction<N>& run, TensorRef a, TensorRef b, const Order& order,
                        Sizes& counts) {
  Sizes both;
  Sizes only_a;
  Sizes only_b;
  for (std::int64_t dim = order.output_dims; dim < order.dims; ++dim) {
    std::int64_t& count = counts[static_cast<std::size_t>(dim)];
    const bool in_a = size_at(*a, dim) != 1;
    const bool in_b = size_at(*b, dim) != 1;
    if (in_a && in_b) --count;
    if (count != 1 || (!in_a && !in_b)) continue;
    (in_a && in_b ? both : in_a ? only_a : only_b).push_back(dim);
    count = 0;
  }
  if (!only_a.empty()) a = run.sum(*a, only_a);
  if (!only_b.empty()) b = run.sum(*b, only_b);
  return product_of_pair(run, a, b, both);
}

// The next pair: `path`'s, or the first two.
std::pair<std::size_t, std::size_t> next_pair(const std::optional<Sizes>& path, std::size_t step,
                                              std::size_t left_count) {
  if (!path) return {0, 1};
  if (2 * step + 1 >= path->size()) throw OpError("einsum: the path is too short");
  const std::int64_t i = std::min((*path)[2 * step], (*path)[2 * step + 1]);
  const std::int64_t j = std::max((*path)[2 * step], (*path)[2 * step + 1]);
  if (i < 0 || i == j || j >= static_cast<std::int64_t>(left_count)) {
    throw OpError("einsum: the path names an operand that is not there");
  }
  return {static_cast<std::size_t>(i), static_cast<std::size_t>(j)};
}

template <class N>
TensorRef contract(const Call& call, std::vector<TensorRef> operands, const Order& order) {
  const Contraction<N> run(call);
  Sizes counts = count_dims(operands, order.dims);
  const bool was_single = operands.size() == 1;
  const std::optional<Sizes> path = call.optional_integers("path");
  for (std::size_t step = 0; operands.size() > 1; ++step) {
    const auto [i, j] = next_pair(path, step, operands.size());
    const TensorRef a = operands[i];
    const TensorRef b = operands[j];
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    const TensorRef product = contract_pair(run, a, b, order, counts);
    operands.insert(path ? operands.end() : operands.begin(), product);
  }
  if (order.output_dims == order.dims) return operands.front();
  Sizes summed;
  for (std::int64_t d = order.output_dims; d < order.dims; ++d) summed.push_back(d);
  const Sizes& all = operands.front()->sizes;
  Sizes sizes(all.begin(), all.begin() + order.output_dims);
  const TensorRef last = was_single ? run.sum(*operands.front(), summed) : operands.front();
  return reshaped(*last, sizes);
}

// Zeros, when any size is 0.
TensorRef empty_result(const Call& call, const std::vector<TensorRef>& operands,
                       const Order& order) {
  std::vector<Sizes> shapes;
  for (const TensorRef& operand : operands) {
    const Sizes& all = operand->sizes;
    shapes.emplace_back(all.begin(), all.begin() + order.output_dims);
  }
  return new_tensor(operands.front()->dtype, broadcast_sizes(shapes), call.result_device());
}

void einsum(Call& call) {
  std::vector<TensorRef> operands = call.tensors("tensors");
  if (operands.empty()) throw OpError("einsum: no operands");
  const Equation equation = parse_equation(call.text("equation"), operands.size());
  const Order order = order_of(equation, operands);
  bool is_empty = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    operands[i] = in_order(operands[i], equation.inputs[i], order);
    is_empty = is_empty || operands[i]->count() == 0;
  }
  if (is_empty && operands.size() > 1) {
    call.emit_datum({empty_result(call, operands, order)});
    return;
  }
  with_number(call.mode(), operands.front()->dtype,
              [&]<class N>() { call.emit_datum({contract<N>(call, operands, order)}); });
}

constexpr std::array kEinsumOps = {OpBody{"aten.einsum", einsum}};

}  // namespace

std::span<const OpBody> einsum_ops() { return kEinsumOps; }

}  // namespace graphgate::reference
