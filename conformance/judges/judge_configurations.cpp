// Bit equality over configurations: cuts, memory, captures, streams, sizes before, replays, caches.
//
// Rules: C1.configuration (another result), C2.refusal (an error that the default does not meet),
// C3.cached-plan (a plan from a cache that is not the plan that would be made). Where another
// configuration's results are wrong, what the verifier says of its plans stands behind.
#include <algorithm>

#include "base/temporary_folder.h"
#include "conformance/judges/configuration_table.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/same_bits.h"
#include "conformance/judges/verified_plans.h"
#include "conformance/run/runs.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::Outcome;

bool same_tensor_bytes(const spec::HostTensor& a, const spec::HostTensor& b) {
  return a.sizes == b.sizes && spec::packed_bytes(a) == spec::packed_bytes(b);
}

// Whether no call of the trace changed a state, so that calls do not know of each other.
bool leaves_state_alone(const Script& script, const Trace& trace) {
  for (const CallRecord& call : trace.calls) {
    const auto& tensors = script.programs[call.program]->tensors;
    for (std::size_t i = 0; i < call.result.final_states.size(); ++i) {
      const auto before = tensors.find(call.result.state_targets[i]);
      if (before == tensors.end()) return false;
      if (!same_tensor_bytes(before->second, call.result.final_states[i])) return false;
    }
  }
  return true;
}

bool has_only_calls(const Script& script) {
  return std::ranges::all_of(
      script.steps, [](const auto& step) { return std::holds_alternative<ScriptCall>(step); });
}

class ConfigurationJudge {
 public:
  ConfigurationJudge(Runs& runs, const JudgeSettings& settings) : runs_(runs), settings_(settings) {
    report_.judge = Judge::kConfigurations;
  }

  Result<JudgeReport> run() {
    const auto base = runs_.subject();
    if (!base.ok()) return not_run(std::move(report_), watch_, base.error());
    base_ = base.value();
    if (base_->calls.empty() && base_->error)
      return not_run(std::move(report_), watch_, *base_->error);
    // Where arithmetic is not strict, other partitions or kernels may round otherwise.
    if (runs_.promises().arithmetic == "strict") {
      GRAPHGATE_TRY_VOID(compare_rows(configuration_rows()));
      GRAPHGATE_TRY_VOID(compare_rows(derived_rows(runs_.script(), *base_)));
      GRAPHGATE_TRY_VOID(compare_replays());
    }
    GRAPHGATE_TRY_VOID(compare_other_order());
    GRAPHGATE_TRY_VOID(compare_cached());
    remark();
    conclude(report_, watch_, Outcome::kUnsupported, "no configuration could be compared");
    return std::move(report_);
  }

 private:
  Result<void> compare_rows(const std::vector<ConfigurationRow>& rows) {
    for (const ConfigurationRow& row : rows) {
      if (!row.is_common && !settings_.every_configuration) continue;
      if (merged(runs_.script().options, row.options) == runs_.script().options) continue;
      GRAPHGATE_TRY_VOID(compare_run(row.text, runs_.script(), row.options, *base_, "the default"));
    }
    return {};
  }

  // Runs `script` under `changes` and holds it against `expected`. False: refused.
  Result<bool> compare_run(const std::string& name, const Script& script,
                           const Configuration& changes, const Trace& expected,
                           const std::string& expected_name) {
    auto trace = runs_.subject_on(script, changes);
    if (!trace.ok()) {
      if (!is_refusal(trace.error())) return trace.error();
      refused_.push_back(name);
      return false;
    }
    const std::size_t before = report_.findings.size();
    GRAPHGATE_TRY(const bool is_compared,
                  compare_traces(name, trace.value(), expected, expected_name));
    if (report_.findings.size() > before) {
      GRAPHGATE_TRY_VOID(look_at_plans(name, script, changes, std::move(trace).value()));
    }
    return is_compared;
  }

  // Why the results of a configuration are others, where its plans tell.
  Result<void> look_at_plans(const std::string& name, const Script& script,
                             const Configuration& changes, Trace trace) {
    Script under = script;
    under.options = merged(script.options, changes);
    GRAPHGATE_TRY(std::vector<spec::Finding> faults,
                  faults_of_plans(runs_, under, std::move(trace), name + ": "));
    for (spec::Finding& fault : faults) add(std::move(fault));
    return {};
  }

  Result<bool> compare_traces(const std::string& name, const Trace& actual, const Trace& expected,
                              const std::string& expected_name) {
    if (actual.error && actual.error->kind == ErrorKind::kInfrastructure) return *actual.error;
    if (actual.error && !expected.error && is_refusal(*actual.error) && actual.calls.empty()) {
      refused_.push_back(name);
      return false;
    }
    compare_errors(name, actual, expected, expected_name);
    const std::size_t count = std::min(actual.calls.size(), expected.calls.size());
    for (std::size_t i = 0; i < count; ++i) {
      compare_calls(name, i, actual, expected, expected_name);
    }
    ++compared_;
    return true;
  }

  // An error that only one of two runs meets. Refusing a call that the default serves is this
  // configuration's right (a plan that holds for fewer inputs); a defect never is.
  void compare_errors(const std::string& name, const Trace& actual, const Trace& expected,
                      const std::string& expected_name) {
    const auto words = [](const Trace& trace) {
      if (!trace.error) return std::string("goes through");
      return "ends at step " + std::to_string(trace.error_step) + ": " + trace.error->message;
    };
    const bool same_place = actual.error.has_value() == expected.error.has_value() &&
                            (!actual.error || actual.error_step == expected.error_step);
    if (same_place) return;
    if (actual.error && is_refusal(*actual.error) && !expected.error) {
      refused_.push_back(name);
      return;
    }
    add("C2.refusal", name + ": the script " + words(actual) + ", in " + expected_name + " it " +
                          words(expected));
  }

  void compare_calls(const std::string& name, std::size_t index, const Trace& actual_run,
                     const Trace& expected_run, const std::string& expected_name) {
    const CallRecord& actual = actual_run.calls[index];
    const CallRecord& expected = expected_run.calls[index];
    BitOptions options;
    options.layouts = runs_.promises().keeps_layouts;
    BitReport bits = compare_bits(actual.result, expected.result, expected_name, options);
    report_.checks += bits.compared;
    if (bits.differences.empty() || began_otherwise(actual_run, expected_run, index)) return;
    options.oracle = oracle_of(expected.step);
    if (!options.oracle && hangs_on_draws(expected.step)) return;
    if (options.oracle) bits = compare_bits(actual.result, expected.result, expected_name, options);
    for (const BitDifference& difference : bits.differences) {
      add("C1.configuration",
          name + ": call " + std::to_string(index) + ", " + difference.where + ": " +
              difference.message,
          runs_.script().programs[actual.program]->name);
    }
  }

  // What the oracle says of that call of the script itself, if it got there: which elements nobody
  // wrote.
  const spec::CallResult* oracle_of(std::size_t step) {
    const auto oracle = runs_.oracle("sampled");
    return oracle.ok() ? call_at(*oracle.value(), step) : nullptr;
  }

  // The call of the script's step, which may stand in it several times.
  [[nodiscard]] const spec::CallResult* call_at(const Trace& trace, std::size_t step) const {
    for (const CallRecord& call : trace.calls) {
      if (call.step == step % runs_.script().steps.size()) return &call.result;
    }
    return nullptr;
  }

  // Whether the oracle did not get to the call since a size or a branch depends on what random ops
  // draw. Then two runs may differ in everything.
  [[nodiscard]] bool hangs_on_draws(std::size_t step) {
    const auto known = runs_.oracle_with_known_draws();
    return known.ok() && call_at(*known.value(), step);
  }

  void add(std::string rule, std::string message, std::string program = "") {
    add({.rule = std::move(rule), .message = std::move(message), .program = std::move(program)});
  }

  void add(spec::Finding finding) {
    constexpr std::size_t kMost = 64;
    if (report_.findings.size() < kMost) report_.findings.push_back(std::move(finding));
  }

  // Twice in a row: captured and replayed against each step launched anew.
  Result<void> compare_replays() {
    Script twice = runs_.script();
    twice.steps.insert(twice.steps.end(), runs_.script().steps.begin(), runs_.script().steps.end());
    const Configuration plain = {
        {option::kNoCapture, ""}, {option::kNoReuse, ""}, {option::kCompiler, "eager"}};
    const auto expected = runs_.subject_on(twice, plain);
    if (!expected.ok()) {
      if (!is_refusal(expected.error())) return expected.error();
      refused_.emplace_back("replays");
      return {};
    }
    if (expected.value().error) return {};
    GRAPHGATE_TRY_VOID(compare_run("the script twice in a row", twice, {}, expected.value(),
                                   "without captures or reuse"));
    return {};
  }

  // Sizes called before in another order: the calls from last to first.
  Result<void> compare_other_order() {
    const Script& script = runs_.script();
    if (script.steps.size() < 2 || base_->error || !has_only_calls(script)) return {};
    if (!leaves_state_alone(script, *base_)) return {};
    Script reversed = script;
    std::ranges::reverse(reversed.steps);
    auto trace = runs_.subject_on(reversed, {});
    if (!trace.ok()) return trace.error();
    Trace turned = std::move(trace).value();
    if (turned.calls.size() != base_->calls.size()) return {};
    std::ranges::reverse(turned.calls);
    GRAPHGATE_TRY_VOID(
        compare_traces("calls from last to first", turned, *base_, "in their own order"));
    return {};
  }

  // Cold, warm, and warm after runs of other options in the same folder.
  Result<void> compare_cached() {
    if (runs_.script().options.contains(option::kCache)) return compare_with_no_cache();
    GRAPHGATE_TRY(const TemporaryFolder folder, TemporaryFolder::make("compiled"));
    const Configuration cache = {{option::kCache, folder.path()}};
    GRAPHGATE_TRY(const bool cold, compare_cache_run("cold cache", cache));
    if (!cold) return {};
    GRAPHGATE_TRY_VOID(compare_cache_run("warm cache", cache));
    if (!settings_.every_configuration) return {};
    GRAPHGATE_TRY(const TemporaryFolder shared, TemporaryFolder::make("compiled"));
    for (Configuration other :
         std::initializer_list<Configuration>{{{option::kMaxPartition, "1"}},
                                              {{option::kNoPass, "reinplace"}},
                                              {{option::kMemory, "lines"}},
                                              {{option::kNoReuse, ""}}}) {
      other[option::kCache] = shared.path();
      const auto filled = runs_.subject_on(runs_.script(), other);
      if (!filled.ok() && !is_refusal(filled.error())) return filled.error();
    }
    GRAPHGATE_TRY_VOID(
        compare_cache_run("cache filled under other options", {{option::kCache, shared.path()}}));
    return {};
  }

  Result<bool> compare_cache_run(const std::string& name, const Configuration& cache) {
    const auto trace = runs_.subject_on(runs_.script(), cache);
    if (!trace.ok()) {
      if (!is_refusal(trace.error())) return trace.error();
      refused_.push_back(name);
      return false;
    }
    compare_plans(name, trace.value(), *base_);
    return compare_traces(name, trace.value(), *base_, "without a cache");
  }

  // The script has a cache of its own, which its restarts find as the runs before left it.
  Result<void> compare_with_no_cache() {
    Script bare = runs_.script();
    bare.options.erase(option::kCache);
    const auto trace = runs_.subject_on(bare, {});
    if (!trace.ok()) return trace.error();
    compare_plans("the script's cache", *base_, trace.value());
    GRAPHGATE_TRY_VOID(
        compare_traces("the script's cache", *base_, trace.value(), "without a cache"));
    return {};
  }

  void compare_plans(const std::string& name, const Trace& cached, const Trace& made) {
    for (std::size_t i = 0; i < std::min(cached.calls.size(), made.calls.size()); ++i) {
      const auto& plan = cached.calls[i].plan;
      const auto& right = made.calls[i].plan;
      if (!plan || !right || *plan == *right) continue;
      add("C3.cached-plan", name + ": call " + std::to_string(i) + " follows another plan of '" +
                                plan->name + "' than without a cache");
    }
  }

  void remark() {
    std::ranges::sort(refused_);
    refused_.erase(std::unique(refused_.begin(), refused_.end()), refused_.end());
    report_.remark = std::to_string(compared_) + " configurations compared";
    const std::string arithmetic = runs_.promises().arithmetic;
    if (arithmetic != "strict") report_.remark += "; options may change bits (" + arithmetic + ")";
    if (!refused_.empty()) {
      report_.remark +=
          ", " + std::to_string(refused_.size()) + " refused: " + join_names(refused_);
    }
  }

  Runs& runs_;
  const JudgeSettings& settings_;
  StopWatch watch_;
  JudgeReport report_;
  const Trace* base_ = nullptr;
  std::size_t compared_ = 0;
  std::vector<std::string> refused_;
};

}  // namespace

Result<JudgeReport> judge_configurations(Runs& runs, const JudgeSettings& settings) {
  return ConfigurationJudge(runs, settings).run();
}

}  // namespace graphgate::conformance
