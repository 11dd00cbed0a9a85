#include "reference/registry.h"

#include <map>
#include <string>

namespace graphgate::reference {
namespace {

using Family = std::span<const OpBody> (*)();

constexpr Family kFamilies[] = {
    activation_ops,
    assertion_ops,
    attention_ops,
    batch_norm_ops,
    comparison_ops,
    contraction_ops,
    convolution_ops,
    conversion_ops,
    creation_ops,
    distance_ops,
    einsum_ops,
    extremum_ops,
    histogram_ops,
    indexing_ops,
    joining_ops,
    matmul_ops,
    max_pooling_ops,
    normalization_ops,
    padding_ops,
    pointwise_binary_ops,
    pointwise_division_ops,
    pointwise_unary_ops,
    pooling_ops,
    reduction_ops,
    region_scatter_ops,
    resampling_ops,
    scan_ops,
    scatter_ops,
    sorting_ops,
    splitting_ops,
    symbolic_ops,
    variance_ops,
    view_ops,
    vllm_ops,
};

std::map<std::string_view, Body> index_bodies() {
  std::map<std::string_view, Body> bodies;
  for (const Family family : kFamilies) {
    for (const OpBody& op : family()) {
      const bool is_new = bodies.emplace(op.base_name, op.body).second;
      GRAPHGATE_CHECK(is_new);
    }
  }
  return bodies;
}

}  // namespace

Body find_body(const spec::OpRow& row) {
  static const std::map<std::string_view, Body> kBodies = index_bodies();
  const auto found = kBodies.find(row.schema.ns + "." + row.schema.base_name());
  return found == kBodies.end() ? nullptr : found->second;
}

}  // namespace graphgate::reference
