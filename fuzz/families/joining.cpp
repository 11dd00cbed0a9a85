// Tensors put together, repeated, and turned around.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// Two or three tensors that agree but in one dimension, one after the other.
bool draw_cat(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex first = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(first);
  const int dim = draw_dim(genes, from.sizes.rank);
  std::vector<TensorIndex> all = {first};
  Shape sizes = from.sizes;
  bool is_known = draft.is_row_major(from);
  const std::uint32_t more = 1 + genes.below(2);
  for (std::uint32_t i = 0; i < more; ++i) {
    const auto next = draft.pick(genes, [&](const DrawnTensor& tensor) {
      if (tensor.dtype != from.dtype || tensor.sizes.rank != sizes.rank) return false;
      for (int d = 0; d < sizes.rank; ++d) {
        if (d != dim && tensor.sizes[d] != sizes[d]) return false;
      }
      return true;
    });
    if (!next) break;
    const DrawnTensor tensor = draft.tensor(*next);
    sizes[dim] = draft.table().sum(sizes[dim], tensor.sizes[dim]);
    is_known = is_known && draft.is_row_major(tensor);
    all.push_back(*next);
  }
  NodeBuilder node(draft, "aten.cat.default");
  node.tensors("tensors", all).integer("dim", genes.chance(20) ? dim - sizes.rank : dim);
  node.fresh(from.dtype, sizes, Layout{is_known, draft.row_major(sizes)});
  return true;
}

bool draw_stack(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex first = draft.pick_floating(genes, 0, 3);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  const int dim = static_cast<int>(genes.below(static_cast<std::size_t>(from.sizes.rank) + 1));
  Shape sizes = from.sizes;
  sizes.insert(dim, 2);
  const bool is_known = draft.is_row_major(from) && draft.is_row_major(draft.tensor(second));
  NodeBuilder node(draft, "aten.stack.default");
  node.tensors("tensors", {first, second}).integer("dim", dim);
  node.fresh(from.dtype, sizes, Layout{is_known, draft.row_major(sizes)});
  return true;
}

bool draw_flip(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, "aten.flip.default");
  node.tensor("self", self).integers("dims", {dim}).fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_roll(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, "aten.roll.default");
  node.tensor("self", self).integers("shifts", {genes.chance(50) ? -1 : 1}).integers("dims", {dim});
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_repeat(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1, 3);
  const DrawnTensor from = draft.tensor(self);
  Shape sizes = from.sizes;
  std::vector<std::int64_t> repeats;
  if (genes.chance(30)) {
    sizes.insert(0, 2);
    repeats.push_back(2);
  }
  const int which = draw_dim(genes, from.sizes.rank);
  for (int d = 0; d < from.sizes.rank; ++d) {
    const bool is_repeated = d == which && repeats.size() == static_cast<std::size_t>(d);
    repeats.push_back(is_repeated ? 2 : 1);
    Size& size = sizes[sizes.rank - from.sizes.rank + d];
    if (is_repeated) size = draft.table().product(2, size);
  }
  if (!draft.is_small(sizes)) return false;
  NodeBuilder node(draft, "aten.repeat.default");
  node.tensor("self", self).integers("repeats", repeats).fresh(from.dtype, sizes);
  return true;
}

bool draw_rot90(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 2, 2);
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, "aten.rot90.default");
  node.tensor("self", self).integer("k", 1).integers("dims", {0, 1});
  node.fresh(from.dtype, Shape{from.sizes[1], from.sizes[0]}, Layout{});
  return true;
}

bool draw_block_diag(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = draft.pick_floating(genes, 2, 2);
  const DrawnTensor from = draft.tensor(a);
  const TensorIndex b = draft.pick_like(genes, from.dtype, from.sizes);
  Shape sizes{draft.table().sum(from.sizes[0], from.sizes[0]),
              draft.table().sum(from.sizes[1], from.sizes[1])};
  if (!draft.is_small(sizes)) return false;
  NodeBuilder node(draft, "aten.block_diag.default");
  node.tensors("tensors", {a, b}).fresh(from.dtype, sizes);
  return true;
}

// The same by its other names.
bool draw_concatenation(Draft& draft, GeneReader& genes, std::size_t variant) {
  const TensorIndex first = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes[dim] = draft.table().product(2, sizes[dim]);
  if (!draft.is_small(sizes)) return false;
  const Layout layout = row_major_like(draft, {first, second}, sizes);
  NodeBuilder node(draft, variant == 0 ? "aten.concat.default" : "aten.concatenate.default");
  node.tensors("tensors", {first, second}).integer("dim", dim).fresh(from.dtype, sizes, layout);
  return true;
}

// [3, 2] in two parts beside [5]: the last part of either has zeros behind it.
bool draw_chunk_cat(Draft& draft, GeneReader& genes, std::size_t) {
  const spec::DType dtype = draft.draw_floating(genes);
  const TensorIndex a = draft.pick_like(genes, dtype, Shape{3, 2});
  const TensorIndex b = draft.pick_like(genes, dtype, Shape{5});
  NodeBuilder node(draft, "aten._chunk_cat.default");
  node.tensors("tensors", {a, b}).integer("dim", 0).integer("num_chunks", 2);
  node.fresh(dtype, Shape{2, 7});
  return true;
}

constexpr DrawnOp kJoiningRows[] = {{"aten._chunk_cat", 1, draw_chunk_cat, 0, 6},
                                    {"aten.concat", 1, draw_concatenation, 0, 6},
                                    {"aten.concatenate", 1, draw_concatenation, 1, 6},
                                    {"aten.cat", 8, draw_cat, 0},
                                    {"aten.stack", 3, draw_stack, 0},
                                    {"aten.flip", 2, draw_flip, 0},
                                    {"aten.roll", 1, draw_roll, 0},
                                    {"aten.repeat", 2, draw_repeat, 0},
                                    {"aten.rot90", 1, draw_rot90, 0},
                                    {"aten.block_diag", 1, draw_block_diag, 0}};

}  // namespace

std::span<const DrawnOp> joining_rows() { return kJoiningRows; }

}  // namespace graphgate::fuzz
