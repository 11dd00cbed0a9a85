// Scripts of case files: names become places, seeds become bytes.
#include "conformance/run/script.h"

#include <algorithm>
#include <set>

#include "conformance/run/input_layout.h"
#include "conformance/run/seeded_inputs.h"
#include "spec/case_ops.h"
#include "spec/graph_check.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using Tensors = std::map<std::string, HostTensor, std::less<>>;

// Parts of a case's seed: weights of program p are part p, inputs of call c part kFirstCall + c,
// new weights of step s part kFirstSwap + s.
constexpr std::uint64_t kFirstCall = std::uint64_t{1} << 32U;
constexpr std::uint64_t kFirstSwap = std::uint64_t{1} << 33U;

// A tensor of a file in the layout that the program declares for its parameter.
HostTensor as_declared(const spec::Program& program, const spec::ProgramInput& input,
                       const HostTensor& packed) {
  const auto& type = program.graph.value(input.value).type;
  return type ? laid_out(packed, *type, {}) : packed;
}

Result<Tensors> weights_of(const spec::Program& program, const spec::CaseWeights& weights,
                           const CaseFiles& files) {
  Tensors all;
  const auto* file = std::get_if<spec::FileData>(&weights.source);
  if (file) {
    GRAPHGATE_TRY(all, files.tensors(file->file));
  }
  Tensors chosen;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[i];
    if (input.kind == spec::InputKind::kUserInput) continue;
    if (!file) {
      const std::uint64_t seed = std::get<spec::SeededData>(weights.source).seed;
      GRAPHGATE_TRY(HostTensor drawn, seeded_state(program, input, seed_of_part(seed, i)));
      chosen.emplace(input.target, std::move(drawn));
      continue;
    }
    const auto found = all.find(input.target);
    if (found == all.end()) {
      return bad_input(file->file + ": has no tensor '" + input.target + "'");
    }
    chosen.emplace(input.target, as_declared(program, input, found->second));
  }
  return chosen;
}

// The symbol that `size` stands for: the outermost symbolic size of the first user input that has
// one, where it is one symbol or depends on one alone.
Result<std::string> leading_symbol(const spec::Program& program) {
  for (const spec::ProgramInput* input : passed_inputs(program)) {
    const auto& type = program.graph.value(input->value).type;
    if (!type) continue;
    for (const spec::SymExpr& size : type->sizes) {
      const auto symbols = spec::free_symbols(size);
      if (symbols.size() == 1) return symbols.front();
      if (!symbols.empty()) {
        return bad_input("'size' stands for no single symbol of " + spec::print_sym_expr(size));
      }
    }
  }
  return bad_input("'size': no user input has a symbolic size");
}

class ScriptMaker {
 public:
  ScriptMaker(const spec::CaseFile& the_case, const CaseFiles& files)
      : case_(the_case), files_(files) {}

  Result<Script> run() {
    script_.name = case_.name;
    script_.options = case_.options;
    script_.expectation = case_.expectation;
    GRAPHGATE_TRY(script_.ops, spec::shared_case_ops(case_));
    for (std::size_t p = 0; p < case_.programs.size(); ++p) GRAPHGATE_TRY_VOID(add_program(p));
    for (std::size_t i = 0; i < case_.scenario.steps.size(); ++i) {
      step_ = i;
      const spec::Step& step = case_.scenario.steps[i];
      const auto added = std::visit([this](const auto& what) { return add(what); }, step);
      if (added.ok()) continue;
      return added.error().at("step " + std::to_string(i) + " (" + spec::print_step(step) + ")");
    }
    GRAPHGATE_TRY_VOID(add_expectations());
    return std::move(script_);
  }

 private:
  Result<void> add_program(std::size_t index) {
    auto program = std::make_shared<spec::Program>(case_.programs[index]);
    for (const spec::CaseWeights& weights : case_.weights) {
      if (weights.program != program->name) continue;
      auto tensors = weights_of(*program, weights, files_);
      if (!tensors.ok()) return tensors.error().at("weights '" + program->name + "'");
      program->tensors = std::move(tensors).value();
      GRAPHGATE_TRY_VOID(spec::check_tensors(*program));
    }
    GRAPHGATE_TRY_VOID(spec::check_tensors_present(*program));
    script_.programs.push_back(std::move(program));
    return {};
  }

  // The place of a program; "" is the one called last. check_case has looked at all names.
  [[nodiscard]] std::size_t place_of(const std::string& name) const {
    if (name.empty()) return last_program_;
    const auto found = std::ranges::find_if(
        case_.programs, [&](const spec::Program& program) { return program.name == name; });
    GRAPHGATE_CHECK(found != case_.programs.end());
    return static_cast<std::size_t>(found - case_.programs.begin());
  }

  [[nodiscard]] const spec::InputSet* find_set(const std::string& name) const {
    for (const spec::InputSet& set : case_.inputs) {
      if (set.name == name) return &set;
    }
    return nullptr;
  }

  Result<Tensors> read(const std::string& file) {
    const auto known = read_.find(file);
    if (known != read_.end()) return known->second;
    GRAPHGATE_TRY(Tensors tensors, files_.tensors(file));
    return read_.emplace(file, std::move(tensors)).first->second;
  }

  Result<HostTensor> read(const spec::FileData& data, const std::string& name) {
    GRAPHGATE_TRY(const Tensors tensors, read(data.file));
    const std::string& key = data.key.empty() ? name : data.key;
    const auto found = tensors.find(key);
    if (found == tensors.end()) return bad_input(data.file + ": has no tensor '" + key + "'");
    return found->second;
  }

  // What the set says of an input; null where it says nothing.
  static const spec::CaseData* given(const spec::InputSet* set, const std::string& name) {
    if (!set) return nullptr;
    for (const spec::CaseInput& input : set->inputs) {
      if (input.name == name) return &input.data;
    }
    return nullptr;
  }

  // Sizes that the step names, then those that given inputs have, then the traced ones.
  Result<spec::SymbolValues> symbols_of_call(const spec::CallStep& step,
                                             const spec::Program& program,
                                             const std::vector<spec::InputValue>& inputs) {
    spec::SymbolValues symbols;
    for (const auto& [name, size] : step.sizes) {
      std::string symbol = name;
      if (name == "size" && !program.symbols.contains(name)) {
        GRAPHGATE_TRY(symbol, leading_symbol(program));
      }
      const auto [at, is_new] = symbols.emplace(symbol, size);
      if (!is_new && at->second != size) {
        return bad_input("'" + symbol + "' is named twice, with different sizes");
      }
    }
    for (const auto& [symbol, size] : symbols_of(program, inputs)) {
      const auto [at, is_new] = symbols.emplace(symbol, size);
      if (is_new || at->second == size) continue;
      return bad_input("the inputs have " + symbol + " = " + std::to_string(size) +
                       ", and the step names " + std::to_string(at->second));
    }
    for (const auto& [symbol, info] : program.symbols) symbols.emplace(symbol, traced_size(info));
    return symbols;
  }

  // A number for what is drawn later: it tells nothing of any symbol.
  static spec::InputValue nothing_yet() { return false; }

  Result<std::vector<spec::InputValue>> inputs_of(const spec::CallStep& step,
                                                  const spec::Program& program) {
    const spec::InputSet* set = step.inputs ? find_set(*step.inputs) : nullptr;
    const auto passed = passed_inputs(program);
    std::vector<spec::InputValue> inputs;
    std::vector<bool> is_literal(passed.size(), false);
    std::vector<std::optional<std::uint64_t>> drawn_from(passed.size());
    const std::uint64_t seed = seed_of_part(case_.seed, kFirstCall + calls_);
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const spec::CaseData* data = given(set, passed[i]->target);
      const auto* seeded = data ? std::get_if<spec::SeededData>(data) : nullptr;
      if (!data || seeded) {
        drawn_from[i] = seed_of_part(seeded ? seeded->seed : seed, i);
        inputs.push_back(nothing_yet());
        continue;
      }
      GRAPHGATE_TRY(spec::InputValue value, given_value(*data, passed[i]->target));
      is_literal[i] = !std::holds_alternative<spec::FileData>(*data);
      inputs.push_back(std::move(value));
    }
    GRAPHGATE_TRY(const auto symbols, symbols_of_call(step, program, inputs));
    for (std::size_t i = 0; i < passed.size(); ++i) {
      if (!drawn_from[i]) continue;
      const spec::Value& value = program.graph.value(passed[i]->value);
      GRAPHGATE_TRY(inputs[i], seeded_input(program, value, symbols, *drawn_from[i]));
    }
    std::vector<spec::InputValue> in_layout = inputs;
    lay_out_inputs(program, in_layout);
    for (std::size_t i = 0; i < passed.size(); ++i) {
      if (is_literal[i]) in_layout[i] = std::move(inputs[i]);
    }
    return in_layout;
  }

  // A literal stays as the case has it, strides included.
  Result<spec::InputValue> given_value(const spec::CaseData& data, const std::string& name) {
    if (const auto* file = std::get_if<spec::FileData>(&data)) {
      GRAPHGATE_TRY(HostTensor tensor, read(*file, name));
      return spec::InputValue(std::move(tensor));
    }
    if (const auto* tensor = std::get_if<HostTensor>(&data)) return spec::InputValue(*tensor);
    if (const auto* i = std::get_if<std::int64_t>(&data)) return spec::InputValue(*i);
    if (const auto* x = std::get_if<double>(&data)) return spec::InputValue(*x);
    return spec::InputValue(std::get<bool>(data));
  }

  Result<void> add(const spec::CallStep& step) {
    ScriptCall call{.program = place_of(step.program), .options = {step.mode, step.flags}};
    GRAPHGATE_TRY(call.inputs, inputs_of(step, *script_.programs[call.program]));
    GRAPHGATE_TRY_VOID(check_static(call));
    last_program_ = call.program;
    ++calls_;
    script_.steps.emplace_back(std::move(call));
    return {};
  }

  Result<void> add(const spec::HoldStep& step) {
    const ScriptPort port{place_of(step.output.program), step.output.index};
    held_.emplace_back(port.program, port.index);
    script_.steps.emplace_back(ScriptHold{port});
    return {};
  }

  Result<void> add(const spec::ReleaseStep& step) {
    const ScriptPort port{place_of(step.output.program), step.output.index};
    const auto found = std::ranges::find(held_, std::pair(port.program, port.index));
    if (found == held_.end()) return bad_input("that output is not held");
    held_.erase(found);
    script_.steps.emplace_back(ScriptRelease{port});
    return {};
  }

  Result<void> add(const spec::SwapWeightsStep& step) {
    ScriptSwap swap{.program = place_of(step.program), .rebind = step.rebind};
    const spec::Program& program = *script_.programs[swap.program];
    const std::uint64_t seed = step.seed.value_or(seed_of_part(case_.seed, kFirstSwap + step_));
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const spec::ProgramInput& input = program.inputs[i];
      const bool chosen =
          step.target ? input.target == *step.target && input.kind != spec::InputKind::kUserInput
                      : input.kind == spec::InputKind::kParameter;
      if (!chosen) continue;
      GRAPHGATE_TRY(HostTensor drawn, seeded_state(program, input, seed_of_part(seed, i)));
      swap.values.emplace(input.target, std::move(drawn));
    }
    if (swap.values.empty()) return bad_input("the program has no parameters");
    script_.steps.emplace_back(std::move(swap));
    return {};
  }

  // Ports count all user inputs, constants included; calls pass those that are no constants.
  Result<ScriptPort> passed_port(const spec::PortRef& wanted) const {
    ScriptPort passed{place_of(wanted.program), 0};
    std::size_t port = 0;
    for (const spec::ProgramInput& input : script_.programs[passed.program]->inputs) {
      if (input.kind != spec::InputKind::kUserInput) continue;
      if (port++ == wanted.index) {
        if (input.constant) return bad_input("input '" + input.target + "' is a constant");
        break;
      }
      passed.index += input.constant ? 0 : 1;
    }
    return passed;
  }

  Result<void> add(const spec::FeedBackStep& step) {
    ScriptFeedBack feed_back;
    feed_back.output = {place_of(step.output.program), step.output.index};
    GRAPHGATE_TRY(feed_back.input, passed_port(step.input));
    script_.steps.emplace_back(feed_back);
    return {};
  }

  Result<void> add(const spec::StaticStep& step) {
    ScriptStatic kept;
    GRAPHGATE_TRY(kept.input, passed_port(step.input));
    static_.emplace(kept.input.program, kept.input.index);
    script_.steps.emplace_back(kept);
    return {};
  }

  // Memory of its own for each leaves none that two could share.
  Result<void> check_static(const ScriptCall& call) const {
    std::set<const spec::HostStorage*> storages;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&call.inputs[i]);
      if (!tensor || !static_.contains({call.program, i})) continue;
      if (storages.insert(tensor->storage.get()).second) continue;
      return bad_input("two static inputs share a storage");
    }
    return {};
  }

  Result<void> add(const spec::CheckStep& step) {
    script_.steps.emplace_back(ScriptCheck{step.what});
    return {};
  }

  Result<void> add(const spec::SleepStep& step) {
    script_.steps.emplace_back(ScriptSleep{step.asked});
    return {};
  }

  Result<void> add(const spec::WakeStep& step) {
    script_.steps.emplace_back(ScriptWake{step.part});
    return {};
  }

  Result<void> add(const spec::RestartStep& step) {
    ScriptRestart restart;
    restart.changes.insert(step.options.begin(), step.options.end());
    if (!step.ops.empty()) {
      GRAPHGATE_TRY(restart.ops, spec::shared_case_ops(case_, step.ops));
    }
    held_.clear();
    script_.steps.emplace_back(std::move(restart));
    return {};
  }

  Result<void> add_expectations() {
    std::vector<ScriptCall*> calls;
    for (ScriptStep& step : script_.steps) {
      if (auto* call = std::get_if<ScriptCall>(&step)) calls.push_back(call);
    }
    for (const spec::ExpectedOutput& output : case_.expectation.outputs) {
      const std::string name = "out" + std::to_string(output.output);
      auto value = given_value(output.data, name);
      if (!value.ok()) return value.error().at("expect call " + std::to_string(output.call));
      add_expected(*calls[output.call], output.output, value.value(),
                   std::holds_alternative<HostTensor>(output.data));
    }
    return {};
  }

  // Files do not store strides, so only what the text says is held against the executor.
  void add_expected(ScriptCall& call, std::size_t index, const spec::InputValue& value,
                    bool has_geometry) {
    const spec::Program& program = *script_.programs[call.program];
    const auto outputs =
        static_cast<std::size_t>(std::ranges::count_if(program.outputs, [](const auto& output) {
          return output.kind == spec::OutputKind::kUserOutput;
        }));
    if (!call.expected) {
      call.expected.emplace();
      call.expected->is_partial = true;
      call.expected->outputs.resize(outputs);
      call.expected->geometries.resize(outputs);
    }
    call.expected->outputs[index] =
        std::visit([](const auto& v) { return spec::OutputValue(v); }, value);
    const auto* tensor = std::get_if<HostTensor>(&value);
    if (!tensor || !has_geometry) return;
    call.expected->geometries[index] = geometry_of(*tensor);
    call.expected->geometries[index]->device.reset();
  }

  const spec::CaseFile& case_;
  const CaseFiles& files_;
  Script script_;
  std::map<std::string, Tensors, std::less<>> read_;
  std::vector<std::pair<std::size_t, std::size_t>> held_;
  std::set<std::pair<std::size_t, std::size_t>> static_;  // programs, and inputs that calls pass
  std::size_t step_ = 0;
  std::size_t calls_ = 0;
  std::size_t last_program_ = 0;
};

// The last restart before the step; null: there is none.
const ScriptRestart* latest_restart(const Script& script, std::size_t step) {
  const ScriptRestart* latest = nullptr;
  for (std::size_t i = 0; i < step; ++i) {
    if (const auto* restart = std::get_if<ScriptRestart>(&script.steps[i])) latest = restart;
  }
  return latest;
}

}  // namespace

const spec::OpTable& ops_at(const Script& script, std::size_t step) {
  const ScriptRestart* const restart = latest_restart(script, step);
  return restart && restart->ops ? *restart->ops : *script.ops;
}

Configuration options_at(const Script& script, const Configuration& options, std::size_t step) {
  const ScriptRestart* const restart = latest_restart(script, step);
  return restart ? merged(options, restart->changes) : options;
}

std::size_t Script::calls() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      steps, [](const ScriptStep& step) { return std::holds_alternative<ScriptCall>(step); }));
}

Result<Script> script_of(const spec::CaseFile& the_case, const CaseFiles& files) {
  return ScriptMaker(the_case, files).run();
}

}  // namespace graphgate::conformance
