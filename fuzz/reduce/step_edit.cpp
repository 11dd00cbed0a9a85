// Edits of a case's ports and steps that keep what refers to them right; declared in graph_edit.h.
#include <set>
#include <utility>

#include "fuzz/reduce/graph_edit.h"

namespace graphgate::fuzz {
namespace {

using spec::Program;

// New places of what is kept.
std::vector<std::size_t> places_of(const std::vector<bool>& dropped) {
  std::vector<std::size_t> out;
  std::size_t next = 0;
  for (const bool is_dropped : dropped) {
    out.push_back(next);
    next += is_dropped ? 0 : 1;
  }
  return out;
}

// Moves one port; false where what it names is dropped.
class PortMover {
 public:
  PortMover(std::string program, std::vector<bool> dropped)
      : program_(std::move(program)), dropped_(std::move(dropped)), places_(places_of(dropped_)) {}

  [[nodiscard]] bool move(spec::PortRef& port) const {
    if (port.program != program_ || port.index >= dropped_.size()) return true;
    if (dropped_[port.index]) return false;
    port.index = static_cast<std::uint32_t>(places_[port.index]);
    return true;
  }
  [[nodiscard]] const std::string& program() const { return program_; }

 private:
  std::string program_;
  std::vector<bool> dropped_;
  std::vector<std::size_t> places_;
};

bool move_outputs(const PortMover& mover, spec::Step& step) {
  if (auto* hold = std::get_if<spec::HoldStep>(&step)) return mover.move(hold->output);
  if (auto* release = std::get_if<spec::ReleaseStep>(&step)) return mover.move(release->output);
  if (auto* back = std::get_if<spec::FeedBackStep>(&step)) return mover.move(back->output);
  return true;
}

// The program of each call step.
std::vector<std::string> called_programs(const spec::CaseFile& the_case) {
  std::vector<std::string> out;
  for (const spec::Step& step : the_case.scenario.steps) {
    if (const auto* call = std::get_if<spec::CallStep>(&step)) out.push_back(call->program);
  }
  return out;
}

bool is_sensible(const spec::Step& step, const std::set<std::string>& called,
                 std::multiset<std::pair<std::string, std::uint32_t>>& held) {
  if (const auto* hold = std::get_if<spec::HoldStep>(&step)) {
    held.emplace(hold->output.program, hold->output.index);
    return called.contains(hold->output.program);
  }
  if (const auto* back = std::get_if<spec::FeedBackStep>(&step)) {
    return called.contains(back->output.program);
  }
  if (const auto* release = std::get_if<spec::ReleaseStep>(&step)) {
    const auto found = held.find({release->output.program, release->output.index});
    if (found == held.end()) return false;
    held.erase(found);
  }
  return true;
}

// Marks what makes no sense without the steps that are dropped.
void mark_senseless(const spec::CaseFile& the_case, std::vector<bool>& dropped) {
  std::set<std::string> called;
  std::multiset<std::pair<std::string, std::uint32_t>> held;
  for (std::size_t s = 0; s < dropped.size(); ++s) {
    if (dropped[s]) continue;
    const spec::Step& step = the_case.scenario.steps[s];
    if (const auto* call = std::get_if<spec::CallStep>(&step)) called.insert(call->program);
    if (std::holds_alternative<spec::RestartStep>(step)) {
      called.clear();
      held.clear();
    }
    dropped[s] = !is_sensible(step, called, held);
  }
}

}  // namespace

void drop_outputs(spec::CaseFile& the_case, std::size_t index, const std::vector<bool>& dropped) {
  Program& program = the_case.programs[index];
  std::vector<bool> user_dropped;
  std::vector<spec::ProgramOutput> outputs;
  std::vector<spec::Argument> arguments;
  for (std::size_t o = 0; o < program.outputs.size(); ++o) {
    if (program.outputs[o].kind == spec::OutputKind::kUserOutput) {
      user_dropped.push_back(dropped[o]);
    }
    if (dropped[o]) continue;
    outputs.push_back(std::move(program.outputs[o]));
    arguments.push_back(std::move(program.graph.outputs[o]));
  }
  program.outputs = std::move(outputs);
  program.graph.outputs = std::move(arguments);
  const PortMover mover(program.name, std::move(user_dropped));
  std::vector<bool> steps_dropped;
  steps_dropped.reserve(the_case.scenario.steps.size());
  for (spec::Step& step : the_case.scenario.steps) {
    steps_dropped.push_back(!move_outputs(mover, step));
  }
  const std::vector<std::string> called = called_programs(the_case);
  std::erase_if(the_case.expectation.outputs, [&](spec::ExpectedOutput& expected) {
    spec::PortRef port{called.at(expected.call), expected.output};
    const bool is_kept = mover.move(port);
    expected.output = port.index;
    return !is_kept;
  });
  drop_steps(the_case, std::move(steps_dropped));
}

void drop_inputs(spec::CaseFile& the_case, std::size_t index, const std::vector<bool>& dropped) {
  Program& program = the_case.programs[index];
  std::vector<bool> user_dropped;
  std::vector<spec::ProgramInput> inputs;
  std::vector<spec::ValueId> values;
  std::set<std::string> targets;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    spec::ProgramInput& input = program.inputs[i];
    const bool is_user = input.kind == spec::InputKind::kUserInput;
    if (is_user) user_dropped.push_back(dropped[i]);
    if (dropped[i]) {
      if (is_user) targets.insert(input.target);
      continue;
    }
    if (!input.constant) values.push_back(input.value);
    inputs.push_back(std::move(input));
  }
  program.inputs = std::move(inputs);
  program.graph.inputs = std::move(values);
  for (spec::InputSet& set : the_case.inputs) {
    if (set.program != program.name) continue;
    std::erase_if(set.inputs,
                  [&](const spec::CaseInput& input) { return targets.contains(input.name); });
  }
  const PortMover mover(program.name, std::move(user_dropped));
  std::vector<bool> steps_dropped;
  for (spec::Step& step : the_case.scenario.steps) {
    auto* back = std::get_if<spec::FeedBackStep>(&step);
    auto* kept = std::get_if<spec::StaticStep>(&step);
    steps_dropped.push_back((back && !mover.move(back->input)) ||
                            (kept && !mover.move(kept->input)));
  }
  drop_steps(the_case, std::move(steps_dropped));
}

void drop_steps(spec::CaseFile& the_case, std::vector<bool> dropped) {
  mark_senseless(the_case, dropped);
  std::vector<spec::Step> kept;
  std::vector<bool> calls_dropped;
  for (std::size_t s = 0; s < dropped.size(); ++s) {
    spec::Step& step = the_case.scenario.steps[s];
    if (std::holds_alternative<spec::CallStep>(step)) calls_dropped.push_back(dropped[s]);
    if (!dropped[s]) kept.push_back(std::move(step));
  }
  the_case.scenario.steps = std::move(kept);
  const std::vector<std::size_t> places = places_of(calls_dropped);
  std::erase_if(the_case.expectation.outputs, [&](spec::ExpectedOutput& expected) {
    const bool is_dropped = calls_dropped.at(expected.call);
    expected.call = static_cast<std::uint32_t>(places[expected.call]);
    return is_dropped;
  });
  auto& refusal = the_case.expectation.refusal;
  if (!refusal) return;
  if (calls_dropped.at(refusal->call)) {
    refusal.reset();
  } else {
    refusal->call = static_cast<std::uint32_t>(places[refusal->call]);
  }
}

void name_ports(spec::CaseFile& the_case) {
  std::string last;
  const auto name = [&](spec::PortRef& port) {
    if (port.program.empty()) port.program = last;
  };
  for (spec::Step& step : the_case.scenario.steps) {
    if (const auto* call = std::get_if<spec::CallStep>(&step)) last = call->program;
    if (auto* hold = std::get_if<spec::HoldStep>(&step)) name(hold->output);
    if (auto* release = std::get_if<spec::ReleaseStep>(&step)) name(release->output);
    if (auto* kept = std::get_if<spec::StaticStep>(&step)) name(kept->input);
    if (auto* back = std::get_if<spec::FeedBackStep>(&step)) {
      name(back->output);
      name(back->input);
    }
  }
}

}  // namespace graphgate::fuzz
