#include "optimized/analysis/padding_rules.h"

#include <algorithm>
#include <map>

#include "optimized/analysis/row_rules.h"

namespace graphgate::optimized {
namespace {

struct RuleRow {
  RowRule rule;
  std::vector<std::string_view> ops;  // namespace and base name, for every overload
};

const std::vector<RuleRow>& rule_rows() {
  static const std::vector<RuleRow> kRows = {
      {row_rules::pointwise, {"aten.copy",
                              "aten.clone",
                              "aten.alias",
                              "aten.alias_copy",
                              "aten.contiguous",
                              "aten.detach",
                              "aten.lift_fresh",
                              "aten.lift_fresh_copy",
                              "aten.to",
                              "aten._to_copy",
                              "aten.type_as",
                              "aten.fill",
                              "aten.zero",
                              "aten.tril",
                              "aten.triu",
                              "aten.where",
                              "aten.masked_fill",
                              "aten.gelu",
                              "aten.conj_physical",
                              "aten._prelu_kernel",
                              "aten.__and__",
                              "aten.__or__",
                              "aten.__xor__",
                              "graphgate.clone_preserve_strides"}},
      {row_rules::fresh,
       {"aten.full", "aten.zeros", "aten.ones", "aten.empty", "aten.full_like", "aten.zeros_like",
        "aten.ones_like", "aten.empty_like", "aten.new_full", "aten.new_zeros", "aten.new_ones",
        "aten.new_empty", "aten.empty_permuted", "aten.new_empty_strided"}},
      {row_rules::arange, {"aten.arange"}},
      {row_rules::view,
       {"aten.view", "aten.reshape", "aten._unsafe_view", "aten.view_copy", "aten.flatten"}},
      {row_rules::expand, {"aten.expand", "aten.expand_copy"}},
      {row_rules::move_dims,
       {"aten.permute", "aten.permute_copy", "aten.transpose", "aten.transpose_copy", "aten.t",
        "aten.t_copy", "aten.numpy_T", "aten.unsqueeze", "aten.unsqueeze_copy", "aten.squeeze",
        "aten.squeeze_copy", "aten.stack"}},
      {row_rules::slice, {"aten.slice"}},
      {row_rules::repeat, {"aten.repeat"}},
      {row_rules::pad, {"aten.constant_pad_nd", "aten.pad"}},
      {row_rules::along_dim,
       {"aten.softmax",
        "aten._softmax",
        "aten._log_softmax",
        "aten._safe_softmax",
        "aten.cumsum",
        "aten.cumprod",
        "aten.cummax",
        "aten.cummin",
        "aten.logcumsumexp",
        "aten.sort",
        "aten.topk",
        "aten.kthvalue",
        "aten.median",
        "aten.nanmedian",
        "aten.mode",
        "aten.glu",
        "aten.cat",
        "aten.split",
        "aten.split_with_sizes",
        "aten.split_with_sizes_copy",
        "aten.unsafe_split",
        "aten.chunk",
        "aten.unbind",
        "aten.unbind_copy",
        "aten.select",
        "aten.narrow_copy",
        "aten.diff",
        "aten.repeat_interleave",
        "aten.linalg_cross"}},
      {row_rules::along_dims, {"aten.flip", "aten.roll"}},
      {row_rules::along_dimension, {"aten.unfold", "aten.unfold_copy"}},
      {row_rules::index, {"aten.index"}},
      {row_rules::index_select, {"aten.index_select"}},
      {row_rules::gather, {"aten.gather"}},
      {row_rules::embedding, {"aten.embedding"}},
      {row_rules::product,
       {"aten.mm", "aten.bmm", "aten.matmul", "aten.addmm", "aten.mv", "aten.addmv", "aten.baddbmm",
        "aten.linear"}},
      {row_rules::attention, {"aten.scaled_dot_product_attention"}},
      {row_rules::attention_over_rows, {"vllm.unified_attention_with_output"}},
      {row_rules::layer_norm, {"aten.layer_norm", "aten.native_layer_norm"}},
      {row_rules::per_image,
       {"aten.conv1d",
        "aten.conv2d",
        "aten.convolution",
        "aten.avg_pool2d",
        "aten.avg_pool3d",
        "aten.max_pool2d",
        "aten.max_pool2d_with_indices",
        "aten.max_pool3d_with_indices",
        "aten.adaptive_avg_pool1d",
        "aten.adaptive_avg_pool2d",
        "aten._adaptive_avg_pool2d",
        "aten._adaptive_avg_pool3d",
        "aten.adaptive_max_pool2d",
        "aten.adaptive_max_pool3d",
        "aten._native_batch_norm_legit_no_training",
        "aten.native_group_norm",
        "aten.upsample_nearest1d",
        "aten.upsample_nearest2d",
        "aten.upsample_nearest3d",
        "aten.upsample_bilinear2d",
        "aten.upsample_bicubic2d",
        "aten.upsample_linear1d"}},
      {row_rules::dropout, {"aten.dropout"}},
      {row_rules::scatter_along_dim,
       {"aten.scatter", "aten.scatter_add", "aten.scatter_reduce", "aten.slice_scatter",
        "aten.select_scatter", "aten.index_fill", "aten.index_add", "aten.index_copy",
        "aten.index_reduce"}},
      {row_rules::scatter_anywhere, {"aten.index_put", "aten.put", "aten.masked_scatter"}},
      {row_rules::within_rows, {"vllm.fused_add_rms_norm", "vllm.silu_and_mul"}},
      {row_rules::states_sizes,
       {"aten._assert_tensor_metadata", "aten._assert_scalar", "aten.sym_constrain_range",
        "aten.sym_size", "aten.sym_constrain_range_for_size"}},
  };
  return kRows;
}

bool is_pointwise(const spec::OpRow& row, const spec::OpTable& ops) {
  if (row.has_tag("pointwise")) return true;
  const auto forms = ops.find_by_base_name(row.schema.ns + "." + row.schema.base_name());
  return std::any_of(forms.begin(), forms.end(),
                     [](const spec::OpRow* form) { return form->has_tag("pointwise"); });
}

}  // namespace

RowRule find_row_rule(const spec::OpRow& row, const spec::OpTable& ops) {
  static const std::map<std::string, RowRule, std::less<>> kRules = [] {
    std::map<std::string, RowRule, std::less<>> rules;
    for (const RuleRow& entry : rule_rows()) {
      for (const std::string_view op : entry.ops) rules.emplace(op, entry.rule);
    }
    return rules;
  }();
  const bool may_draw = row.has_tag("nondeterministic_seeded");
  const std::string name = row.schema.base_name();
  const bool says_whether = name == "dropout" || name == "scaled_dot_product_attention";
  if (row.has_tag("inplace_view") || (may_draw && !says_whether)) return nullptr;
  const auto found = kRules.find(row.schema.ns + "." + row.schema.base_name());
  if (found != kRules.end()) return found->second;
  if (row.has_tag("reduction")) return row_rules::along_dim;
  return is_pointwise(row, ops) ? row_rules::pointwise : nullptr;
}

bool is_size_argument(const spec::OpRow& row, std::string_view argument) {
  const std::string name = row.schema.base_name();
  if (argument == "size" || argument == "shape" || argument == "repeats") return true;
  if (argument == "end") return name == "slice" || name == "arange";
  return spec::is_python_namespace(row.schema.ns) || name.starts_with("_assert_") ||
         name.starts_with("sym_");
}

bool makes_row_numbers(const RowCall& call) {
  const std::string name = call.row().schema.base_name();
  if (call.results().size() != 1 || !call.results().front()->rows) return false;
  const RowFact& result = *call.results().front();
  const bool is_wide =
      result.type->dtype == spec::DType::kInt64 || result.type->dtype == spec::DType::kInt32;
  if (!is_wide) return false;
  if (name == "arange") {
    return result.rows->per_row == SizeProduct{} &&
           (!call.argument("start") || call.integer("start") == 0) &&
           (!call.argument("step") || call.integer("step") == 1);
  }
  static constexpr std::string_view kPass[] = {"unsqueeze", "expand", "view",      "reshape",
                                               "clone",     "to",     "_to_copy",  "alias",
                                               "add",       "slice",  "contiguous"};
  const bool passes = std::find(std::begin(kPass), std::end(kPass), name) != std::end(kPass);
  const bool adds_nothing = name != "add" || call.integer("other") == 0;
  return passes && adds_nothing && call.operands().size() == 1 &&
         call.operands().front()->is_row_number;
}

}  // namespace graphgate::optimized
