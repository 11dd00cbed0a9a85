#include "conformance/judges/judge.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/stage_clock.h"
#include "conformance/judges/first_divergence.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/run_end.h"
#include "conformance/judges/verified_plans.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::Finding;
using spec::Outcome;

using JudgeFunction = Result<JudgeReport> (*)(Runs&, const JudgeSettings&);

struct Row {
  Judge judge;
  std::string_view name;
  JudgeFunction function;  // null for those that share what one verifier finds
};
constexpr std::array<Row, kJudgeCount> kJudges = {{
    {Judge::kProvenance, "provenance", judge_provenance},
    {Judge::kExact, "exact", judge_exact},
    {Judge::kBounds, "bounds", judge_bounds},
    {Judge::kConfigurations, "configurations", judge_configurations},
    {Judge::kVerifier, "verifier", nullptr},
    {Judge::kShadow, "shadow", judge_shadow},
    {Judge::kState, "state", judge_state},
    {Judge::kHappensBefore, "happens-before", nullptr},
    {Judge::kQuality, "quality", judge_quality},
    {Judge::kVacuity, "vacuity", judge_vacuity},
}};

// Nothing to compare, and nothing to say against the case: a plan that is not shown is no fault of
// it. What is found in the plans that are shown counts as ever.
bool abstains(const JudgeReport& report) {
  if (report.findings.empty()) return report.checks == 0;
  return std::ranges::all_of(report.findings,
                             [](const Finding& finding) { return finding.rule == kNotShown; });
}

// The plans are looked at once, where several judges are asked.
Result<JudgeReport> ask_of_plans(Judge judge, Runs& runs, std::optional<VerifiedPlans>& verified) {
  const StopWatch watch;
  if (!verified) {
    GRAPHGATE_TRY(verified, verify_plans(runs));
  }
  return report_of_plans(*verified, judge, watch);
}

Result<JudgeReport> ask(const Row& row, Runs& runs, const JudgeSettings& settings,
                        std::optional<VerifiedPlans>& verified) {
  const StageAsker asker(row.name, "judging");
  const StopWatch watch;
  auto asked =
      row.function ? row.function(runs, settings) : ask_of_plans(row.judge, runs, verified);
  if (!asked.ok() && asked.error().kind != ErrorKind::kUnsupported) {
    return asked.error().at("judge " + std::string(row.name));
  }
  JudgeReport report;
  if (asked.ok()) {
    report = std::move(asked).value();
  } else {
    report.outcome = Outcome::kUnsupported;
    report.remark = asked.error().message;
  }
  report.judge = row.judge;
  report.seconds = watch.seconds();
  if (report.checks == 0 && report.outcome == Outcome::kPass) {
    report.outcome = Outcome::kMistrusted;
    if (report.remark.empty()) report.remark = "nothing was checked";
  }
  return report;
}

// Whether the judge holds something against the executor, and not against a recording alone.
bool is_about_executor(const JudgeReport& report) {
  return std::ranges::any_of(report.findings, [](const Finding& finding) {
    return severity(finding.outcome) >= severity(Outcome::kSuspect) &&
           finding.rule != "B8.recording";
  });
}

// The first finding as bad as the outcome, else what the first such judge remarks.
void give_reason(CaseReport& report) {
  if (report.outcome == Outcome::kPass) return;
  const auto take_from = [&](const std::vector<Finding>& findings) {
    const auto is_behind = [&](const Finding& one) { return one.outcome == report.outcome; };
    const auto found = std::ranges::find_if(findings, is_behind);
    if (found == findings.end()) return false;
    report.rule = found->rule;
    report.reason = found->message;
    return true;
  };
  if (take_from(report.findings)) return;
  for (const JudgeReport& judge : report.judges) {
    if (judge.outcome != report.outcome) continue;
    if (take_from(judge.findings)) return;
    if (!report.reason.empty()) continue;
    report.rule = judge_name(judge.judge);
    report.reason = judge.remark;
  }
}

// Judges that abstain say nothing about the case, unless all do.
Outcome worst_of(const CaseReport& report) {
  Outcome worst = Outcome::kPass;
  const auto take = [&](Outcome outcome) {
    if (severity(outcome) > severity(worst)) worst = outcome;
  };
  for (const Finding& finding : report.findings) take(finding.outcome);
  const bool all_abstain = std::ranges::all_of(report.judges, abstains);
  for (const JudgeReport& judge : report.judges) {
    if (all_abstain || !abstains(judge)) take(judge.outcome);
  }
  return worst;
}

// "V3.overlap" at the start of what a case expects is a rule that has to be found.
std::string expected_rule(const std::string& detail) {
  const std::string word = detail.substr(0, detail.find_first_of(" :"));
  const std::size_t dot = word.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == word.size()) return "";
  const bool is_family =
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(dot),
                  [](unsigned char c) { return std::isupper(c) || std::isdigit(c); });
  const bool is_name =
      std::all_of(word.begin() + static_cast<std::ptrdiff_t>(dot) + 1, word.end(),
                  [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-'; });
  return is_family && is_name ? word : "";
}

bool has_rule(const CaseReport& report, const std::string& rule) {
  const auto is_it = [&](const Finding& finding) { return finding.rule == rule; };
  return std::ranges::any_of(report.findings, is_it) ||
         std::ranges::any_of(report.judges, [&](const JudgeReport& judge) {
           return std::ranges::any_of(judge.findings, is_it);
         });
}

void meet_expectation(const spec::Expectation& expected, CaseReport& report) {
  if (expected.outcome == Outcome::kPass) return;
  const std::string name(spec::outcome_name(expected.outcome));
  const std::string rule = expected_rule(expected.detail);
  if (report.outcome == Outcome::kPass) {
    report.outcome = Outcome::kXPass;
    report.reason = "passes, expected " + name +
                    (expected.detail.empty() ? "" : " \"" + expected.detail + "\"");
  } else if (report.outcome != expected.outcome) {
    report.reason = "expected " + name + ": " + report.reason;
  } else if (!rule.empty() && !has_rule(report, rule)) {
    report.outcome = Outcome::kFail;
    report.reason = "expected a finding " + rule + ": " + report.reason;
  } else {
    report.outcome = Outcome::kXFail;
  }
}

// A run that no reference followed, or of which no judge checked anything. Where ties were followed
// (follow_ties.h), the reference came through the run along the subject's choices.
void note_not_compared(const Runs& runs, CaseReport& report) {
  if (report.judges.empty()) return;
  const bool is_followed = std::ranges::any_of(
      report.judges, [](const JudgeReport& judge) { return judge.figures.contains("followed"); });
  if (!is_followed) report.not_compared = runs.why_without_reference();
  const bool is_checked =
      std::ranges::any_of(report.judges, [](const JudgeReport& judge) { return judge.checks > 0; });
  if (report.not_compared.empty() && !is_checked) {
    report.not_compared = report.reason.empty() ? "nothing was checked" : report.reason;
  }
}

void finish(Runs& runs, const JudgeSettings& settings, CaseReport& report) {
  report.outcome = worst_of(report);
  give_reason(report);
  note_not_compared(runs, report);
  meet_expectation(runs.script().expectation, report);
  JudgeSet failed;
  for (const JudgeReport& judge : report.judges) {
    if (is_about_executor(judge)) failed.add(judge.judge);
  }
  const bool is_wanted = settings.localize && report.outcome != Outcome::kXFail && !failed.empty();
  if (!is_wanted) return;
  const StageAsker asker("localization", "judging");
  report.localization = localize(runs, failed, settings);
}

// A run without a single call shows nothing.
Result<void> ask_all(Runs& runs, JudgeSet judges, const JudgeSettings& settings,
                     CaseReport& report) {
  std::optional<VerifiedPlans> verified;
  for (const Row& row : kJudges) {
    if (!judges.has(row.judge)) continue;
    GRAPHGATE_TRY(JudgeReport said, ask(row, runs, settings, verified));
    report.judges.push_back(std::move(said));
  }
  return {};
}

// What the machine or an adapter did in any run leaves no verdict: what judges made of it may be no
// fault of the executor's, and what they passed over is no pass.
Result<void> check_machine(const Runs& runs) {
  for (const RunEnd& end : runs.ends()) {
    if (end.error.kind == ErrorKind::kInfrastructure && !end.is_at_closing) return end.error;
  }
  return {};
}

// What ended the subject's process is its finding, in whose run it was, unless one as bad is there.
// The first end is enough: after it the process is another.
Result<void> add_end(const Runs& runs, CaseReport& report) {
  GRAPHGATE_TRY_VOID(check_machine(runs));
  const bool is_told = severity(worst_of(report)) >= severity(Outcome::kTimeout);
  if (is_told || runs.ends().empty()) return {};
  const RunEnd& first = runs.ends().front();
  // An executor that has refused the case may refuse to close it, too.
  if (!report.findings.empty() && first.error.kind != ErrorKind::kInternal) return {};
  GRAPHGATE_TRY(Finding ended, finding_of_end(first));
  report.findings.push_back(std::move(ended));
  return {};
}

Finding no_call() {
  return Finding{.rule = "R5.no-call",
                 .outcome = Outcome::kMistrusted,
                 .message = "the scenario calls no program"};
}

}  // namespace

std::string_view judge_name(Judge judge) { return kJudges[static_cast<std::size_t>(judge)].name; }

std::optional<Judge> parse_judge(std::string_view name) {
  for (const Row& row : kJudges) {
    if (row.name == name) return row.judge;
  }
  return std::nullopt;
}

JudgeSet JudgeSet::all() {
  JudgeSet set;
  set.bits_.set();
  return set;
}

Result<JudgeSet> parse_judges(std::string_view text) {
  if (text == "all") return JudgeSet::all();
  JudgeSet set;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    const auto judge = parse_judge(name);
    if (!judge) {
      std::string known;
      for (const Row& row : kJudges) known += ", " + std::string(row.name);
      return bad_input("no judge is called '" + std::string(name) + "': expected all" + known);
    }
    set.add(*judge);
    if (comma == std::string_view::npos) return set;
    text.remove_prefix(comma + 1);
  }
}

Result<CaseReport> judge_script(Runs& runs, JudgeSet judges, const JudgeSettings& settings) {
  CaseReport report;
  report.name = runs.script().name;
  const bool may_share = settings.share_runs && !(judges == JudgeSet::all());
  if (may_share && judges.has(Judge::kProvenance)) runs.share_runs_with_words();
  auto subject = runs.subject();
  const bool may_be_refused = runs.script().expectation.outcome == Outcome::kUnsupported;
  if (!subject.ok()) {
    if (subject.error().kind != ErrorKind::kUnsupported &&
        !(may_be_refused && subject.error().kind == ErrorKind::kBadInput)) {
      return subject.error();
    }
    report.findings.push_back(
        {"R4.unsupported", Outcome::kUnsupported, subject.error().message, {}, {}, {}, {}});
    finish(runs, settings, report);
    return report;
  }
  const Trace& trace = *subject.value();
  if (!trace.error && runs.script().calls() == 0) report.findings.push_back(no_call());
  GRAPHGATE_TRY(const std::vector<Finding> ends, findings_of_end(runs, trace));
  report.findings.insert(report.findings.end(), ends.begin(), ends.end());
  if (is_refused_as_expected(runs.script(), trace)) {
    const Script before = without_refused_call(runs.script(), trace);
    Runs runs_before = runs.on(before);
    if (before.calls() > 0) GRAPHGATE_TRY_VOID(ask_all(runs_before, judges, settings, report));
    GRAPHGATE_TRY_VOID(add_end(runs_before, report));
    finish(runs_before, settings, report);
    return report;
  }
  if (report.findings.empty()) GRAPHGATE_TRY_VOID(ask_all(runs, judges, settings, report));
  GRAPHGATE_TRY_VOID(add_end(runs, report));
  finish(runs, settings, report);
  return report;
}

}  // namespace graphgate::conformance
