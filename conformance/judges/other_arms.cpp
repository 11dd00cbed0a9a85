#include "conformance/judges/other_arms.h"
#include "conformance/run/runs.h"

#include <functional>

namespace graphgate::conformance {
namespace {

constexpr std::string_view kConditional = "higher_order.cond";

using VisitNode = std::function<void(spec::Node&)>;

void for_each_conditional(spec::Graph& graph, const VisitNode& visit) {
  for (spec::Node& node : graph.nodes) {
    if (node.op == kConditional && !node.arguments.empty()) visit(node);
  }
  for (spec::Graph& arm : graph.subgraphs) for_each_conditional(arm, visit);
}

// Every condition held (`which` empty), or that one, counted over all programs.
Script held_at(const Script& script, bool value, std::optional<std::size_t> which) {
  Script out = script;
  std::size_t count = 0;
  for (auto& program : out.programs) {
    auto changed = std::make_shared<spec::Program>(*program);
    for_each_conditional(changed->graph, [&](spec::Node& node) {
      if (!which || *which == count) node.arguments.front().argument = {value};
      ++count;
    });
    program = std::move(changed);
  }
  return out;
}

std::size_t conditionals(const Script& script) {
  std::size_t count = 0;
  for (const auto& program : script.programs) {
    spec::Graph graph = program->graph;
    for_each_conditional(graph, [&](spec::Node&) { ++count; });
  }
  return count;
}

}  // namespace

Result<std::optional<std::string>> refusal_in_other_arm(Runs& runs, const Trace& subject) {
  const std::size_t count = conditionals(runs.script());
  constexpr std::size_t kMostAlone = 8;
  std::vector<std::optional<std::size_t>> choices;
  choices.reserve(kMostAlone + 1);
  for (std::size_t i = 0; i < std::min(count, kMostAlone); ++i) choices.emplace_back(i);
  if (count > 1) choices.emplace_back();
  for (const auto& which : choices) {
    for (const bool value : {true, false}) {
      const Script script = held_at(runs.script(), value, which);
      GRAPHGATE_TRY(const Trace oracle, runs.oracle_on(script, "eager"));
      const bool is_refused = oracle.error && oracle.error->kind == ErrorKind::kBadInput;
      const bool is_there = !subject.is_loaded || (is_refused && oracle.is_loaded &&
                                                   oracle.error_step == subject.error_step);
      if (is_refused && is_there) return std::optional(oracle.error->message);
    }
  }
  return std::optional<std::string>();
}

}  // namespace graphgate::conformance
