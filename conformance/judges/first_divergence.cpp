#include "conformance/judges/first_divergence.h"

#include <algorithm>

#include "conformance/judges/configuration_table.h"
#include "conformance/judges/cut_changes.h"
#include "conformance/judges/judge_nodes.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/lone_taps.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::Finding;
using spec::Outcome;

class Divider {
 public:
  Divider(Runs& runs, JudgeSet failed, const JudgeSettings& settings, std::size_t budget)
      : runs_(runs), failed_(failed), settings_(settings), budget_(budget) {
    settings_.localize = false;
    settings_.every_configuration = false;
  }

  Result<Divergence> run() {
    GRAPHGATE_TRY_VOID(try_all(single_changes(runs_.script())));
    const bool is_profile = std::ranges::any_of(out_.changes, [](const std::string& words) {
      return words.starts_with("without profile=");
    });
    if (is_profile) GRAPHGATE_TRY_VOID(try_all(deviations_less(runs_.script())));
    GRAPHGATE_TRY_VOID(try_cuts());
    if (out_.passing.empty()) GRAPHGATE_TRY_VOID(try_all(pairs_of_changes(runs_.script())));
    GRAPHGATE_TRY_VOID(find_node());
    return std::move(out_);
  }

 private:
  Result<void> try_all(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      if (is_out_of_time(budget_)) return {};
      GRAPHGATE_TRY(const bool passed, passes(change.options));
      if (passed) take(change);
    }
    return {};
  }

  // Which cut of the failing run matters.
  Result<void> try_cuts() {
    GRAPHGATE_TRY(const Trace* const failed, runs_.subject());
    const std::size_t budget = out_.tried + kMostForCuts;
    const TryOptions try_options = [&](const Configuration& options) -> Result<bool> {
      if (is_out_of_time(budget)) return false;
      return passes(options);
    };
    GRAPHGATE_TRY(const auto changes, least_cut_changes(runs_.script(), *failed, try_options));
    for (const Change& change : changes) take(change);
    return {};
  }

  [[nodiscard]] bool is_out_of_time(std::size_t budget) const {
    return out_.tried >= budget || watch_.seconds() > kMostSeconds;
  }

  void take(const Change& change) {
    out_.passing.push_back(change.options);
    out_.changes.push_back(change.words);
  }

  // Whether the judges that failed are content with the script under these options. A configuration
  // that is refused does not count as tried.
  Result<bool> passes(const Configuration& options) {
    Script script = runs_.script();
    script.options = options;
    script.expectation.outcome = Outcome::kPass;
    Runs runs = runs_.on(script);
    runs.share_oracle(runs_);
    const auto report = judge_script(runs, failed_, settings_);
    if (!report.ok()) {
      if (report.error().kind == ErrorKind::kInfrastructure) return report.error();
      return false;
    }
    // An executor that does not take an option has not tried it.
    if (report.value().outcome == Outcome::kUnsupported) return false;
    ++out_.tried;
    return report.value().outcome == Outcome::kPass;
  }

  // In the order of how much each says of the very run that failed.
  Result<void> find_node() {
    for (const auto judge : {judge_provenance, judge_shadow, judge_verifier}) {
      if (take_node_from(judge)) return {};
    }
    if (take_node_from_taps()) return {};
    take_node_from_difference();
    for (const auto judge : {judge_happens_before, judge_quality}) {
      if (out_.node.empty()) take_node_from(judge);
    }
    return {};
  }

  bool take_node_from(Result<JudgeReport> (*judge)(Runs&, const JudgeSettings&)) {
    const auto report = judge(runs_, settings_);
    if (!report.ok()) return false;
    for (const Finding& finding : report.value().findings) {
      if (finding.outcome != Outcome::kFail || finding.nodes.empty()) continue;
      const std::string& name = finding.nodes.front();
      out_.node = name;
      out_.how = finding.rule + ": " + finding.message;
      return true;
    }
    return false;
  }

  bool take_node_from_taps() {
    const auto report = judge_nodes(runs_);
    if (!report.ok()) return false;
    for (const NodeFinding& finding : report.value().findings) {
      if (finding.node.empty()) continue;
      out_.node = finding.node;
      out_.how = finding.op + ": call " + std::to_string(finding.call) + ", " + finding.message;
      return true;
    }
    return false;
  }

  // Node by node against a configuration that passes, or against the one that disagrees with the
  // default where only that is wrong.
  void take_node_from_difference() {
    Configuration other;
    std::string words;
    if (!out_.passing.empty()) {
      other = out_.passing.front();
      words = out_.changes.front();
    } else if (!disagreeing_row(other, words)) {
      return;
    }
    const auto found = first_difference(runs_, runs_.script().options, other);
    if (!found) return;
    out_.node = found->node;
    out_.how = found->op + ": other bits than with the change (" + words + "): " + found->message;
  }

  bool disagreeing_row(Configuration& options, std::string& words) {
    if (!failed_.has(Judge::kConfigurations)) return false;
    const auto report = judge_configurations(runs_, settings_);
    if (!report.ok() || report.value().findings.empty()) return false;
    const std::string& message = report.value().findings.front().message;
    words = message.substr(0, message.find(": "));
    options = merged(runs_.script().options, parse_configuration(words));
    return true;
  }

  static constexpr double kMostSeconds = 60;
  static constexpr std::size_t kMostForCuts = 60;

  Runs& runs_;
  JudgeSet failed_;
  JudgeSettings settings_;
  std::size_t budget_;
  StopWatch watch_;
  Divergence out_;
};

}  // namespace

Result<Divergence> find_divergence(Runs& runs, JudgeSet failed, const JudgeSettings& settings,
                                   std::size_t budget) {
  GRAPHGATE_CHECK(!failed.empty());
  return Divider(runs, failed, settings, budget).run();
}

std::vector<std::string> localize(Runs& runs, JudgeSet failed, const JudgeSettings& settings) {
  const auto found = find_divergence(runs, failed, settings);
  if (!found.ok()) return {"cannot be localized: " + found.error().message};
  const Divergence& divergence = found.value();
  std::vector<std::string> lines;
  if (!divergence.node.empty()) {
    lines.push_back("first node: '" + divergence.node + "': " + divergence.how);
  }
  for (const std::string& words : divergence.changes) lines.push_back(words + ": passes");
  if (divergence.changes.empty() && divergence.tried == 0) {
    lines.push_back("no change of the configuration could be tried on this executor");
  } else if (divergence.changes.empty()) {
    lines.push_back("none of " + std::to_string(divergence.tried) +
                    " changes of the configuration makes it pass");
  }
  return lines;
}

}  // namespace graphgate::conformance
