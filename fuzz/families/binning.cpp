// Histograms over one or two dimensions, over ranges that are given.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

spec::Argument reals(std::initializer_list<double> numbers) {
  spec::Argument::List list;
  for (const double number : numbers) list.push_back({number});
  return {std::move(list)};
}

// Edges from -2 to 2.
TensorIndex add_edges(Draft& draft, DType dtype, Size count) {
  NodeBuilder node(draft, "aten.linspace.default");
  node.real("start", -2.0).integer("end", 2).integer("steps", count).dtype("dtype", dtype);
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
  return node.fresh(dtype, Shape{count});
}

bool draw_histogram(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank >= 1;
  });
  if (!self) return false;
  const DType dtype = draft.tensor(*self).dtype;
  const bool has_edges = variant == 1;
  const TensorIndex edges = has_edges ? add_edges(draft, dtype, 5) : TensorIndex{};
  NodeBuilder node(draft, has_edges ? "aten.histogram.bins_tensor" : "aten.histogram.bin_ct");
  node.tensor("self", *self);
  if (has_edges) {
    node.tensor("bins", edges);
  } else {
    node.integer("bins", 4).argument("range", reals({-2, 2}));
  }
  node.fresh(dtype, Shape{4});
  node.fresh(dtype, Shape{5});
  return true;
}

enum Planar : std::size_t { kByCounts, kByTensors, kEdgesAlone };

// Points of two dimensions.
bool draw_points(Draft& draft, GeneReader& genes, std::size_t variant) {
  static constexpr const char* kNames[] = {"aten._histogramdd_from_bin_cts.default",
                                           "aten._histogramdd_from_bin_tensors.default",
                                           "aten._histogramdd_bin_edges.default"};
  const DType dtype = genes.chance(30) ? DType::kFloat64 : DType::kFloat32;
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{4, 2});
  std::vector<TensorIndex> edges;
  if (variant == kByTensors) edges = {add_edges(draft, dtype, 3), add_edges(draft, dtype, 4)};
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self);
  if (variant == kByTensors) {
    node.tensors("bins", edges);
  } else {
    node.integers("bins", {2, 3}).argument("range", reals({-2, 2, -2, 2}));
  }
  if (variant != kEdgesAlone) {
    node.fresh(dtype, Shape{2, 3});
    return true;
  }
  node.fresh(dtype, Shape{3});
  node.fresh(dtype, Shape{4});
  node.as_list();
  return true;
}

constexpr DrawnOp kBinningRows[] = {
    {"aten.histogram.bin_ct", 1, draw_histogram, 0, 6},
    {"aten.histogram.bins_tensor", 1, draw_histogram, 1, 6},
    {"aten._histogramdd_from_bin_cts", 1, draw_points, kByCounts, 6},
    {"aten._histogramdd_from_bin_tensors", 1, draw_points, kByTensors, 6},
    {"aten._histogramdd_bin_edges", 1, draw_points, kEdgesAlone, 6}};

}  // namespace

std::span<const DrawnOp> binning_rows() { return kBinningRows; }

}  // namespace graphgate::fuzz
