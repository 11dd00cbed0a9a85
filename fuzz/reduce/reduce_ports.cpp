// Outputs, and inputs and state that nothing reads.
#include <algorithm>
#include <set>

#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;
using spec::Program;

struct Port {
  std::size_t program = 0;
  std::size_t index = 0;
};

using Width = std::size_t (*)(const Program&);
std::size_t output_count(const Program& program) { return program.outputs.size(); }
std::size_t input_count(const Program& program) { return program.inputs.size(); }

std::vector<Port> all_ports(const CaseFile& the_case, Width width) {
  std::vector<Port> out;
  for (std::size_t p = 0; p < the_case.programs.size(); ++p) {
    for (std::size_t i = 0; i < width(the_case.programs[p]); ++i) out.push_back({p, i});
  }
  return out;
}

// Without `ports` [begin, end), which `drop` takes out of one program by a flag for each of its
// ports.
CaseFile without(const CaseFile& the_case, const std::vector<Port>& ports, std::size_t begin,
                 std::size_t end, Width width,
                 void (*drop)(CaseFile&, std::size_t, const std::vector<bool>&)) {
  std::vector<std::vector<bool>> marked;
  marked.reserve(the_case.programs.size());
  for (const Program& program : the_case.programs) marked.emplace_back(width(program), false);
  for (std::size_t i = begin; i < end; ++i) marked[ports[i].program][ports[i].index] = true;
  CaseFile out = the_case;
  for (std::size_t p = 0; p < marked.size(); ++p) drop(out, p, marked[p]);
  tidy_case(out);
  return out;
}

std::size_t count_outputs(const CaseFile& the_case) {
  return all_ports(the_case, output_count).size();
}

Candidate drop_some_outputs(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  return without(the_case, all_ports(the_case, output_count), begin, end, output_count,
                 drop_outputs);
}

bool is_mutated(const Program& program, const spec::ProgramInput& input) {
  return std::any_of(program.outputs.begin(), program.outputs.end(), [&](const auto& output) {
    return output.kind != spec::OutputKind::kUserOutput && output.target == input.target;
  });
}

// Inputs that no node reads and no output returns.
std::vector<Port> idle_inputs(const CaseFile& the_case) {
  std::vector<Port> out;
  for (std::size_t p = 0; p < the_case.programs.size(); ++p) {
    const Program& program = the_case.programs[p];
    const std::set<spec::ValueId> used = used_values(program.graph);
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const spec::ProgramInput& input = program.inputs[i];
      const bool is_used = !input.constant && used.contains(input.value);
      if (!is_used && !is_mutated(program, input)) out.push_back({p, i});
    }
  }
  return out;
}

Candidate drop_idle_inputs(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  return without(the_case, idle_inputs(the_case), begin, end, input_count, drop_inputs);
}

std::size_t count_inputs(const CaseFile& the_case) {
  return all_ports(the_case, input_count).size();
}

// Uses of an input are given to an earlier one of the same type.
Candidate merge_input(const CaseFile& the_case, std::size_t index) {
  const Port port = all_ports(the_case, input_count)[index];
  CaseFile out = the_case;
  Program& program = out.programs[port.program];
  const spec::ProgramInput& input = program.inputs[port.index];
  if (input.constant || is_mutated(program, input)) return std::nullopt;
  const spec::Value& value = program.graph.value(input.value);
  for (std::size_t i = 0; i < port.index; ++i) {
    const spec::ProgramInput& earlier = program.inputs[i];
    if (earlier.constant) continue;
    const spec::Value& other = program.graph.value(earlier.value);
    if (other.kind != value.kind || other.type != value.type) continue;
    substitute(program.graph, {{input.value, earlier.value}});
    std::vector<bool> dropped(program.inputs.size(), false);
    dropped[port.index] = true;
    drop_inputs(out, port.program, dropped);
    tidy_case(out);
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::vector<ReductionPass> port_passes() {
  return {{"outputs", count_outputs, drop_some_outputs},
          {"idle inputs", count_of<idle_inputs>, drop_idle_inputs},
          single_pass("inputs for others", count_inputs, merge_input)};
}

}  // namespace graphgate::fuzz
