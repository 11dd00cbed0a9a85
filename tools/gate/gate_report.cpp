#include "tools/gate/gate_report.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>

#include "fuzz/reduce/signature.h"
#include "tools/store/json.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kCasesShown = 3;

// "'a', 'b', 'c' and 4 more".
std::string list_cases(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kCasesShown); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
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

std::string describe(const GateRow& row) {
  std::string head = bucket_name(row.bucket);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = head + " " + row.name;
  if (!row.waiver.empty()) text += " (waived: " + row.waiver + ")";
  const auto& places = places_of(row);
  if (!places.empty() && row.bucket != GateBucket::kNotCompared) {
    text += ": in " + count_and_names(places);
  }
  return text + "\n    " + row.message + "\n";
}

std::string describe(const OverrideVerdict& verdict) {
  std::string text = std::string("override ") + verdict.name + ": " + use_name(verdict.use) + "\n";
  text += "    " + verdict.sentence + "\n";
  for (const std::string& signature : verdict.signatures) {
    text += std::string("    ") +
            (verdict.use == OverrideUse::kHarmful ? "with it: " : "without it: ") + signature +
            "\n";
  }
  return text;
}

std::string counts_of(const GateComparison& comparison) {
  std::string text;
  for (int i = 0; i < kGateBucketCount; ++i) {
    const auto bucket = static_cast<GateBucket>(i);
    text +=
        (i == 0 ? "" : ", ") + std::to_string(comparison.count(bucket)) + " " + bucket_name(bucket);
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

std::string describe_uncompared(const GateComparison& comparison) {
  std::string text;
  for (const auto& [reason, cases] : reasons_of(comparison)) {
    text += "NOT COMPARED: " + count_and_names(cases) + "\n    " + reason + "\n";
  }
  return text;
}

std::string describe(const DrawnCases& drawn) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "%llu drawn cases: the next one shows another regression with probability %.2g "
                "(95%% sure: below %.2g)",
                static_cast<unsigned long long>(drawn.cases), drawn.risk.probability,
                drawn.risk.upper_bound.value_or(1));
  return text;
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

// For one cell of a table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

Json json_of_row(const GateRow& row) {
  Json json;
  json["bucket"] = bucket_name(row.bucket);
  json["name"] = row.name;
  if (!row.signature.empty()) json["signature"] = row.signature;
  json["message"] = row.message;
  json["baseline_cases"] = row.baseline_cases;
  json["candidate_cases"] = row.candidate_cases;
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

FileReport report_of(const std::string& candidate, const GateRow& row) {
  FileReport report;
  report.file = row.name;
  report.name = row.name;
  report.is_case = true;
  report.baseline_state = baseline_state(row.bucket);
  if (row.bucket == GateBucket::kNotCompared) {
    report.error = infrastructure(row.name + ": " + row.message);
    return report;
  }
  ExecutorReport executor;
  executor.executor = candidate;
  executor.judged.name = row.name;
  executor.judged.outcome = row.outcome();
  executor.judged.reason = row.message;
  spec::Finding finding;
  if (row.bucket == GateBucket::kUnsupported) finding.outcome = row.outcome();
  const auto signature = fuzz::parse_signature(row.signature);
  finding.rule = signature.ok() ? signature.value().rule : bucket_name(row.bucket);
  finding.message = row.message + "; in " + list_cases(places_of(row));
  executor.judged.findings.push_back(std::move(finding));
  report.executors.push_back(std::move(executor));
  return report;
}

// A report that leaves a question open.
FileReport open_report(const std::string& name, spec::Outcome outcome, const std::string& reason) {
  FileReport report;
  report.file = name;
  report.name = name;
  ExecutorReport executor;
  executor.executor = name;
  executor.judged.name = name;
  executor.judged.outcome = outcome;
  executor.judged.reason = reason;
  report.executors.push_back(std::move(executor));
  return report;
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
    if (comparison.is_open()) code = worse(code, ExitCode::kInconclusive);
  }
  if (report.is_interrupted) code = worse(code, ExitCode::kInconclusive);
  return code;
}

std::string describe(const GateReport& report) {
  std::string text;
  for (const GateStep& step : report.steps) {
    const GateComparison& comparison = step.comparison;
    text += comparison.baseline + " -> " + comparison.candidate + ": " + cases_of(comparison) +
            (report.is_interrupted ? "; " + interruption_of(report) : "") + "\n";
    for (const GateRow& row : comparison.rows) text += describe(row);
    text += describe_uncompared(comparison);
    for (const OverrideVerdict& verdict : step.overrides) text += describe(verdict);
    if (step.drawn) text += describe(*step.drawn) + "\n";
    text += std::string(verdict_of(step, report)) + " " + comparison.candidate + ": " +
            counts_of(comparison) + "\n";
  }
  if (report.steps.size() > 1) {
    const GateStep* bad = report.first_bad();
    text += bad ? "first bad: " + bad->comparison.candidate + "\n" : "first bad: none\n";
  }
  return text;
}

std::string print_markdown(const GateReport& report) {
  std::string text;
  for (const GateStep& step : report.steps) {
    const GateComparison& comparison = step.comparison;
    text += "### " + std::string(verdict_of(step, report)) + ": `" + comparison.baseline + "` → `" +
            comparison.candidate + "`\n\n" + cases_of(comparison) +
            (report.is_interrupted ? "; " + interruption_of(report) : "") + "; " +
            counts_of(comparison) + ".\n\n";
    if (step.drawn) text += describe(*step.drawn) + ".\n\n";
    if (!comparison.rows.empty()) {
      text += "| bucket | finding | cases | what |\n| --- | --- | --- | --- |\n";
    }
    for (const GateRow& row : comparison.rows) {
      text += "| " + std::string(bucket_name(row.bucket)) +
              (row.waiver.empty() ? "" : ", [waived](" + row.waiver + ")") + " | `" + row.name +
              "` | " + std::to_string(places_of(row).size()) + ": " +
              cell(list_cases(places_of(row))) + " | " + cell(row.message) + " |\n";
    }
    for (const auto& [reason, cases] : reasons_of(comparison)) {
      text += "\nNot compared: " + count_and_names(cases) + ": " + reason + "\n";
    }
    if (!step.overrides.empty()) text += "\n| override | verdict | why |\n| --- | --- | --- |\n";
    for (const OverrideVerdict& verdict : step.overrides) {
      text += "| `" + verdict.name + "` | " + use_name(verdict.use) + " | " +
              cell(verdict.sentence) + " |\n";
    }
    text += '\n';
  }
  if (const GateStep* bad = report.first_bad(); bad && report.steps.size() > 1) {
    text += "First bad: `" + bad->comparison.candidate + "`\n";
  }
  return text;
}

Json json_of(const GateReport& report) {
  Json json;
  json["steps"] = Json::array();
  for (const GateStep& step : report.steps) {
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
    one["rows"] = Json::array();
    for (const GateRow& row : comparison.rows) one["rows"].push_back(json_of_row(row));
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
    json["steps"].push_back(std::move(one));
  }
  json["interrupted"] = report.is_interrupted;
  json["not_run"] = report.not_run;
  const GateStep* bad = report.first_bad();
  json["first_bad"] = bad ? Json(bad->comparison.candidate) : Json(nullptr);
  return json;
}

std::vector<FileReport> file_reports(const GateReport& report) {
  std::vector<FileReport> out;
  for (const GateStep& step : report.steps) {
    for (const GateRow& row : step.comparison.rows) {
      out.push_back(report_of(step.comparison.candidate, row));
    }
    for (const auto& [reason, cases] : reasons_of(step.comparison)) {
      out.push_back(
          open_report("not compared: " + list_cases(cases), spec::Outcome::kUnsupported, reason));
    }
    // A gate without rows has passed, and says so; one that was interrupted, or that compared
    // nothing, has not.
    const std::string& candidate = step.comparison.candidate;
    if (report.is_interrupted) {
      out.push_back(open_report(candidate, spec::Outcome::kUndecided, interruption_of(report)));
    } else if (step.comparison.rows.empty() && step.comparison.compared == 0) {
      out.push_back(open_report(candidate, spec::Outcome::kUnsupported, "nothing was compared"));
    } else if (step.comparison.rows.empty()) {
      FileReport passed;
      passed.file = candidate;
      passed.name = candidate;
      out.push_back(std::move(passed));
    }
  }
  return out;
}

}  // namespace graphgate::tools
