#include "tools/report/fuzz_report.h"

#include <algorithm>
#include <set>

#include "base/formatted.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/own_findings.h"
#include "fuzz/campaign/residual_risk.h"
#include "fuzz/generate/features.h"
#include "tools/report/escape.h"
#include "tools/report/fuzz_view.h"
#include "tools/report/json.h"
#include "tools/report/missing_ops.h"
#include "tools/report/replay_line.h"

namespace graphgate::tools {
namespace {

using fuzz::ResidualRisk;
using fuzz::Tally;
using spec::Outcome;

// One signature, with all that is known of it.
struct FindingRow {
  std::string name;
  const std::string& signature;
  const fuzz::SignatureCount& count;
  fuzz::Triage triage;
  const fuzz::LedgerEntry* entry = nullptr;  // of the corpus's ledger
  std::string issue;

  // By the corpus's ledger, or as a known finding of the subject.
  [[nodiscard]] bool is_known() const { return entry != nullptr || !triage.known.empty(); }
  // "add-alpha, https://...".
  [[nodiscard]] std::string known_as() const {
    return triage.known + (triage.known.empty() || issue.empty() ? "" : ", ") + issue;
  }
  [[nodiscard]] Outcome outcome() const {
    if (is_known()) return Outcome::kXFail;
    const bool is_flaky = triage.status == fuzz::TriageStatus::kFlaky ||
                          triage.status == fuzz::TriageStatus::kOrderDependent;
    return is_flaky ? Outcome::kFlaky : count.outcome;
  }
};

std::vector<FindingRow> rows_of(const FuzzOutcome& outcome, const fuzz::Ledger& ledger) {
  std::vector<FindingRow> rows;
  for (const auto& [signature, count] : outcome.state.tally.signatures) {
    FindingRow row{fuzz::finding_name(signature), signature, count, {}, nullptr, {}};
    const auto triage = outcome.state.triage.find(signature);
    if (triage != outcome.state.triage.end()) row.triage = triage->second;
    row.entry = ledger.find_known(row.name);
    // Its case may have been stored, and be known, by the name that it had before.
    if (!row.entry) row.entry = ledger.find_known(fuzz::stored_name(row.triage.file));
    const auto shipped = outcome.known_issues.find(row.triage.known);
    if (row.entry) {
      row.issue = row.entry->issue;
    } else if (shipped != outcome.known_issues.end()) {
      row.issue = shipped->second;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Of stored cases: drawn ones have ops of the table alone.
MissingOpCounts missing_ops_of(const FuzzOutcome& outcome) {
  MissingOpCounts counts;
  for (const ReplayedCase& one : outcome.replayed) {
    if (one.outcome == Outcome::kUnsupported) count_missing_ops(one.message, counts);
  }
  return counts;
}

// Of a case that the tally names.
std::string case_id(const FuzzOutcome& outcome, std::uint64_t index) {
  const fuzz::CampaignState& state = outcome.state;
  return fuzz::print_case_id({state.key.generator, state.key.seed, state.tally.descent_of(index)});
}

std::string case_id(const FuzzOutcome& outcome, const FindingRow& row) {
  return case_id(outcome, row.count.first.front());
}

// The line that shows it again.
std::string replay_line(const FuzzOutcome& outcome, const FindingRow& row) {
  const std::uint64_t index = row.count.first.front();
  const fuzz::CampaignState& state = outcome.state;
  const std::string file = row.triage.file.empty() ? "" : outcome.corpus + "/" + row.triage.file;
  const fuzz::CaseId id{state.key.generator, state.key.seed, state.tally.descent_of(index)};
  return campaign_replay_line(state, file.empty() ? fuzz::print_case_id(id) : file,
                              /*is_drawn=*/file.empty(), row.signature);
}

std::string describe_outcomes(const Tally& tally) {
  std::string text;
  for (std::size_t i = 0; i < tally.outcomes.size(); ++i) {
    if (tally.outcomes[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(tally.outcomes[i]) + " " +
            std::string(spec::outcome_name(static_cast<Outcome>(i)));
  }
  return text;
}

std::string describe_row(const FuzzOutcome& outcome, const FindingRow& row) {
  std::string text = "  " + std::string(spec::outcome_name(row.outcome())) + " " + row.name +
                     " in " + count_text(row.count.cases, "case", "cases") + ", first " +
                     case_id(outcome, row);
  if (row.triage.nodes > 0) {
    text += ", reduced to " + count_text(row.triage.nodes, "node", "nodes") + " and " +
            count_text(row.triage.calls, "call", "calls");
  }
  if (row.triage.status == fuzz::TriageStatus::kPending) text += ", not looked at again";
  if (!row.triage.remark.empty()) text += "; " + row.triage.remark;
  if (row.is_known()) text += "; known: " + row.known_as();
  return plain_text(text) + "\n    " + plain_text(row.count.message) + "\n    " +
         plain_text(replay_line(outcome, row)) + "\n";
}

// The most frequent first.
std::string describe_inconclusive(const FuzzOutcome& outcome) {
  std::vector<std::pair<std::string, fuzz::InconclusiveCount>> rows(
      outcome.state.tally.inconclusive.begin(), outcome.state.tally.inconclusive.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.cases > b.second.cases; });
  std::string text = rows.empty() ? "" : "inconclusive:\n";
  for (const auto& [cause, count] : rows) {
    text += "  " + plain_text(cause) + " in " + count_text(count.cases, "case", "cases") +
            ", first " + case_id(outcome, count.first) + "\n    " + plain_text(count.message) +
            "\n";
  }
  return text;
}

std::string describe_risk(const char* what, const ResidualRisk& risk) {
  std::string line = std::string(what) + ": " + std::to_string(risk.seen) + ", " +
                     std::to_string(risk.once) + " of them in one case only; the next case " +
                     formatted("shows another with probability %.2g", risk.probability);
  if (risk.upper_bound) line += formatted(" (95%% sure: below %.2g)", *risk.upper_bound);
  return line + "\n";
}

Json json_of_risk(const ResidualRisk& risk) {
  Json json;
  json["seen"] = risk.seen;
  json["once"] = risk.once;
  json["probability_of_another"] = risk.probability;
  if (risk.upper_bound) json["upper_bound_95"] = *risk.upper_bound;
  return json;
}

ReportItem item_of(const std::string& place, const std::string& rule, Outcome outcome,
                   const std::string& message, const std::vector<std::string>& nodes) {
  ReportItem item;
  item.place = place;
  item.outcome = outcome;
  item.reason = message;
  if (outcome == Outcome::kPass) return item;
  spec::Finding finding;
  finding.rule = rule;
  finding.outcome = outcome;
  finding.message = message;
  finding.nodes = nodes;
  item.findings.push_back({std::move(finding), "optimized", ""});
  return item;
}

// "verifier V3.overlap [mm] {}" -> "V3.overlap"
std::string rule_of(const std::string& signature) {
  const auto parsed = fuzz::parse_signature(signature);
  return parsed.ok() ? parsed.value().rule : signature;
}

bool is_good(Outcome outcome) { return outcome == Outcome::kPass || outcome == Outcome::kXFail; }

// A case that the reference refuses is a defect of the generator: 5. A machine that fails is 3.
ExitCode code_of_ours(const FindingRow& row) {
  return row.signature == fuzz::kMachineFailed ? ExitCode::kInfrastructure : ExitCode::kInternal;
}

ExitCode code_of(const FuzzOutcome& outcome, const std::vector<FindingRow>& rows) {
  const Tally& tally = outcome.state.tally;
  ExitCode code = outcome.is_interrupted ? ExitCode::kInconclusive : ExitCode::kGood;
  for (const FindingRow& row : rows) {
    const bool is_ours = row.count.outcome == Outcome::kInfra;
    code = worse(code, is_ours ? code_of_ours(row) : exit_code_of(row.outcome()));
  }
  bool any_judged = tally.count(Outcome::kPass) > 0 || !tally.signatures.empty();
  for (const ReplayedCase& one : outcome.replayed) {
    code = worse(code, exit_code_of(one.outcome));
    any_judged = any_judged || exit_code_of(one.outcome) != ExitCode::kInconclusive;
  }
  return any_judged ? code : worse(code, ExitCode::kInconclusive);
}

std::size_t count_known(const std::vector<FindingRow>& rows) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const FindingRow& row) { return row.is_known(); }));
}

// "2 new, 3 known: add-alpha, noop-shares; 1 mended: erf-digits"; nothing where nothing is known.
std::string describe_known(const FuzzOutcome& outcome, const std::vector<FindingRow>& rows) {
  std::set<std::string> known;
  std::set<std::string> mended;
  for (const FindingRow& row : rows) {
    if (row.is_known()) known.insert(row.triage.known.empty() ? row.name : row.triage.known);
  }
  for (const ReplayedCase& one : outcome.replayed) {
    if (one.is_mended) mended.insert(one.name);
  }
  if (known.empty() && mended.empty() && outcome.known_issues.empty()) return "";
  const auto listed = [](const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? ": " : ", ") + plain_name(name);
    return text;
  };
  const std::size_t known_rows = count_known(rows);
  std::string text = std::to_string(rows.size() - known_rows) + " new, " +
                     std::to_string(known_rows) + " known" + listed(known);
  if (!mended.empty()) text += "; " + std::to_string(mended.size()) + " mended" + listed(mended);
  return text + "\n";
}

// "50 cases in 0.5s: 48 PASS, 2 FAIL", what was found, one line each with the line that replays it,
// how likely the next case is to show more, and "48 passed, 2 failed, 0 skipped".
std::string describe(const FuzzOutcome& outcome, const std::vector<FindingRow>& rows) {
  const Tally& tally = outcome.state.tally;
  std::string text =
      count_text(tally.cases, "case", "cases") + " in " + print_duration(outcome.state.seconds);
  if (tally.cases > 0) text += ": " + describe_outcomes(tally);
  const std::uint64_t uncompared = tally.count(Outcome::kUnsupported);
  if (uncompared > 0) text += "; " + std::to_string(uncompared) + " not compared";
  text += outcome.is_interrupted ? "; interrupted\n" : "\n";
  std::size_t failed = 0;
  std::size_t passed = 0;
  for (const ReplayedCase& one : outcome.replayed) {
    passed += is_good(one.outcome) ? 1 : 0;
    failed += exit_code_of(one.outcome) == ExitCode::kFindings ? 1 : 0;
  }
  if (!outcome.replayed.empty()) {
    text += count_text(outcome.replayed.size(), "stored case", "stored cases") +
            " again: " + std::to_string(passed) + " as expected\n";
    for (const ReplayedCase& one : outcome.replayed) {
      if (is_good(one.outcome) && !one.is_mended) continue;
      text += "  " +
              plain_text(std::string(spec::outcome_name(one.outcome)) + " " + one.file + ": " +
                         one.message) +
              "\n";
    }
  }
  text += describe_missing_ops(missing_ops_of(outcome));
  text += describe_known(outcome, rows);
  if (!rows.empty()) text += count_text(rows.size(), "finding", "findings") + ":\n";
  for (const FindingRow& row : rows) text += describe_row(outcome, row);
  text += describe_inconclusive(outcome);
  const auto target = outcome.state.key.settings.find("target");
  if (target != outcome.state.key.settings.end() && !tally.best.empty()) {
    const fuzz::ScoredCase& best = tally.best.front();
    text += "highest " + target->second + formatted(": %.6g, of ", best.score) +
            case_id(outcome, best.index) + "\n";
  }
  if (tally.cases > 0) {
    text += describe_risk("features", fuzz::feature_risk(tally));
    text += describe_risk("findings", fuzz::signature_risk(tally));
  } else if (outcome.replayed.empty()) {
    text += "nothing was run, which is no pass\n";
  }
  std::uint64_t cases_failed = 0;
  for (const FindingRow& row : rows) cases_failed += row.is_known() ? 0 : row.count.cases;
  std::uint64_t cases_passed = tally.count(Outcome::kPass);
  for (const FindingRow& row : rows) cases_passed += row.is_known() ? row.count.cases : 0;
  const std::uint64_t skipped =
      tally.cases - cases_failed - cases_passed + (outcome.replayed.size() - passed - failed);
  return text + std::to_string(cases_passed + passed) + " passed, " +
         std::to_string(cases_failed + failed) + " failed, " + std::to_string(skipped) +
         " skipped\n";
}

Json json_of(const FuzzOutcome& outcome, const std::vector<FindingRow>& rows) {
  const fuzz::CampaignState& state = outcome.state;
  Json json;
  json["generator"] = state.key.generator;
  json["seed"] = state.key.seed;
  json["settings"] = state.key.settings;
  json["cases"] = state.tally.cases;
  json["seconds"] = state.seconds;
  json["interrupted"] = outcome.is_interrupted;
  json["shards"] = Json::array();
  for (const auto& [shard, done] : state.done) {
    json["shards"].push_back({{"shard", print_shard(shard)}, {"cases", done.size()}});
  }
  for (std::size_t i = 0; i < state.tally.outcomes.size(); ++i) {
    if (state.tally.outcomes[i] == 0) continue;
    json["outcomes"][std::string(spec::outcome_name(static_cast<Outcome>(i)))] =
        state.tally.outcomes[i];
  }
  json["not_compared"] = state.tally.count(Outcome::kUnsupported);
  json["missing_ops"] = json_of_missing_ops(missing_ops_of(outcome));
  json["new"] = rows.size() - count_known(rows);
  json["known"] = count_known(rows);
  json["mended"] = Json::array();
  for (const ReplayedCase& one : outcome.replayed) {
    if (one.is_mended) json["mended"].push_back(one.name);
  }
  json["findings"] = Json::array();
  for (const FindingRow& row : rows) {
    Json one;
    one["name"] = row.name;
    one["signature"] = row.signature;
    one["outcome"] = spec::outcome_name(row.outcome());
    one["cases"] = row.count.cases;
    one["first"] = case_id(outcome, row);
    one["message"] = row.count.message;
    one["nodes"] = row.count.nodes;
    one["status"] = triage_name(row.triage.status);
    one["reduced_nodes"] = row.triage.nodes;
    one["reduced_calls"] = row.triage.calls;
    one["remark"] = row.triage.remark;
    one["file"] = row.triage.file;
    one["replay"] = replay_line(outcome, row);
    if (!row.triage.known.empty()) one["known"] = row.triage.known;
    if (!row.issue.empty()) one["issue"] = row.issue;
    json["findings"].push_back(std::move(one));
  }
  json["inconclusive"] = Json::array();
  for (const auto& [cause, count] : state.tally.inconclusive) {
    json["inconclusive"].push_back({{"cause", cause},
                                    {"cases", count.cases},
                                    {"first", case_id(outcome, count.first)},
                                    {"message", count.message}});
  }
  json["best"] = Json::array();
  for (const fuzz::ScoredCase& best : state.tally.best) {
    json["best"].push_back({{"score", best.score}, {"case", case_id(outcome, best.index)}});
  }
  json["replayed"] = Json::array();
  for (const ReplayedCase& replayed : outcome.replayed) {
    Json one;
    one["file"] = replayed.file;
    one["outcome"] = spec::outcome_name(replayed.outcome);
    if (!replayed.message.empty()) one["message"] = replayed.message;
    if (!replayed.issue.empty()) one["issue"] = replayed.issue;
    json["replayed"].push_back(std::move(one));
  }
  json["features"] = json_of_risk(fuzz::feature_risk(state.tally));
  for (const auto& [feature, count] : state.tally.features) {
    json["features"]["list"].push_back(
        {{"name", fuzz::feature_name(feature)}, {"cases", count.cases}, {"first", count.first}});
  }
  json["signatures"] = json_of_risk(fuzz::signature_risk(state.tally));
  return json;
}

}  // namespace

std::string campaign_replay_line(const fuzz::CampaignState& state, const std::string& what,
                                 bool is_drawn, const std::string& signature) {
  const auto& settings = state.key.settings;
  std::vector<std::string> words = {"graphgate", "replay", what};
  const auto add = [&words](const std::string& name, const std::string& value) {
    for (std::string& word : flag_words(name, value)) words.push_back(std::move(word));
  };
  const auto run = [&state](const char* name) {
    const auto found = state.run.find(name);
    return found == state.run.end() ? std::string() : found->second;
  };
  for (const char* name : {"ops", "exclude", "data-sets"}) {
    const auto found = settings.find(name);
    if (is_drawn && found != settings.end()) add(name, found->second);
  }
  const auto options = settings.find("options");
  if (is_drawn && options != settings.end()) {
    const auto flags = option_words(parse_option_setting(options->second));
    words.insert(words.end(), flags.begin(), flags.end());
  }
  const auto parsed = fuzz::parse_signature(signature);
  if (parsed.ok() && fuzz::ends_process(parsed.value())) {
    if (!run("timeout").empty()) add("timeout", run("timeout"));
    if (!run("memory-limit").empty()) add("memory-limit", run("memory-limit"));
  }
  const auto judges = settings.find("judges");
  if (judges != settings.end() && judges->second != "quick" && judges->second != "all") {
    add("judges", judges->second);
  }
  const auto executor = settings.find("executor");
  if (executor == settings.end()) return replay_line("", words);
  add("executor", executor->second);
  if (!run("executor-timeout").empty()) add("executor-timeout", run("executor-timeout"));
  if (!run("answer-limit").empty()) add("answer-limit", run("answer-limit"));
  return replay_line(run("environment"), words);
}

std::vector<std::string> ops_at_fault(const std::string& signature) {
  const auto parsed = fuzz::parse_signature(signature);
  std::vector<std::string> ops;
  if (!parsed.ok()) return ops;
  std::string_view rest = parsed.value().pattern;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    ops.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return ops;
}

Report report_of(const FuzzOutcome& outcome, const fuzz::Ledger& ledger) {
  const std::vector<FindingRow> rows = rows_of(outcome, ledger);
  Report report = one_section("graphgate fuzz");
  report.code = code_of(outcome, rows);
  report.totals = describe(outcome, rows);
  report.facts = json_of(outcome, rows);
  if (outcome.is_interrupted) report.interruption = "interrupted, not all cases were run";
  std::vector<ReportItem>& items = report.sections.front().items;
  const Tally& tally = outcome.state.tally;
  const bool any = tally.cases > 0;
  if (any || outcome.replayed.empty()) {
    items.push_back(item_of("campaign of seed " + std::to_string(outcome.state.key.seed),
                            "campaign", any ? Outcome::kPass : Outcome::kUndecided,
                            any ? count_text(tally.cases, "case", "cases") : "nothing was run",
                            {}));
  }
  for (const FindingRow& row : rows) {
    const std::string file =
        row.triage.file.empty() ? case_id(outcome, row) : outcome.corpus + "/" + row.triage.file;
    items.push_back(
        item_of(file, rule_of(row.signature), row.outcome(), row.count.message, row.count.nodes));
    items.back().replay = replay_line(outcome, row);
    items.back().ops = ops_at_fault(row.signature);
  }
  for (const ReplayedCase& one : outcome.replayed) {
    items.push_back(item_of(one.is_known ? one.file : outcome.corpus + "/" + one.file, one.name,
                            one.outcome, one.message, one.nodes));
    if (is_good(one.outcome)) continue;
    items.back().replay = campaign_replay_line(outcome.state, items.back().place,
                                               /*is_drawn=*/false, one.name);
  }
  return report;
}

}  // namespace graphgate::tools
