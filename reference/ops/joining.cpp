// Ops that put copies of tensors side by side: cat, stack, repeat; and those that only rearrange
// elements: flip, roll, rot90.
#include <algorithm>
#include <array>
#include <numeric>

#include "reference/movement.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::MemoryFormat;

// An empty tensor of rank 1 goes with anything in cat, for old programs' sake.
bool is_skipped(const Tensor& tensor) { return tensor.rank() == 1 && tensor.sizes[0] == 0; }

// The format that all tensors suggest; contiguous if they differ.
MemoryFormat common_format(const std::vector<TensorRef>& tensors) {
  const MemoryFormat first = suggested_format(*tensors.front());
  const bool all = std::all_of(tensors.begin(), tensors.end(), [first](const TensorRef& tensor) {
    return suggested_format(*tensor) == first;
  });
  return all ? first : MemoryFormat::kContiguous;
}

void check_joins(const Tensor& tensor, const Tensor& first, std::size_t dim) {
  if (tensor.rank() != first.rank()) {
    throw OpError("cat: tensors must have the same number of dimensions: got " +
                  std::to_string(first.rank()) + " and " + std::to_string(tensor.rank()));
  }
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (d == dim || tensor.sizes[d] == first.sizes[d]) continue;
    throw OpError("cat: sizes of tensors must match except in dimension " + std::to_string(dim) +
                  ": expected " + std::to_string(first.sizes[d]) + ", got " +
                  std::to_string(tensor.sizes[d]) + " in dimension " + std::to_string(d));
  }
}

TensorRef joined(Mode mode, const std::vector<TensorRef>& tensors, std::int64_t dim) {
  if (tensors.empty()) throw OpError("cat: expected a non-empty list of tensors");
  std::vector<Datum> operands;
  std::vector<TensorRef> parts;
  for (const TensorRef& tensor : tensors) {
    if (tensor->rank() == 0) throw OpError("cat: zero-dimensional tensors cannot be joined");
    operands.push_back({tensor});
    if (!is_skipped(*tensor)) parts.push_back(tensor);
  }
  const spec::DType dtype = result_type(operands);
  const spec::Device& device = tensors.front()->device;
  if (parts.empty()) return new_tensor(dtype, Sizes{0}, device);
  const std::int64_t along = wrap_dim(dim, parts.front()->rank());
  const auto d = static_cast<std::size_t>(along);
  Sizes sizes = parts.front()->sizes;
  sizes[d] = 0;
  for (const TensorRef& part : parts) {
    check_joins(*part, *parts.front(), d);
    sizes[d] += part->sizes[d];
  }
  TensorRef out =
      new_tensor(dtype, sizes, strides_in_format(sizes, common_format(tensors)), device);
  std::int64_t start = 0;
  for (const TensorRef& part : parts) {
    assign(mode, *narrowed(*out, along, start, part->sizes[d]), *part);
    start += part->sizes[d];
  }
  return out;
}

void cat(Call& call) {
  emit_made(call, joined(call.mode(), call.tensors("tensors"), call.integer("dim")));
}

// A cat along `dim`, seen with the new dimension split off; behind the last dimension, a cat of
// tensors that have the new dimension already.
void stack(Call& call) {
  const std::vector<TensorRef> tensors = call.tensors("tensors");
  if (tensors.empty()) throw OpError("stack: expected a non-empty list of tensors");
  const Tensor& first = *tensors.front();
  const std::int64_t dim = wrap_dim(call.integer("dim"), first.rank() + 1);
  std::vector<TensorRef> raised;
  for (const TensorRef& tensor : tensors) {
    if (tensor->sizes != first.sizes) throw OpError("stack expects each tensor to be equal size");
    raised.push_back(view_of(*tensor, with_new_dim(*tensor, dim)));
  }
  if (dim == first.rank()) return emit_made(call, joined(call.mode(), raised, dim));
  Sizes sizes = first.sizes;
  sizes.insert(sizes.begin() + dim, static_cast<std::int64_t>(tensors.size()));
  emit_made(call, reshaped(*joined(call.mode(), tensors, dim), sizes));
}

// The result is split into (repeat, size) pairs of dimensions; the operand, stretched over the
// repeats, is written into all of it at once.
void repeat(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes repeats = call.integers("repeats");
  if (repeats.size() < self.sizes.size()) {
    throw OpError("repeat: fewer repeats than the tensor has dimensions");
  }
  const std::size_t lead = repeats.size() - self.sizes.size();
  Sizes sizes;
  Sizes pairs;
  Geometry stretched{{}, {}, self.offset};
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const std::int64_t size = d < lead ? 1 : self.sizes[d - lead];
    const auto repeated = spec::checked_element_count({repeats[d], size});
    if (!repeated) throw OpError("repeat: a count is negative or too large");
    sizes.push_back(*repeated);
    pairs.insert(pairs.end(), {repeats[d], size});
    stretched.strides.insert(stretched.strides.end(), {0, d < lead ? 0 : self.strides[d - lead]});
  }
  stretched.sizes = pairs;
  const TensorRef out = new_tensor(self.dtype, sizes, self.device);
  const TensorRef in_pairs = view_of(*out, pairs, spec::contiguous_strides(pairs), 0);
  move_all(*in_pairs, *view_of(self, stretched));
  emit_made(call, out);
}

// The operand read backwards along `dims`: a view with negative strides.
TensorRef flipped(const Tensor& self, const Sizes& dims) {
  Geometry backwards = geometry_of(self);
  std::vector<bool> seen(self.sizes.size() + 1, false);
  for (const std::int64_t dim : dims) {
    const auto d = static_cast<std::size_t>(wrap_dim(dim, self.rank()));
    if (seen[d]) throw OpError("flip: a dimension appears twice in the list of dims");
    seen[d] = true;
    if (self.rank() == 0 || self.sizes[d] == 0) continue;
    backwards.offset += (self.sizes[d] - 1) * self.strides[d];
    backwards.strides[d] = -self.strides[d];
  }
  TensorRef out =
      new_tensor(self.dtype, self.sizes, strides_like(self, MemoryFormat::kPreserve), self.device);
  move_all(*out, *view_of(self, backwards));
  return out;
}

void flip(Call& call) { emit_made(call, flipped(*call.tensor("self"), call.integers("dims"))); }

// A quarter turn is a flip and a swap of the two dimensions.
void rot90(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes dims = call.integers("dims");
  if (dims.size() != 2) throw OpError("rot90: expected two dims");
  const std::int64_t a = wrap_dim(dims[0], self.rank());
  const std::int64_t b = wrap_dim(dims[1], self.rank());
  if (self.rank() < 2 || a == b) throw OpError("rot90: expected two different dims of rank >= 2");
  const std::int64_t turns = (call.integer("k") % 4 + 4) % 4;
  if (turns == 0) return emit_made(call, copy_of(self));
  if (turns == 2) return emit_made(call, flipped(self, {a, b}));
  Sizes order(self.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  const TensorRef turned = flipped(self, {turns == 1 ? b : a});
  emit_made(call, view_of(*turned, permuted(*turned, order)));
}

// The last `shift` places of a dimension come first.
TensorRef rolled(Mode mode, const Tensor& self, std::int64_t shift, std::int64_t dim) {
  if (self.count() == 0) return copy_of(self, strides_like(self, MemoryFormat::kPreserve));
  const std::int64_t along = wrap_dim(dim, self.rank());
  const std::int64_t size = self.sizes.at(static_cast<std::size_t>(along));
  const std::int64_t start = (((size - shift % size) % size) + size) % size;
  return joined(mode, {narrowed(self, along, start, size - start), narrowed(self, along, 0, start)},
                along);
}

void roll(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes shifts = call.integers("shifts");
  const Sizes dims = call.integers("dims");
  if (dims.empty() && shifts.size() == 1) {  // over all elements in order
    const TensorRef flat = reshaped(self, {self.count()});
    const TensorRef out = rolled(call.mode(), *flat, shifts[0], 0);
    return emit_made(call, reshaped(*out, self.sizes));
  }
  if (shifts.empty() || shifts.size() != dims.size()) {
    throw OpError("roll: shifts and dimensions must align");
  }
  if (self.rank() == 0) throw OpError("roll: dimensions of a 0-dim tensor");
  TensorRef out = rolled(call.mode(), self, shifts[0], dims[0]);
  for (std::size_t i = 1; i < dims.size(); ++i) {
    out = rolled(call.mode(), *out, shifts[i], dims[i]);
  }
  emit_made(call, out);
}

// The operands as the blocks of a diagonal, zeros elsewhere. Rank 1 is one row, rank 0 one element.
void block_diag(Call& call) {
  const std::vector<TensorRef> tensors = call.tensors("tensors");
  std::vector<Datum> operands;
  std::vector<TensorRef> blocks;
  Sizes sizes = {0, 0};
  for (const TensorRef& tensor : tensors) {
    if (tensor->rank() > 2) throw OpError("block_diag: tensors must have at most 2 dimensions");
    operands.push_back({tensor});
    TensorRef block = tensor;
    while (block->rank() < 2) block = view_of(*block, with_new_dim(*block, 0));
    sizes[0] += block->sizes[0];
    sizes[1] += block->sizes[1];
    blocks.push_back(block);
  }
  const TensorRef out = new_tensor(result_type(operands), sizes, call.result_device());
  std::int64_t row = 0;
  std::int64_t column = 0;
  for (const TensorRef& block : blocks) {
    const TensorRef rows = narrowed(*out, 0, row, block->sizes[0]);
    assign(call.mode(), *narrowed(*rows, 1, column, block->sizes[1]), *block);
    row += block->sizes[0];
    column += block->sizes[1];
  }
  emit_made(call, out);
}

// Every tensor's dimension `dim` is cut into as many parts, with zeros behind the last elements;
// the parts of one number, flattened from `dim` on, stand in one row side by side.
void chunk_cat(Call& call) {
  const std::vector<TensorRef> tensors = call.tensors("tensors");
  const std::int64_t chunks = call.integer("num_chunks");
  if (tensors.empty()) throw OpError("_chunk_cat expects a non-empty input tensor list");
  if (chunks < 1) throw OpError("_chunk_cat expects positive num_chunks");
  const std::int64_t dim = wrap_dim(call.integer("dim"), tensors.front()->rank());
  const auto lead_of = [dim](const Tensor& tensor) {
    if (tensor.rank() <= dim) throw OpError("_chunk_cat: a tensor has too few dimensions");
    return Sizes(tensor.sizes.begin(), tensor.sizes.begin() + dim);
  };
  const Sizes lead = lead_of(*tensors.front());
  std::vector<std::int64_t> counts;  // elements from `dim` on
  std::vector<std::int64_t> widths;  // of each tensor's parts
  std::int64_t width = 0;
  for (const TensorRef& tensor : tensors) {
    if (tensor->dtype != tensors.front()->dtype) {
      throw OpError("_chunk_cat expects all input tensors with the same dtype");
    }
    if (tensor->count() == 0) throw OpError("_chunk_cat expects non-empty tensor");
    if (lead_of(*tensor) != lead) throw OpError("_chunk_cat: sizes before `dim` must be the same");
    const std::int64_t size = tensor->sizes[static_cast<std::size_t>(dim)];
    const std::int64_t behind =
        count_of(Sizes(tensor->sizes.begin() + dim + 1, tensor->sizes.end()));
    counts.push_back(size * behind);
    widths.push_back((size / chunks + (size % chunks == 0 ? 0 : 1)) * behind);
    width += widths.back();
  }
  Sizes sizes = lead;
  sizes.insert(sizes.end(), {chunks, width});
  const TensorRef made = new_tensor(tensors.front()->dtype, sizes, tensors.front()->device);
  std::int64_t start = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    Sizes flat = lead;
    flat.push_back(counts[t]);
    const TensorRef source = reshaped(*tensors[t], flat);
    const std::vector<std::int64_t> stored = element_positions(*source);
    const TensorRef target = narrowed(*made, dim + 1, start, widths[t]);
    std::vector<std::int64_t> from;
    for_each_index(target->sizes, [&](const Sizes& index) {
      std::int64_t row = 0;
      for (std::size_t d = 0; d < lead.size(); ++d) row = row * lead[d] + index[d];
      const std::int64_t at = index[lead.size()] * widths[t] + index.back();
      from.push_back(at < counts[t] ? stored[static_cast<std::size_t>(row * counts[t] + at)] : -1);
    });
    move_elements(*target, *source, from);
    start += widths[t];
  }
  emit_made(call, made);
}

constexpr std::array kJoiningOps = {
    OpBody{"aten._chunk_cat", chunk_cat}.any_dtype().moves("tensors"),
    OpBody{"aten.block_diag", block_diag}.any_dtype().moves("tensors"),
    OpBody{"aten.cat", cat}.any_dtype().moves("tensors"),
    OpBody{"aten.concat", cat}.any_dtype().moves("tensors"),
    OpBody{"aten.concatenate", cat}.any_dtype().moves("tensors"),
    OpBody{"aten.flip", flip}.any_dtype().moves("self"),
    OpBody{"aten.repeat", repeat}.any_dtype().moves("self"),
    OpBody{"aten.roll", roll}.any_dtype().moves("self"),
    OpBody{"aten.rot90", rot90}.any_dtype().moves("self"),
    OpBody{"aten.stack", stack}.any_dtype().moves("tensors"),
};

}  // namespace

std::span<const OpBody> joining_ops() { return kJoiningOps; }

}  // namespace graphgate::reference
