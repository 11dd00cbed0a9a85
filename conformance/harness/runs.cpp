#include "conformance/harness/judge.h"
#include "conformance/harness/temporary_folder.h"

namespace graphgate::conformance {
namespace {

bool feeds_back(const Script& script) {
  for (const ScriptStep& step : script.steps) {
    if (std::holds_alternative<ScriptFeedBack>(step)) return true;
  }
  return false;
}

// The script with what `trace` passed instead of feed-backs. An oracle that fed back its own
// outputs would start from other roundings than the subject did, and know nothing of them.
Script with_inputs_of(const Script& script, const Trace& trace) {
  Script out = script;
  for (const CallRecord& record : trace.calls) {
    std::get<ScriptCall>(out.steps[record.step]).inputs = record.inputs;
  }
  std::erase_if(out.steps, [](const ScriptStep& step) {
    return std::holds_alternative<ScriptFeedBack>(step);
  });
  return out;
}

// Steps that were taken out, back in: steps of the trace count as in `script`.
void renumber(Trace& trace, const Script& script) {
  std::vector<std::size_t> original;
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    if (!std::holds_alternative<ScriptFeedBack>(script.steps[i])) original.push_back(i);
  }
  original.push_back(script.steps.size());
  for (CallRecord& record : trace.calls) record.step = original[record.step];
  for (HeldRecord& record : trace.held) {
    record.step = original[record.step];
    record.held_at = original[record.held_at];
  }
  if (trace.error) trace.error_step = original[trace.error_step];
}

}  // namespace

Runs::Runs(const Script& script, const ExecutorSource& subject, const ExecutorSource& oracle)
    : script_(script), subject_(subject), oracle_(oracle) {}

Result<Trace> Runs::subject_on(const Script& script, const Configuration& wanted) {
  const Configuration asked = merged(script.options, wanted);
  std::unique_ptr<TemporaryFolder> folder;
  Configuration changes = wanted;
  const auto cache = asked.find("cache");
  if (cache != asked.end() && cache->second == kTemporaryCache) {
    folder = std::make_unique<TemporaryFolder>();
    changes["cache"] = folder->path();
  }
  const Configuration configuration = merged(script.options, changes);
  GRAPHGATE_TRY(const auto executor, subject_.make(configuration, *script.ops));
  // A restart replaces options of the case; what a judge asks for stays.
  Trace trace = run_script(script, *executor, asked, [&](const ScriptRestart& restart) {
    return subject_.make(merged(merged(script.options, restart.changes), changes),
                         restart.ops ? *restart.ops : *script.ops);
  });
  trace.is_late = trace.error && subject_.is_late();
  return trace;
}

Configuration Runs::oracle_configuration(std::string_view mode) const {
  Configuration configuration = {{"mode", std::string(mode)}};
  const Promises promised = promises();
  // Sizes hang on kernels, too: those of statistics that a batch norm saves.
  if (promised.has_cuda_kernels) configuration["kernels"] = "cuda";
  if (mode != "worst-case" && mode != "sampled") return configuration;
  if (promised.arithmetic != "strict") configuration["arithmetic"] = promised.arithmetic;
  if (!promised.split_sums.empty()) configuration["split-sums"] = join_list(promised.split_sums);
  return configuration;
}

Result<Trace> Runs::oracle_on(const Script& script, std::string_view mode) {
  const Configuration configuration = oracle_configuration(mode);
  GRAPHGATE_TRY(const auto executor, oracle_.make(configuration, *script.ops));
  return run_script(script, *executor, configuration, [&](const ScriptRestart& restart) {
    return oracle_.make(configuration, restart.ops ? *restart.ops : *script.ops);
  });
}

Result<std::unique_ptr<spec::Executor>> Runs::make_oracle(std::string_view mode) const {
  return oracle_.make(oracle_configuration(mode), *script_.ops);
}

Result<const Trace*> Runs::subject(const Configuration& changes) {
  const auto known = subject_traces_.find(changes);
  if (known != subject_traces_.end()) return known->second.get();
  GRAPHGATE_TRY(Trace made, subject_on(script_, changes));
  return subject_traces_.emplace(changes, std::make_unique<Trace>(std::move(made)))
      .first->second.get();
}

Result<const Trace*> Runs::oracle(std::string_view mode) {
  const auto known = oracle_traces_.find(mode);
  if (known != oracle_traces_.end()) return known->second.get();
  Trace made;
  if (feeds_back(script_)) {
    GRAPHGATE_TRY(const Trace* const passed, subject());
    GRAPHGATE_TRY(made, oracle_on(with_inputs_of(script_, *passed), mode));
    renumber(made, script_);
  } else {
    GRAPHGATE_TRY(made, oracle_on(script_, mode));
  }
  return oracle_traces_.emplace(mode, std::make_shared<const Trace>(std::move(made)))
      .first->second.get();
}

void Runs::provide(Trace trace, const Configuration& changes) {
  subject_traces_[changes] = std::make_unique<Trace>(std::move(trace));
}

void Runs::share_oracle(const Runs& other) {
  const bool same = oracle_configuration("worst-case") == other.oracle_configuration("worst-case");
  if (same && !feeds_back(script_))
    oracle_traces_.insert(other.oracle_traces_.begin(), other.oracle_traces_.end());
}

}  // namespace graphgate::conformance
