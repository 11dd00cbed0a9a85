#include "conformance/judges/lone_taps.h"

#include <algorithm>

#include "conformance/judges/idle_nodes.h"
#include "conformance/judges/node_effects.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using spec::Node;
using spec::ValueId;

// Tensors that a node makes, and operands that it writes as its schema and row say.
std::vector<ValueId> touched_by(const spec::Graph& graph, const Node& node,
                                const spec::OpTable& ops) {
  std::vector<ValueId> out;
  const auto add = [&](ValueId id) {
    const bool is_tensor = graph.value(id).kind == spec::ValueKind::kTensor;
    if (is_tensor && std::ranges::find(out, id) == out.end()) out.push_back(id);
  };
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) add(id);
  }
  if (const spec::OpRow* row = ops.find(node.op)) for_each_written(node, *row, add);
  return out;
}

// The program with clones of these values as further user outputs, made right before node `at`.
spec::Program with_clones(const spec::Program& program, const std::vector<ValueId>& values,
                          std::size_t at) {
  spec::Program out = program;
  std::vector<Node> clones;
  for (const ValueId id : values) {
    const ValueId copy{static_cast<std::uint32_t>(out.graph.values.size())};
    spec::Value value;
    value.name = "graphgate_tap_" + std::to_string(clones.size());
    clones.push_back({value.name,
                      "aten.clone.default",
                      {{"self", {id}}, {"memory_format", {spec::MemoryFormat::kContiguous}}},
                      {{false, {copy}}}});
    out.graph.values.push_back(std::move(value));
    out.graph.outputs.push_back({copy});
    out.outputs.push_back({spec::OutputKind::kUserOutput, ""});
  }
  out.graph.nodes.insert(out.graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), clones.begin(),
                         clones.end());
  return out;
}

// The program's nodes before that one. Outputs that were made there are still named.
spec::Program ending_before(const spec::Program& program, std::size_t index) {
  spec::Program out = program;
  out.graph.nodes.resize(index);
  return out;
}

// What is left of the program's own outputs once nodes were taken out: new contents of inputs and
// states where somebody makes them, and None for each user output that nobody makes any more.
void drop_unmade_outputs(spec::Program& program) {
  spec::Graph& graph = program.graph;
  std::vector<bool> is_made(graph.values.size(), false);
  for (const ValueId id : graph.inputs) is_made[id.index] = true;
  for (const Node& node : graph.nodes) {
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) is_made[id.index] = true;
    }
  }
  for (std::size_t i = graph.outputs.size(); i-- > 0;) {
    bool is_there = true;
    spec::for_each_value(graph.outputs[i], [&](ValueId id) { is_there &= is_made[id.index]; });
    if (is_there) continue;
    if (program.outputs[i].kind == spec::OutputKind::kUserOutput) {
      graph.outputs[i] = {spec::None{}};
      continue;
    }
    graph.outputs.erase(graph.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    program.outputs.erase(program.outputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Takes out what the outputs from place `own` on do not depend on.
void drop_all_but(spec::Program& program, std::size_t own, const spec::OpTable& ops) {
  std::vector<ValueId> wanted;
  for (std::size_t i = own; i < program.outputs.size(); ++i) {
    spec::for_each_value(program.graph.outputs[i], [&](ValueId id) { wanted.push_back(id); });
  }
  drop_idle_nodes(program.graph, wanted, ops);
  drop_unmade_outputs(program);
}

// Takes out what neither the outputs from place `own` on depend on, nor what the program changes.
void drop_idle(spec::Program& program, std::size_t own, const spec::OpTable& ops) {
  std::vector<ValueId> wanted = program.graph.inputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    if (i < own && program.outputs[i].kind == spec::OutputKind::kUserOutput) continue;
    spec::for_each_value(program.graph.outputs[i], [&](ValueId id) { wanted.push_back(id); });
  }
  drop_idle_nodes(program.graph, wanted, ops);
  drop_unmade_outputs(program);
}

class Search {
 public:
  Search(Runs& runs, const Configuration& a, const Configuration& b, std::size_t budget)
      : runs_(runs), a_(a), b_(b), budget_(std::max<std::size_t>(budget, 2)) {}

  std::optional<FirstDifference> run() {
    for (std::size_t p = 0; p < runs_.script().programs.size(); ++p) {
      if (auto found = look_at_program(p)) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<FirstDifference> look_at_program(std::size_t program) {
    const std::size_t count = runs_.script().programs[program]->graph.nodes.size();
    const std::size_t stride = count / (budget_ / 2) + 1;
    std::size_t agreed = 0;  // all before it
    for (std::size_t n = stride - 1; n < count + stride - 1; n += stride) {
      const std::size_t at = std::min(n, count - 1);
      auto found = differs_at(program, at);
      if (!found) {
        agreed = at + 1;
        continue;
      }
      for (std::size_t before = agreed; before < at; ++before) {
        if (auto earlier = differs_at(program, before)) return earlier;
      }
      return found;
    }
    return std::nullopt;
  }

  std::optional<FirstDifference> differs_at(std::size_t program, std::size_t node) {
    const spec::Program& original = *runs_.script().programs[program];
    auto tapped = tap_one(original, node, *runs_.script().ops);
    if (!tapped) return std::nullopt;
    Script script = runs_.script();
    script.programs[program] = std::make_shared<spec::Program>(std::move(*tapped));
    script.options = a_;
    const auto x = runs_.subject_on(script, {});
    script.options = b_;
    const auto y = runs_.subject_on(script, {});
    if (!x.ok() || !y.ok()) return std::nullopt;
    const std::string message =
        compare(x.value(), y.value(), program, user_outputs(original), "with the change");
    if (message.empty()) return std::nullopt;
    const Node& at = original.graph.nodes[node];
    return FirstDifference{program, at.name, at.op, message};
  }

  // Outputs behind the program's own, over all its calls.
  static std::string compare(const Trace& a, const Trace& b, std::size_t program, std::size_t own,
                             const std::string& b_name) {
    for (std::size_t c = 0; c < std::min(a.calls.size(), b.calls.size()); ++c) {
      if (a.calls[c].program != program) continue;
      const auto& x = a.calls[c].result.outputs;
      const auto& y = b.calls[c].result.outputs;
      for (std::size_t i = own; i < std::min(x.size(), y.size()); ++i) {
        const auto* u = std::get_if<HostTensor>(&x[i]);
        const auto* v = std::get_if<HostTensor>(&y[i]);
        if (!u || !v) continue;
        std::string message = compare_form(*u, geometry_of(*v));
        if (message.empty()) message = compare_layout(*u, geometry_of(*v));
        BitReport report;
        if (message.empty()) {
          message = compare_element_bits(*u, *v, nullptr, b_name, {}, report);
        }
        if (!message.empty()) return "call " + std::to_string(c) + ": " + message;
      }
    }
    return "";
  }

  Runs& runs_;
  const Configuration& a_;
  const Configuration& b_;
  std::size_t budget_;
};

}  // namespace

std::size_t user_outputs(const spec::Program& program) {
  return static_cast<std::size_t>(std::ranges::count_if(program.outputs, [](const auto& output) {
    return output.kind == spec::OutputKind::kUserOutput;
  }));
}

std::optional<spec::Program> tap_one(const spec::Program& program, std::size_t index,
                                     const spec::OpTable& ops) {
  const Node& node = program.graph.nodes[index];
  const std::vector<ValueId> values = touched_by(program.graph, node, ops);
  if (values.empty()) return std::nullopt;
  return with_clones(program, values, index + 1);
}

std::vector<ValueId> tensor_operands(const spec::Program& program, std::size_t index) {
  std::vector<ValueId> values;
  spec::for_each_operand(program.graph.nodes[index], [&](ValueId id) {
    if (program.graph.value(id).kind == spec::ValueKind::kTensor) values.push_back(id);
  });
  return values;
}

TappedOperands tap_operands(const spec::Program& program, std::size_t index) {
  return {with_clones(program, tensor_operands(program, index), index), user_outputs(program)};
}

TappedOperands tap_operands_alone(const spec::Program& program, std::size_t index,
                                  const spec::OpTable& ops) {
  TappedOperands out{
      with_clones(ending_before(program, index), tensor_operands(program, index), index),
      user_outputs(program)};
  drop_idle(out.program, program.outputs.size(), ops);
  return out;
}

TappedOperands tap_operand_alone(const spec::Program& program, std::size_t index, ValueId operand,
                                 const spec::OpTable& ops) {
  TappedOperands out{with_clones(ending_before(program, index), {operand}, index),
                     user_outputs(program)};
  drop_all_but(out.program, program.outputs.size(), ops);
  return out;
}

spec::Program without_user_outputs(const spec::Program& program, const spec::OpTable& ops) {
  spec::Program out = program;
  drop_idle(out, program.outputs.size(), ops);
  return out;
}

std::optional<FirstDifference> first_difference(Runs& runs, const Configuration& a,
                                                const Configuration& b, std::size_t budget) {
  return Search(runs, a, b, budget).run();
}

}  // namespace graphgate::conformance
