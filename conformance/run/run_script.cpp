#include <algorithm>
#include <ctime>
#include <numeric>
#include <set>
#include <utility>

#include "conformance/run/compile_once.h"
#include "conformance/run/static_inputs.h"
#include "conformance/run/trace.h"

namespace graphgate::conformance {
namespace {

// By their targets, as the reference has them: an executor may tell them in any order.
void put_states_in_order(spec::CallResult& result) {
  std::vector<std::string>& targets = result.state_targets;
  const bool is_told = targets.size() == result.final_states.size();
  if (!is_told || std::is_sorted(targets.begin(), targets.end())) return;
  std::vector<std::size_t> order(targets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return targets[a] < targets[b]; });
  const auto put = [&order](auto& list) {
    if (list.size() != order.size()) return;  // spreads, of an oracle alone
    auto before = std::exchange(list, {});
    for (const std::size_t place : order) list.push_back(std::move(before[place]));
  };
  put(targets);
  put(result.final_states);
  put(result.final_state_spreads);
}

using spec::HostTensor;
using spec::LoadedProgram;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A tensor with a storage of its own: what others write does not show in it.
HostTensor snapshot(const HostTensor& tensor) {
  HostTensor copy = tensor;
  copy.storage = std::make_shared<spec::HostStorage>(*tensor.storage);
  return copy;
}

class ScriptRunner {
 public:
  ScriptRunner(const Script& script, spec::Executor& executor, const Configuration& configuration,
               const MakeRestarted& restarted)
      : script_(script), executor_(&executor), restarted_(restarted), once_(configuration) {
    trace_.executor = executor.name();
    trace_.configuration = configuration;
  }

  Trace run() {
    const double begin = thread_seconds();
    trace_.calls.reserve(script_.calls());
    auto ran = load();
    trace_.is_loaded = ran.ok();
    for (; ran.ok() && step_ < script_.steps.size(); ++step_) {
      ran = std::visit([this](const auto& step) { return follow(step); }, script_.steps[step_]);
      if (!ran.ok()) break;
    }
    if (!ran.ok()) {
      trace_.error = ran.error();
      trace_.error_step = step_;
    } else {
      look_at_held();
    }
    trace_.is_as_unwatched = is_as_unwatched_ && ran.ok() && !trace_.calls.empty();
    const auto closed = executor_->close();
    if (!closed.ok()) trace_.closing_error = closed.error();
    trace_.seconds = thread_seconds() - begin;
    return std::move(trace_);
  }

 private:
  // `tensor` is what the call returned; `held` stands for it where the executor can hold.
  struct Held {
    std::size_t step = 0;
    ScriptPort port;
    HostTensor then;
    HostTensor tensor;
    std::shared_ptr<spec::HeldOutput> held;
  };
  struct FeedBack {
    ScriptPort input;
    spec::InputValue value;
  };

  Result<void> load() {
    loaded_.clear();
    last_.assign(script_.programs.size(), std::nullopt);
    for (const auto& program : script_.programs) {
      GRAPHGATE_TRY(auto loaded, executor_->load(*program));
      loaded_.push_back(std::move(loaded));
    }
    return {};
  }

  Result<void> follow(const ScriptCall& call) {
    CallRecord record{.step = step_, .program = call.program, .inputs = call.inputs};
    for (const FeedBack& feed_back : feed_backs_) {
      if (feed_back.input.program != call.program) continue;
      if (feed_back.input.index >= record.inputs.size()) return bad_input("no such input");
      record.inputs[feed_back.input.index] = feed_back.value;
    }
    std::erase_if(feed_backs_, [&](const FeedBack& f) { return f.input.program == call.program; });
    LoadedProgram& program = *loaded_[call.program];
    std::vector<spec::InputValue> placed;
    if (!static_.empty()) {
      GRAPHGATE_TRY(placed, static_.placed(call.program, record.inputs));
    }
    GRAPHGATE_TRY(record.result, call_once(call, static_.empty() ? record.inputs : placed));
    put_states_in_order(record.result);
    static_.part(record.result);
    is_as_unwatched_ &= program.is_as_unwatched();
    record.plan = keep(program.plan());
    last_[call.program] = trace_.calls.size();
    trace_.calls.push_back(std::move(record));
    return {};
  }

  Result<spec::CallResult> call_once(const ScriptCall& call,
                                     const std::vector<spec::InputValue>& inputs) {
    const spec::Program& program = *script_.programs[call.program];
    if (!asleep_.empty() && (sleeps_ || script_.expectation.refusal)) {
      return call_asleep(call, inputs);
    }
    const CompileOnce::Claim claim = once_.claim_on(program, inputs);
    auto result = loaded_[call.program]->call_with(inputs, call.options);
    using Due = CompileOnce::Due;
    if (!result.ok()) {
      trace_.is_refusal_due =
          claim.due != Due::kService && result.error().kind == ErrorKind::kBadInput;
      return result;
    }
    const std::string place =
        "call " + std::to_string(trace_.calls.size()) + " of '" + program.name + "' ";
    if (claim.due == Due::kRefusal) {
      trace_.once_findings.push_back(
          {.rule = "R3.not-refused",
           .message = place + "was to be refused, since " + claim.why + ", and ran"});
    }
    const std::string wrong =
        once_.served(program, inputs, loaded_[call.program]->counts(), result.value());
    if (!wrong.empty()) {
      trace_.once_findings.push_back({.rule = "R7.miscounted", .message = place + wrong});
    }
    return result;
  }

  // A part of the memory that the call needs is not there. An executor that does not sleep serves
  // the call, where nobody says that it is to be refused.
  Result<spec::CallResult> call_asleep(const ScriptCall& call,
                                       const std::vector<spec::InputValue>& inputs) {
    if (!sleeps_) return unsupported("this executor does not sleep, and has no call to refuse");
    auto result = loaded_[call.program]->call_with(inputs, call.options);
    if (result.ok()) {
      trace_.once_findings.push_back(
          {.rule = "R3.not-refused",
           .message = "call " + std::to_string(trace_.calls.size()) + " of '" +
                      script_.programs[call.program]->name +
                      "' was to be refused, since memory is asleep, and ran"});
    } else {
      trace_.is_refusal_due = result.error().kind == ErrorKind::kBadInput;
    }
    return result;
  }

  // Plans stay the same from call to call, mostly: equal ones are kept once.
  std::shared_ptr<const spec::Plan> keep(std::shared_ptr<const spec::Plan> plan) {
    if (!plan) return nullptr;
    for (const auto& known : plans_) {
      if (known == plan || *known == *plan) return known;
    }
    return plans_.emplace_back(std::move(plan));
  }

  // What the latest call of the program returned there.
  Result<const spec::OutputValue*> output(const ScriptPort& port) const {
    if (!last_[port.program]) return bad_input("the program has not been called");
    const auto& outputs = trace_.calls[*last_[port.program]].result.outputs;
    if (port.index >= outputs.size()) {
      return bad_input("the call returned " + std::to_string(outputs.size()) + " outputs");
    }
    return &outputs[port.index];
  }

  Result<void> follow(const ScriptHold& hold) {
    GRAPHGATE_TRY(const spec::OutputValue* value, output(hold.output));
    const auto* tensor = std::get_if<HostTensor>(value);
    if (!tensor) return bad_input("an output that is no tensor cannot be held");
    Held held{step_, hold.output, snapshot(*tensor), *tensor, nullptr};
    auto kept = loaded_[hold.output.program]->hold(hold.output.index);
    if (!kept.ok() && kept.error().kind != ErrorKind::kUnsupported) return kept.error();
    if (kept.ok()) held.held = std::move(kept).value();
    held_.push_back(std::move(held));
    return {};
  }

  Result<void> follow(const ScriptRelease& release) {
    for (auto held = held_.begin(); held != held_.end(); ++held) {
      const bool is_it =
          held->port.program == release.output.program && held->port.index == release.output.index;
      if (!is_it) continue;
      look_at(*held);
      held_.erase(held);
      return {};
    }
    return bad_input("that output is not held");
  }

  Result<void> follow(const ScriptSwap& swap) {
    for (const auto& [target, value] : swap.values) {
      GRAPHGATE_TRY_VOID(loaded_[swap.program]->set_state(target, value, swap.rebind));
    }
    return {};
  }

  Result<void> follow(const ScriptFeedBack& feed_back) {
    GRAPHGATE_TRY(const spec::OutputValue* value, output(feed_back.output));
    if (std::holds_alternative<spec::None>(*value)) return bad_input("None cannot be fed back");
    FeedBack next{feed_back.input, false};
    if (const auto* tensor = std::get_if<HostTensor>(value)) next.value = *tensor;
    if (const auto* i = std::get_if<std::int64_t>(value)) next.value = *i;
    if (const auto* x = std::get_if<double>(value)) next.value = *x;
    if (const auto* b = std::get_if<bool>(value)) next.value = *b;
    feed_backs_.push_back(std::move(next));
    return {};
  }

  Result<void> follow(const ScriptSleep& sleep) {
    GRAPHGATE_TRY(sleeps_, executor_->sleep(sleep.asked));
    asleep_ = {spec::SleepPart::kWeights, spec::SleepPart::kCaches};
    return {};
  }

  Result<void> follow(const ScriptWake& wake) {
    if (sleeps_) GRAPHGATE_TRY_VOID(executor_->wake(wake.part));
    if (wake.part) {
      asleep_.erase(*wake.part);
    } else {
      asleep_.clear();
    }
    return {};
  }

  Result<void> follow(const ScriptStatic& kept) {
    static_.add(kept.input, script_);
    return {};
  }

  // States are in the record of every call; nothing else shows them.
  Result<void> follow(const ScriptCheck& check) {
    if (check.what == spec::CheckStep::What::kHeld) look_at_held();
    return {};
  }

  // What is held goes with the process, so this is the last look at it.
  Result<void> follow(const ScriptRestart& restart) {
    if (!restarted_) return unsupported("this executor cannot be started again");
    look_at_held();
    held_.clear();
    feed_backs_.clear();
    loaded_.clear();
    static_.move();
    asleep_.clear();
    GRAPHGATE_TRY_VOID(executor_->close());
    GRAPHGATE_TRY(owned_, restarted_(restart));
    once_ = CompileOnce(merged(trace_.configuration, restart.changes));
    executor_ = owned_.get();
    return load();
  }

  void look_at_held() {
    for (const Held& held : held_) look_at(held);
  }

  void look_at(const Held& held) {
    HeldRecord record{.step = step_, .held_at = held.step, .output = held.port, .then = held.then};
    if (!held.held) {
      record.now = snapshot(held.tensor);
    } else if (auto now = held.held->read(); now.ok()) {
      record.now = snapshot(now.value());
    } else {
      record.refusal = now.error().message;
    }
    trace_.held.push_back(std::move(record));
  }

  const Script& script_;
  spec::Executor* executor_;
  const MakeRestarted& restarted_;
  std::unique_ptr<spec::Executor> owned_;  // after a restart
  std::vector<std::unique_ptr<LoadedProgram>> loaded_;
  std::vector<std::optional<std::size_t>> last_;  // by program: its latest call in the trace
  std::vector<std::shared_ptr<const spec::Plan>> plans_;
  std::vector<Held> held_;
  std::vector<FeedBack> feed_backs_;
  StaticInputs static_;
  CompileOnce once_;
  bool sleeps_ = false;               // as the executor said last
  std::set<spec::SleepPart> asleep_;  // what has not come back
  Trace trace_;
  std::size_t step_ = 0;
  bool is_as_unwatched_ = true;
};

}  // namespace

Trace run_script(const Script& script, spec::Executor& executor,
                 const Configuration& configuration) {
  return run_script(script, executor, configuration, {});
}

Trace run_script(const Script& script, spec::Executor& executor, const Configuration& configuration,
                 const MakeRestarted& restarted) {
  return ScriptRunner(script, executor, configuration, restarted).run();
}

}  // namespace graphgate::conformance
