#include "tools/mutants/mutants.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/child_processes.h"
#include "conformance/compare/torch_view.h"
#include "conformance/judges/judge_report.h"
#include "conformance/mutations/plan_mutations.h"
#include "conformance/run/runs.h"
#include "spec/deviation.h"
#include "spec/option.h"
#include "tools/executors/executor_sources.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using conformance::Configuration;
using conformance::Runs;
using conformance::Script;
using conformance::Trace;
using spec::Outcome;

Configuration planted(const Mutant& mutant, const Configuration& options) {
  Configuration out = options;
  out[mutant.is_deviation ? option::kDeviation : option::kPlanMutation] = mutant.name;
  return out;
}

// Seen, if not proved: a right executor passes the case.
bool is_kill(Outcome outcome) {
  return conformance::severity(outcome) >= conformance::severity(Outcome::kSuspect);
}

// The script up to its first call: what a usual test does.
Script first_call_of(const Script& script) {
  Script out = script;
  for (std::size_t s = 0; s < out.steps.size(); ++s) {
    if (!std::holds_alternative<conformance::ScriptCall>(out.steps[s])) continue;
    out.steps.resize(s + 1);
    break;
  }
  return out;
}

// One mutant, in its own process.
class MutantRun {
 public:
  MutantRun(const Mutant& mutant, const std::vector<MutantCase>& cases)
      : mutant_(mutant),
        cases_(cases),
        subject_(optimized_source()),
        oracle_(reference_source(false)),
        wide_oracle_(reference_source(true)) {
    verdict_.mutant = mutant;
  }

  Result<MutantVerdict> run() {
    const conformance::StopWatch watch;
    std::optional<MutantVerdict> suspected;
    for (const MutantCase* one : in_order()) {
      ++verdict_.cases;
      GRAPHGATE_TRY(verdict_.killed, is_killed_by(*one));
      if (!verdict_.killed) continue;
      if (!verdict_.is_suspect) break;
      if (!suspected) suspected = verdict_;
    }
    // A proof is looked for in the cases behind.
    if (suspected && (!verdict_.killed || verdict_.is_suspect)) {
      suspected->cases = verdict_.cases;
      verdict_ = std::move(*suspected);
    }
    verdict_.seconds = watch.seconds();
    GRAPHGATE_TRY(verdict_.by_outputs, shows_in_outputs());
    return verdict_;
  }

 private:
  [[nodiscard]] std::vector<const MutantCase*> in_order() const {
    std::vector<const MutantCase*> own;
    std::vector<const MutantCase*> others;
    for (const MutantCase& one : cases_) {
      const auto& names = one.deviations;
      const bool is_own = std::find(names.begin(), names.end(), mutant_.name) != names.end();
      (is_own ? own : others).push_back(&one);
    }
    own.insert(own.end(), others.begin(), others.end());
    return own;
  }

  [[nodiscard]] static Result<conformance::CaseReport> judged(Runs& runs, const MutantCase& one) {
    conformance::JudgeSettings settings;
    settings.localize = false;
    settings.quality_baseline = one.quality_baseline;
    return conformance::judge_script(runs, conformance::JudgeSet::all(), settings);
  }

  [[nodiscard]] const conformance::ExecutorSource& oracle_of(const Script& script) const {
    return script.options.contains(option::kAllowZeroAndOne) ? *wide_oracle_ : *oracle_;
  }

  // Killed only if the same case passes without the mutant.
  Result<bool> is_killed_by(const MutantCase& one) {
    Script script = one.script;
    script.options = planted(mutant_, one.script.options);
    Runs runs(script, *subject_, oracle_of(script));
    auto report = judged(runs, one);
    if (!report.ok()) return report.error().at(one.path);
    if (!is_kill(report.value().outcome)) return false;
    Runs right(one.script, *subject_, oracle_of(one.script));
    const auto passes = judged(right, one);
    if (!passes.ok()) return passes.error().at(one.path);
    if (is_kill(passes.value().outcome)) {
      return bad_input(one.path + ": fails without a mutant: " + passes.value().reason);
    }
    verdict_.path = one.path;
    verdict_.message = report.value().reason;
    verdict_.is_suspect = report.value().outcome == Outcome::kSuspect;
    verdict_.judges.clear();
    if (!report.value().findings.empty()) verdict_.judges.emplace_back("run");
    for (const conformance::JudgeReport& judge : report.value().judges) {
      if (is_kill(judge.outcome)) verdict_.judges.emplace_back(judge_name(judge.judge));
    }
    return true;
  }

  // A run that the machine ended shows nothing of who ran.
  static Result<void> unless_machine_failed(const Trace& trace) {
    if (trace.error && trace.error->kind == ErrorKind::kInfrastructure) return *trace.error;
    return {};
  }

  Result<bool> shows_in_outputs() {
    for (const MutantCase& one : cases_) {
      const Script script = first_call_of(one.script);
      Runs runs(script, *subject_, oracle_of(script));
      GRAPHGATE_TRY(const Trace expected, runs.oracle_on(script, "eager"));
      GRAPHGATE_TRY_VOID(unless_machine_failed(expected));
      if (expected.calls.empty()) continue;
      const auto fails = [&](const Configuration& changes) -> Result<bool> {
        GRAPHGATE_TRY(const Trace actual, runs.subject_on(script, changes));
        GRAPHGATE_TRY_VOID(unless_machine_failed(actual));
        if (actual.calls.empty()) return true;  // an exception fails a test, too
        const auto& result = actual.calls.front().result;
        return !conformance::torch_difference(result, expected.calls.front().result).empty();
      };
      GRAPHGATE_TRY(const bool is_different, fails(planted(mutant_, {})));
      if (!is_different) continue;
      GRAPHGATE_TRY(const bool is_always, fails({}));
      if (!is_always) return true;
    }
    return false;
  }

  const Mutant& mutant_;
  const std::vector<MutantCase>& cases_;
  std::unique_ptr<conformance::ExecutorSource> subject_;
  std::unique_ptr<conformance::ExecutorSource> oracle_;
  std::unique_ptr<conformance::ExecutorSource> wide_oracle_;  // takes sizes 0 and 1
  MutantVerdict verdict_;
};

std::string to_text(const Result<MutantVerdict>& run) {
  if (!run.ok()) return child_text(run.error());
  const MutantVerdict& verdict = run.value();
  nlohmann::json json;
  json["killed"] = verdict.killed;
  json["is_suspect"] = verdict.is_suspect;
  json["path"] = verdict.path;
  json["judges"] = verdict.judges;
  json["message"] = verdict.message;
  json["cases"] = verdict.cases;
  json["seconds"] = verdict.seconds;
  json["by_outputs"] = verdict.by_outputs;
  return child_text(json);
}

// A child that ends without a word has been killed by what it ran. One whose time was up says
// nothing: a slow machine is no judge.
Result<MutantVerdict> to_verdict(const Mutant& mutant, const ChildResult& child) {
  MutantVerdict verdict;
  verdict.mutant = mutant;
  if (child.ending == ChildEnding::kStopped) {
    verdict.is_open = true;
    return verdict;
  }
  if (child.ending == ChildEnding::kTimedOut) {
    return infrastructure(mutant.name +
                          ": no verdict yet when its time was up; give it more with "
                          "--timeout");
  }
  if (child.ending == ChildEnding::kNoMemory)
    return infrastructure(mutant.name + ": out of memory");
  const auto json = nlohmann::json::parse(child.output, nullptr, false);
  if (child.ending != ChildEnding::kExited || json.is_discarded()) {
    verdict.killed = true;
    verdict.judges = {"crash"};
    verdict.message = child.describe();
    verdict.seconds = child.seconds;
    verdict.by_outputs = true;
    return verdict;
  }
  if (const auto error = child_error(json)) return error->at(mutant.name);
  verdict.killed = json["killed"];
  verdict.is_suspect = json["is_suspect"];
  verdict.path = json["path"];
  verdict.judges = json["judges"];
  verdict.message = json["message"];
  verdict.cases = json["cases"];
  verdict.seconds = json["seconds"];
  verdict.by_outputs = json["by_outputs"];
  return verdict;
}

}  // namespace

const char* verdict_word(const MutantVerdict& verdict) {
  if (verdict.killed) return verdict.is_suspect ? "KILLED (suspect)" : "KILLED";
  if (verdict.is_open) return "NOT RUN";
  if (verdict.is_tested) return "TESTED";
  return verdict.is_equivalent ? "EQUIVALENT" : "SURVIVED";
}

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> mutants;
  for (const spec::DeviationRow& row : spec::deviations()) {
    mutants.push_back(
        {std::string(row.name), true, std::string(row.catalogue), std::string(row.what)});
  }
  for (const conformance::PlanMutation& mutation : conformance::plan_mutations()) {
    mutants.push_back({std::string(mutation.name), false, std::string(mutation.field),
                       std::string(mutation.what)});
  }
  return mutants;
}

Result<std::vector<MutantVerdict>> run_mutants(const std::vector<Mutant>& mutants,
                                               const std::vector<MutantCase>& cases,
                                               const MutantOptions& options) {
  ChildOptions limits{options.jobs, options.timeout_seconds};
  limits.should_stop = options.should_stop;
  GRAPHGATE_TRY(const std::vector<ChildResult> children,
                run_children(mutants.size(), limits, [&](std::size_t i) {
                  return to_text(MutantRun(mutants[i], cases).run());
                }));
  std::vector<MutantVerdict> verdicts;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    GRAPHGATE_TRY(verdicts.emplace_back(), to_verdict(mutants[i], children[i]));
  }
  return verdicts;
}

}  // namespace graphgate::tools
