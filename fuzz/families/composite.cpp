// Ops that PyTorch defines by others, and further names of ops.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct Unary {
  std::string_view name;
  bool tests = false;  // the result is bool
};
constexpr Unary kUnary[] = {
    {"aten.relu6"},  {"aten.selu"},          {"aten.absolute"},      {"aten.negative"},
    {"aten.arctan"}, {"aten.special_expit"}, {"aten.special_expm1"}, {"aten.isfinite", true},
};

bool draw_unary(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Unary& op = kUnary[variant];
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const spec::DType dtype = op.tests ? spec::DType::kBool : from.dtype;
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, std::string(op.name) + ".default");
  node.tensor("self", self).fresh(dtype, from.sizes, layout);
  return true;
}

bool draw_outer(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1, 1);
  const DrawnTensor from = draft.tensor(self);
  Shape sizes = from.sizes;
  sizes.insert(1, from.sizes[0]);
  NodeBuilder node(draft, "aten.outer.default");
  node.tensor("self", self).tensor("vec2", self);
  node.fresh(from.dtype, sizes, Layout{draft.is_row_major(from), draft.row_major(sizes)});
  return true;
}

bool draw_flipud(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, "aten.flipud.default");
  node.tensor("self", self).fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_vstack(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex first = draft.pick_floating(genes, 2);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  Shape sizes = from.sizes;
  sizes[0] = draft.table().sum(sizes[0], sizes[0]);
  const bool is_known = draft.is_row_major(from) && draft.is_row_major(draft.tensor(second));
  NodeBuilder node(draft, "aten.vstack.default");
  node.tensors("tensors", {first, second});
  node.fresh(from.dtype, sizes, Layout{is_known, draft.row_major(sizes)});
  return true;
}

}  // namespace

std::span<const DrawnOp> composite_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    for (std::uint32_t i = 0; i < std::size(kUnary); ++i) {
      rows.push_back({kUnary[i].name, 1, draw_unary, i, 6});
    }
    rows.push_back({"aten.outer", 1, draw_outer, 0, 6});
    rows.push_back({"aten.flipud", 1, draw_flipud, 0, 6});
    rows.push_back({"aten.vstack", 1, draw_vstack, 0, 6});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
