// Distinct elements and rows: how many there are, data decide.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum Kind : std::size_t { kSorted, kConsecutive, kRows, kConsecutiveRows };

bool draw_unique(Draft& draft, GeneReader& genes, std::size_t variant) {
  static constexpr const char* kNames[] = {
      "aten._unique2.default", "aten.unique_consecutive.default", "aten.unique_dim.default",
      "aten.unique_dim_consecutive.default"};
  if (draft.unbacked() >= 2) return false;
  const bool has_rows = variant >= kRows;
  const TensorIndex self = draft.pick_index(genes, has_rows ? Shape{4, 2} : Shape{4}, 2);
  const Bounds range = draft.range(self);
  const Size count = draft.add_unbacked({0, 4});
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self);
  if (has_rows) node.integer("dim", 0);
  node.boolean("return_inverse", true).boolean("return_counts", true);
  draft.set_range(node.fresh(DType::kInt64, has_rows ? Shape{count, 2} : Shape{count}), range);
  draft.set_range(node.fresh(DType::kInt64, Shape{4}), {0, 3});
  draft.set_range(node.fresh(DType::kInt64, Shape{count}), {1, 4});
  return true;
}

constexpr DrawnOp kUniqueRows[] = {
    {"aten._unique2", 1, draw_unique, kSorted, 6},
    {"aten.unique_consecutive", 1, draw_unique, kConsecutive, 6},
    {"aten.unique_dim", 1, draw_unique, kRows, 6},
    {"aten.unique_dim_consecutive", 1, draw_unique, kConsecutiveRows, 6}};

}  // namespace

std::span<const DrawnOp> unique_rows() { return kUniqueRows; }

}  // namespace graphgate::fuzz
