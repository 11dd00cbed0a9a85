#include "conformance/judges/rounded_index.h"

#include <algorithm>
#include <cmath>
#include <ranges>

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

// An oracle that cannot tell how a call goes on before an index: whether that leaves the index
// open.
enum class OpenEnd : std::uint8_t {
  kTellsNothing,     // the call holds more than what the index depends on
  kLeavesIndexOpen,  // it holds nothing else
};

// What subject and reference make of indices.
enum class Indices : std::uint8_t {
  kUnknown,  // one of them, or the oracle, does not get so far
  kSame,
  kOpen,   // they differ where errors decide, or may, for nobody can tell
  kWrong,  // they differ where the oracle can tell
};

// The outputs from `first` on, of that call: what is said of indices among them.
Indices look_at_indices(Runs& runs, std::size_t call, std::size_t first, OpenEnd open_end) {
  const auto subject = runs.subject();
  const auto reference = runs.oracle("provenance");
  const auto oracle = runs.oracle_on_own_states("worst-case");
  if (!subject.ok() || !reference.ok() || !oracle.ok()) return Indices::kUnknown;
  for (const Trace* trace : {subject.value(), reference.value()}) {
    if (call >= trace->calls.size()) return Indices::kUnknown;
  }
  const spec::CallResult& a = subject.value()->calls[call].result;
  const spec::CallResult& b = reference.value()->calls[call].result;
  const Trace& told = oracle.value();
  if (call >= told.calls.size()) {
    const bool ends_open =
        told.is_loaded && told.error && told.error->kind == ErrorKind::kUnsupported;
    if (!ends_open || open_end == OpenEnd::kTellsNothing) return Indices::kUnknown;
    const auto tapped = std::ranges::subrange(
        a.outputs.begin() + static_cast<std::ptrdiff_t>(std::min(first, a.outputs.size())),
        a.outputs.end());
    const bool has_index = std::ranges::any_of(tapped, [](const spec::OutputValue& value) {
      const auto* tensor = std::get_if<HostTensor>(&value);
      return tensor != nullptr && is_index(*tensor);
    });
    return has_index ? Indices::kOpen : Indices::kSame;
  }
  const spec::CallResult& bounds = told.calls[call].result;
  const std::size_t end =
      std::min({a.outputs.size(), b.outputs.size(), bounds.output_spreads.size()});
  bool differs = false;
  for (std::size_t i = first; i < end; ++i) {
    const auto* x = std::get_if<HostTensor>(&a.outputs[i]);
    const auto* y = std::get_if<HostTensor>(&b.outputs[i]);
    if (!x || !y || !is_index(*x)) continue;
    if (spec::packed_bytes(*x) == spec::packed_bytes(*y)) continue;
    if (!differ_where_open(*x, *y, bounds.output_spreads[i])) return Indices::kWrong;
    differs = true;
  }
  return differs ? Indices::kOpen : Indices::kSame;
}

// The same outputs: whether subject and reference have the same indices there, whatever the oracle
// says.
bool have_same_indices(Runs& runs, std::size_t call, std::size_t first) {
  const auto subject = runs.subject();
  const auto reference = runs.oracle("provenance");
  if (!subject.ok() || !reference.ok()) return false;
  for (const Trace* trace : {subject.value(), reference.value()}) {
    if (call >= trace->calls.size()) return false;
  }
  const auto& a = subject.value()->calls[call].result.outputs;
  const auto& b = reference.value()->calls[call].result.outputs;
  for (std::size_t i = first; i < std::min(a.size(), b.size()); ++i) {
    const auto* x = std::get_if<HostTensor>(&a[i]);
    const auto* y = std::get_if<HostTensor>(&b[i]);
    if (!x || !y || !is_index(*x)) continue;
    if (x->sizes != y->sizes || spec::packed_bytes(*x) != spec::packed_bytes(*y)) return false;
  }
  return true;
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
  const auto with_program = [&](Script script, TappedOperands tapped) {
    script.programs[p] = std::make_shared<const spec::Program>(std::move(tapped.program));
    return script;
  };
  const auto run = [&](const Script& begun_so, TappedOperands tapped, OpenEnd open_end) {
    const std::size_t first = tapped.first_output;
    const Script script = with_program(begun_so, std::move(tapped));
    Runs with_taps = runs.on(script);
    return look_at_indices(with_taps, call, first, open_end);
  };
  const spec::OpTable& ops = *runs.script().ops;
  TappedOperands operands = tap_operands(program, index);
  const std::size_t first = operands.first_output;
  const Script tapped = with_program(runs.script(), std::move(operands));
  Runs with_taps = runs.on(tapped);
  const Indices whole = look_at_indices(with_taps, call, first, OpenEnd::kTellsNothing);
  if (whole != Indices::kUnknown) return whole == Indices::kOpen;
  if (have_same_indices(with_taps, call, first)) return false;
  const Script cut = begun(runs.script(), *plain.value(), call);
  const bool may_stand_alone = is_first_of_its_program(*plain.value(), call);
  const Indices rid = run(cut, tap_operands_alone(program, index, ops),
                          may_stand_alone ? OpenEnd::kTellsNothing : OpenEnd::kLeavesIndexOpen);
  if (rid != Indices::kUnknown) return rid == Indices::kOpen;
  if (!may_stand_alone) return false;
  bool is_any_open = false;
  for (const spec::ValueId operand : tensor_operands(program, index)) {
    const Indices alone =
        run(cut, tap_operand_alone(program, index, operand, ops), OpenEnd::kLeavesIndexOpen);
    if (alone == Indices::kWrong) return false;
    is_any_open = is_any_open || alone == Indices::kOpen;
  }
  return is_any_open;
}

}  // namespace graphgate::conformance
