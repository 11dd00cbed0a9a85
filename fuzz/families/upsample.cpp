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

}  // namespace

std::span<const DrawnOp> upsample_rows() {
  static const std::vector<DrawnOp> kRows = rows_of(kResamplings, draw_resampling);
  return kRows;
}

}  // namespace graphgate::fuzz
