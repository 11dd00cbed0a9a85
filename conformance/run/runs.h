// The runs of one script: who is under test and the oracle, each as often as somebody asks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/run/trace.h"

namespace graphgate::conformance {

// What one subject showed of one script, by the changes to the script's options.
using SubjectTraces = std::map<Configuration, std::shared_ptr<const Trace>>;

// How the subject's process ended in a run, or what went wrong when all was over.
struct RunEnd {
  std::string executor;
  Configuration changes;  // to the script's options
  Error error;
  bool is_at_closing = false;
  bool is_late = false;
};

// Finds or makes the traces of one script. The subject is the executor under test; the oracle is
// the reference, whose configuration {"mode": "eager" | "worst-case" | "sampled" | "provenance" |
// "geometry"} says what it computes ("geometry": provenance rows without words). Where a script
// feeds an output back, the oracle is called with what the subject's default run passed. Where
// calls change states, each call of an oracle of numbers begins with those that the subject's call
// before left, unless a call is compared with a recording too.
class Runs {
 public:
  Runs(const Script& script, const ExecutorSource& subject, const ExecutorSource& oracle);

  // From now on the subject's run with words of provenance stands for its plain run as well, where
  // it says that watching it changed nothing (Trace::is_as_unwatched).
  void share_runs_with_words() { shares_runs_ = true; }
  // The subject under the script's options with `changes`. Errors are those of
  // ExecutorSource::make; what goes wrong during the run stands in the trace.
  [[nodiscard]] Result<const Trace*> subject(const Configuration& changes = {});
  [[nodiscard]] Result<const Trace*> oracle(std::string_view mode);
  // The oracle of that mode on the states that its own calls left, as words of provenance go on;
  // not kept.
  [[nodiscard]] Result<Trace> oracle_on_own_states(std::string_view mode);
  // The calls of oracle("sampled") with radii as wide as numbers of its trials lie apart
  // (trials.h).
  [[nodiscard]] Result<const std::vector<spec::CallResult>*> widened_oracle();
  // Why no run of the reference that was asked for came to a call. Empty where one did, where none
  // was asked for, and where the scenario calls nothing.
  [[nodiscard]] std::string why_without_reference() const;
  // Whether oracle(mode) is there already.
  [[nodiscard]] bool has_oracle(std::string_view mode) const {
    return oracle_traces_.contains(mode);
  }
  // The same for another script over the same executors (other data, other inputs); not kept.
  [[nodiscard]] Result<Trace> subject_on(const Script& script, const Configuration& changes);
  [[nodiscard]] Result<Trace> oracle_on(const Script& script, std::string_view mode);
  // Runs the script in eager mode, with the kernels ("cpu", or "cuda-checked": what CUDA's alone
  // refuse is refused).
  [[nodiscard]] Result<Trace> oracle_with_kernels(const char* kernels);
  // The reference in that mode, with bounds for what the subject's kernels compute (Promises).
  [[nodiscard]] Configuration oracle_configuration(std::string_view mode) const;
  // The same executors on another script, which must outlive what is returned.
  [[nodiscard]] Runs on(const Script& script) const;
  // The estimate of an oracle that takes the numbers it draws for the subject's: what it leaves
  // open all the same is open for other reasons.
  [[nodiscard]] Result<const Trace*> oracle_with_known_draws();
  // The same on another script, in that mode.
  [[nodiscard]] Result<Trace> oracle_with_known_draws_on(const Script& script,
                                                         std::string_view mode);
  // Takes a trace from elsewhere for what subject(changes) would run.
  void provide(Trace trace, const Configuration& changes = {});
  // Takes the oracle's traces of other runs of the same script, where nothing that the subject made
  // has gone into them and both subjects compute in the same arithmetic.
  void share_oracle(const Runs& other);
  // Frees what the subject has run so far; what the oracle has run stays.
  void forget_subject() { subject_traces_.clear(); }
  // What the subject has run so far.
  [[nodiscard]] const SubjectTraces& subject_traces() const { return subject_traces_; }
  // Of all runs of the subject so far, those on other scripts too, in the order in which they ran;
  // and of the oracle's, those that the machine ended.
  [[nodiscard]] const std::vector<RunEnd>& ends() const { return *ends_; }

  [[nodiscard]] const Script& script() const { return script_; }
  [[nodiscard]] std::string_view subject_name() const { return subject_.name(); }
  // What the subject promises under the script's options.
  [[nodiscard]] Promises promises() const { return subject_.promises(script_.options); }
  [[nodiscard]] const ExecutorSource& oracle_source() const { return oracle_; }

 private:
  struct OracleRun {
    Trace trace;
    bool is_guided = false;  // it depends on what the subject made
  };
  [[nodiscard]] Result<OracleRun> run_oracle(const Configuration& configuration, bool with_states);
  [[nodiscard]] Configuration with_known_draws(std::string_view mode) const;
  [[nodiscard]] Result<Trace> oracle_under(const Configuration& configuration,
                                           const Script& script);
  [[nodiscard]] bool is_run_with_words();
  void note_end(const Trace& trace, const Configuration& changes);

  const Script& script_;
  const ExecutorSource& subject_;
  const ExecutorSource& oracle_;
  std::shared_ptr<std::vector<RunEnd>> ends_;
  bool shares_runs_ = false;
  SubjectTraces subject_traces_;
  std::map<std::string, std::shared_ptr<const Trace>, std::less<>> oracle_traces_;
  std::shared_ptr<const Trace> with_known_draws_;
  std::optional<std::vector<spec::CallResult>> widened_;
  std::set<std::string, std::less<>> guided_;  // modes whose trace depends on the subject
};

}  // namespace graphgate::conformance
