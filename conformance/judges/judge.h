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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/bounds/tile_options.h"
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

class Runs;  // conformance/run/runs.h

// The largest error over its bound, by program and by node; infinite where nothing was allowed.
using NodeRatios = std::map<std::string, std::map<std::string, double>>;

// What a judge says. `outcome` is the worst of its findings, or PASS, or UNSUPPORTED where the
// executor lacks what the judge needs (then `remark` says what). `checks` counts what was compared:
// 0 checks are no pass.
struct JudgeReport {
  Judge judge = Judge::kBounds;
  spec::Outcome outcome = spec::Outcome::kPass;
  std::vector<spec::Finding> findings = {};
  std::string remark = {};
  std::int64_t checks = 0;
  double seconds = 0;                          // processor time, runs that it had to make included
  std::map<std::string, double> figures = {};  // numbers for reports: "elements", "worst_ratio"
  NodeRatios node_ratios = {};                 // of the nodes that were judged alone
};

struct JudgeSettings {
  // The probability that a right program is called SUSPECT in one call, by the error estimate.
  double false_alarm_rate = 1e-9;
  std::uint64_t seed = 1;  // of data that judges draw themselves
  // Bounds: also holds every node to its own worst-case bound, on the bytes that it read. Without
  // it, and with share_runs, only where an executor of strict arithmetic has made other bits than
  // the reference.
  bool judge_nodes = true;
  // Looks for the first node and the least change of a failure (first_divergence.h).
  bool localize = true;
  // A stored plan summary that quality compares with; empty: none.
  std::string quality_baseline = {};
  // Run every configuration of the table (configuration_table.h), not only the first few.
  bool every_configuration = false;
  // Where provenance is judged, its runs serve the other judges too (Runs::share_runs_with_words);
  // not where all judges are asked, who take nothing on trust.
  bool share_runs = false;
  // Large calls whose rows are apart are judged by tiles (bounds and state).
  TileOptions tiles = {};
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
