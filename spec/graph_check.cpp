#include "spec/graph_check.h"

#include <algorithm>

#include "spec/argument_text.h"
#include "spec/name_set.h"

namespace graphgate::spec {
namespace {

std::string place_of(const Node& node) { return "node '" + node.name + "' (" + node.op + ")"; }

std::string place_of(const Value& value) { return "value " + print_sigil_name('%', value.name); }

bool is_negative(const SymExpr& expr) { return expr.is_constant() && expr.constant() < 0; }

// The elements from the storage's first to the type's last, symbolic terms counted as the smallest
// they can be. nullopt on overflow.
std::optional<std::int64_t> least_span(const TensorType& type) {
  std::int64_t span = type.storage_offset.is_constant() ? type.storage_offset.constant() : 0;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < type.sizes.size(); ++i) {
    if (!type.sizes[i].is_constant()) continue;
    const std::int64_t size = type.sizes[i].constant();
    if (size == 0) return 0;
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
    if (!type.strides[i].is_constant()) continue;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(size - 1, type.strides[i].constant(), &reach) ||
        __builtin_add_overflow(span, reach, &span)) {
      return std::nullopt;
    }
  }
  // Strides of 0 make a large tensor of few bytes; its dense copy must fit as well.
  return std::max(span, count);
}

Result<void> check_type(const TensorType& type) {
  if (type.sizes.size() != type.strides.size()) {
    return bad_input(std::to_string(type.sizes.size()) + " sizes, but " +
                     std::to_string(type.strides.size()) + " strides");
  }
  if (std::any_of(type.sizes.begin(), type.sizes.end(), is_negative)) {
    return bad_input("a negative size");
  }
  if (std::any_of(type.strides.begin(), type.strides.end(), is_negative)) {
    return bad_input("a negative stride");
  }
  if (is_negative(type.storage_offset)) return bad_input("a negative storage offset");
  const auto span = least_span(type);
  if (!span || *span > kMaxTensorBytes / item_size_bytes(type.dtype)) {
    return bad_input("more than 2^46 bytes");
  }
  return {};
}

Result<void> check_value(const Value& value) {
  if (value.kind != ValueKind::kTensor && value.type) {
    return bad_input("it is no tensor, but has a tensor type");
  }
  if (!is_symbolic(value.kind) && (value.expr || value.hint)) {
    return bad_input("it is no symbolic number, but has an expression or a hint");
  }
  return value.type ? check_type(*value.type) : Result<void>{};
}

class GraphChecker {
 public:
  explicit GraphChecker(const Graph& graph) : graph_(graph) {}

  Result<void> check() {
    defined_.assign(graph_.values.size(), false);
    GRAPHGATE_TRY_VOID(check_values());
    GRAPHGATE_TRY_VOID(check_subgraph_names());
    GRAPHGATE_TRY_VOID(check_inputs());
    NameSet names(graph_.nodes.size());
    for (const Node& node : graph_.nodes) {
      auto result = check_node(node);
      if (result.ok() && node.name.empty()) result = bad_input("the node has no name");
      if (result.ok() && !names.insert(node.name)) {
        result = bad_input("two nodes have this name");
      }
      if (!result.ok()) return result.error().at(place_of(node));
    }
    return check_ends();
  }

 private:
  Result<void> check_values() {
    NameSet names(graph_.values.size());
    for (const Value& value : graph_.values) {
      auto result = check_value(value);
      if (result.ok() && value.name.empty()) result = bad_input("the value has no name");
      if (result.ok() && !names.insert(value.name)) {
        result = bad_input("two values have this name");
      }
      if (!result.ok()) return result.error().at(place_of(value));
    }
    return {};
  }

  Result<void> check_subgraph_names() {
    NameSet names(graph_.subgraphs.size());
    for (const Graph& subgraph : graph_.subgraphs) {
      if (subgraph.name.empty()) return bad_input("a subgraph has no name");
      if (!names.insert(subgraph.name)) {
        return bad_input("two subgraphs are named '" + subgraph.name + "'");
      }
    }
    return {};
  }

  Result<void> check_inputs() {
    for (const ValueId id : graph_.inputs) {
      GRAPHGATE_TRY_VOID(define(id));
      const Value& value = graph_.value(id);
      if (value.kind == ValueKind::kTensor && !value.type) {
        return bad_input("input " + print_sigil_name('%', value.name) + ": it has no type");
      }
    }
    return {};
  }

  Result<void> check_node(const Node& node) {
    for (const NamedArgument& named : node.arguments) {
      auto result = check_argument(named.argument);
      if (!result.ok() && named.name.empty()) return result;
      if (!result.ok()) return result.error().at("argument '" + named.name + "'");
    }
    for (const NodeResult& result : node.results) {
      if (!result.is_list && result.values.size() != 1) {
        return bad_input("a result that is no list has " + std::to_string(result.values.size()) +
                         " values");
      }
      for (const ValueId id : result.values) GRAPHGATE_TRY_VOID(define(id));
    }
    return {};
  }

  Result<void> check_argument(const Argument& argument) {
    if (const auto* id = argument.as<ValueId>()) return check_use(*id);
    if (const auto* id = argument.as<SubgraphId>()) {
      if (id->index < graph_.subgraphs.size()) return {};
      return bad_input("subgraph number " + std::to_string(id->index) + " does not exist");
    }
    if (const auto* list = argument.as<Argument::List>()) {
      for (const Argument& element : *list) GRAPHGATE_TRY_VOID(check_argument(element));
    }
    return {};
  }

  Result<void> check_use(ValueId id) {
    if (id.index >= defined_.size()) return out_of_range(id);
    if (defined_[id.index]) return {};
    return bad_input("it reads " + print_sigil_name('%', graph_.value(id).name) +
                     " before its definition" + definer_of(id));
  }

  // Runs once, on the way to an error.
  std::string definer_of(ValueId id) const {
    for (const Node& node : graph_.nodes) {
      for (const NodeResult& result : node.results) {
        const auto& ids = result.values;
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) return " by " + place_of(node);
      }
    }
    return ", which is missing";
  }

  static Error out_of_range(ValueId id) {
    return bad_input("value number " + std::to_string(id.index) + " does not exist");
  }

  Result<void> define(ValueId id) {
    if (id.index >= defined_.size()) return out_of_range(id);
    if (defined_[id.index]) {
      return bad_input("it defines " + print_sigil_name('%', graph_.value(id).name) +
                       ", which is defined before");
    }
    defined_[id.index] = true;
    return {};
  }

  Result<void> check_ends() {
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const auto result = check_argument(graph_.outputs[i]);
      if (!result.ok()) return result.error().at("output " + std::to_string(i));
    }
    const auto missing = std::find(defined_.begin(), defined_.end(), false);
    if (missing == defined_.end()) return {};
    const Value& value = graph_.values[static_cast<std::size_t>(missing - defined_.begin())];
    return bad_input("no input and no node defines it").at(place_of(value));
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

Result<void> check_graph(const Graph& graph) {
  const auto result = GraphChecker(graph).check();
  const bool named = !graph.name.empty();
  if (!result.ok()) return named ? result.error().at("graph '" + graph.name + "'") : result;
  for (const Graph& subgraph : graph.subgraphs) {
    const auto inner = check_graph(subgraph);
    if (!inner.ok()) return named ? inner.error().at("graph '" + graph.name + "'") : inner;
  }
  return {};
}

}  // namespace graphgate::spec
