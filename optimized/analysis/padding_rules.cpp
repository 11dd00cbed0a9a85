#include "optimized/analysis/padding_rules.h"

#include <algorithm>

#include "optimized/analysis/row_rules.h"
#include "optimized/kernel.h"

namespace graphgate::optimized {
namespace {

bool is_pointwise(const spec::OpRow& row, const spec::OpTable& ops) {
  if (row.has_tag("pointwise")) return true;
  const auto forms = ops.find_by_base_name(row.schema.ns + "." + row.schema.base_name());
  return std::ranges::any_of(forms,
                             [](const spec::OpRow* form) { return form->has_tag("pointwise"); });
}

}  // namespace

RowRule find_row_rule(const spec::OpRow& row, const spec::OpTable& ops) {
  if (row.has_tag("inplace_view")) return nullptr;
  const Kernel* const kernel = find_kernel(row);
  if (kernel != nullptr && kernel->row_rule != nullptr) return kernel->row_rule;
  if (row.has_tag("nondeterministic_seeded")) return nullptr;
  if (row.has_tag("reduction")) return row_rules::along_dim;
  return is_pointwise(row, ops) ? row_rules::pointwise : nullptr;
}

bool is_size_argument(const spec::OpRow& row, std::string_view argument) {
  if (argument == "size" || argument == "shape" || argument == "repeats") return true;
  const Kernel* const kernel = find_kernel(row);
  const RowRule rule = kernel != nullptr ? kernel->row_rule : nullptr;
  if (argument == "end") return rule == row_rules::slice || rule == row_rules::arange;
  return spec::is_python_namespace(row.schema.ns) || rule == row_rules::states_sizes;
}

bool makes_row_numbers(const RowCall& call) {
  if (call.results().size() != 1 || !call.results().front()->rows) return false;
  const RowFact& result = *call.results().front();
  const bool is_wide =
      result.type->dtype == spec::DType::kInt64 || result.type->dtype == spec::DType::kInt32;
  if (!is_wide) return false;
  const Kernel* const kernel = find_kernel(call.row());
  if (kernel == nullptr) return false;
  if (kernel->row_rule == row_rules::arange) {
    return result.rows->per_row == SizeProduct{} &&
           (!call.argument("start") || call.integer("start") == 0) &&
           (!call.argument("step") || call.integer("step") == 1);
  }
  const bool adds_nothing = !call.argument("other") || call.integer("other") == 0;
  return kernel->passes_row_numbers && adds_nothing && call.operands().size() == 1 &&
         call.operands().front()->is_row_number;
}

}  // namespace graphgate::optimized
