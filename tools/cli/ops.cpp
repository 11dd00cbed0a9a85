// graphgate ops: the op table, what programs use of it, and recorded single-op calls.
#include <cstdio>
#include <map>
#include <memory>

#include "base/atomic_file.h"
#include "base/formatted.h"
#include "base/join_words.h"
#include "reference/reference.h"
#include "spec/missing_op.h"
#include "tools/bench/bounds_report.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"
#include "tools/executors/op_case_judge.h"
#include "tools/executors/op_coverage.h"
#include "tools/executors/subject.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/report/missing_ops.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct OpsVerb {
  std::string pattern;                 // ops whose name contains it
  std::string cases;                   // judge these recorded calls instead
  std::string executor = "reference";  // whose results are judged
  bool bounds_report = false;          // how tight bounds are, and what they catch
  std::vector<std::string> models;     // for the bounds report: programs with recordings
  std::vector<std::string> coverage;   // programs, or folders, whose ops are counted instead
  std::vector<std::string> custom_ops;
  int failures_shown = 20;  // per op
  std::string json;
  const CLI::App* app = nullptr;
};

// The table: one op a line, the family of its reference body, and its schema.
Result<ExitCode> list_ops(const OpsVerb& verb, const spec::OpTable& ops) {
  Json json = Json::array();
  std::size_t shown = 0;
  std::size_t supported = 0;
  for (const auto& [name, row] : ops.rows()) {
    if (name.find(verb.pattern) == std::string::npos) continue;
    const std::string family(reference::family_of(*row));
    ++shown;
    supported += family.empty() ? 0 : 1;
    if (!verb.json.empty()) {
      json.push_back({{"op", name},
                      {"schema", spec::print_schema(row->schema)},
                      {"tags", row->tags},
                      {"effects", spec::print_effects(row->schema, row->effects)},
                      {"reference", family.empty() ? Json(nullptr) : Json(family)}});
    }
    if (verb.json == "-") continue;
    std::printf("%-18s %s%s%s\n", family.empty() ? "-" : family.c_str(),
                spec::print_schema(row->schema).c_str(),
                row->tags.empty() ? "" : " ; tags=", join_words(row->tags, ",").c_str());
  }
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  if (verb.json != "-") std::printf("%zu ops, %zu with a reference\n", shown, supported);
  if (shown == 0) {
    std::vector<std::string> names;
    for (const auto& [name, row] : ops.rows()) names.push_back(name);
    return bad_input("no op's name contains '" + verb.pattern + "'" +
                     did_you_mean(verb.pattern, names));
  }
  return ExitCode::kGood;
}

Json json_of(const OpCoverage& coverage) {
  Json json;
  json["programs"] = coverage.programs;
  json["ops"] = Json::array();
  for (const auto& [op, use] : coverage.by_op) {
    json["ops"].push_back({{"op", op},
                           {"nodes", use.nodes},
                           {"programs", use.files.size()},
                           {"supported", use.lacks.empty()}});
  }
  json["gaps"] = Json::array();
  for (const auto& [op, use] : coverage.gaps()) {
    json["gaps"].push_back({{"op", op},
                            {"programs", use->files.size()},
                            {"nodes", use->nodes},
                            {"lacks", use->lacks},
                            {"files", use->files}});
  }
  json["not_read"] = Json::array();
  for (const UnreadProgram& one : coverage.unread) {
    json["not_read"].push_back({{"file", one.file}, {"reason", one.error.message}});
  }
  return json;
}

// The ops in the table's order, then the gaps.
void print_coverage(const OpCoverage& coverage) {
  std::size_t missing = 0;
  for (const auto& [op, use] : coverage.by_op) {
    missing += use.family.empty() ? 1 : 0;
    print_line(stdout, formatted("%8lld  %-18s %s", static_cast<long long>(use.nodes),
                                 use.family.empty() ? "-" : use.family.c_str(), op.c_str()));
  }
  const auto gaps = coverage.gaps();
  if (!gaps.empty()) std::printf("\nprograms     nodes  lacks              op\n");
  for (const auto& [op, use] : gaps) {
    print_line(stdout, formatted("%8zu  %8lld  %-18s %s", use->files.size(),
                                 static_cast<long long>(use->nodes),
                                 join_words(use->lacks, ",").c_str(), op.c_str()));
  }
  std::printf("%zu ops in %zu programs, %zu without a reference\n", coverage.by_op.size(),
              coverage.programs, missing);
}

// The ops of programs, what somebody lacks of them, and what could not be read.
Result<ExitCode> show_coverage(const OpsVerb& verb, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const OpCoverage coverage, op_coverage(verb.coverage, ops));
  if (verb.json != "-") print_coverage(coverage);
  GRAPHGATE_TRY_VOID(write_json(json_of(coverage), verb.json));
  const bool is_whole = coverage.gaps().empty() && coverage.programs > 0;
  ExitCode code = is_whole ? ExitCode::kGood : ExitCode::kInconclusive;
  for (const UnreadProgram& one : coverage.unread) {
    print_line(stderr, "graphgate: " + one.error.message);
    code = worse(code, exit_code_of(one.error.kind));
  }
  return code;
}

void print_tally(const std::string& name, const OpTally& tally) {
  std::printf("%-46s %6lld passed %5lld failed %5lld skipped", plain_name(name).c_str(),
              static_cast<long long>(tally.passed), static_cast<long long>(tally.failed),
              static_cast<long long>(tally.skipped));
  const double ratio = median(tally.ratios);
  if (ratio > 0) std::printf("   bound/error %.3g", 1 / ratio);
  std::printf("\n");
}

void add_to(OpTally& sum, const OpTally& tally) {
  sum.passed += tally.passed;
  sum.failed += tally.failed;
  sum.skipped += tally.skipped;
  sum.ratios.insert(sum.ratios.end(), tally.ratios.begin(), tally.ratios.end());
}

Json tally_json(const OpTally& tally) {
  const double ratio = median(tally.ratios);
  return {{"passed", tally.passed},
          {"failed", tally.failed},
          {"skipped", tally.skipped},
          {"skipped_because", tally.reason.empty() ? Json(nullptr) : Json(tally.reason)},
          {"median_bound_over_error", ratio > 0 ? Json(1 / ratio) : Json(nullptr)},
          {"failures", tally.failures}};
}

Result<ExitCode> judge_cases(const OpsVerb& verb, const spec::OpTable& ops) {
  const OpCasesRequest request{verb.cases, verb.pattern,
                               static_cast<std::size_t>(verb.failures_shown), verb.executor};
  GRAPHGATE_TRY(const OpCasesReport report, in_file(judge_op_cases(request, ops), verb.cases));
  std::map<std::string, OpTally> families;
  OpTally total;
  MissingOpCounts missing;
  Json json = {{"ops", Json::object()}, {"families", Json::object()}};
  const bool text = verb.json != "-";
  for (const auto& [op, tally] : report.by_op) {
    add_to(families[tally.family.empty() ? "(no reference)" : tally.family], tally);
    add_to(total, tally);
    if (!spec::missing_ops_in(tally.reason).empty()) {
      missing[op] = static_cast<std::size_t>(tally.skipped);
    }
    json["ops"][op] = tally_json(tally);
    if (!text) continue;
    for (const std::string& failure : tally.failures) print_line(stdout, "FAIL " + failure);
    if (!tally.reason.empty()) print_line(stdout, "SKIPPED " + tally.reason);
    print_tally(op, tally);
  }
  if (text) std::printf("\nby family\n");
  for (const auto& [family, tally] : families) {
    json["families"][family] = tally_json(tally);
    if (text) print_tally(family, tally);
  }
  json["passed"] = total.passed;
  json["failed"] = total.failed;
  json["skipped"] = total.skipped;
  json["missing_ops"] = json_of_missing_ops(missing);
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  if (text) {
    std::printf("\n%s", describe_missing_ops(missing).c_str());
    std::printf("%lld passed, %lld failed, %lld skipped\n", static_cast<long long>(total.passed),
                static_cast<long long>(total.failed), static_cast<long long>(total.skipped));
  }
  if (total.failed > 0) return ExitCode::kFindings;
  return total.passed > 0 && total.skipped == 0 ? ExitCode::kGood : ExitCode::kInconclusive;
}

// Ops below the share are findings where a corruption of 2^-8 is many roundings: in float32 and
// float64. docs/bounds.md lists the others.
Result<ExitCode> show_bounds(const OpsVerb& verb, const spec::OpTable& ops) {
  constexpr double kLeastShare = 0.95;
  if (verb.cases.empty() && verb.models.empty()) {
    return bad_input("--bounds-report: expected --cases, --models or both");
  }
  BoundsRequest request;
  request.cases = verb.cases;
  request.models = verb.models;
  const auto made = report_bounds(request, ops);
  if (!made.ok()) return verb.models.empty() ? in_file(made.error(), verb.cases) : made.error();
  const BoundsReport& report = made.value();
  std::printf("%s", print_bounds_report(report, kLeastShare).c_str());
  if (report.by_op.empty()) return ExitCode::kInconclusive;
  for (const auto& [op, planted] : report.by_op) {
    const bool is_wide = op.ends_with(" f32") || op.ends_with(" f64");
    if (is_wide && planted.share() < kLeastShare) return ExitCode::kFindings;
  }
  return report.missing_ops.empty() ? ExitCode::kGood : ExitCode::kInconclusive;
}

Result<ExitCode> run_ops(const OpsVerb& verb) {
  const FlagMode modes[] = {
      {"with --bounds-report", {"bounds-report", "cases", "models", "custom-ops"}},
      {"with --cases", {"cases", "only", "executor", "failures", "json", "custom-ops"}},
      {"with --coverage", {"coverage", "json", "custom-ops"}},
      {"without --cases, --coverage and --bounds-report", {"only", "json", "custom-ops"}}};
  const std::size_t mode = verb.bounds_report       ? 0
                           : !verb.cases.empty()    ? 1
                           : !verb.coverage.empty() ? 2
                                                    : 3;
  GRAPHGATE_TRY_VOID(refuse_without_effect(*verb.app, modes[mode]));
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.custom_ops));
  if (verb.bounds_report) return show_bounds(verb, ops);
  if (!verb.cases.empty()) return judge_cases(verb, ops);
  if (!verb.coverage.empty()) return show_coverage(verb, ops);
  return list_ops(verb, ops);
}

}  // namespace

Verb add_ops(CLI::App& app) {
  const auto owned = std::make_shared<OpsVerb>();
  OpsVerb& verb = *owned;
  CLI::App* ops = app.add_subcommand("ops", "the op table, its coverage, and recorded op calls");
  verb.app = ops;
  ops->add_option("--only,pattern", verb.pattern, "only ops whose name contains this")
      ->type_name(takes::kName);
  auto* cases = ops->add_option("--cases", verb.cases,
                                "judge the calls recorded in this .jsonl (bytes beside it in a "
                                ".safetensors) instead of listing the table")
                    ->type_name(takes::kFile);
  ops->add_option(
         "--coverage", verb.coverage,
         "count the ops of these programs and cases, or of all below these folders, and list "
         "what somebody lacks, instead of listing the table")
      ->type_name(takes::kFile)
      ->excludes(cases);
  ops->add_option("--executor", verb.executor, "the executor whose results are judged with --cases")
      ->check(CLI::IsMember(built_in_names()))
      ->needs(cases);
  auto* bounds =
      ops->add_flag("--bounds-report", verb.bounds_report,
                    "of --cases and --models: how tight bounds are, and what they catch");
  ops->add_option("--models", verb.models, "programs with recordings, for the bounds report")
      ->type_name(takes::kFile)
      ->needs(bounds);
  ops->add_option("--failures", verb.failures_shown, "failures shown per op")
      ->check(CLI::Range(0, 1'000'000));
  add_custom_ops_flag(*ops, verb.custom_ops);
  add_json_flag(*ops, verb.json, "it");
  ops->footer(
      "Examples:\n  graphgate ops add_\n  graphgate ops --coverage golden/models\n"
      "  graphgate ops --cases golden/ops/op_cases.jsonl\n"
      "  graphgate ops --bounds-report --cases golden/ops/op_cases.jsonl --models "
      "golden/models/*.pt2");
  return {ops, [owned](const auto& /*words*/) { return run_ops(*owned); }};
}

}  // namespace graphgate::tools
