#include "interop/pt2_effect_tokens.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "interop/pt2_operator_node.h"
#include "spec/op_table.h"

namespace graphgate::interop {
namespace {

using spec::Graph;
using spec::Node;
using spec::ValueId;

constexpr std::string_view kWithEffects = "higher_order.with_effects";

// Every token of the graph, by value; nothing where one is used as anything else.
class Tokens {
 public:
  explicit Tokens(const Graph& graph) : graph_(graph), is_token_(graph.values.size(), false) {}

  [[nodiscard]] bool collect() {
    for (const Node& node : graph_.nodes) {
      if (node.op == kWithEffects && !note(node)) return false;
    }
    return std::ranges::none_of(graph_.nodes, [&](const Node& node) { return uses_one(node); });
  }
  [[nodiscard]] bool has(ValueId id) const { return is_token_[id.index]; }
  [[nodiscard]] bool has(const spec::Argument& argument) const {
    const auto* id = argument.as<ValueId>();
    return id != nullptr && has(*id);
  }
  [[nodiscard]] std::vector<ValueId> all() const {
    std::vector<ValueId> out;
    for (std::uint32_t i = 0; i < is_token_.size(); ++i) {
      if (is_token_[i]) out.push_back({i});
    }
    return out;
  }

 private:
  bool note(const Node& node) {
    const auto* before =
        node.arguments.empty() ? nullptr : node.arguments[0].argument.as<ValueId>();
    const bool has_after =
        !node.results.empty() && !node.results[0].is_list && node.results[0].values.size() == 1;
    if (!before || !has_after || !operator_call(node, 1)) return false;
    is_token_[before->index] = true;
    is_token_[node.results[0].values[0].index] = true;
    return true;
  }

  [[nodiscard]] bool uses_one(const Node& node) const {
    const std::size_t first = node.op == kWithEffects ? 1 : 0;
    for (std::size_t i = first; i < node.arguments.size(); ++i) {
      bool is_used = false;
      spec::for_each_value(node.arguments[i].argument,
                           [&](ValueId id) { is_used = is_used || has(id); });
      if (is_used) return true;
    }
    return false;
  }

  const Graph& graph_;
  std::vector<bool> is_token_;
};

// The op without its token. An op that returns nothing has no result here.
Node plain_node(const Graph& graph, const Node& node) {
  OperatorCall call = *operator_call(node, 1);
  Node out{node.name, std::move(call.op), std::move(call.arguments), {}};
  for (std::size_t i = 1; i < node.results.size(); ++i) {
    const spec::NodeResult& result = node.results[i];
    const bool is_none =
        !result.is_list && graph.value(result.values[0]).kind == spec::ValueKind::kNone;
    if (!is_none) out.results.push_back(result);
  }
  return out;
}

}  // namespace

std::vector<ValueId> drop_effect_tokens(Graph& graph) {
  Tokens tokens(graph);
  if (!tokens.collect()) return {};
  std::vector<ValueId> dropped = tokens.all();
  if (dropped.empty()) return {};
  for (Node& node : graph.nodes) {
    if (node.op == kWithEffects) node = plain_node(graph, node);
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return tokens.has(id); });
  std::erase_if(graph.outputs, [&](const auto& output) { return tokens.has(output); });
  return dropped;
}

}  // namespace graphgate::interop
