#include "interop/pt2_inlining.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interop/pt2_arguments.h"
#include "interop/pt2_autocast.h"

namespace graphgate::interop {
namespace {

using spec::Argument;
using spec::Graph;
using spec::Node;
using spec::SubgraphId;
using spec::ValueId;

// An op whose operand `subgraph` is run on those from `first` on, or on those of a list there.
struct Wrapper {
  std::string_view op;
  std::size_t subgraph;
  std::size_t first;
  bool is_list = false;
};
constexpr Wrapper kWrappers[] = {
    {"higher_order.wrap", 0, 1},
    {"higher_order.wrap_with_set_grad_enabled", 1, 2},
    {"higher_order.wrap_with_autocast", 4, 5},
    {"higher_order.tag_activation_checkpoint", 0, 1},
    {"higher_order.invoke_subgraph", 0, 2},
    {"higher_order.hints_wrapper", 0, 1, true},
    {"higher_order.strict_mode", 0, 1, true},
    {"higher_order.run_const_graph", 0, 1, true},
};
// The operands of wrap_with_autocast that say what it is for.
constexpr std::size_t kAutocastDevice = 0;
constexpr std::size_t kAutocastDType = 1;
constexpr std::size_t kAutocastEnabled = 2;

// A node that can be replaced, and what its subgraph gets.
struct WrappedCall {
  SubgraphId subgraph;
  Argument::List operands;
  std::optional<spec::DType> autocast;  // to what the subgraph's nodes cast
  bool settles_casts = false;           // a region around it casts nothing in it
};

std::size_t count_results(const Node& node) {
  std::size_t count = 0;
  for (const spec::NodeResult& result : node.results) count += result.values.size();
  return count;
}

// Whether each result that the graph returns is made in the subgraph, and comes out of it once.
// Others would be known by other names than the program's signature has.
bool are_results_made(const Graph& graph, const Node& node, const Graph& subgraph) {
  std::vector<bool> is_known(subgraph.values.size(), false);
  for (const ValueId input : subgraph.inputs) is_known[input.index] = true;
  std::size_t output = 0;
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) {
      const auto* made = subgraph.outputs[output++].as<ValueId>();
      const bool is_new = made && !is_known[made->index];
      if (made) is_known[made->index] = true;
      const bool is_returned =
          std::any_of(graph.outputs.begin(), graph.outputs.end(),
                      [&](const Argument& returned) { return returned == Argument{id}; });
      if (!is_new && is_returned) return false;
    }
  }
  return true;
}

// The nodes of a subgraph of the graph at `path` whose casts are settled.
const SettledNodes& settled_in(const Graph& subgraph, const std::string& path,
                               const ReadContext& context) {
  static const SettledNodes kNone;
  const auto found = context.settled_casts.find(subgraph_path(path, subgraph.name));
  return found == context.settled_casts.end() ? kNone : found->second;
}

// `path` is the graph's.
std::optional<WrappedCall> wrapped_call(const Graph& graph, const Node& node,
                                        const std::string& path, const ReadContext& context) {
  const auto* wrapper = std::find_if(std::begin(kWrappers), std::end(kWrappers),
                                     [&](const Wrapper& known) { return known.op == node.op; });
  if (wrapper == std::end(kWrappers)) return std::nullopt;
  // Behind the operands stand options by name, which say how a backward pass goes.
  const auto named = std::find_if(node.arguments.begin(), node.arguments.end(),
                                  [](const auto& argument) { return !argument.name.empty(); });
  const auto positional = static_cast<std::size_t>(named - node.arguments.begin());
  if (positional < wrapper->first) return std::nullopt;
  const auto* id = node.arguments[wrapper->subgraph].argument.as<SubgraphId>();
  if (!id) return std::nullopt;
  const Graph& subgraph = graph.subgraphs[id->index];
  WrappedCall call{*id, {}, {}};
  if (node.op == "higher_order.wrap_with_autocast") {
    const auto* is_on = node.arguments[kAutocastEnabled].argument.as<bool>();
    const auto* device = node.arguments[kAutocastDevice].argument.as<std::string>();
    const auto* dtype = node.arguments[kAutocastDType].argument.as<spec::DType>();
    if (!is_on || !device) return std::nullopt;
    if (*is_on) call.autocast = dtype ? *dtype : spec::DType::kBFloat16;
    const SettledNodes& settled = settled_in(subgraph, path, context);
    if (*is_on && !knows_casts(subgraph, *device, *call.autocast, settled)) return std::nullopt;
    call.settles_casts = *device == "cpu";
  }
  if (wrapper->is_list) {
    const auto* list = positional > wrapper->first
                           ? node.arguments[wrapper->first].argument.as<Argument::List>()
                           : nullptr;
    if (!list || positional != wrapper->first + 1) return std::nullopt;
    call.operands = *list;
  } else {
    for (std::size_t i = wrapper->first; i < positional; ++i) {
      call.operands.push_back(node.arguments[i].argument);
    }
  }
  const bool fits = call.operands.size() == subgraph.inputs.size() &&
                    count_results(node) == subgraph.outputs.size() &&
                    are_results_made(graph, node, subgraph);
  return fits ? std::optional(std::move(call)) : std::nullopt;
}

void replace_values(Argument& argument, const std::vector<Argument>& by_value) {
  if (const auto* id = argument.as<ValueId>()) {
    argument = Argument(by_value[id->index]);
  } else if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) replace_values(element, by_value);
  }
}

void shift_subgraphs(Argument& argument, const std::vector<SubgraphId>& places) {
  if (auto* id = std::get_if<SubgraphId>(&argument.value)) *id = places[id->index];
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) shift_subgraphs(element, places);
  }
}

// The values themselves, as arguments.
std::vector<Argument> identity_of(const Graph& graph) {
  std::vector<Argument> out(graph.values.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = {ValueId{i}};
  return out;
}

class Inliner {
 public:
  Inliner(Graph& graph, const std::string& path, ReadContext& context)
      : graph_(graph), path_(path), context_(context), now_(identity_of(graph)) {
    for (const spec::Value& value : graph.values) names_.insert(value.name);
    for (const Node& node : graph.nodes) node_names_.insert(node.name);
  }

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) add(std::move(node));
    for (Argument& output : graph_.outputs) replace_values(output, now_);
    drop_unused_subgraphs();
  }

 private:
  void add(Node node) {
    for (auto& named : node.arguments) replace_values(named.argument, now_);
    if (const auto call = wrapped_call(graph_, node, path_, context_)) return add_body(node, *call);
    graph_.nodes.push_back(std::move(node));
  }

  // The subgraph's nodes in the place of one that runs it. They were inlined themselves before.
  void add_body(const Node& node, const WrappedCall& call) {
    Graph body = graph_.subgraphs[call.subgraph.index];
    const SettledNodes settled = settled_in(body, path_, context_);
    if (call.autocast) add_casts(body, *call.autocast, settled);
    std::vector<std::optional<Argument>> mapped(body.values.size());
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      mapped[body.inputs[i].index] = call.operands[i];
    }
    std::size_t output = 0;
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) take_output(body, body.outputs[output++], id, mapped);
    }
    std::vector<Argument> values(body.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = mapped[i] ? *mapped[i] : Argument{add_value(body, body.values[i])};
    }
    std::vector<SubgraphId> places;
    for (const Graph& inner : body.subgraphs) {
      places.push_back({static_cast<std::uint32_t>(graph_.subgraphs.size())});
      graph_.subgraphs.push_back(inner);
      graph_.subgraphs.back().name = free_subgraph_name(inner.name);
    }
    for (Node inner : body.nodes) {
      const bool is_settled = call.settles_casts || settled.contains(inner.name);
      inner.name = free_name(inner.name, node_names_);
      if (is_settled) context_.settled_casts[path_].insert(inner.name);
      for (auto& named : inner.arguments) {
        replace_values(named.argument, values);
        shift_subgraphs(named.argument, places);
      }
      for (spec::NodeResult& result : inner.results) {
        for (ValueId& id : result.values) id = *values[id.index].as<ValueId>();
      }
      graph_.nodes.push_back(std::move(inner));
    }
    settle_outputs(body, node, values);
  }

  // An output that a node of the body makes becomes the result; the first time that it comes out.
  static void take_output(const Graph& body, const Argument& output, ValueId result,
                          std::vector<std::optional<Argument>>& mapped) {
    const auto* id = output.as<ValueId>();
    if (id && !mapped[id->index] && body.values[id->index].kind != spec::ValueKind::kNone) {
      mapped[id->index] = Argument{result};
    }
  }

  // Results that are inputs, constants, or other results stand for those from here on.
  void settle_outputs(const Graph& body, const Node& node, const std::vector<Argument>& values) {
    std::size_t output = 0;
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        Argument made = body.outputs[output++];
        replace_values(made, values);
        now_[id.index] = std::move(made);
      }
    }
  }

  ValueId add_value(const Graph& body, const spec::Value& value) {
    const ValueId id{static_cast<std::uint32_t>(graph_.values.size())};
    graph_.values.push_back(value);
    graph_.values.back().name = free_name(value.name, names_);
    now_.push_back({id});
    const auto opaque =
        context_.opaque_values.find(subgraph_path(subgraph_path(path_, body.name), value.name));
    if (opaque != context_.opaque_values.end()) {
      Json written = *opaque;
      context_.opaque_values[subgraph_path(path_, graph_.values.back().name)] = std::move(written);
    }
    return id;
  }

  static std::string free_name(const std::string& wanted, std::unordered_set<std::string>& taken) {
    std::string name = wanted;
    for (int i = 1; !taken.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  [[nodiscard]] std::string free_subgraph_name(const std::string& wanted) const {
    std::unordered_set<std::string> taken;
    for (std::size_t i = 0; i + 1 < graph_.subgraphs.size(); ++i) {
      taken.insert(graph_.subgraphs[i].name);
    }
    return free_name(wanted, taken);
  }

  static void note_subgraphs(const Argument& argument, std::vector<bool>& is_used) {
    if (const auto* id = argument.as<SubgraphId>()) is_used[id->index] = true;
    if (const auto* list = argument.as<Argument::List>()) {
      for (const Argument& element : *list) note_subgraphs(element, is_used);
    }
  }

  void drop_unused_subgraphs() {
    std::vector<bool> is_used(graph_.subgraphs.size(), false);
    for (const Node& node : graph_.nodes) {
      for (const auto& named : node.arguments) note_subgraphs(named.argument, is_used);
    }
    std::vector<SubgraphId> places(graph_.subgraphs.size());
    std::vector<Graph> kept;
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = {static_cast<std::uint32_t>(kept.size())};
      if (is_used[i]) kept.push_back(std::move(graph_.subgraphs[i]));
    }
    graph_.subgraphs = std::move(kept);
    for (Node& node : graph_.nodes) {
      for (auto& named : node.arguments) shift_subgraphs(named.argument, places);
    }
  }

  Graph& graph_;
  const std::string& path_;
  ReadContext& context_;
  std::vector<Argument> now_;  // what stands for each value from here on
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

void inline_wrapped_subgraphs(Graph& graph, const std::string& path, ReadContext& context) {
  const bool has_any = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return wrapped_call(graph, node, path, context).has_value();
  });
  if (has_any) Inliner(graph, path, context).run();
}

}  // namespace graphgate::interop
