#include "optimized/passes/row_major.h"

#include "optimized/kernel.h"
#include "optimized/passes/size_facts.h"

namespace graphgate::optimized {
namespace {

using spec::Node;
using spec::ValueId;

// The rule of the form that the row is.
RowMajorRule rule_of(const spec::OpRow& row) {
  const Kernel* const kernel = find_kernel(row);
  if (kernel == nullptr) return RowMajorRule::kUnknown;
  const bool holds =
      !row.effects.is_in_place || kernel->row_major_rule == RowMajorRule::kLikeSelfInPlace;
  return holds ? kernel->row_major_rule : RowMajorRule::kUnknown;
}

bool asks_for_contiguous_or_nothing(const Node& node, bool may_preserve) {
  const spec::Argument* format = argument_of(node, "memory_format");
  if (!format || format->as<spec::None>()) return true;
  const auto* given = format->as<spec::MemoryFormat>();
  return given && (*given == spec::MemoryFormat::kContiguous ||
                   (may_preserve && *given == spec::MemoryFormat::kPreserve));
}

}  // namespace

std::string_view family_of_op(std::string_view qualified_name) {
  const std::size_t ns = qualified_name.find('.');
  const std::size_t overload = qualified_name.find('.', ns + 1);
  return qualified_name.substr(0, overload);
}

RowMajor::RowMajor(const spec::Graph& graph, PassContext& context)
    : is_known_(graph.values.size(), false), is_fresh_(graph.values.size(), false) {
  for (const Node& node : graph.nodes) {
    const spec::OpRow* row = context.row(node.op);
    if (!row || node.results.size() != 1 || node.results.front().is_list) continue;
    const ValueId id = result_of(node);
    if (graph.value(id).kind != spec::ValueKind::kTensor) continue;
    const bool aliases =
        !row->effects.returns.empty() &&
        (!row->effects.returns.front().aliases.empty() || !row->undeclared_aliases.empty());
    is_fresh_[id.index] = !aliases;
    is_known_[id.index] = follows(graph, node, *row);
  }
}

// An out= argument keeps its strides, whatever the op makes where it has none.
bool RowMajor::out_is_known(const Node& node, const spec::OpRow& row) const {
  const auto& aliases = row.effects.returns.front().aliases;
  if (aliases.size() != 1) return false;
  const auto written = value_of(node, row.schema.arguments[aliases.front()].name);
  return written && is_known_[written->index];
}

bool RowMajor::follows(const spec::Graph& graph, const Node& node, const spec::OpRow& row) const {
  if (row.effects.is_out) return out_is_known(node, row);
  const RowMajorRule rule = rule_of(row);
  if (rule == RowMajorRule::kAlways) return true;
  if (rule == RowMajorRule::kFactory) return asks_for_contiguous_or_nothing(node, false);
  if (rule != RowMajorRule::kUnknown) {
    const auto self = value_of(node, "self");
    // view.dtype changes the size of elements, and with it strides; the rule holds all the same.
    return self && is_known_[self->index] && asks_for_contiguous_or_nothing(node, true);
  }
  if (!row.has_tag("pointwise") || row.effects.mutates()) return false;
  bool all = true;
  bool has_full = false;
  const spec::Value& result = graph.value(result_of(node));
  for_each_operand(node, [&](ValueId id) {
    const spec::Value& value = graph.value(id);
    if (value.kind != spec::ValueKind::kTensor) return;
    all = all && is_known_[id.index];
    has_full = has_full ||
               (value.type && result.type && provably_equal(value.type->sizes, result.type->sizes));
  });
  return all && has_full;
}

}  // namespace graphgate::optimized
