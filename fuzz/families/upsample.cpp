// Planes and lines resampled to other sizes.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct Resampling {
  std::string_view name;
  std::uint32_t weight = 1;
  int spatial = 2;
  bool has_corners = false;
};
constexpr Resampling kResamplings[] = {
    {"aten.upsample_nearest1d", 1, 1, false},
    {"aten.upsample_nearest2d", 1, 2, false},
    {"aten._upsample_nearest_exact1d", 1, 1, false},
    {"aten._upsample_nearest_exact2d", 1, 2, false},
    {"aten.upsample_linear1d", 1, 1, true},
    {"aten.upsample_bilinear2d", 1, 2, true},
    {"aten.upsample_bicubic2d", 1, 2, true},
};

bool draw_resampling(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Resampling& row = kResamplings[variant];
  const spec::DType dtype = draft.draw_floating(genes);
  const bool is_plane = row.spatial == 2;
  const TensorIndex self =
      draft.pick_like(genes, dtype, is_plane ? Shape{1, 2, 4, 4} : Shape{1, 2, 8});
  const Shape sizes = is_plane ? Shape{1, 2, 3, 6} : Shape{1, 2, 5};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, std::string(row.name) + ".default");
  node.tensor("self", self);
  node.integers("output_size",
                is_plane ? std::vector<std::int64_t>{3, 6} : std::vector<std::int64_t>{5});
  if (row.has_corners) node.boolean("align_corners", genes.chance(50));
  node.fresh(dtype, sizes, layout);
  return true;
}

// Gradients of 3 x 6 elements for 4 x 4.
bool draw_nearest_backward(Draft& draft, GeneReader& genes, std::size_t) {
  const spec::DType dtype = draft.draw_floating(genes);
  const TensorIndex gradient = draft.pick_like(genes, dtype, Shape{1, 2, 3, 6});
  const Shape sizes{1, 2, 4, 4};
  const Layout layout = row_major_like(draft, {gradient}, sizes);
  NodeBuilder node(draft, "aten.upsample_nearest2d_backward.default");
  node.tensor("grad_output", gradient).integers("output_size", {3, 6});
  node.integers("input_size", {1, 2, 4, 4}).fresh(dtype, sizes, layout);
  return true;
}

bool draw_antialias(Draft& draft, GeneReader& genes, std::size_t cubic) {
  const spec::DType dtype = genes.chance(30) ? spec::DType::kFloat64 : spec::DType::kFloat32;
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{1, 2, 4, 4});
  const Shape sizes{1, 2, 3, 6};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, cubic == 1 ? "aten._upsample_bicubic2d_aa.default"
                                     : "aten._upsample_bilinear2d_aa.default");
  node.tensor("self", self).integers("output_size", {3, 6});
  node.boolean("align_corners", genes.chance(50)).fresh(dtype, sizes, layout);
  return true;
}

std::vector<DrawnOp> all_rows() {
  std::vector<DrawnOp> rows = rows_of(kResamplings, draw_resampling);
  rows.push_back({"aten.upsample_nearest2d_backward", 1, draw_nearest_backward, 0, 6});
  rows.push_back({"aten._upsample_bilinear2d_aa", 1, draw_antialias, 0, 6});
  rows.push_back({"aten._upsample_bicubic2d_aa", 1, draw_antialias, 1, 6});
  return rows;
}

}  // namespace

std::span<const DrawnOp> upsample_rows() {
  static const std::vector<DrawnOp> kRows = all_rows();
  return kRows;
}

}  // namespace graphgate::fuzz
