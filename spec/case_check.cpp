// Whether a case makes sense; declared in case_file.h.
#include <map>
#include <set>

#include "spec/case_file.h"
#include "spec/case_ops.h"
#include "spec/graph_check.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

std::size_t count_user_outputs(const Program& program) {
  std::size_t count = 0;
  for (const ProgramOutput& output : program.outputs) {
    if (output.kind == OutputKind::kUserOutput) ++count;
  }
  return count;
}

class CaseChecker {
 public:
  explicit CaseChecker(const CaseFile& the_case) : case_(the_case) {}

  Result<void> check() {
    GRAPHGATE_TRY_VOID(check_programs());
    GRAPHGATE_TRY_VOID(check_weights());
    for (const InputSet& set : case_.inputs) {
      const auto result = check_set(set);
      if (!result.ok()) return result.error().at("inputs '" + set.name + "'");
    }
    for (std::size_t i = 0; i < case_.scenario.steps.size(); ++i) {
      const Step& step = case_.scenario.steps[i];
      const auto result = std::visit([this](const auto& what) { return check_step(what); }, step);
      if (result.ok()) continue;
      return result.error().at("step " + std::to_string(i) + " (" + print_step(step) + ")");
    }
    return check_expectation();
  }

 private:
  Result<const Program*> find(const std::string& name) const {
    if (const Program* program = case_.find_program(name)) return program;
    return bad_input("the case has no program '" + name + "'");
  }

  Result<void> check_programs() {
    GRAPHGATE_TRY(const auto ops, shared_case_ops(case_));
    std::set<std::string_view> names;
    for (const Program& program : case_.programs) {
      if (program.name.empty()) return bad_input("a program has no name");
      if (!names.insert(program.name).second) {
        return bad_input("two programs are named '" + program.name + "'");
      }
      GRAPHGATE_TRY_VOID(check_program(program, *ops));
    }
    return {};
  }

  Result<void> check_weights() {
    std::set<std::string_view> names;
    for (const CaseWeights& weights : case_.weights) {
      GRAPHGATE_TRY(const Program* program, find(weights.program));
      const std::string place = "weights '" + weights.program + "'";
      if (!names.insert(weights.program).second) return bad_input("given twice").at(place);
      if (!program->tensors.empty()) {
        return bad_input("the program has elements of its own").at(place);
      }
    }
    return {};
  }

  Result<void> check_set(const InputSet& set) {
    if (!sets_.insert(set.name).second) return bad_input("two sets have this name");
    GRAPHGATE_TRY(const Program* program, find(set.program));
    std::set<std::string_view> names;
    for (const CaseInput& input : set.inputs) {
      if (!program->find_input(InputKind::kUserInput, input.name)) {
        return bad_input("program '" + set.program + "' has no input '" + input.name + "'");
      }
      if (!names.insert(input.name).second) {
        return bad_input("input '" + input.name + "' is given twice");
      }
    }
    return check_devices(set, *program);
  }

  // A storage is on one device, and so are all inputs that lie in it. An index may be left out:
  // types of devices alone are compared.
  static Result<void> check_devices(const InputSet& set, const Program& program) {
    std::map<const HostStorage*, std::pair<std::string_view, Device>> homes;  // by first input
    for (const CaseInput& input : set.inputs) {
      const auto* tensor = std::get_if<HostTensor>(&input.data);
      const auto at = program.find_input(InputKind::kUserInput, input.name);
      const auto& type = program.graph.value(program.inputs[*at].value).type;
      if (tensor == nullptr || !type) continue;
      const auto [home, is_new] =
          homes.try_emplace(tensor->storage.get(), input.name, type->device);
      const auto& [owner, device] = home->second;
      if (device.type == type->device.type) continue;
      return bad_input("input '" + input.name + "', on " + print_device_name(type->device) +
                       ", lies in the storage of '" + std::string(owner) + "', on " +
                       print_device_name(device));
    }
    return {};
  }

  Result<void> check_step(const CallStep& step) {
    GRAPHGATE_TRY(const Program* program, find(step.program));
    if (asleep_.empty()) GRAPHGATE_TRY_VOID(check_nothing_lost(*program));
    calls_.push_back(program);
    for (const auto& [symbol, size] : step.sizes) {
      if (symbol != "size" && !program->symbols.contains(symbol)) {
        return bad_input("the program has no symbol '" + symbol + "'");
      }
      if (size < 0) return bad_input("the size of '" + symbol + "' is negative");
    }
    if (!step.inputs) return {};
    for (const InputSet& set : case_.inputs) {
      if (set.name == *step.inputs && set.program == step.program) return {};
    }
    return bad_input("the case has no inputs '" + *step.inputs + "' of this program");
  }

  // The program of a port, which must have been called if it is an output.
  Result<const Program*> find_port(const PortRef& port, bool output) const {
    if (port.program.empty()) {
      if (calls_.size() == calls_since_restart_) return bad_input("no program is called before");
      return calls_.back();
    }
    GRAPHGATE_TRY(const Program* program, find(port.program));
    if (!output) return program;
    for (std::size_t i = calls_since_restart_; i < calls_.size(); ++i) {
      if (calls_[i] == program) return program;
    }
    return bad_input("program '" + port.program + "' is not called before");
  }

  Result<void> check_output(const PortRef& port) const {
    GRAPHGATE_TRY(const Program* program, find_port(port, /*output=*/true));
    const std::size_t count = count_user_outputs(*program);
    if (port.index < count) return {};
    return bad_input("the program has " + std::to_string(count) + " outputs");
  }

  Result<void> check_step(const HoldStep& step) { return check_output(step.output); }
  Result<void> check_step(const ReleaseStep& step) { return check_output(step.output); }
  Result<void> check_step(const CheckStep&) { return {}; }

  Result<void> check_step(const SwapWeightsStep& step) {
    GRAPHGATE_TRY(const Program* program, find(step.program));
    bool is_known = !step.target;
    for (const ProgramInput& input : program->inputs) {
      const bool is_meant =
          step.target ? input.target == *step.target : input.kind == InputKind::kParameter;
      if (input.kind == InputKind::kUserInput || !is_meant) continue;
      is_known = true;
      if (asleep_.contains(part_of(input))) {
        return bad_input("'" + input.target + "' is asleep: it takes no contents");
      }
      lost_.erase({program, input.target});
    }
    if (is_known) return {};
    return bad_input("the program has no state '" + *step.target + "'");
  }

  [[nodiscard]] SleepPart part_of(const ProgramInput& input) const {
    return caches_.contains(input.target) ? SleepPart::kCaches : SleepPart::kWeights;
  }

  // What a cache holds is lost by every sleep, what parameters hold by one of level 2.
  Result<void> check_step(const SleepStep& step) {
    if (!asleep_.empty()) return bad_input("the executor is asleep already");
    asleep_ = {SleepPart::kWeights, SleepPart::kCaches};
    caches_ = {step.asked.caches.begin(), step.asked.caches.end()};
    std::set<std::string_view> found;
    for (const Program& program : case_.programs) {
      for (const ProgramInput& input : program.inputs) {
        const bool is_cache = input.kind == InputKind::kBuffer && caches_.contains(input.target);
        if (is_cache) found.insert(input.target);
        const bool is_parameter = input.kind == InputKind::kParameter;
        if (is_cache || (is_parameter && step.asked.level == 2)) {
          lost_.emplace(&program, input.target);
        }
      }
    }
    for (const std::string& cache : step.asked.caches) {
      if (!found.contains(cache)) return bad_input("no program has a buffer '" + cache + "'");
    }
    return {};
  }

  Result<void> check_step(const WakeStep& step) {
    if (step.part) {
      asleep_.erase(*step.part);
    } else {
      asleep_.clear();
    }
    return {};
  }

  Result<void> check_nothing_lost(const Program& program) const {
    for (const auto& [owner, target] : lost_) {
      if (owner != &program) continue;
      return bad_input("'" + target + "' was lost in the sleep: give it new contents first " +
                       "(swap-weights " + print_name(program.name) +
                       " target=" + print_name(target) + ")");
    }
    return {};
  }

  // Programs must be valid with the rows that the restart brings, too.
  Result<void> check_step(const RestartStep& step) {
    if (!step.ops.empty()) {
      GRAPHGATE_TRY(const auto ops, shared_case_ops(case_, step.ops));
      for (const Program& program : case_.programs) {
        GRAPHGATE_TRY_VOID(check_program(program, *ops));
      }
    }
    calls_since_restart_ = calls_.size();
    asleep_.clear();
    lost_.clear();
    return {};
  }

  Result<const ProgramInput*> find_input(const PortRef& port) const {
    GRAPHGATE_TRY(const Program* program, find_port(port, /*output=*/false));
    const auto inputs = program->inputs_of(InputKind::kUserInput);
    if (port.index < inputs.size()) return &program->inputs[inputs[port.index]];
    return bad_input("the program has " + std::to_string(inputs.size()) + " inputs");
  }

  Result<void> check_step(const FeedBackStep& step) {
    GRAPHGATE_TRY_VOID(check_output(step.output));
    GRAPHGATE_TRY_VOID(find_input(step.input));
    return {};
  }

  // Numbers have no address, and constants are no call's.
  Result<void> check_step(const StaticStep& step) {
    GRAPHGATE_TRY(const Program* program, find_port(step.input, /*output=*/false));
    GRAPHGATE_TRY(const ProgramInput* input, find_input(step.input));
    const bool is_tensor =
        !input->constant && program->graph.value(input->value).kind == ValueKind::kTensor;
    if (is_tensor) return {};
    return bad_input("input '" + input->target + "' is no tensor that calls pass");
  }

  Result<void> check_expectation() {
    if (const auto& refusal = case_.expectation.refusal;
        refusal && refusal->call >= calls_.size()) {
      return bad_input("the scenario has " + std::to_string(calls_.size()) + " calls")
          .at("refusal of call " + std::to_string(refusal->call));
    }
    for (const ExpectedOutput& expected : case_.expectation.outputs) {
      const std::string place = "expected output " + std::to_string(expected.output) + " of call " +
                                std::to_string(expected.call);
      if (expected.call >= calls_.size()) {
        return bad_input("the scenario has " + std::to_string(calls_.size()) + " calls").at(place);
      }
      const std::size_t count = count_user_outputs(*calls_[expected.call]);
      if (expected.output < count) continue;
      return bad_input("the program has " + std::to_string(count) + " outputs").at(place);
    }
    return {};
  }

  const CaseFile& case_;
  std::set<std::string_view> sets_;
  std::vector<const Program*> calls_;  // the programs of the call steps seen so far
  std::size_t calls_since_restart_ = 0;
  std::set<SleepPart> asleep_;                             // what has not come back
  std::set<std::string, std::less<>> caches_;              // of the latest sleep
  std::set<std::pair<const Program*, std::string>> lost_;  // and not given anew
};

}  // namespace

Result<void> check_case(const CaseFile& the_case) { return CaseChecker(the_case).check(); }

}  // namespace graphgate::spec
