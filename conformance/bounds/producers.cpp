#include "conformance/bounds/producers.h"

#include <algorithm>

namespace graphgate::conformance {
namespace {

// The node that makes graph output `index`, or "".
std::string node_of_output(const spec::Program& program, std::size_t index) {
  const auto* id = program.graph.outputs[index].as<spec::ValueId>();
  if (!id) return "";
  for (const spec::Node& node : program.graph.nodes) {
    for (const spec::NodeResult& result : node.results) {
      if (std::ranges::find(result.values, *id) != result.values.end()) {
        return node.name;
      }
    }
  }
  return "";
}

// Whether graph output `index` makes what `where` names.
bool is_about(const std::string& where, const spec::Program& program, std::size_t index,
              std::size_t user_outputs_before) {
  const spec::ProgramOutput& output = program.outputs[index];
  if (output.kind == spec::OutputKind::kUserOutput) {
    return where == "output " + std::to_string(user_outputs_before);
  }
  if (output.kind != spec::OutputKind::kUserInputMutation) {
    return where == "state '" + output.target + "'";
  }
  std::size_t user_input = 0;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    if (input.target == output.target) break;
    ++user_input;
  }
  return where == "final input " + std::to_string(user_input);
}

}  // namespace

std::string producer_of(const spec::Program& program, const std::string& where) {
  std::size_t user_outputs = 0;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    if (is_about(where, program, i, user_outputs)) return node_of_output(program, i);
    user_outputs += program.outputs[i].kind == spec::OutputKind::kUserOutput ? 1 : 0;
  }
  return "";
}

bool is_functionalized(const spec::Program& program) {
  return std::ranges::any_of(program.outputs, [](const auto& output) {
    return output.kind != spec::OutputKind::kUserOutput;
  });
}

}  // namespace graphgate::conformance
