#include "optimized/passes/row_major.h"

#include <algorithm>
#include <unordered_map>

#include "optimized/passes/size_facts.h"

namespace graphgate::optimized {
namespace {

using spec::Node;
using spec::ValueId;

enum class Rule : std::uint8_t {
  kAlways,    // new and row-major, whatever the operands are
  kFactory,   // the same, unless a memory format is asked for
  kLikeSelf,  // row-major when self is; a memory format asked for is contiguous or preserve
};

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> kRules = {
      {"aten.mm", Rule::kAlways},
      {"aten.bmm", Rule::kAlways},
      {"aten.addmm", Rule::kAlways},
      {"aten.linear", Rule::kAlways},
      {"aten.embedding", Rule::kAlways},
      {"aten.arange", Rule::kAlways},
      {"aten.sum", Rule::kAlways},
      {"aten.mean", Rule::kAlways},
      {"aten.amax", Rule::kAlways},
      {"aten.amin", Rule::kAlways},
      {"aten.full", Rule::kFactory},
      {"aten.zeros", Rule::kFactory},
      {"aten.ones", Rule::kFactory},
      {"aten.empty", Rule::kFactory},
      {"aten.view", Rule::kLikeSelf},
      {"aten.reshape", Rule::kLikeSelf},
      {"aten._unsafe_view", Rule::kLikeSelf},
      {"aten.unsqueeze", Rule::kLikeSelf},
      {"aten.contiguous", Rule::kLikeSelf},
      {"aten.alias", Rule::kLikeSelf},
      {"aten.detach", Rule::kLikeSelf},
      {"aten.clone", Rule::kLikeSelf},
      {"aten.to", Rule::kLikeSelf},
      {"aten._to_copy", Rule::kLikeSelf},
      {"aten.copy_", Rule::kLikeSelf},
      {"aten.copy", Rule::kLikeSelf},
      {"aten.slice_scatter", Rule::kLikeSelf},
      {"aten.select_scatter", Rule::kLikeSelf},
      {"aten.index_put", Rule::kLikeSelf},
      {"aten.index_put_", Rule::kLikeSelf},
      {"aten.scatter", Rule::kLikeSelf},
      {"aten.scatter_add", Rule::kLikeSelf},
  };
  return kRules;
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
  const auto rule = rules().find(family_of_op(node.op));
  if (rule != rules().end()) {
    if (rule->second == Rule::kAlways) return true;
    if (rule->second == Rule::kFactory) return asks_for_contiguous_or_nothing(node, false);
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
