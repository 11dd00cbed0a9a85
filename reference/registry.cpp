#include "reference/registry.h"

#include <string>
#include <unordered_map>

#include "spec/base_name.h"

namespace graphgate::reference {
namespace {

struct Family {
  std::string_view name;
  std::span<const OpBody> (*ops)();
};

constexpr Family kFamilies[] = {
    {"activation", activation_ops},
    {"activation_backward", activation_backward_ops},
    {"assertion", assertion_ops},
    {"attention", attention_ops},
    {"batch_norm", batch_norm_ops},
    {"binning", binning_ops},
    {"class_loss", class_loss_ops},
    {"comparison", comparison_ops},
    {"complex_numbers", complex_number_ops},
    {"composite", composite_ops},
    {"composite_gradients", composite_gradient_ops},
    {"composite_layer", composite_layer_ops},
    {"composite_linalg", composite_linalg_ops},
    {"composite_loss", composite_loss_ops},
    {"composite_recurrent", composite_recurrent_ops},
    {"composite_slopes", composite_slope_ops},
    {"composite_statistics", composite_statistics_ops},
    {"contraction", contraction_ops},
    {"conversion", conversion_ops},
    {"convolution", convolution_ops},
    {"creation", creation_ops},
    {"diagonal", diagonal_ops},
    {"distance", distance_ops},
    {"einsum", einsum_ops},
    {"embedding_bag", embedding_bag_ops},
    {"equality", equality_ops},
    {"extremum", extremum_ops},
    {"folding", folding_ops},
    {"foreach", foreach_ops},
    {"fractional_max_pooling", fractional_max_pooling_ops},
    {"grid_sampler", grid_sampler_ops},
    {"histogram", histogram_ops},
    {"indexing", indexing_ops},
    {"joining", joining_ops},
    {"linalg_factor", linalg_factor_ops},
    {"linalg_solve", linalg_solve_ops},
    {"linalg_spectral", linalg_spectral_ops},
    {"loss", loss_ops},
    {"matmul", matmul_ops},
    {"max_pooling", max_pooling_ops},
    {"normalization", normalization_ops},
    {"orthogonal_polynomial", orthogonal_polynomial_ops},
    {"padding", padding_ops},
    {"pointwise_binary", pointwise_binary_ops},
    {"pointwise_division", pointwise_division_ops},
    {"pointwise_unary", pointwise_unary_ops},
    {"pooling", pooling_ops},
    {"prims", prims_ops},
    {"quantization", quantization_ops},
    {"random", random_ops},
    {"reduction", reduction_ops},
    {"region_scatter", region_scatter_ops},
    {"renorm", renorm_ops},
    {"scan", scan_ops},
    {"scatter", scatter_ops},
    {"segment_reduce", segment_reduce_ops},
    {"shuffle", shuffle_ops},
    {"sorting", sorting_ops},
    {"special", special_ops},
    {"splitting", splitting_ops},
    {"symbolic", symbolic_ops},
    {"unique", unique_ops},
    {"unpooling", unpooling_ops},
    {"upsample", upsample_ops},
    {"variance", variance_ops},
    {"view", view_ops},
    {"vllm", vllm_ops},
};

constexpr std::span<const ComplexBody> (*kOfComplexNumbers[])() = {
    complex_arithmetic_bodies, complex_composite_bodies, complex_number_bodies,
    complex_product_bodies, complex_reduction_bodies};

struct Entry {
  OpBody op;
  std::string_view family;
  Body of_complex = nullptr;
};

std::unordered_map<std::string_view, Entry> index_bodies() {
  std::unordered_map<std::string_view, Entry> bodies;
  for (const Family& family : kFamilies) {
    for (const OpBody& op : family.ops()) {
      const bool is_new = bodies.emplace(op.base_name, Entry{op, family.name}).second;
      GRAPHGATE_CHECK(is_new);
    }
  }
  for (const auto& ops : kOfComplexNumbers) {
    for (const ComplexBody& op : ops()) bodies.at(op.base_name).of_complex = op.body;
  }
  for (const Synonym& synonym : synonyms()) {
    const Entry of_op = bodies.at(synonym.op);
    const bool is_new = bodies.emplace(synonym.name, of_op).second;
    GRAPHGATE_CHECK(is_new);
  }
  return bodies;
}

const Entry* find_entry(const spec::OpRow& row) {
  static const auto kBodies = index_bodies();
  thread_local RecentFinds<spec::OpRow, decltype(kBodies)::value_type> recent;
  return spec::find_by_base_name(kBodies, recent, row);
}

}  // namespace

const OpBody* find_op(const spec::OpRow& row) {
  const Entry* const entry = find_entry(row);
  return entry != nullptr ? &entry->op : nullptr;
}

Body find_body(const spec::OpRow& row) {
  const OpBody* const op = find_op(row);
  return op != nullptr ? op->body : nullptr;
}

Body find_complex_body(const spec::OpRow& row) {
  const Entry* const entry = find_entry(row);
  return entry != nullptr ? entry->of_complex : nullptr;
}

bool is_made_of_others(const spec::OpRow& row) {
  const Entry* const entry = find_entry(row);
  if (entry == nullptr) return false;
  // where(condition) and nonzero_numpy: the columns of what nonzero makes.
  const bool has_condition_alone =
      entry->op.base_name == "aten.where" && row.schema.overload.empty();
  const bool lists_columns = has_condition_alone || entry->op.base_name == "aten.nonzero_numpy";
  return lists_columns || (entry->family.starts_with("composite") && !row.effects.is_view &&
                           entry->op.moved.first.empty());
}

bool writes_one_number(const spec::OpRow& row) {
  const OpBody* const op = find_op(row);
  return op != nullptr && op->writes_one_number;
}

std::string_view family_of(const spec::OpRow& row) {
  const Entry* const entry = find_entry(row);
  return entry != nullptr ? entry->family : std::string_view();
}

}  // namespace graphgate::reference
