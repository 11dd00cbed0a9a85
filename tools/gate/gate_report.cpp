#include "tools/gate/gate_report.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/formatted.h"
#include "base/shell_words.h"
#include "fuzz/reduce/signature.h"
#include "tools/report/escape.h"
#include "tools/report/fuzz_report.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kCasesShown = 3;

// "'a', 'b', 'c' and 4 more".
std::string list_cases(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kCasesShown); ++i) {
    text += (i == 0 ? "'" : ", '") + plain_name(names[i]) + "'";
  }
  if (names.size() > kCasesShown) {
    text += " and " + std::to_string(names.size() - kCasesShown) + " more";
  }
  return text;
}

// "3 cases, 'a', 'b', 'c'"
std::string count_and_names(const std::vector<std::string>& cases) {
  return std::to_string(cases.size()) + (cases.size() == 1 ? " case, " : " cases, ") +
         list_cases(cases);
}

// Where a row shows, in words: on the candidate, or on the baseline where it has gone.
const std::vector<std::string>& places_of(const GateRow& row) {
  return row.candidate_cases.empty() ? row.baseline_cases : row.candidate_cases;
}

// " (2 crash, 1 slower)": the kinds of what fails the gate.
std::string kinds_of(const GateComparison& comparison) {
  std::string text;
  for (int i = 1; i < kGateKindCount; ++i) {
    const auto kind = static_cast<GateKind>(i);
    const std::size_t count = comparison.count_failing(kind);
    if (count == 0) continue;
    text += (text.empty() ? " (" : ", ") + std::to_string(count) + " " + kind_name(kind);
  }
  return text.empty() ? "" : text + ")";
}

// The line that runs a case again; empty where none does.
std::string replay_of(const std::string& name, const GateReport& report, const ReplayWords& words) {
  const auto path = report.paths.find(name);
  if (path == report.paths.end()) return words.drawn.empty() ? "" : words.drawn + shell_word(name);
  const bool is_case = std::filesystem::path(path->second).extension() == ".case";
  const std::string& before = is_case ? words.file : words.program;
  return before.empty() ? "" : before + shell_word(path->second);
}

// The same of the first case that a row shows in: on the candidate, or where it has gone.
std::string replay_of(const GateRow& row, const GateStep& step, const GateReport& report) {
  if (row.kind == GateKind::kNone) return "";
  const bool has_gone = row.candidate_cases.empty();
  const auto& names = places_of(row);
  if (names.empty()) return "";
  return replay_of(names.front(), report, has_gone ? step.on_baseline : step.on_candidate);
}

// The files of the cases that a row shows in.
std::vector<std::string> files_of(const GateRow& row, const GateReport& report) {
  std::vector<std::string> files;
  for (const std::string& name : places_of(row)) {
    const auto path = report.paths.find(name);
    if (path != report.paths.end()) files.push_back(path->second);
  }
  return files;
}

std::string describe(const GateRow& row, const std::string& replay) {
  std::string head = bucket_name(row.bucket);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = head + " " + plain_name(row.name);
  if (!row.waiver.empty()) text += " (waived: " + plain_name(row.waiver) + ")";
  const auto& places = places_of(row);
  if (!places.empty() && row.bucket != GateBucket::kNotCompared) {
    text += ": ";
    if (row.kind != GateKind::kNone) text += kind_name(row.kind) + std::string(" ");
    text += "in " + count_and_names(places);
  }
  text += "\n    " + plain_text(row.message) + "\n";
  return row.counts() && !replay.empty() ? text + "    run again: " + plain_text(replay) + "\n"
                                         : text;
}

std::string describe(const OverrideVerdict& verdict) {
  std::string text =
      std::string("override ") + plain_name(verdict.name) + ": " + use_name(verdict.use) + "\n";
  text += "    " + plain_text(verdict.sentence) + "\n";
  for (const std::string& signature : verdict.signatures) {
    text += std::string("    ") +
            (verdict.use == OverrideUse::kHarmful ? "with it: " : "without it: ") +
            plain_text(signature) + "\n";
  }
  return text;
}

std::string counts_of(const GateComparison& comparison) {
  std::string text;
  for (int i = 0; i < kGateBucketCount; ++i) {
    const auto bucket = static_cast<GateBucket>(i);
    // Between sides of one release nothing can have changed.
    if (bucket == GateBucket::kChanged && comparison.count(bucket) == 0) continue;
    text +=
        (i == 0 ? "" : ", ") + std::to_string(comparison.count(bucket)) + " " + bucket_name(bucket);
    if (bucket == GateBucket::kSpread) text += kinds_of(comparison);
  }
  return text;
}

// "276 cases on both, 188 clean".
std::string cases_of(const GateComparison& comparison) {
  std::string text = std::to_string(comparison.compared) + " cases on both, " +
                     std::to_string(comparison.clean) + " clean";
  const std::size_t unsupported = comparison.unsupported();
  const std::size_t without = comparison.uncompared.size() - unsupported;
  if (unsupported > 0) text += ", " + std::to_string(unsupported) + " unsupported on both";
  if (without > 0) text += ", " + std::to_string(without) + " without a reference";
  return text;
}

// The names of cases that were not compared, by the reason.
std::map<std::string, std::vector<std::string>> reasons_of(const GateComparison& comparison) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const UncomparedCase& one : comparison.uncompared) {
    reasons[one.reason].push_back(one.name);
  }
  return reasons;
}

std::string describe(const DrawnCases& drawn) {
  return std::to_string(drawn.cases) +
         formatted(
             " drawn cases: the next one shows another regression with probability %.2g "
             "(95%% sure: below %.2g)",
             drawn.risk.probability, drawn.risk.upper_bound.value_or(1));
}

bool is_harmful(const OverrideVerdict& verdict) { return verdict.use == OverrideUse::kHarmful; }

bool has_failed(const GateStep& step) {
  return step.comparison.has_failed() ||
         std::any_of(step.overrides.begin(), step.overrides.end(), is_harmful);
}

const char* verdict_of(const GateStep& step, const GateReport& report) {
  if (has_failed(step)) return "FAIL";
  return step.comparison.is_open() || report.is_interrupted ? "INCONCLUSIVE" : "PASS";
}

// "interrupted, 12 cases not run".
std::string interruption_of(const GateReport& report) {
  return "interrupted, " + std::to_string(report.not_run) +
         (report.not_run == 1 ? " case not run" : " cases not run");
}

Json json_of_row(const GateRow& row, const GateStep& step, const GateReport& report) {
  Json json;
  json["bucket"] = bucket_name(row.bucket);
  if (row.kind != GateKind::kNone) json["kind"] = kind_name(row.kind);
  json["name"] = row.name;
  if (!row.signature.empty()) json["signature"] = row.signature;
  json["message"] = row.message;
  json["baseline_cases"] = row.baseline_cases;
  json["candidate_cases"] = row.candidate_cases;
  const std::string replay = replay_of(row, step, report);
  if (!replay.empty()) json["run_again"] = replay;
  if (!row.waiver.empty()) json["waiver"] = row.waiver;
  json["fails_the_gate"] = row.counts();
  return json;
}

// SARIF 2.1.0, 3.27.24.
const char* baseline_state(GateBucket bucket) {
  switch (bucket) {
    case GateBucket::kRegressed:
      return "new";
    case GateBucket::kFixed:
      return "absent";
    case GateBucket::kSpread:
      return "updated";
    default:
      return "unchanged";
  }
}

ReportItem item_of(const GateRow& row, const GateStep& step, const GateReport& report) {
  const std::string replay = replay_of(row, step, report);
  ReportItem item;
  item.place = row.name;
  item.text = describe(row, replay);
  item.kind = kind_name(row.kind);
  item.files = files_of(row, report);
  if (!replay.empty()) item.remarks.push_back("run again: " + plain_text(replay));
  item.ops = ops_at_fault(row.signature);
  item.baseline_state = baseline_state(row.bucket);
  if (row.bucket == GateBucket::kNotCompared) {
    const std::string words = row.name + ": " + row.message;
    item.error = row.is_bad_input ? bad_input(words) : infrastructure(words);
    return item;
  }
  item.outcome = row.outcome();
  item.reason = row.message;
  spec::Finding finding;
  if (row.bucket == GateBucket::kUnsupported) finding.outcome = row.outcome();
  const auto signature = fuzz::parse_signature(row.signature);
  finding.rule = signature.ok() ? signature.value().rule : bucket_name(row.bucket);
  finding.message = plain_text(row.message) + "; in " + list_cases(places_of(row));
  item.findings.push_back({std::move(finding), step.comparison.candidate, ""});
  return item;
}

// A test case for each case, with what fails it.
ReportItem item_of(const CaseResult& one, const std::vector<ReportItem>& rows) {
  ReportItem item;
  item.place = one.name;
  item.outcome = one.outcome;
  item.reason = one.reason;
  item.seconds = one.seconds;
  if (one.outcome == spec::Outcome::kInfra) item.error = infrastructure(one.reason);
  for (const std::size_t row : one.rows) {
    if (item.kind.empty()) item.kind = rows[row].kind;
    item.findings.insert(item.findings.end(), rows[row].findings.begin(), rows[row].findings.end());
    for (const std::string& remark : rows[row].remarks) {
      const bool is_new =
          std::find(item.remarks.begin(), item.remarks.end(), remark) == item.remarks.end();
      if (is_new) item.remarks.push_back(remark);
    }
  }
  return item;
}

ReportTable table_of(const GateStep& step) {
  ReportTable table{{"bucket", "kind", "finding", "cases", "what"}, {}};
  for (const GateRow& row : step.comparison.rows) {
    const auto& places = places_of(row);
    table.rows.push_back({{bucket_name(row.bucket), false, "waived", row.waiver},
                          {kind_name(row.kind)},
                          {row.name, true},
                          {std::to_string(places.size()) + ": " + list_cases(places)},
                          {row.message}});
  }
  return table;
}

// What runs the first case of each row again.
ReportFold replays_of(const GateStep& step, const GateReport& report) {
  ReportFold fold{"Run again", {}};
  for (const GateRow& row : step.comparison.rows) {
    const std::string replay = replay_of(row, step, report);
    if (!replay.empty()) fold.lines.push_back({{row.name, true}, {replay, true}});
  }
  return fold;
}

// Cases in which neither side shows anything: their paths, and what runs them on the candidate.
ReportFold clean_of(const GateStep& step, const GateReport& report) {
  ReportFold fold;
  for (const CaseResult& one : step.comparison.cases) {
    if (!one.is_clean) continue;
    const auto path = report.paths.find(one.name);
    const std::string place = path == report.paths.end() ? one.name : path->second;
    const std::string replay = replay_of(one.name, report, step.on_candidate);
    fold.lines.push_back({{place, true}});
    if (!replay.empty()) fold.lines.back().push_back({replay, true});
  }
  fold.summary = count_text(fold.lines.size(), "clean case", "clean cases");
  return fold;
}

ReportTable table_of(const std::vector<OverrideVerdict>& verdicts) {
  ReportTable table{{"override", "verdict", "why"}, {}};
  for (const OverrideVerdict& verdict : verdicts) {
    table.rows.push_back({{verdict.name, true}, {use_name(verdict.use)}, {verdict.sentence}});
  }
  return table;
}

// A gate without rows has passed, and says so; one that was interrupted, or that compared nothing,
// has not.
std::vector<ReportItem> without_rows(const GateStep& step, const GateReport& report) {
  const GateComparison& comparison = step.comparison;
  ReportItem item;
  item.place = comparison.candidate;
  if (report.is_interrupted) {
    item.outcome = spec::Outcome::kUndecided;
    item.reason = interruption_of(report);
  } else if (!comparison.rows.empty()) {
    return {};
  } else if (comparison.compared == 0) {
    item.outcome = spec::Outcome::kUnsupported;
    item.reason = "nothing was compared";
  }
  return {item};
}

ReportSection section_of(const GateStep& step, const GateReport& report) {
  const GateComparison& comparison = step.comparison;
  ReportSection section;
  section.verdict = verdict_of(step, report);
  section.subjects = {comparison.baseline, comparison.candidate};
  const std::string counts = counts_of(comparison);
  const std::string cases =
      cases_of(comparison) + (report.is_interrupted ? "; " + interruption_of(report) : "");
  const std::string drawn = step.drawn ? describe(*step.drawn) : "";
  section.head = plain_name(comparison.baseline) + " -> " + plain_name(comparison.candidate) +
                 ": " + cases + "\n";
  section.page.emplace_back(cases + "; " + counts + ".");
  if (step.drawn) section.page.emplace_back(drawn + ".");
  section.page.emplace_back(table_of(step));
  for (const GateRow& row : comparison.rows) section.items.push_back(item_of(row, step, report));
  for (const CaseResult& one : comparison.cases) {
    section.cases.push_back(item_of(one, section.items));
  }
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const bool is_of_case = !places_of(comparison.rows[i]).empty();
    if (!is_of_case) section.cases.push_back(section.items[i]);
  }
  for (const auto& [reason, names] : reasons_of(comparison)) {
    const std::string which = count_and_names(names);
    ReportItem item;
    item.place = "not compared: " + list_cases(names);
    item.outcome = spec::Outcome::kUnsupported;
    item.reason = reason;
    item.text = "NOT COMPARED: " + which + "\n    ";
    item.text += plain_text(reason) + "\n";
    section.items.push_back(std::move(item));
    std::string line = "Not compared: " + which + ": ";
    line += reason;
    section.page.emplace_back(std::move(line));
  }
  section.tail += describe_missing_ops(comparison.missing_ops);
  for (ReportItem& item : without_rows(step, report)) {
    if (item.exit_code() != ExitCode::kGood) section.cases.push_back(item);
    section.items.push_back(std::move(item));
  }
  if (!step.overrides.empty()) section.page.emplace_back(table_of(step.overrides));
  for (ReportFold fold : {replays_of(step, report), clean_of(step, report)}) {
    if (!fold.lines.empty()) section.page.emplace_back(std::move(fold));
  }
  for (const OverrideVerdict& verdict : step.overrides) section.tail += describe(verdict);
  if (step.drawn) section.tail += drawn + "\n";
  section.tail += section.verdict + " " + plain_name(comparison.candidate) + ": " + counts + "\n";
  return section;
}

Json json_of_step(const GateStep& step, const GateReport& report) {
  const GateComparison& comparison = step.comparison;
  Json one;
  one["baseline"] = comparison.baseline;
  one["candidate"] = comparison.candidate;
  one["verdict"] = verdict_of(step, report);
  one["compared"] = comparison.compared;
  one["clean"] = comparison.clean;
  one["unsupported_on_both"] = comparison.unsupported();
  one["not_compared"] = Json::array();
  for (const UncomparedCase& each : comparison.uncompared) {
    one["not_compared"].push_back({{"case", each.name}, {"reason", each.reason}});
  }
  one["missing_ops"] = json_of_missing_ops(comparison.missing_ops);
  one["rows"] = Json::array();
  for (const GateRow& row : comparison.rows) one["rows"].push_back(json_of_row(row, step, report));
  one["overrides"] = Json::array();
  for (const OverrideVerdict& verdict : step.overrides) {
    one["overrides"].push_back({{"name", verdict.name},
                                {"use", use_name(verdict.use)},
                                {"sentence", verdict.sentence},
                                {"signatures", verdict.signatures}});
  }
  if (step.drawn) {
    one["drawn"] = {{"cases", step.drawn->cases},
                    {"regressions", step.drawn->risk.seen},
                    {"probability_of_another", step.drawn->risk.probability},
                    {"upper_bound_95", step.drawn->risk.upper_bound.value_or(1)}};
  }
  return one;
}

Json json_of(const GateReport& report) {
  Json json;
  json["steps"] = Json::array();
  for (const GateStep& step : report.steps) json["steps"].push_back(json_of_step(step, report));
  json["interrupted"] = report.is_interrupted;
  json["not_run"] = report.not_run;
  const GateStep* bad = report.first_bad();
  json["first_bad"] = bad ? Json(bad->comparison.candidate) : Json(nullptr);
  return json;
}

// ---- the page: cases beside versions ----

Json cell(const char* word, const char* kind, const std::string& text) {
  Json json{{"word", word}, {"class", kind}};
  if (!text.empty()) json["text"] = plain_text(text);
  return json;
}

// What a page knows of one candidate, by the names of cases.
struct MatrixColumn {
  const GateStep& step;
  std::map<std::string, const CaseResult*> cases;
  std::map<std::string, std::vector<const GateRow*>> shown;     // on the candidate
  std::map<std::string, std::vector<const GateRow*>> baseline;  // on the baseline

  explicit MatrixColumn(const GateStep& of) : step(of) {
    for (const CaseResult& one : of.comparison.cases) cases[one.name] = &one;
    for (const GateRow& row : of.comparison.rows) {
      for (const std::string& name : row.candidate_cases) shown[name].push_back(&row);
      for (const std::string& name : row.baseline_cases) baseline[name].push_back(&row);
    }
  }
};

std::string words_of(const std::vector<const GateRow*>& rows) {
  std::string text;
  for (const GateRow* row : rows) {
    text += (text.empty() ? "" : "; ") + row->name + ": " + row->message;
  }
  return text;
}

// The worst row is first: they are sorted by bucket.
Json candidate_cell(const MatrixColumn& column, const std::string& name) {
  const auto found = column.cases.find(name);
  if (found == column.cases.end()) return cell("", "none", "");
  const auto shown = column.shown.find(name);
  if (shown != column.shown.end()) {
    const GateRow& worst = *shown->second.front();
    const char* kind = worst.counts() ? "bad" : worst.is_open() ? "open" : "known";
    Json json = cell(bucket_name(worst.bucket), kind, words_of(shown->second));
    if (worst.kind != GateKind::kNone) json["kind"] = kind_name(worst.kind);
    return json;
  }
  const CaseResult& one = *found->second;
  if (one.outcome == spec::Outcome::kInfra) return cell("not compared", "bad", one.reason);
  if (one.outcome != spec::Outcome::kPass) return cell("open", "open", one.reason);
  const auto before = column.baseline.find(name);
  if (before != column.baseline.end()) return cell("fixed", "ok", words_of(before->second));
  return cell(one.is_clean ? "clean" : "as before", "ok", one.reason);
}

Json baseline_cell(const MatrixColumn& column, const std::string& name) {
  const auto before = column.baseline.find(name);
  if (before != column.baseline.end()) return cell("finding", "known", words_of(before->second));
  const auto found = column.cases.find(name);
  const bool is_open =
      found == column.cases.end() || found->second->outcome == spec::Outcome::kInfra;
  return is_open ? cell("", "none", "") : cell("clean", "ok", "");
}

}  // namespace

DrawnCases weigh_drawn(const GateComparison& comparison, const std::set<std::string>& drawn) {
  std::uint64_t seen = 0;
  std::uint64_t once = 0;
  for (const GateRow& row : comparison.rows) {
    if (row.bucket != GateBucket::kRegressed && row.bucket != GateBucket::kSpread) continue;
    const auto shows = std::count_if(row.candidate_cases.begin(), row.candidate_cases.end(),
                                     [&](const std::string& name) { return drawn.contains(name); });
    seen += shows > 0 ? 1 : 0;
    once += shows == 1 ? 1 : 0;
  }
  return {drawn.size(), fuzz::residual_risk(drawn.size(), seen, once)};
}

const GateStep* GateReport::first_bad() const {
  const auto found = std::find_if(steps.begin(), steps.end(), has_failed);
  return found == steps.end() ? nullptr : &*found;
}

ExitCode exit_code_of(const GateReport& report) {
  ExitCode code = report.steps.empty() ? ExitCode::kInconclusive : ExitCode::kGood;
  for (const GateStep& step : report.steps) {
    if (has_failed(step)) code = worse(code, ExitCode::kFindings);
    const GateComparison& comparison = step.comparison;
    if (comparison.count(GateBucket::kNotCompared) > 0)
      code = worse(code, ExitCode::kInfrastructure);
    const bool has_bad_input = std::ranges::any_of(comparison.rows, &GateRow::is_bad_input);
    if (has_bad_input) code = worse(code, ExitCode::kBadInput);
    if (comparison.is_open()) code = worse(code, ExitCode::kInconclusive);
  }
  if (report.is_interrupted) code = worse(code, ExitCode::kInconclusive);
  return code;
}

Json gate_matrix(const GateReport& report) {
  std::vector<MatrixColumn> columns;
  std::set<std::string> names;
  Json titles = Json::array();
  for (const GateStep& step : report.steps) {
    if (columns.empty()) titles.push_back(plain_name(step.comparison.baseline));
    titles.push_back(plain_name(step.comparison.candidate));
    columns.emplace_back(step);
    for (const CaseResult& one : step.comparison.cases) names.insert(one.name);
  }
  Json panel{{"panel", "matrix"},
             {"title", "Cases beside versions"},
             {"corner", "case"},
             {"columns", std::move(titles)},
             {"rows", Json::array()}};
  for (const std::string& name : names) {
    Json cells = Json::array();
    cells.push_back(baseline_cell(columns.front(), name));
    std::string replay;
    for (const MatrixColumn& column : columns) {
      cells.push_back(candidate_cell(column, name));
      if (replay.empty()) replay = replay_of(name, report, column.step.on_candidate);
    }
    const auto path = report.paths.find(name);
    panel["rows"].push_back({{"name", plain_name(name)},
                             {"text", path == report.paths.end() ? "" : plain_name(path->second)},
                             {"replay", replay},
                             {"cells", std::move(cells)}});
  }
  return panel;
}

Report report_of(const GateReport& gate) {
  Report report;
  report.verb = "graphgate gate";
  report.code = exit_code_of(gate);
  report.facts = json_of(gate);
  if (gate.is_interrupted) report.interruption = interruption_of(gate);
  for (const GateStep& step : gate.steps) report.sections.push_back(section_of(step, gate));
  if (gate.steps.size() > 1) {
    const GateStep* bad = gate.first_bad();
    if (bad) report.first_bad = bad->comparison.candidate;
    report.totals = "first bad: " + (bad ? plain_name(report.first_bad) : "none") + "\n";
  }
  return report;
}

}  // namespace graphgate::tools
