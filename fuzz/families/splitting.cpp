// Tensors taken apart: lists of sibling views, or of copies.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

enum Kind : std::size_t { kSplit, kWithSizes, kChunk, kUnsafe, kWithSizesCopy };

// The parts of a dimension with a known size.
bool draw_split(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    for (int d = 0; d < tensor.sizes.rank; ++d) {
      if (is_constant(tensor.sizes[d]) && tensor.sizes[d] >= 2) return true;
    }
    return false;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  int dim = draw_dim(genes, from.sizes.rank);
  while (!is_constant(from.sizes[dim]) || from.sizes[dim] < 2) dim = (dim + 1) % from.sizes.rank;
  const Size size = from.sizes[dim];
  std::vector<Size> parts;
  if (variant == kWithSizes || variant == kWithSizesCopy) {
    parts = {1, size - 1};
  } else {
    const Size each = (size + 1) / 2;
    for (Size at = 0; at < size; at += each) parts.push_back(std::min<Size>(each, size - at));
  }
  static constexpr const char* kNames[] = {"aten.split.Tensor", "aten.split_with_sizes.default",
                                           "aten.chunk.default", "aten.unsafe_split.Tensor",
                                           "aten.split_with_sizes_copy.default"};
  const bool copies = variant == kWithSizesCopy;
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", *self);
  if (variant == kChunk) node.integer("chunks", static_cast<std::int64_t>(parts.size()));
  if (variant == kSplit || variant == kUnsafe) node.integer("split_size", parts.front());
  if (variant == kWithSizes || copies) {
    node.integers("split_sizes", std::vector<std::int64_t>(parts.begin(), parts.end()));
  }
  node.integer("dim", dim);
  Size at = 0;
  for (const Size part : parts) {
    Shape sizes = from.sizes;
    sizes[dim] = part;
    if (copies) {
      node.fresh(from.dtype, sizes, row_major_like(draft, {*self}, sizes));
    } else {
      const Size offset =
          from.has_layout
              ? draft.table().sum(from.offset, draft.table().product(from.strides[dim], at))
              : 0;
      node.view(*self, sizes, from.strides, offset);
    }
    at += part;
  }
  node.as_list();
  // unsafe_split shares bytes without saying so: nothing may write them from here on.
  if (variant == kUnsafe) draft.storage_of(*self).may_be_written = false;
  return true;
}

bool draw_unbind(Draft& draft, GeneReader& genes, std::size_t copies) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank >= 1 && is_constant(tensor.sizes[0]) && tensor.sizes[0] >= 1 &&
           tensor.sizes[0] <= 4;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  Shape sizes = from.sizes;
  Shape strides = from.strides;
  sizes.erase(0);
  strides.erase(0);
  NodeBuilder node(draft, copies == 1 ? "aten.unbind_copy.int" : "aten.unbind.int");
  node.tensor("self", *self).integer("dim", 0);
  for (Size i = 0; i < from.sizes[0]; ++i) {
    if (copies == 1) {
      node.fresh(from.dtype, sizes, row_major_like(draft, {*self}, sizes));
    } else {
      const Size offset =
          from.has_layout
              ? draft.table().sum(from.offset, draft.table().product(from.strides[0], i))
              : 0;
      node.view(*self, sizes, strides, offset);
    }
  }
  node.as_list();
  return true;
}

constexpr DrawnOp kSplittingRows[] = {{"aten.split", 4, draw_split, kSplit},
                                      {"aten.split_with_sizes", 4, draw_split, kWithSizes},
                                      {"aten.chunk", 3, draw_split, kChunk},
                                      {"aten.unsafe_split", 1, draw_split, kUnsafe},
                                      {"aten.split_with_sizes_copy", 1, draw_split, kWithSizesCopy},
                                      {"aten.unbind", 3, draw_unbind, 0},
                                      {"aten.unbind_copy", 1, draw_unbind, 1}};

}  // namespace

std::span<const DrawnOp> splitting_rows() { return kSplittingRows; }

}  // namespace graphgate::fuzz
