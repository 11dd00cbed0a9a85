// Reductions of runs: of one row each, and of none.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_segments(Draft& draft, GeneReader& genes, std::size_t) {
  const auto data = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank >= 1 && is_constant(tensor.sizes[0]) &&
           tensor.sizes[0] > 0;
  });
  if (!data) return false;
  const DrawnTensor from = draft.tensor(*data);
  static constexpr const char* kSegmentReductions[] = {"sum", "mean", "max", "min", "prod"};
  const TensorIndex lengths = draft.add_filled(spec::DType::kInt64, Shape{from.sizes[0]}, 1);
  NodeBuilder node(draft, "aten.segment_reduce.default");
  node.tensor("data", *data).text("reduce", kSegmentReductions[genes.next() % 5]);
  node.tensor("lengths", lengths);
  if (genes.chance(40)) node.integer("initial", 1);
  node.fresh(from.dtype, from.sizes);
  return true;
}

constexpr DrawnOp kSegmentReduceRows[] = {{"aten.segment_reduce", 1, draw_segments, 0, 6}};

}  // namespace

std::span<const DrawnOp> segment_reduce_rows() { return kSegmentReduceRows; }

}  // namespace graphgate::fuzz
