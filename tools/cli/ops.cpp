// graphgate ops: the op table, what programs use of it, and recorded single-op calls.
#include <cstdio>
#include <map>
#include <memory>

#include "base/atomic_file.h"
#include "reference/reference.h"
#include "tools/bench/bounds_report.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"
#include "tools/executors/op_case_judge.h"
#include "tools/executors/subject.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct OpsVerb {
  std::string pattern;                 // ops whose name contains it
  std::string cases;                   // judge these recorded calls instead
  std::string executor = "reference";  // whose results are judged
  bool bounds_report = false;          // how tight bounds are, and what they catch
  std::vector<std::string> models;     // for the bounds report: programs with recordings
  std::vector<std::string> coverage;   // programs whose ops are counted instead
  std::vector<std::string> custom_ops;
  int failures_shown = 20;  // per op
  std::string json;
};

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

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
                row->tags.empty() ? "" : " ; tags=", join(row->tags).c_str());
  }
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  if (verb.json != "-") std::printf("%zu ops, %zu with a reference\n", shown, supported);
  if (shown == 0) return bad_input("no op's name contains '" + verb.pattern + "'");
  return ExitCode::kGood;
}

void count_ops(const spec::Graph& graph, std::map<std::string, std::int64_t>& counts) {
  for (const spec::Node& node : graph.nodes) ++counts[node.op];
  for (const spec::Graph& subgraph : graph.subgraphs) count_ops(subgraph, counts);
}

// The ops of programs, most frequent first in the table's order, and those without a reference.
Result<ExitCode> show_coverage(const OpsVerb& verb, const spec::OpTable& ops) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& file : verb.coverage) {
    GRAPHGATE_TRY(const spec::Program program, in_file(read_program(file, ops), file));
    count_ops(program.graph, counts);
  }
  std::size_t missing = 0;
  Json json = Json::array();
  for (const auto& [op, n] : counts) {
    const spec::OpRow* row = ops.find(op);
    const std::string family(row ? reference::family_of(*row) : "higher order");
    missing += family.empty() ? 1 : 0;
    json.push_back({{"op", op}, {"nodes", n}, {"supported", !family.empty()}});
    if (verb.json == "-") continue;
    std::printf("%8lld  %-18s %s\n", static_cast<long long>(n),
                family.empty() ? "-" : family.c_str(), op.c_str());
  }
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  if (verb.json != "-") {
    std::printf("%zu ops in %zu programs, %zu without a reference\n", counts.size(),
                verb.coverage.size(), missing);
  }
  return missing == 0 ? ExitCode::kGood : ExitCode::kInconclusive;
}

void print_tally(const std::string& name, const OpTally& tally) {
  std::printf("%-46s %6lld passed %5lld failed %5lld skipped", name.c_str(),
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
          {"median_bound_over_error", ratio > 0 ? Json(1 / ratio) : Json(nullptr)},
          {"failures", tally.failures}};
}

Result<ExitCode> judge_cases(const OpsVerb& verb, const spec::OpTable& ops) {
  const OpCasesRequest request{verb.cases, verb.pattern,
                               static_cast<std::size_t>(verb.failures_shown), verb.executor};
  GRAPHGATE_TRY(const OpCasesReport report, in_file(judge_op_cases(request, ops), verb.cases));
  std::map<std::string, OpTally> families;
  OpTally total;
  Json json = {{"ops", Json::object()}, {"families", Json::object()}};
  const bool text = verb.json != "-";
  for (const auto& [op, tally] : report.by_op) {
    add_to(families[tally.family.empty() ? "(no reference)" : tally.family], tally);
    add_to(total, tally);
    json["ops"][op] = tally_json(tally);
    if (!text) continue;
    for (const std::string& failure : tally.failures) std::printf("FAIL %s\n", failure.c_str());
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
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  if (text) {
    std::printf("\n%lld passed, %lld failed, %lld skipped\n", static_cast<long long>(total.passed),
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
  return ExitCode::kGood;
}

Result<ExitCode> run_ops(const OpsVerb& verb) {
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
  ops->add_option("--only,pattern", verb.pattern, "only ops whose name contains this")
      ->type_name(takes::kName);
  auto* cases = ops->add_option("--cases", verb.cases,
                                "judge the calls recorded in this .jsonl (bytes beside it in a "
                                ".safetensors) instead of listing the table")
                    ->type_name(takes::kFile);
  ops->add_option("--coverage", verb.coverage,
                  "count the ops of these programs instead of listing the table")
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
      "Examples:\n  graphgate ops add_\n  graphgate ops --coverage golden/models/mutations.pt2\n"
      "  graphgate ops --cases golden/ops/op_cases.jsonl\n"
      "  graphgate ops --bounds-report --cases golden/ops/op_cases.jsonl --models "
      "golden/models/*.pt2");
  return {ops, [owned](const auto& /*words*/) { return run_ops(*owned); }};
}

}  // namespace graphgate::tools
