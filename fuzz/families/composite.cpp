// Ops that PyTorch defines by others, and further names of ops.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct Unary {
  std::string_view name;
  bool tests = false;  // the result is bool
};
constexpr Unary kUnaryComposites[] = {
    {"aten.relu6"},  {"aten.selu"},          {"aten.absolute"},      {"aten.negative"},
    {"aten.arctan"}, {"aten.special_expit"}, {"aten.special_expm1"}, {"aten.isfinite", true},
};

bool draw_unary(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Unary& op = kUnaryComposites[variant];
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

// Ops of one matrix: what is said besides, and what comes out.
struct OfMatrix {
  std::string_view name;
  std::string_view operand;
  Shape from;
  Shape made;
  void (*complete)(NodeBuilder& node, GeneReader& genes) = nullptr;
};

const std::vector<OfMatrix>& matrix_ops() {
  static const std::vector<OfMatrix> kOps = {
      {"aten.cumulative_trapezoid.dx",
       "y",
       {4, 3},
       {4, 2},
       [](NodeBuilder& node, GeneReader& genes) {
         if (genes.chance(50)) node.integer("dx", 2);
       }},
      {"aten.linalg_matrix_power.default",
       "self",
       {4, 4},
       {4, 4},
       [](NodeBuilder& node, GeneReader& genes) { node.integer("n", genes.chance(50) ? 2 : 3); }},
      {"aten.linalg_vander.default", "x", {4}, {4, 4}},
      {"aten.nuclear_norm.default", "self", {4, 3}, {}},
      {"aten.pdist.default", "self", {4, 3}, {6}},
      {"aten.quantile.scalar",
       "self",
       {4, 3},
       {4},
       [](NodeBuilder& node, GeneReader& genes) {
         node.real("q", genes.chance(50) ? 0.25 : 0.75).integer("dim", 1);
         if (genes.chance(30)) node.text("interpolation", "nearest");
       }},
  };
  return kOps;
}

bool draw_of_matrix(Draft& draft, GeneReader& genes, std::size_t variant) {
  const OfMatrix& op = matrix_ops()[variant];
  const DType dtype = genes.chance(70) ? DType::kFloat32 : DType::kFloat64;
  const TensorIndex self = draft.pick_like(genes, dtype, op.from);
  NodeBuilder node(draft, std::string(op.name));
  node.tensor(op.operand, self);
  if (op.complete != nullptr) op.complete(node, genes);
  node.fresh(dtype, op.made);
  return true;
}

// Three matrices in a row.
bool draw_multi_dot(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = genes.chance(70) ? DType::kFloat32 : DType::kFloat64;
  const TensorIndex a = draft.pick_like(genes, dtype, Shape{4, 3});
  const TensorIndex b = draft.pick_like(genes, dtype, Shape{3, 4});
  const TensorIndex c = draft.pick_like(genes, dtype, Shape{4, 2});
  NodeBuilder node(draft, "aten.linalg_multi_dot.default");
  node.tensors("tensors", {a, b, c}).fresh(dtype, Shape{4, 2});
  return true;
}

bool draw_pad_sequence(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex a = draft.pick_like(genes, dtype, Shape{4, 3});
  const TensorIndex b = draft.pick_like(genes, dtype, Shape{2, 3});
  const bool batch_first = genes.chance(50);
  NodeBuilder node(draft, "aten.pad_sequence.default");
  node.tensors("sequences", {a, b}).boolean("batch_first", batch_first);
  node.fresh(dtype, batch_first ? Shape{2, 4, 3} : Shape{4, 2, 3});
  return true;
}

}  // namespace

std::span<const DrawnOp> composite_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    for (std::uint32_t i = 0; i < std::size(kUnaryComposites); ++i) {
      rows.push_back({kUnaryComposites[i].name, 1, draw_unary, i, 6});
    }
    rows.push_back({"aten.outer", 1, draw_outer, 0, 6});
    rows.push_back({"aten.flipud", 1, draw_flipud, 0, 6});
    rows.push_back({"aten.vstack", 1, draw_vstack, 0, 6});
    rows.push_back({"aten.linalg_multi_dot", 1, draw_multi_dot, 0, 7});
    rows.push_back({"aten.pad_sequence", 1, draw_pad_sequence, 0, 7});
    for (std::uint32_t i = 0; i < matrix_ops().size(); ++i) {
      const std::string_view name = matrix_ops()[i].name;
      rows.push_back({name.substr(0, name.rfind('.')), 1, draw_of_matrix, i, 7});
    }
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
