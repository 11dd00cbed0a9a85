// Einstein sums of a few shapes.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_einsum(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = draft.pick_floating(genes, 2, 2);
  const DrawnTensor first = draft.tensor(a);
  const Size rows = first.sizes[0];
  const Size columns = first.sizes[1];
  std::vector<TensorIndex> operands = {a};
  const char* equation = "ij->j";
  Shape sizes{columns};
  switch (genes.below(4)) {
    case 0:
      equation = "ij,kj->ik";
      operands.push_back(draft.pick_like(genes, first.dtype, first.sizes));
      sizes = {rows, rows};
      break;
    case 1:
      equation = "ij,ij->i";
      operands.push_back(draft.pick_like(genes, first.dtype, first.sizes));
      sizes = {rows};
      break;
    case 2:
      equation = "ij,j->ij";
      operands.push_back(draft.pick_like(genes, first.dtype, Shape{columns}));
      sizes = first.sizes;
      break;
    default:
      break;
  }
  NodeBuilder node(draft, "aten.einsum.default");
  node.text("equation", equation).tensors("tensors", operands);
  const TensorIndex made = node.fresh(first.dtype, sizes, Layout{});
  // Some equations come to a view of an operand: what they return is left alone.
  draft.storage_of(made).may_be_written = false;
  return true;
}

constexpr DrawnOp kEinsumRows[] = {{"aten.einsum", 3, draw_einsum, 0}};

}  // namespace

std::span<const DrawnOp> einsum_rows() { return kEinsumRows; }

}  // namespace graphgate::fuzz
