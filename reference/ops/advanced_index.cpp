#include "reference/ops/advanced_index.h"

#include <algorithm>

#include "reference/layout.h"

namespace graphgate::reference {
namespace {

using spec::DType;

std::string text_of(const Sizes& sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

void check_mask_sizes(const Tensor& mask, const Tensor& self, std::size_t first_dim) {
  for (std::size_t d = 0; d < mask.sizes.size(); ++d) {
    const std::size_t of_self = first_dim + d;
    if (of_self < self.sizes.size() && self.sizes[of_self] == mask.sizes[d]) continue;
    throw OpError("the shape of the mask " + text_of(mask.sizes) + " at index " +
                  std::to_string(d) + " does not match the shape of the indexed tensor " +
                  text_of(self.sizes) + " at index " + std::to_string(of_self));
  }
}

// One index tensor or null per dimension of self: masks replaced by their nonzero coordinates.
std::vector<TensorRef> expand_masks(Mode mode, const Tensor& self,
                                    const std::vector<TensorRef>& indices) {
  std::vector<TensorRef> expanded;
  for (const TensorRef& index : indices) {
    if (!index || (index->dtype != DType::kBool && index->dtype != DType::kUInt8)) {
      expanded.push_back(index);
      continue;
    }
    check_mask_sizes(*index, self, expanded.size());
    const TensorRef coordinates = nonzero_of(mode, *index);
    const std::int64_t count = coordinates->sizes[0];
    for (std::int64_t d = 0; d < index->rank(); ++d) {
      expanded.push_back(view_of(*coordinates, {count}, {1}, d * count));
    }
  }
  if (expanded.size() > self.sizes.size()) {
    throw OpError("too many indices for tensor of dimension " + std::to_string(self.rank()) +
                  " (got " + std::to_string(expanded.size()) + ")");
  }
  expanded.resize(self.sizes.size());
  return expanded;
}

Sizes common_sizes(const std::vector<TensorRef>& indices) {
  std::vector<Sizes> shapes;
  for (const TensorRef& index : indices) {
    if (index) shapes.push_back(index->sizes);
  }
  if (shapes.empty()) throw OpError("at least one index must be provided");
  try {
    return broadcast_sizes(shapes);
  } catch (const OpError&) {
    std::string list;
    for (const Sizes& shape : shapes) list += (list.empty() ? "" : ", ") + text_of(shape);
    throw OpError("shape mismatch: indexing tensors could not be broadcast together with shapes " +
                  list);
  }
}

// The dimensions of self: taken whole before the indexed ones, indexed, taken whole after.
struct Split {
  std::vector<std::size_t> before, indexed, after;
};

Split split_dims(const std::vector<TensorRef>& indices) {
  Split split;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (indices[d]) split.indexed.push_back(d);
  }
  const std::size_t first = split.indexed.front();
  const bool neighbours = split.indexed.back() - first + 1 == split.indexed.size();
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) (neighbours && d < first ? split.before : split.after).push_back(d);
  }
  return split;
}

Sizes at_dims(const Sizes& values, const std::vector<std::size_t>& dims) {
  Sizes out;
  for (const std::size_t d : dims) out.push_back(values[d]);
  return out;
}

std::vector<std::int64_t> offsets_over(const Tensor& self, const std::vector<std::size_t>& dims) {
  Tensor part;
  part.sizes = at_dims(self.sizes, dims);
  part.strides = at_dims(spec::contiguous_strides(self.sizes), dims);
  return element_positions(part);
}

// What the index tensors say together: one partial position per element of their common sizes.
std::vector<Picked> combine_indices(const Tensor& self, const std::vector<TensorRef>& indices,
                                    const Sizes& common) {
  const Sizes strides = spec::contiguous_strides(self.sizes);
  std::vector<Picked> combined(static_cast<std::size_t>(count_of(common)));
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    const Array<Whole> index = broadcast_to(load_index(*indices[d]), common);
    for (std::size_t i = 0; i < combined.size(); ++i) {
      const Whole at = index.data[i];
      const std::int64_t coordinate =
          checked_index(at, self.sizes[d], static_cast<std::int64_t>(d), Negative::kWraps);
      combined[i].position += coordinate * strides[d];
      combined[i].undecided = combined[i].undecided || at.undecided;
    }
  }
  return combined;
}

void append(Sizes& list, const Sizes& more) { list.insert(list.end(), more.begin(), more.end()); }

// PyTorch lays the result out as a pointwise op over self, its indexed dimensions repeated with
// stride 0, and the index tensors, which have stride 0 along self's other dimensions.
Sizes result_strides(const Tensor& self, const std::vector<TensorRef>& indices, const Split& split,
                     const Sizes& common, const Sizes& sizes) {
  const auto operand = [&](const Sizes& before, const Sizes& middle, const Sizes& after) {
    auto tensor = std::make_shared<Tensor>();
    tensor->sizes = sizes;
    append(tensor->strides, before);
    append(tensor->strides, middle);
    append(tensor->strides, after);
    return tensor;
  };
  const Sizes none_before(split.before.size(), 0);
  const Sizes none_after(split.after.size(), 0);
  std::vector<TensorRef> operands = {operand(at_dims(self.strides, split.before),
                                             Sizes(common.size(), 0),
                                             at_dims(self.strides, split.after))};
  for (const std::size_t d : split.indexed) {
    const Tensor& index = *indices[d];
    Sizes middle(common.size(), 0);
    const std::size_t lead = common.size() - index.sizes.size();
    for (std::size_t i = 0; i < index.sizes.size(); ++i) {
      const bool stretched = index.sizes[i] == 1 && common[lead + i] != 1;
      middle[lead + i] = stretched ? 0 : index.strides[i];
    }
    operands.push_back(operand(none_before, middle, none_after));
  }
  return pointwise_strides(operands, sizes);
}

}  // namespace

std::vector<TensorRef> clamped_indices(const Sizes& sizes, const std::vector<TensorRef>& indices) {
  if (indices.size() > sizes.size()) throw OpError("too many indices for the tensor");
  std::vector<TensorRef> out;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    out.push_back(nullptr);
    if (!indices[d]) continue;
    Array<Whole> index = load_index(*indices[d]);
    for (Whole& at : index.data) {
      at.value = std::min(std::max(at.value, -sizes[d]), sizes[d] - 1);
    }
    const Tensor& given = *indices[d];
    out.back() = new_tensor(DType::kInt64, given.sizes,
                            strides_like(given, spec::MemoryFormat::kPreserve), given.device);
    store(*out.back(), index);
  }
  return out;
}

IndexPlan plan_index(Mode mode, const Tensor& self, const std::vector<TensorRef>& indices) {
  for (const TensorRef& index : indices) {
    if (!index || !spec::is_floating_point(index->dtype)) continue;
    throw OpError("tensors used as indices must be long, int, byte or bool tensors");
  }
  const std::vector<TensorRef> expanded = expand_masks(mode, self, indices);
  const Sizes common = common_sizes(expanded);
  const Split split = split_dims(expanded);
  IndexPlan plan;
  plan.sizes = at_dims(self.sizes, split.before);
  append(plan.sizes, common);
  append(plan.sizes, at_dims(self.sizes, split.after));
  plan.strides = result_strides(self, expanded, split, common, plan.sizes);
  const std::vector<Picked> combined = combine_indices(self, expanded, common);
  const std::vector<std::int64_t> after = offsets_over(self, split.after);
  plan.picked.reserve(static_cast<std::size_t>(count_of(plan.sizes)));
  for (const std::int64_t start : offsets_over(self, split.before)) {
    for (const Picked& middle : combined) {
      for (const std::int64_t rest : after) {
        plan.picked.push_back({start + middle.position + rest, middle.undecided});
      }
    }
  }
  return plan;
}

}  // namespace graphgate::reference
