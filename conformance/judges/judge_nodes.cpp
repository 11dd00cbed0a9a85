#include "conformance/judges/judge_nodes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "base/stage_clock.h"
#include "conformance/compare/compare.h"
#include "conformance/compare/element.h"
#include "conformance/compare/input_spread.h"
#include "conformance/judges/node_effects.h"
#include "conformance/judges/same_bits.h"
#include "conformance/judges/verified_plans.h"
#include "conformance/judges/written_together.h"
#include "conformance/run/input_layout.h"
#include "conformance/run/runs.h"
#include "conformance/verify/accesses.h"
#include "spec/type_text.h"

namespace graphgate::conformance {
namespace {

using spec::Argument;
using spec::CallResult;
using spec::HostTensor;
using spec::Node;
using spec::OutputValue;
using spec::ValueId;

// A number as a constant argument.
Argument constant(const OutputValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return {*i};
  if (const auto* x = std::get_if<double>(&value)) return {*x};
  if (const auto* b = std::get_if<bool>(&value)) return {*b};
  return {spec::None{}};
}

// A program of one node. Tensor operands are its inputs, numbers are constants in its arguments.
struct OneNode {
  spec::Program program;
  std::vector<spec::InputValue> inputs;
  std::map<ValueId, std::size_t> input_of;   // by the original operand
  std::map<ValueId, std::size_t> output_of;  // by the original result
};

class OneNodeBuilder {
 public:
  // Operands that came packed lie as the graph declares them where `symbols` are known.
  OneNodeBuilder(const spec::Graph& graph, const Node& node, const spec::SymbolValues* symbols)
      : graph_(graph), node_(node), symbols_(symbols) {
    out_.program.name = node.name;
    if (is_conditional(node)) out_.program.graph.subgraphs = graph.subgraphs;
  }

  OneNode build(const std::vector<TappedProgram::Tap>& operands, const CallResult& call) {
    out_.program.graph.values.reserve(operands.size() + node_.results.size());
    out_.inputs.reserve(operands.size());
    for (const TappedProgram::Tap& tap : operands) add_operand(tap.value, call.outputs[tap.output]);
    Node node{node_.name, node_.op, {}, node_.results};
    node.arguments.reserve(node_.arguments.size());
    for (const spec::NamedArgument& named : node_.arguments) {
      node.arguments.push_back({named.name, rewrite(named.argument)});
    }
    for (spec::NodeResult& result : node.results) {
      for (ValueId& id : result.values) id = add_result(id);
    }
    out_.program.graph.nodes.push_back(std::move(node));
    return std::move(out_);
  }

 private:
  // The value without its type.
  ValueId add_value(ValueId original) {
    const spec::Value& value = graph_.value(original);
    out_.program.graph.values.push_back(
        {value.name, value.kind, std::nullopt, value.expr, value.hint});
    return {static_cast<std::uint32_t>(out_.program.graph.values.size() - 1)};
  }

  void add_operand(ValueId original, const OutputValue& value) {
    const auto* tensor = std::get_if<HostTensor>(&value);
    if (!tensor) {
      replaced_.emplace(original, constant(value));
      return;
    }
    const ValueId id = add_value(original);
    spec::Value& declared = out_.program.graph.values.back();
    HostTensor operand = as_declared(*tensor, graph_.value(original).type);
    declared.type = spec::type_of(operand);
    out_.program.graph.inputs.push_back(id);
    out_.program.inputs.push_back(
        {spec::InputKind::kUserInput, id, declared.name, true, std::nullopt});
    replaced_.emplace(original, Argument{id});
    out_.input_of.emplace(original, out_.inputs.size());
    out_.inputs.emplace_back(std::move(operand));
  }

  // How kernels round may depend on whether elements follow each other, and a clone is dense.
  [[nodiscard]] HostTensor as_declared(const HostTensor& clone,
                                       const std::optional<spec::TensorType>& type) const {
    const bool is_packed =
        clone.storage_offset == 0 && clone.strides == spec::contiguous_strides(clone.sizes);
    const bool fits =
        type && type->dtype == clone.dtype && type->sizes.size() == clone.sizes.size();
    return symbols_ && is_packed && fits ? laid_out(clone, *type, *symbols_) : clone;
  }

  ValueId add_result(ValueId original) {
    const ValueId id = add_value(original);
    if (graph_.value(original).kind == spec::ValueKind::kNone) return id;
    out_.output_of.emplace(original, out_.program.outputs.size());
    out_.program.graph.outputs.push_back({id});
    out_.program.outputs.push_back({spec::OutputKind::kUserOutput, ""});
    return id;
  }

  [[nodiscard]] Argument rewrite(const Argument& argument) const {
    if (const auto* id = argument.as<ValueId>()) {
      const auto found = replaced_.find(*id);
      return found == replaced_.end() ? Argument{spec::None{}} : found->second;
    }
    if (const auto* list = argument.as<Argument::List>()) {
      Argument::List out;
      for (const Argument& element : *list) out.push_back(rewrite(element));
      return {std::move(out)};
    }
    return argument;
  }

  const spec::Graph& graph_;
  const Node& node_;
  const spec::SymbolValues* const symbols_;
  OneNode out_;
  std::map<ValueId, Argument> replaced_;
};

bool same_bits(const OutputValue& a, const OutputValue& b) {
  const auto* x = std::get_if<HostTensor>(&a);
  const auto* y = std::get_if<HostTensor>(&b);
  if (!x || !y) return x == y;
  BitReport report;
  return x->dtype == y->dtype && x->sizes == y->sizes &&
         compare_element_bits(*x, *y, nullptr, "the plain run", {}, report).empty();
}

// Whether two right runs may differ in some element of a user output.
using IsOpen = std::function<Result<bool>(std::size_t call, std::size_t output)>;

bool draws_numbers(const spec::Graph& graph, const spec::OpTable& ops) {
  const auto draws = [&](const Node& node) {
    const spec::OpRow* row = ops.find(node.op);
    return row && row->has_tag("nondeterministic_seeded");
  };
  return std::ranges::any_of(graph.nodes, draws) ||
         std::ranges::any_of(graph.subgraphs,
                             [&](const spec::Graph& inner) { return draws_numbers(inner, ops); });
}

// The oracle can tell nothing of an element; or random numbers are drawn, in each run others, and
// the element has a range: what one of them decides, as a mask does, may be either of two numbers.
bool has_open_element(const CallResult& oracle, std::size_t output, bool draws) {
  const auto& radii = oracle.output_spreads[output].radii;
  return std::ranges::any_of(
      radii, [draws](double radius) { return std::isinf(radius) || (draws && radius > 0); });
}

class NodeJudge {
 public:
  NodeJudge(const spec::Program& program, const TappedProgram& tapped, spec::Executor& bounds,
            const spec::OpTable& ops, bool keeps_bits, bool keeps_layouts)
      : program_(program),
        tapped_(tapped),
        bounds_(bounds),
        ops_(ops),
        keeps_bits_(keeps_bits),
        keeps_layouts_(keeps_layouts) {}

  // `inputs` are those of the call. `plain` is what the program itself results in: taps must not
  // change it, but for what nobody has written, where the arithmetic is strict.
  Result<void> judge_call(std::size_t call, std::span<const spec::InputValue> inputs,
                          const CallResult& plain, const CallResult& tapped, bool began_alike,
                          const IsOpen& is_open) {
    if (tapped.outputs.size() != tapped_.program_outputs()) {
      return unsupported(program_.name + ": with taps " + std::to_string(tapped.outputs.size()) +
                         " outputs come, expected " + std::to_string(tapped_.program_outputs()));
    }
    const bool is_compared = keeps_bits_ && began_alike;
    for (std::size_t i = 0; is_compared && i < plain.outputs.size() && i < tapped_.own_outputs;
         ++i) {
      if (same_bits(plain.outputs[i], tapped.outputs[i])) continue;
      GRAPHGATE_TRY(const bool open, is_open(call, i));
      if (open) continue;
      report_.findings.push_back(
          {call, "", "",
           "output " + std::to_string(i) + " has other bits when the program is tapped"});
    }
    const std::vector<bool> parted = written_together(program_, inputs, ops_);
    const spec::SymbolValues symbols =
        symbols_of(program_, std::vector<spec::InputValue>(inputs.begin(), inputs.end()));
    for (std::size_t n = 0; n < tapped_.nodes.size(); ++n) {
      const std::size_t before = report_.judged;
      if (!parted[n]) GRAPHGATE_TRY_VOID(judge_node(call, n, tapped, symbols));
      if (report_.judged == before && makes_tensor(n)) ++report_.passed_over;
    }
    return {};
  }

  NodeReport take() { return std::move(report_); }

 private:
  [[nodiscard]] bool makes_tensor(std::size_t index) const {
    for (const spec::NodeResult& result : program_.graph.nodes[index].results) {
      for (const ValueId id : result.values) {
        if (program_.graph.value(id).kind == spec::ValueKind::kTensor) return true;
      }
    }
    return false;
  }

  Result<void> judge_node(std::size_t call, std::size_t index, const CallResult& actual,
                          const spec::SymbolValues& symbols) {
    const Node& node = program_.graph.nodes[index];
    const TappedProgram::NodeTaps& taps = tapped_.nodes[index];
    if (taps.after.empty()) return {};
    const Stage stage("reference: nodes alone");
    OneNode one = OneNodeBuilder(program_.graph, node, keeps_layouts_ ? &symbols : nullptr)
                      .build(taps.before, actual);
    GRAPHGATE_TRY(auto loaded, bounds_.load(one.program));
    auto oracle_result = loaded->call(one.inputs);
    if (!oracle_result.ok() && oracle_result.error().kind == ErrorKind::kUnsupported) return {};
    if (!oracle_result.ok() && oracle_result.error().kind == ErrorKind::kBadInput) {
      // It takes the program: what the executor gave the node is not what the program gives it.
      report_.findings.push_back(
          {call, node.name, node.op,
           "the reference refuses what the node was given: " + oracle_result.error().message});
      return {};
    }
    GRAPHGATE_TRY(const CallResult oracle, std::move(oracle_result));
    ++report_.judged;
    for (const TappedProgram::Tap& tap : taps.after) {
      const auto* tensor = std::get_if<HostTensor>(&actual.outputs[tap.output]);
      if (!tensor) continue;
      const auto result = one.output_of.find(tap.value);
      const bool is_result = result != one.output_of.end();
      spec::Spread made;
      const spec::Spread& spread = is_result
                                       ? oracle.output_spreads[result->second]
                                       : *spread_of_input(oracle, one.input_of.at(tap.value), made);
      const ValueComparison values = compare(call, node, tap.value, *tensor, spread);
      // What is made of nothing, as empty does, is open and no fault of the oracle's.
      report_.has_blind_tensor |= !one.input_of.empty() && !is_open_by_itself(node) &&
                                  spec::is_floating_point(spec::component_dtype(tensor->dtype)) &&
                                  values.elements > 0 && values.undecided == values.elements;
    }
    return {};
  }

  // Whether it draws random numbers, or makes a tensor that nobody has written, as empty_like does.
  [[nodiscard]] bool is_open_by_itself(const Node& node) const {
    const spec::OpRow* row = ops_.find(node.op);
    return row && (row->has_tag("nondeterministic_seeded") || verify::takes_no_byte(*row));
  }

  ValueComparison compare(std::size_t call, const Node& node, ValueId value,
                          const HostTensor& tensor, const spec::Spread& spread) {
    const std::string name = "%" + program_.graph.value(value).name;
    const auto count = static_cast<std::size_t>(spec::element_count(tensor.sizes));
    if (spread.values.size() != count * parts_of(tensor.dtype)) {
      report_.findings.push_back({call, node.name, node.op,
                                  name + " has " + std::to_string(count) + " elements, expected " +
                                      std::to_string(spread.values.size())});
      return {};
    }
    const ValueComparison comparison = compare_values(tensor, spread, 1);
    report_.elements += comparison.elements;
    report_.undecided += comparison.undecided;
    double& ratio = report_.ratios[program_.name][node.name];
    ratio = std::max(ratio, comparison.worst_ratio);
    if (comparison.worst_ratio > report_.worst_ratio) {
      report_.worst_ratio = comparison.worst_ratio;
      report_.worst_node = node.name;
    }
    if (!comparison.ok()) {
      report_.findings.push_back({call, node.name, node.op, name + ": " + comparison.message});
    }
    return comparison;
  }

  const spec::Program& program_;
  const TappedProgram& tapped_;
  spec::Executor& bounds_;
  const spec::OpTable& ops_;
  const bool keeps_bits_;
  const bool keeps_layouts_;
  NodeReport report_;
};

// After a restart ops may have other effects than those that the programs are tapped by.
OperandTaps operand_taps(const Script& script) {
  const bool has_other_ops = std::ranges::any_of(script.steps, [](const ScriptStep& step) {
    const auto* restart = std::get_if<ScriptRestart>(&step);
    return restart && restart->ops;
  });
  return has_other_ops ? OperandTaps::kEach : OperandTaps::kOnce;
}

void add(NodeReport call, NodeReport& all) {
  all.judged += call.judged;
  all.passed_over += call.passed_over;
  all.has_blind_tensor |= call.has_blind_tensor;
  all.elements += call.elements;
  all.undecided += call.undecided;
  if (call.worst_ratio > all.worst_ratio) {
    all.worst_ratio = call.worst_ratio;
    all.worst_node = call.worst_node;
  }
  for (const auto& [program, nodes] : call.ratios) {
    for (const auto& [node, ratio] : nodes) {
      double& worst = all.ratios[program][node];
      worst = std::max(worst, ratio);
    }
  }
  std::move(call.findings.begin(), call.findings.end(), std::back_inserter(all.findings));
}

}  // namespace

std::size_t TappedProgram::program_outputs() const {
  return static_cast<std::size_t>(std::ranges::count_if(program.outputs, [](const auto& output) {
    return output.kind == spec::OutputKind::kUserOutput;
  }));
}

Result<NodeReport> judge_nodes(const spec::Program& program,
                               std::span<const std::vector<spec::InputValue>> calls,
                               spec::Executor& executor, spec::Executor& bounds,
                               const spec::OpTable& ops) {
  const TappedProgram tapped = tap_nodes(program, ops);
  GRAPHGATE_TRY(auto plain_program, executor.load(program));
  GRAPHGATE_TRY(auto tapped_program, executor.load(tapped.program));
  const bool draws = draws_numbers(program.graph, ops);
  const IsOpen is_open = [&](std::size_t call, std::size_t output) -> Result<bool> {
    GRAPHGATE_TRY(auto loaded, bounds.load(program));
    CallResult oracle;
    for (std::size_t i = 0; i <= call; ++i) {
      GRAPHGATE_TRY(oracle, loaded->call(calls[i]));
    }
    return has_open_element(oracle, output, draws);
  };
  NodeJudge judge(program, tapped, bounds, ops, true, true);
  for (std::size_t call = 0; call < calls.size(); ++call) {
    GRAPHGATE_TRY(const CallResult plain, plain_program->call(calls[call]));
    GRAPHGATE_TRY(const CallResult result, tapped_program->call(calls[call]));
    GRAPHGATE_TRY_VOID(judge.judge_call(call, calls[call], plain, result, true, is_open));
  }
  return judge.take();
}

Result<NodeReport> judge_nodes(Runs& runs, const Configuration& changes) {
  if (!runs.promises().rounds_results) {
    return unsupported("the executor keeps values wider than their dtypes");
  }
  Script script = runs.script();
  std::vector<std::shared_ptr<const TappedProgram>> tapped;
  for (auto& program : script.programs) {
    tapped.push_back(std::make_shared<const TappedProgram>(
        tap_nodes(*program, *script.ops, operand_taps(script))));
    program = {tapped.back(), &tapped.back()->program};
  }
  GRAPHGATE_TRY(const Trace* const plain, runs.subject(changes));
  GRAPHGATE_TRY(Trace trace, runs.subject_on(script, changes));
  if (trace.error) return unsupported("with taps: " + trace.error->message);
  std::map<const spec::OpTable*, std::unique_ptr<spec::Executor>> bounds;
  // What one program draws comes to another by state, and by what is fed back.
  const bool draws = std::ranges::any_of(runs.script().programs, [&](const auto& program) {
    return draws_numbers(program->graph, *script.ops);
  });
  // Draws have a range in the worst case, and are open in the estimate.
  const IsOpen is_open = [&](std::size_t call, std::size_t output) -> Result<bool> {
    for (const char* mode : {"worst-case", "sampled"}) {
      GRAPHGATE_TRY(const Trace* const oracle, runs.oracle(mode));
      if (call >= oracle->calls.size()) return true;
      if (has_open_element(oracle->calls[call].result, output, draws)) return true;
    }
    return false;
  };
  NodeReport all;
  for (std::size_t call = 0; call < trace.calls.size() && call < plain->calls.size(); ++call) {
    const std::size_t p = trace.calls[call].program;
    const spec::OpTable& ops = ops_at(runs.script(), trace.calls[call].step);
    auto& oracle = bounds[&ops];
    if (!oracle) {
      const Configuration bounding = runs.oracle_configuration("worst-case");
      GRAPHGATE_TRY(oracle, runs.oracle_source().make(bounding, ops));
    }
    NodeJudge judge(*runs.script().programs[p], *tapped[p], *oracle, ops,
                    runs.promises().arithmetic == "strict", runs.promises().keeps_layouts);
    GRAPHGATE_TRY_VOID(judge.judge_call(call, trace.calls[call].inputs, plain->calls[call].result,
                                        trace.calls[call].result,
                                        !began_otherwise(trace, *plain, call), is_open));
    add(judge.take(), all);
  }
  if (all.findings.empty()) return all;
  script.options = merged(script.options, changes);
  GRAPHGATE_TRY(all.faults_of_plans,
                faults_of_plans(runs, script, std::move(trace), "with taps: "));
  return all;
}

}  // namespace graphgate::conformance
