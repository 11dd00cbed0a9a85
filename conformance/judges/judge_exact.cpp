// Bit equality with the reference on data on which no executor rounds (exact_data.h).
//
// Rules: E1.exact (an exact element with other bits), E2.refusal (only one of the two goes on).
#include <algorithm>
#include <cmath>
#include <map>

#include "conformance/judges/exact_data.h"
#include "conformance/judges/judge_nodes.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/run_end.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::HostTensor;
using spec::Outcome;

struct Exactness {
  std::int64_t elements = 0;  // floating ones of what the calls made
  std::int64_t exact = 0;
  std::int64_t telling = 0;  // exact, and not 0
};

void count_spread(const spec::Spread& spread, Exactness& sum) {
  for (std::size_t i = 0; i < spread.radii.size(); ++i) {
    ++sum.elements;
    const bool is_exact = spread.radii[i] == 0 && std::isfinite(spread.values[i]);
    sum.exact += is_exact ? 1 : 0;
    sum.telling += is_exact && spread.values[i] != 0 ? 1 : 0;
  }
}

bool same_bytes(const HostTensor& a, const HostTensor& b) {
  return a.sizes == b.sizes && spec::packed_bytes(a) == spec::packed_bytes(b);
}

// Parameters that no call changed say nothing: outputs count, and inputs and states that changed.
class ExactnessCount {
 public:
  explicit ExactnessCount(const Script& script) : script_(script) {}

  Exactness of(const Trace& bounds) {
    for (const CallRecord& call : bounds.calls) add_call(call);
    return sum_;
  }

 private:
  void add_call(const CallRecord& call) {
    for (const spec::Spread& spread : call.result.output_spreads) count_spread(spread, sum_);
    for (std::size_t i = 0; i < call.result.final_input_spreads.size(); ++i) {
      const auto* after = std::get_if<HostTensor>(&call.result.final_inputs[i]);
      const auto* before = std::get_if<HostTensor>(&call.inputs[i]);
      if (!after || (before && same_bytes(*before, *after))) continue;
      count_spread(call.result.final_input_spreads[i], sum_);
    }
    for (std::size_t i = 0; i < call.result.final_state_spreads.size(); ++i) {
      const std::string& target = call.result.state_targets[i];
      const HostTensor& after = call.result.final_states[i];
      const HostTensor* before = state_before(call.program, target);
      if (!before || !same_bytes(*before, after)) {
        count_spread(call.result.final_state_spreads[i], sum_);
      }
      states_[{call.program, target}] = after;
    }
  }

  const HostTensor* state_before(std::size_t program, const std::string& target) {
    const auto kept = states_.find({program, target});
    if (kept != states_.end()) return &kept->second;
    const auto& tensors = script_.programs[program]->tensors;
    const auto loaded = tensors.find(target);
    return loaded == tensors.end() ? nullptr : &loaded->second;
  }

  const Script& script_;
  Exactness sum_;
  std::map<std::pair<std::size_t, std::string>, HostTensor> states_;
};

// The steps up to the first call: enough to see how far data stay exact.
Script up_to_first_call(Script script) {
  const auto first = std::ranges::find_if(
      script.steps, [](const auto& step) { return std::holds_alternative<ScriptCall>(step); });
  if (first != script.steps.end()) script.steps.erase(first + 1, script.steps.end());
  return script;
}

// Every intermediate as one more output: what is exact of a program whose outputs are not.
Script with_taps(const Script& script) {
  Script out = script;
  for (auto& program : out.programs) {
    program = std::make_shared<spec::Program>(tap_nodes(*program, *script.ops).program);
  }
  return out;
}

class ExactJudge {
 public:
  ExactJudge(Runs& runs, const JudgeSettings& settings) : runs_(runs), settings_(settings) {
    report_.judge = Judge::kExact;
  }

  Result<JudgeReport> run() {
    GRAPHGATE_TRY(const bool plain, choose_level(runs_.script()));
    if (plain) {
      GRAPHGATE_TRY_VOID(compare());
    } else if (report_.outcome != Outcome::kUnsupported && runs_.script().ops) {
      is_tapped_ = true;
      GRAPHGATE_TRY(const bool tapped, choose_level(with_taps(runs_.script())));
      if (tapped) GRAPHGATE_TRY_VOID(compare());
    }
    const bool unsupported = report_.outcome == Outcome::kUnsupported;
    conclude(report_, watch_, unsupported ? Outcome::kUnsupported : Outcome::kMistrusted,
             "no element stays exact on any data");
    return std::move(report_);
  }

 private:
  // The level with the most exact elements that are not 0. False: there are none on any level.
  Result<bool> choose_level(const Script& script) {
    std::int64_t most = 0;
    for (const ExactLevel& level : exact_levels()) {
      const Script probe = up_to_first_call(with_exact_data(script, level, settings_.seed));
      const auto bounds = runs_.oracle_on(probe, "worst-case");
      if (!bounds.ok()) return unsupported_or(bounds.error());
      const auto& ended = bounds.value().error;
      if (ended && ended->kind == ErrorKind::kUnsupported && !bounds.value().is_loaded) {
        return unsupported_or(*ended);
      }
      const Exactness seen = ExactnessCount(probe).of(bounds.value());
      if (seen.telling <= most) continue;
      most = seen.telling;
      level_ = level;
      if (seen.exact == seen.elements) break;
    }
    if (most == 0) return false;
    script_ = with_exact_data(script, level_, settings_.seed);
    return true;
  }

  Result<bool> unsupported_or(const Error& error) {
    if (error.kind != ErrorKind::kUnsupported) return error;
    report_.outcome = Outcome::kUnsupported;
    report_.remark = error.message;
    return false;
  }

  Result<void> compare() {
    // Where outputs are fed back, the oracle takes what the subject passed.
    Runs runs = runs_.on(script_);
    const auto subject = runs.subject();
    if (!subject.ok()) {
      const auto refused = unsupported_or(subject.error());
      return refused.ok() ? Result<void>() : Result<void>(refused.error());
    }
    GRAPHGATE_TRY(const Trace* const worst, runs.oracle("worst-case"));
    GRAPHGATE_TRY(const Trace* const rounded, runs.oracle("eager"));
    const Trace& bounds = *worst;
    const Trace& eager = *rounded;
    const Trace& actual = *subject.value();
    if (actual.error && actual.error->kind == ErrorKind::kUnsupported && actual.calls.empty()) {
      report_.outcome = Outcome::kUnsupported;
      report_.remark = actual.error->message;
      return {};
    }
    GRAPHGATE_TRY_VOID(compare_errors(runs, actual, eager));
    const std::size_t count =
        std::min({actual.calls.size(), eager.calls.size(), bounds.calls.size()});
    for (std::size_t i = 0; i < count; ++i) {
      compare_call(i, actual.calls[i], eager.calls[i].result, bounds.calls[i].result);
    }
    Trace compared = bounds;
    compared.calls.resize(count);
    const Exactness seen = ExactnessCount(script_).of(compared);
    report_.checks = seen.exact;
    report_.remark = std::to_string(seen.exact) + " of " + std::to_string(seen.elements) +
                     (is_tapped_ ? " elements of intermediates exact" : " elements exact") +
                     " on integers up to " + std::to_string(level_.magnitude);
    return {};
  }

  Result<void> compare_errors(Runs& runs, const Trace& actual, const Trace& eager) {
    for (const Trace* trace : {&actual, &eager}) {
      if (trace->error && trace->error->kind == ErrorKind::kInfrastructure) return *trace->error;
    }
    if (actual.error.has_value() == eager.error.has_value()) return {};
    if (actual.error && actual.error->kind == ErrorKind::kUnsupported) return {};
    if (eager.error && eager.error->kind == ErrorKind::kUnsupported) return {};
    GRAPHGATE_TRY(const auto by_cuda, refusal_of_cuda(runs, actual));
    if (by_cuda) return {};
    const Trace& ended = actual.error ? actual : eager;
    add("E2.refusal", std::string(actual.error ? "the executor" : "the reference") +
                          " alone ends at step " + std::to_string(ended.error_step) + ": " +
                          ended.error->message);
    return {};
  }

  void compare_call(std::size_t index, const CallRecord& actual, const CallResult& eager,
                    const CallResult& bounds) {
    BitOptions options{.oracle = &bounds,
                       .exact_only = true,
                       .signed_zeros = false,
                       .layouts = false,
                       .sharing = false};
    for (const BitDifference& difference :
         compare_bits(actual.result, eager, "the reference's", options).differences) {
      add("E1.exact",
          "call " + std::to_string(index) + ", " + difference.where + ": " + difference.message,
          script_.programs[actual.program]->name);
    }
  }

  void add(std::string rule, std::string message, std::string program = "") {
    report_.findings.push_back(
        {.rule = std::move(rule), .message = std::move(message), .program = std::move(program)});
  }

  Runs& runs_;
  const JudgeSettings& settings_;
  StopWatch watch_;
  JudgeReport report_;
  Script script_;
  ExactLevel level_;
  bool is_tapped_ = false;
};

}  // namespace

Result<JudgeReport> judge_exact(Runs& runs, const JudgeSettings& settings) {
  return ExactJudge(runs, settings).run();
}

}  // namespace graphgate::conformance
