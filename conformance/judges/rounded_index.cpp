#include "conformance/judges/rounded_index.h"

#include <algorithm>
#include <cmath>

#include "conformance/judges/lone_taps.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;

// Whether two tensors differ, and only in elements of which the oracle cannot tell.
bool differ_where_open(const HostTensor& a, const HostTensor& b, const spec::Spread& spread) {
  const std::vector<std::byte> x = spec::packed_bytes(a);
  const std::vector<std::byte> y = spec::packed_bytes(b);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(spec::component_dtype(a.dtype)));
  if (a.dtype != b.dtype || a.sizes != b.sizes || x.size() != spread.radii.size() * item) {
    return false;
  }
  bool differ = false;
  for (std::size_t i = 0; i < spread.radii.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i * item);
    const auto end = at + static_cast<std::ptrdiff_t>(item);
    if (std::equal(x.begin() + at, x.begin() + end, y.begin() + at)) continue;
    if (spread.radii[i] == 0) return false;
    differ = true;
  }
  return differ;
}

bool is_index(const HostTensor& tensor) {
  return !spec::is_floating_point(spec::component_dtype(tensor.dtype));
}

// The outputs from `first` on, of that call: whether indices among them differ, and only where
// errors decide. Nothing where one of the three does not get so far.
std::optional<bool> differ_by_rounding(Runs runs, std::size_t call, std::size_t first) {
  const auto subject = runs.subject();
  const auto reference = runs.oracle("provenance");
  const auto oracle = runs.oracle_on_own_states("worst-case");
  if (!subject.ok() || !reference.ok() || !oracle.ok()) return std::nullopt;
  for (const Trace* trace : {subject.value(), reference.value(), &oracle.value()}) {
    if (call >= trace->calls.size()) return std::nullopt;
  }
  const spec::CallResult& a = subject.value()->calls[call].result;
  const spec::CallResult& b = reference.value()->calls[call].result;
  const spec::CallResult& bounds = oracle.value().calls[call].result;
  const std::size_t end =
      std::min({a.outputs.size(), b.outputs.size(), bounds.output_spreads.size()});
  bool differs = false;
  for (std::size_t i = first; i < end; ++i) {
    const auto* x = std::get_if<HostTensor>(&a.outputs[i]);
    const auto* y = std::get_if<HostTensor>(&b.outputs[i]);
    if (!x || !y || !is_index(*x)) continue;
    if (spec::packed_bytes(*x) == spec::packed_bytes(*y)) continue;
    if (!differ_where_open(*x, *y, bounds.output_spreads[i])) return false;
    differs = true;
  }
  return differs;
}

// The script up to that call, with what `passed` has as inputs: for programs of which other outputs
// are left. Of the programs no more is left than what later calls may read.
Script begun(const Script& script, const Trace& passed, std::size_t call) {
  Script out = script;
  out.steps.clear();
  for (auto& program : out.programs) {
    program = std::make_shared<const spec::Program>(without_user_outputs(*program, *script.ops));
  }
  auto record = passed.calls.begin();
  for (const ScriptStep& step : script.steps) {
    const bool is_of_outputs =
        std::holds_alternative<ScriptHold>(step) || std::holds_alternative<ScriptRelease>(step) ||
        std::holds_alternative<ScriptFeedBack>(step) || std::holds_alternative<ScriptCheck>(step);
    if (is_of_outputs) continue;
    out.steps.push_back(step);
    auto* made = std::get_if<ScriptCall>(&out.steps.back());
    if (!made) continue;
    made->inputs = record++->inputs;
    if (call-- == 0) break;
  }
  return out;
}

// Whether no call before it is of the same program: what that one leaves behind may be cut away.
bool is_first_of_its_program(const Trace& trace, std::size_t call) {
  return std::none_of(
      trace.calls.begin(), trace.calls.begin() + static_cast<std::ptrdiff_t>(call),
      [&](const CallRecord& earlier) { return earlier.program == trace.calls[call].program; });
}

// Whether the node has that name, or one of its arms a node that has.
bool holds(const spec::Graph& graph, const spec::Node& node, std::string_view name) {
  if (node.name == name) return true;
  return std::ranges::any_of(node.arguments, [&](const spec::NamedArgument& named) {
    const auto* arm = named.argument.as<spec::SubgraphId>();
    if (arm == nullptr) return false;
    const spec::Graph& inner = graph.subgraphs[arm->index];
    return std::ranges::any_of(inner.nodes,
                               [&](const spec::Node& other) { return holds(inner, other, name); });
  });
}

}  // namespace

bool reads_rounded_index(Runs& runs, std::size_t call, std::string_view node) {
  const Result<const Trace*> plain = runs.subject();
  if (!plain.ok() || call >= plain.value()->calls.size()) return false;
  const std::size_t p = plain.value()->calls[call].program;
  const spec::Program& program = *runs.script().programs[p];
  const auto& nodes = program.graph.nodes;
  const auto found = std::ranges::find_if(
      nodes, [&](const spec::Node& other) { return holds(program.graph, other, node); });
  if (found == nodes.end()) return false;
  const auto index = static_cast<std::size_t>(found - nodes.begin());
  const auto run = [&](Script script, TappedOperands tapped) {
    script.programs[p] = std::make_shared<const spec::Program>(std::move(tapped.program));
    return differ_by_rounding(runs.on(script), call, tapped.first_output);
  };
  const spec::OpTable& ops = *runs.script().ops;
  if (const auto whole = run(runs.script(), tap_operands(program, index))) return *whole;
  const Script cut = begun(runs.script(), *plain.value(), call);
  if (const auto rid = run(cut, tap_operands_alone(program, index, ops))) return *rid;
  if (!is_first_of_its_program(*plain.value(), call)) return false;
  bool differs = false;
  for (const spec::ValueId operand : tensor_operands(program, index)) {
    const auto alone = run(cut, tap_operand_alone(program, index, operand, ops));
    if (alone == false) return false;
    differs = differs || alone == true;
  }
  return differs;
}

}  // namespace graphgate::conformance
