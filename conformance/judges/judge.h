// The judges: ten ways to be wrong, each a function over traces.
//
//   script ─ Runs ──┬─ provenance      structure: every value comes from where it should
//   (configurations)├─ exact           integers in floats: bit equal to the reference
//                   ├─ bounds          numbers inside error bounds; recordings inside them, too
//                   ├─ configurations  bit equal under every configuration
//                   ├─ verifier        the plan's claims against facts of the graph
//                   ├─ shadow          shadow memory, poison, canaries, held outputs
//                   ├─ state           buffers and hidden state after every call
//                   ├─ happens-before  tenants of a byte ordered by streams and events
//                   ├─ quality         the plan's costs, and what was asked for against what is
//                   └─ vacuity         the case can fail: every input matters
//
// A judge asks Runs for the traces that it needs; Runs keeps them, so that judges share runs. Each
// judge is usable alone. Everything found is collected.
#pragma once

#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/run/trace.h"
#include "spec/finding.h"

namespace graphgate::conformance {

enum class Judge : std::uint8_t {
  kProvenance,
  kExact,
  kBounds,
  kConfigurations,
  kVerifier,
  kShadow,
  kState,
  kHappensBefore,
  kQuality,
  kVacuity,
};
inline constexpr std::size_t kJudgeCount = 10;

// "provenance", "happens-before".
[[nodiscard]] std::string_view judge_name(Judge judge);
[[nodiscard]] std::optional<Judge> parse_judge(std::string_view name);

class JudgeSet {
 public:
  [[nodiscard]] static JudgeSet all();
  [[nodiscard]] bool has(Judge judge) const { return bits_.test(static_cast<std::size_t>(judge)); }
  void add(Judge judge) { bits_.set(static_cast<std::size_t>(judge)); }
  [[nodiscard]] bool empty() const { return bits_.none(); }
  friend bool operator==(const JudgeSet&, const JudgeSet&) = default;

 private:
  std::bitset<kJudgeCount> bits_;
};
// "all", or names with commas between them. kBadInput names what is no judge.
[[nodiscard]] Result<JudgeSet> parse_judges(std::string_view text);

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
// feeds an output back, the oracle is called with what the subject's default run passed; where
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
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make_oracle(std::string_view mode) const;
  // The reference in that mode, with bounds for what the subject's kernels compute (Promises).
  [[nodiscard]] Configuration oracle_configuration(std::string_view mode) const;
  // The same executors on another script, which must outlive what is returned.
  [[nodiscard]] Runs on(const Script& script) const;
  // Takes a trace from elsewhere for what subject(changes) would run.
  void provide(Trace trace, const Configuration& changes = {});
  // Takes the oracle's traces of other runs of the same script, where nothing that the subject made
  // has gone into them and both subjects compute in the same arithmetic.
  void share_oracle(const Runs& other);
  // What the subject has run so far.
  [[nodiscard]] const SubjectTraces& subject_traces() const { return subject_traces_; }
  // Of all runs of the subject so far, those on other scripts too, in the order in which they ran.
  [[nodiscard]] const std::vector<RunEnd>& ends() const { return *ends_; }

  [[nodiscard]] const Script& script() const { return script_; }
  [[nodiscard]] std::string_view subject_name() const { return subject_.name(); }
  // Where the executors come from: for judges that change the script's own options.
  [[nodiscard]] const ExecutorSource& subject_source() const { return subject_; }
  // What the subject promises under the script's options.
  [[nodiscard]] Promises promises() const { return subject_.promises(script_.options); }
  [[nodiscard]] const ExecutorSource& oracle_source() const { return oracle_; }

 private:
  struct OracleRun {
    Trace trace;
    bool is_guided = false;  // it hangs on what the subject made
  };
  [[nodiscard]] Result<OracleRun> run_oracle(const Configuration& configuration, bool with_states);
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
  std::optional<std::vector<spec::CallResult>> widened_;
  std::set<std::string, std::less<>> guided_;  // modes whose trace hangs on what the subject made
};

// What a judge says. `outcome` is the worst of its findings, or PASS, or UNSUPPORTED where the
// executor lacks what the judge needs (then `remark` says what). `checks` counts what was compared:
// 0 checks are no pass.
struct JudgeReport {
  Judge judge = Judge::kBounds;
  spec::Outcome outcome = spec::Outcome::kPass;
  std::vector<spec::Finding> findings;
  std::string remark;
  std::int64_t checks = 0;
  double seconds = 0;                     // processor time, runs that it had to make included
  std::map<std::string, double> figures;  // numbers for reports: "elements", "worst_ratio"
};

struct JudgeSettings {
  // The probability that a right program is called SUSPECT in one call, by the error estimate.
  double false_alarm_rate = 1e-9;
  std::uint64_t seed = 1;  // of data that judges draw themselves
  // Bounds: also holds every node to its own worst-case bound, on the bytes that it read.
  bool judge_nodes = true;
  // Looks for the first node and the least change of a failure (first_divergence.h).
  bool localize = true;
  // A stored plan summary that quality compares with; empty: none.
  std::string quality_baseline;
  // Run every configuration of the table (configuration_table.h), not only the first few.
  bool every_configuration = false;
  // Where provenance is judged, its runs serve the other judges too (Runs::share_runs_with_words);
  // not where all judges are asked, who take nothing on trust.
  bool share_runs = false;
};

// One judge, one file: judge_provenance.cpp, judge_exact.cpp, ... An Error is a defect of the
// harness or bad input, never a verdict.
[[nodiscard]] Result<JudgeReport> judge_provenance(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_exact(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_bounds(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_configurations(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_verifier(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_shadow(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_state(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_happens_before(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_quality(Runs& runs, const JudgeSettings& settings);
[[nodiscard]] Result<JudgeReport> judge_vacuity(Runs& runs, const JudgeSettings& settings);

// What the judges of a set say of one script, in the order of the enumeration. `outcome` is the
// worst; `rule` and `reason` are of the first finding behind it, or, where there is none, the name
// of the first judge behind it that remarks on something, and its remark. Where the script expects
// a failure (Script::expectation), the outcome is XFAIL or XPASS.
struct CaseReport {
  std::string name;
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string rule;
  std::string reason;
  std::vector<JudgeReport> judges;
  // What the run itself came to, where it ended early: then no judge was asked.
  std::vector<spec::Finding> findings;
  // Why nothing that the executor computed was compared, though it ran: the reference cannot run
  // the case, or no judge had anything to check. Empty where something was.
  std::string not_compared;
  // Of a failure: the first node that is off, and the smallest change of the configuration that
  // makes it pass ("no-reuse: passes"). Empty otherwise.
  std::vector<std::string> localization;
};
[[nodiscard]] Result<CaseReport> judge_script(Runs& runs, JudgeSet judges,
                                              const JudgeSettings& settings);

}  // namespace graphgate::conformance
