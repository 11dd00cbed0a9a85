// Gradients of what takes parts of planes: of averages, of padding and of resampling.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace plane_gradients {
namespace {

using spec::DType;
using Integers = std::vector<std::int64_t>;

Shape plane_of(int spatial) {
  return spatial == 1 ? Shape{1, 2, 4} : spatial == 2 ? Shape{1, 2, 4, 4} : Shape{1, 2, 2, 2, 4};
}
Integers repeated(std::int64_t value, int spatial) {
  return Integers(static_cast<std::size_t>(spatial), value);
}

// A plane of 4 in each dimension (2 in those before the last two), and gradients of what was taken
// of it.
struct Taken {
  std::string_view name;
  std::uint32_t weight = 1;
  int spatial = 2;
  Shape taken = {};  // the gradient's sizes
  bool has_corners = false;
  bool is_padded = false;
};

// ---- windows: pairs along each dimension

const Taken kAverages[] = {
    {"aten.avg_pool2d_backward", 1, 2, Shape{1, 2, 2, 2}},
    {"aten.avg_pool3d_backward", 1, 3, Shape{1, 2, 1, 1, 2}},
};
bool draw_average(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Taken& row = kAverages[variant];
  const DType dtype = genes.chance(30) ? DType::kFloat64 : DType::kFloat32;
  const TensorIndex self = draft.pick_like(genes, dtype, plane_of(row.spatial));
  const TensorIndex gradient = draft.pick_like(genes, dtype, row.taken);
  const Layout layout = row_major_like(draft, {self}, plane_of(row.spatial));
  NodeBuilder node(draft, std::string(row.name) + ".default");
  node.tensor("grad_output", gradient).tensor("self", self);
  node.integers("kernel_size", repeated(2, row.spatial));
  node.integers("stride", repeated(2, row.spatial));
  node.integers("padding", repeated(0, row.spatial));
  node.boolean("ceil_mode", genes.chance(30)).boolean("count_include_pad", genes.chance(50));
  if (genes.chance(30)) {
    node.integer("divisor_override", 3);
  } else {
    node.none("divisor_override");
  }
  node.fresh(dtype, plane_of(row.spatial), layout);
  return true;
}

// ---- adaptive parts; and padding: one before the last dimension and none behind it, one on both
// sides of others

const Taken kParts[] = {
    {"aten._adaptive_avg_pool2d_backward", 1, 2, Shape{1, 2, 3, 1}},
    {"aten._adaptive_avg_pool3d_backward", 1, 3, Shape{1, 2, 1, 2, 3}},
    {"aten.reflection_pad1d_backward", 1, 1, Shape{1, 2, 5}, false, true},
    {"aten.reflection_pad2d_backward", 1, 2, Shape{1, 2, 6, 5}, false, true},
    {"aten.reflection_pad3d_backward", 1, 3, Shape{1, 2, 4, 4, 5}, false, true},
    {"aten.replication_pad1d_backward", 1, 1, Shape{1, 2, 5}, false, true},
    {"aten.replication_pad2d_backward", 1, 2, Shape{1, 2, 6, 5}, false, true},
    {"aten.replication_pad3d_backward", 1, 3, Shape{1, 2, 4, 4, 5}, false, true},
};
bool draw_part(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Taken& row = kParts[variant];
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, plane_of(row.spatial));
  const TensorIndex gradient = draft.pick_like(genes, dtype, row.taken);
  const Layout layout = row_major_like(draft, {self}, plane_of(row.spatial));
  NodeBuilder node(draft, std::string(row.name) + ".default");
  node.tensor("grad_output", gradient).tensor("self", self);
  if (row.is_padded) {
    Integers padding = {1, 0};
    for (int d = 1; d < row.spatial; ++d) padding.insert(padding.end(), {1, 1});
    node.integers("padding", padding);
  }
  node.fresh(dtype, plane_of(row.spatial), layout);
  return true;
}

// ---- resampling

const Taken kResized[] = {
    {"aten.upsample_nearest1d_backward", 1, 1, Shape{1, 2, 5}},
    {"aten.upsample_nearest3d_backward", 1, 3, Shape{1, 2, 3, 1, 6}},
    {"aten._upsample_nearest_exact1d_backward", 1, 1, Shape{1, 2, 5}},
    {"aten._upsample_nearest_exact2d_backward", 1, 2, Shape{1, 2, 3, 6}},
    {"aten._upsample_nearest_exact3d_backward", 1, 3, Shape{1, 2, 3, 1, 6}},
    {"aten.upsample_linear1d_backward", 1, 1, Shape{1, 2, 5}, true},
    {"aten.upsample_bilinear2d_backward", 1, 2, Shape{1, 2, 3, 6}, true},
    {"aten.upsample_trilinear3d_backward", 1, 3, Shape{1, 2, 3, 1, 6}, true},
    {"aten.upsample_bicubic2d_backward", 1, 2, Shape{1, 2, 3, 6}, true},
};
bool draw_resized(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Taken& row = kResized[variant];
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex gradient = draft.pick_like(genes, dtype, row.taken);
  const Shape sizes = plane_of(row.spatial);
  Integers taken;
  for (int d = 2; d < row.taken.rank; ++d) taken.push_back(row.taken[d]);
  const Layout layout = row_major_like(draft, {gradient}, sizes);
  NodeBuilder node(draft, std::string(row.name) + ".default");
  node.tensor("grad_output", gradient).integers("output_size", taken).sizes("input_size", sizes);
  if (row.has_corners) node.boolean("align_corners", genes.chance(50));
  node.fresh(dtype, sizes, layout);
  return true;
}

std::vector<DrawnOp> all_rows() {
  std::vector<DrawnOp> rows;
  const auto add = [&rows](std::span<const DrawnOp> more) {
    for (DrawnOp row : more) {
      row.since = 13;
      rows.push_back(row);
    }
  };
  add(rows_of(kAverages, draw_average));
  add(rows_of(kParts, draw_part));
  add(rows_of(kResized, draw_resized));
  return rows;
}

}  // namespace
}  // namespace plane_gradients

std::span<const DrawnOp> plane_gradients_rows() {
  static const std::vector<DrawnOp> kRows = plane_gradients::all_rows();
  return kRows;
}

}  // namespace graphgate::fuzz
