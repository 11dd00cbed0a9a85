// Planes sampled at places that a grid gives.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool draw_grid(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex input = draft.pick_like(genes, DType::kFloat32, Shape{1, 2, 4, 4});
  const TensorIndex grid = draft.pick_like(genes, DType::kFloat32, Shape{1, 3, 2, 2});
  NodeBuilder node(draft, "aten.grid_sampler_2d.default");
  node.tensor("input", input).tensor("grid", grid).integer("interpolation_mode", 0);
  node.integer("padding_mode", genes.chance(50) ? 1 : 0).boolean("align_corners", genes.chance(50));
  node.fresh(DType::kFloat32, Shape{1, 2, 3, 2}, Layout{});
  return true;
}

constexpr DrawnOp kGridSamplerRows[] = {{"aten.grid_sampler_2d", 1, draw_grid, 0}};

}  // namespace

std::span<const DrawnOp> grid_sampler_rows() { return kGridSamplerRows; }

}  // namespace graphgate::fuzz
