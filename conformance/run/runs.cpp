#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/stage_clock.h"
#include "base/temporary_folder.h"
#include "conformance/run/runs.h"
#include "conformance/run/storage_gaps.h"
#include "conformance/run/trials.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;

// A script that follows what a subject did, and where its steps stand in the script that it was
// made of: what is new counts as the call before it.
struct Guided {
  Script script;
  std::vector<std::size_t> originals;
  bool is_changed = false;
};

// States as their programs are loaded with them, and as calls leave them.
class KnownStates {
 public:
  explicit KnownStates(const Script& script) {
    for (const auto& program : script.programs) states_.push_back(program->tensors);
  }

  // The states that a call left with other elements than were known of them.
  std::map<std::string, spec::HostTensor, std::less<>> changed_by(const CallRecord& call) {
    std::map<std::string, spec::HostTensor, std::less<>> changed;
    for (std::size_t i = 0; i < call.result.final_states.size(); ++i) {
      const spec::HostTensor& after = call.result.final_states[i];
      const auto known = states_[call.program].find(call.result.state_targets[i]);
      if (known == states_[call.program].end() || has_nothing_new(known->second, after)) continue;
      changed.emplace(known->first, after);
      known->second = after;
    }
    return changed;
  }

 private:
  // One of another form is no content for the state: a judge says so, and an oracle keeps its own.
  static bool has_nothing_new(const spec::HostTensor& a, const spec::HostTensor& b) {
    if (a.dtype != b.dtype || a.sizes != b.sizes) return true;
    const std::vector<std::byte> x = spec::packed_bytes(a);
    const std::vector<std::byte> y = spec::packed_bytes(b);
    return x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0;
  }

  std::vector<std::map<std::string, spec::HostTensor, std::less<>>> states_;  // by program
};

// The script with what `trace` passed instead of feed-backs, and, `with_states`, with the states
// that its calls left. An oracle that went on with its own results would start from other roundings
// than the subject did, and know nothing of them.
Guided guided_by(const Trace& trace, const Script& script, bool with_states) {
  Guided out;
  out.script = {script.name, script.ops, script.programs, {}, script.options, script.expectation};
  KnownStates states(script);
  auto record = trace.calls.begin();
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const bool is_fed_back = std::holds_alternative<ScriptFeedBack>(script.steps[i]);
    out.is_changed |= is_fed_back;
    if (is_fed_back) continue;
    out.script.steps.push_back(script.steps[i]);
    out.originals.push_back(i);
    if (record == trace.calls.end() || record->step != i) continue;
    std::get<ScriptCall>(out.script.steps.back()).inputs = record->inputs;
    auto changed = states.changed_by(*record);
    const std::size_t program = record++->program;
    if (!with_states || changed.empty() || record == trace.calls.end()) continue;
    out.script.steps.emplace_back(ScriptSwap{program, std::move(changed), false});
    out.originals.push_back(i);
    out.is_changed = true;
  }
  out.originals.push_back(script.steps.size());
  return out;
}

// Whether an oracle of that mode computes numbers. Words of provenance go on from call to call.
bool computes_numbers(std::string_view mode) { return mode != "provenance" && mode != "geometry"; }

const Configuration& with_words() {
  static const Configuration words = {{option::kInstrument, "provenance"}};
  return words;
}

// Whether calls of an oracle begin with the states that the subject left. Where a recording or an
// expectation is compared with the oracle as well, they began with states of their own.
bool takes_states(const Script& script, std::string_view mode) {
  const bool is_compared_again = std::ranges::any_of(script.steps, [](const ScriptStep& step) {
    const auto* call = std::get_if<ScriptCall>(&step);
    return call && call->expected;
  });
  return computes_numbers(mode) && !is_compared_again;
}

// Whether what a subject did may have to guide an oracle.
bool may_guide(const Script& script, bool with_states) {
  const bool feeds_back = std::ranges::any_of(script.steps, [](const ScriptStep& step) {
    return std::holds_alternative<ScriptFeedBack>(step);
  });
  const bool has_states = std::ranges::any_of(
      script.programs, [](const auto& program) { return !program->tensors.empty(); });
  return feeds_back || (with_states && has_states && script.calls() > 1);
}

// The places of inputs around whose elements some recorded call leaves it open what lies there, as
// the reference's option has them.
std::string open_gaps(const Script& script) {
  std::set<std::size_t> places;
  for (const ScriptStep& step : script.steps) {
    const auto* call = std::get_if<ScriptCall>(&step);
    if (!call || !call->expected) continue;
    const auto gaps = inputs_with_unknown_gaps(*script.programs[call->program],
                                               call->expected->inputs, call->inputs);
    places.insert(gaps.begin(), gaps.end());
  }
  std::vector<std::string> words;
  words.reserve(places.size());
  for (const std::size_t place : places) words.push_back(std::to_string(place));
  return join_list(words);
}

// What a profile calls a run; it names the asker beside it.
std::string_view stage_of_subject(const Configuration& changes) {
  return spec::value_of(changes, option::kInstrument).empty() ? "subject" : "subject, watched";
}

std::string_view stage_of_oracle(std::string_view mode) {
  constexpr std::array<std::string_view, 5> kStages = {
      "reference: eager", "reference: worst-case", "reference: sampled", "reference: provenance",
      "reference: geometry"};
  const auto* const stage = std::ranges::find_if(
      kStages, [&](std::string_view name) { return name.ends_with(": " + std::string(mode)); });
  return stage == kStages.end() ? "reference" : *stage;
}

// Steps of the trace count as in the script.
void renumber(Trace& trace, const std::vector<std::size_t>& originals) {
  for (CallRecord& record : trace.calls) record.step = originals[record.step];
  for (HeldRecord& record : trace.held) {
    record.step = originals[record.step];
    record.held_at = originals[record.held_at];
  }
  if (trace.error) trace.error_step = originals[trace.error_step];
}

}  // namespace

Runs::Runs(const Script& script, const ExecutorSource& subject, const ExecutorSource& oracle)
    : script_(script),
      subject_(subject),
      oracle_(oracle),
      ends_(std::make_shared<std::vector<RunEnd>>()) {}

Runs Runs::on(const Script& script) const {
  Runs runs(script, subject_, oracle_);
  runs.ends_ = ends_;
  return runs;
}

Result<Trace> Runs::subject_on(const Script& script, const Configuration& wanted) {
  const Stage stage(stage_of_subject(wanted));
  const Configuration asked = merged(script.options, wanted);
  const auto noted = [&](const Error& error) {
    if (error.kind == ErrorKind::kInfrastructure) {
      ends_->push_back({std::string(subject_.name()), wanted, error, false, false});
    }
    return error;
  };
  std::optional<TemporaryFolder> folder;
  Configuration changes = wanted;
  for (const char* name : {option::kCache, option::kAheadOfTime}) {
    if (spec::value_of(asked, name) != spec::kTemporaryCache) continue;
    if (!folder) {
      auto made = TemporaryFolder::make("compiled");
      if (!made.ok()) return noted(made.error());
      folder.emplace(std::move(made).value());
    }
    changes[name] = folder->path();
  }
  const Configuration configuration = merged(script.options, changes);
  const auto executor = subject_.make(configuration, *script.ops);
  if (!executor.ok() && executor.error().kind != ErrorKind::kInternal) {
    return noted(executor.error());
  }
  Trace trace;
  if (executor.ok()) {
    // A restart replaces options of the case; what a judge asks for stays.
    trace = run_script(script, *executor.value(), asked, [&](const ScriptRestart& restart) {
      return subject_.make(merged(merged(script.options, restart.changes), changes),
                           restart.ops ? *restart.ops : *script.ops);
    });
  } else {
    trace.executor = subject_.name();
    trace.configuration = asked;
    trace.error = executor.error();
  }
  trace.has_ended = (trace.error || trace.closing_error) && subject_.has_ended();
  trace.is_late = trace.has_ended && subject_.is_late();
  note_end(trace, wanted);
  return trace;
}

void Runs::note_end(const Trace& trace, const Configuration& changes) {
  const bool is_machines = trace.error && trace.error->kind == ErrorKind::kInfrastructure;
  const bool is_early =
      is_machines || (trace.has_ended && trace.error && trace.error->kind == ErrorKind::kInternal);
  if (!is_early && !trace.closing_error) return;
  ends_->push_back({trace.executor, changes, is_early ? *trace.error : *trace.closing_error,
                    !is_early, trace.is_late});
}

Configuration Runs::oracle_configuration(std::string_view mode) const {
  Configuration configuration = {{option::kMode, std::string(mode)}};
  const Promises promised = promises();
  if (promised.torch != spec::kNewestTorchRelease) {
    configuration[option::kSemantics] = spec::print_torch_release(promised.torch);
  }
  // Sizes depend on kernels, too: those of statistics that a batch norm saves.
  if (promised.kernels != "cpu") configuration[option::kKernels] = promised.kernels;
  if (mode != "worst-case" && mode != "sampled") return configuration;
  if (promised.arithmetic != "strict") configuration[option::kArithmetic] = promised.arithmetic;
  if (!promised.split_sums.empty())
    configuration[option::kSplitSums] = join_list(promised.split_sums);
  if (promised.has_tf32_convolutions) configuration[option::kTf32] = "convolution";
  const std::string gaps = open_gaps(script_);
  if (!gaps.empty()) configuration[option::kOpenGaps] = gaps;
  return configuration;
}

Result<Trace> Runs::oracle_on(const Script& script, std::string_view mode) {
  return oracle_under(oracle_configuration(mode), script);
}

Result<Trace> Runs::oracle_with_kernels(const char* kernels) {
  Configuration configuration = oracle_configuration("eager");
  configuration[option::kKernels] = kernels;
  return oracle_under(configuration, script_);
}

// What the machine does to the oracle leaves no verdict either: a judge that takes a run which has
// stopped for all of it would pass with fewer checks.
Result<Trace> Runs::oracle_under(const Configuration& configuration, const Script& script) {
  const Stage stage(stage_of_oracle(spec::value_of(configuration, option::kMode)));
  const auto noted = [&](const Error& error) {
    if (error.kind == ErrorKind::kInfrastructure) {
      ends_->push_back({std::string(oracle_.name()), configuration, error, false, false});
    }
    return error;
  };
  const auto executor = oracle_.make(configuration, *script.ops);
  if (!executor.ok()) return noted(executor.error());
  Trace trace = run_script(script, *executor.value(), configuration, [&](const auto& restart) {
    return oracle_.make(configuration, restart.ops ? *restart.ops : *script.ops);
  });
  if (trace.error) (void)noted(*trace.error);
  return trace;
}

Result<const Trace*> Runs::subject(const Configuration& changes) {
  const auto known = subject_traces_.find(changes);
  if (known != subject_traces_.end()) return known->second.get();
  if (shares_runs_ && changes.empty() && is_run_with_words()) {
    return subject_traces_.emplace(changes, subject_traces_.at(with_words())).first->second.get();
  }
  GRAPHGATE_TRY(Trace made, subject_on(script_, changes));
  return subject_traces_.emplace(changes, std::make_shared<const Trace>(std::move(made)))
      .first->second.get();
}

// Runs the subject with words, if it can, and tells whether that shows what a plain run would.
bool Runs::is_run_with_words() {
  if (script_.options.contains(option::kInstrument)) return false;
  const auto watched = subject(with_words());
  return watched.ok() && watched.value()->is_as_unwatched;
}

Result<Runs::OracleRun> Runs::run_oracle(const Configuration& configuration, bool with_states) {
  std::optional<Guided> guided;
  if (may_guide(script_, with_states)) {
    GRAPHGATE_TRY(const Trace* const passed, subject());
    guided = guided_by(*passed, script_, with_states);
    if (!guided->is_changed) guided.reset();
  }
  GRAPHGATE_TRY(Trace made, oracle_under(configuration, guided ? guided->script : script_));
  if (guided) renumber(made, guided->originals);
  return OracleRun{std::move(made), guided.has_value()};
}

Result<const Trace*> Runs::oracle(std::string_view mode) {
  const auto known = oracle_traces_.find(mode);
  if (known != oracle_traces_.end()) return known->second.get();
  GRAPHGATE_TRY(OracleRun made,
                run_oracle(oracle_configuration(mode), takes_states(script_, mode)));
  if (made.is_guided) guided_.emplace(mode);
  return oracle_traces_.emplace(mode, std::make_shared<const Trace>(std::move(made.trace)))
      .first->second.get();
}

std::string Runs::why_without_reference() const {
  std::string why;
  for (const auto& [mode, trace] : oracle_traces_) {
    if (!trace->calls.empty() || !trace->error) return "";
    if (why.empty()) why = trace->error->message;
  }
  return why;
}

Result<Trace> Runs::oracle_on_own_states(std::string_view mode) {
  GRAPHGATE_TRY(OracleRun made, run_oracle(oracle_configuration(mode), /*with_states=*/false));
  return std::move(made.trace);
}

Configuration Runs::with_known_draws(std::string_view mode) const {
  Configuration configuration = oracle_configuration(mode);
  configuration[option::kDraws] = "known";
  return configuration;
}

Result<Trace> Runs::oracle_with_known_draws_on(const Script& script, std::string_view mode) {
  return oracle_under(with_known_draws(mode), script);
}

Result<const Trace*> Runs::oracle_with_known_draws() {
  if (with_known_draws_) return with_known_draws_.get();
  GRAPHGATE_TRY(OracleRun made,
                run_oracle(with_known_draws("sampled"), takes_states(script_, "sampled")));
  with_known_draws_ = std::make_shared<const Trace>(std::move(made.trace));
  return with_known_draws_.get();
}

Result<const std::vector<spec::CallResult>*> Runs::widened_oracle() {
  if (widened_) return &*widened_;
  GRAPHGATE_TRY(const Trace* const estimate, oracle("sampled"));
  Trials trials;
  for (int i = 0; i < Trials::kPlain + Trials::kFar; ++i) {
    const bool is_far = i >= Trials::kPlain;
    Configuration configuration = oracle_configuration("sampled");
    configuration[option::kTrial] =
        std::to_string(i) + (is_far ? "x" + std::to_string(Trials::kFarScale) : "");
    GRAPHGATE_TRY(OracleRun made, run_oracle(configuration, takes_states(script_, "sampled")));
    (is_far ? trials.far : trials.plain).push_back(std::move(made.trace));
  }
  return &widened_.emplace(widened_by_trials(*estimate, trials));
}

void Runs::provide(Trace trace, const Configuration& changes) {
  note_end(trace, changes);
  subject_traces_[changes] = std::make_shared<const Trace>(std::move(trace));
}

void Runs::share_oracle(const Runs& other) {
  const bool same = oracle_configuration("worst-case") == other.oracle_configuration("worst-case");
  if (!same) return;
  for (const auto& entry : other.oracle_traces_) {
    if (!other.guided_.contains(entry.first)) oracle_traces_.insert(entry);
  }
}

}  // namespace graphgate::conformance
