// Bags of rows of a matrix: an empty one, and one of all indices.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool draw_bags(Draft& draft, GeneReader& genes, std::size_t) {
  const auto weight = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat64 && tensor.sizes.rank == 2 &&
           draft.table().least(tensor.sizes[0]) >= 1;
  });
  if (!weight) return false;
  const DrawnTensor from = draft.tensor(*weight);
  const auto& dims = draft.settings().dims;
  const Size count = dims[genes.below(dims.size())];
  const TensorIndex index = draft.pick_index(genes, Shape{count}, from.sizes[0]);
  if (draft.tensor(index).dtype != DType::kInt64) return false;
  const TensorIndex offsets = draft.add_filled(DType::kInt64, Shape{2}, 0);
  const std::int64_t mode = static_cast<std::int64_t>(genes.next() % 3);
  NodeBuilder node(draft, "aten._embedding_bag_forward_only.default");
  node.tensor("weight", *weight).tensor("indices", index).tensor("offsets", offsets);
  node.integer("mode", mode);
  const Shape sizes{2, from.sizes[1]};
  node.fresh(from.dtype, sizes);
  node.fresh(DType::kInt64, Shape{count});
  node.fresh(DType::kInt64, Shape{2});
  node.fresh(DType::kInt64, mode == 2 ? sizes : Shape{2});
  return true;
}

constexpr DrawnOp kEmbeddingBagRows[] = {{"aten._embedding_bag_forward_only", 1, draw_bags, 0, 6}};

}  // namespace

std::span<const DrawnOp> embedding_bag_rows() { return kEmbeddingBagRows; }

}  // namespace graphgate::fuzz
