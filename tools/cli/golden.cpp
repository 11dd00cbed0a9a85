// graphgate golden: what programs come to, held against golden files; the files made anew.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "tools/cli/option_flags.h"
#include "tools/cli/option_types.h"
#include "tools/cli/verb.h"
#include "tools/executors/optimized_options.h"
#include "tools/golden/golden_run.h"
#include "tools/report/report.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct GoldenVerb {
  std::vector<std::string> folders = {"golden"};
  std::string only;
  int jobs = 1;
  std::string json;               // a path, or "-"
  spec::Configuration planner;    // of check
  std::string reason;             // of update
  bool dry_run = false;           // of update
  CLI::App* check_app = nullptr;  // the subcommands
  CLI::App* update_app = nullptr;
};

constexpr std::size_t kSentencesShown = 20;  // of one file

void add_common_options(CLI::App& app, GoldenVerb& verb) {
  app.add_option("--only", verb.only,
                 "only programs and texts whose path has this part, or is like this pattern with * "
                 "and ?")
      ->type_name(takes::kName);
  app.add_option("--jobs,-j", verb.jobs, "programs run at a time")->check(CLI::Range(1, 1024));
  app.add_option("--json", verb.json, "write the result as JSON to this file (- for stdout)")
      ->type_name(takes::kOutput);
}

void print_item(const GoldenItem& item, bool is_update) {
  if (item.state == GoldenState::kSame) return;
  if (item.error && item.state != GoldenState::kDamaged) {
    std::fprintf(stderr, "graphgate: %s\n", item.error->message.c_str());
    return;
  }
  std::printf("%s: %s\n", item.file.c_str(), std::string(golden_state_name(item.state)).c_str());
  if (item.error) {
    std::fprintf(is_update ? stdout : stderr, "%s%s\n",
                 is_update ? "  " : "graphgate: ", item.error->message.c_str());
  }
  const std::size_t shown = std::min(item.sentences.size(), kSentencesShown);
  for (std::size_t i = 0; i < shown; ++i) std::printf("  %s\n", item.sentences[i].c_str());
  if (item.sentences.size() > shown) {
    std::printf("  and %zu more (--json has all)\n", item.sentences.size() - shown);
  }
}

std::map<std::string, std::size_t> counts_of(const std::vector<GoldenItem>& items) {
  std::map<std::string, std::size_t> counts;
  for (const GoldenItem& item : items) ++counts[std::string(golden_state_name(item.state))];
  return counts;
}

nlohmann::ordered_json json_of(const std::vector<GoldenItem>& items, ExitCode code) {
  nlohmann::ordered_json json;
  json["items"] = nlohmann::ordered_json::array();
  for (const GoldenItem& item : items) {
    nlohmann::ordered_json each = {{"name", item.name},
                                   {"file", item.file},
                                   {"state", golden_state_name(item.state)},
                                   {"changes", item.sentences}};
    if (item.error) each["error"] = item.error->message;
    json["items"].push_back(std::move(each));
  }
  json["counts"] = counts_of(items);
  json["exit_code"] = static_cast<int>(code);
  return json;
}

std::string describe_counts(const std::vector<GoldenItem>& items) {
  std::string text;
  for (const auto& [name, count] : counts_of(items)) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  }
  return text;
}

Result<ExitCode> report(const std::vector<GoldenItem>& items, const GoldenVerb& verb,
                        bool is_update, ExitCode code, const std::string& what_was_done) {
  if (verb.json != "-") {
    for (const GoldenItem& item : items) print_item(item, is_update);
    std::printf("%s%s\n", describe_counts(items).c_str(), what_was_done.c_str());
  }
  if (!verb.json.empty()) {
    GRAPHGATE_TRY_VOID(write_text(print_json(json_of(items, code)), verb.json));
  }
  return code;
}

Result<ExitCode> run_check(const GoldenVerb& verb) {
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table({}));
  std::vector<std::string> remarks;
  GRAPHGATE_TRY(optimized::Options unused, options_of(verb.planner, ops, &remarks));
  GRAPHGATE_TRY_VOID(open_resources(verb.planner, unused, &remarks));
  for (const std::string& remark : remarks) std::fprintf(stderr, "%s\n", remark.c_str());
  std::vector<GoldenItem> items;
  for (const std::string& folder : verb.folders) {
    GoldenOptions options;
    options.folder = folder;
    options.only = verb.only;
    options.flags = verb.planner;
    options.jobs = verb.jobs;
    GRAPHGATE_TRY(std::vector<GoldenItem> found, compare_golden(options));
    items.insert(items.end(), found.begin(), found.end());
  }
  ExitCode code = ExitCode::kGood;
  for (const GoldenItem& item : items) code = worse(code, exit_code_of(item));
  return report(items, verb, /*is_update=*/false, code, "");
}

Result<ExitCode> run_update(const GoldenVerb& verb) {
  if (verb.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    return bad_input("--reason is empty: say why the files change");
  }
  std::vector<GoldenItem> items;
  for (const std::string& folder : verb.folders) {
    GoldenOptions options{folder, verb.only, {}, verb.jobs, /*is_update=*/true, verb.reason};
    GRAPHGATE_TRY(std::vector<GoldenItem> found, compare_golden(options));
    items.insert(items.end(), found.begin(), found.end());
  }
  ExitCode code = ExitCode::kGood;
  for (const GoldenItem& item : items) {
    if (stops_update(item)) code = worse(code, exit_code_of(item));
  }
  const bool is_stopped = code != ExitCode::kGood;
  if (!is_stopped && !verb.dry_run) GRAPHGATE_TRY_VOID(write_golden(items));
  return report(items, verb, /*is_update=*/true, code,
                is_stopped || verb.dry_run ? "; nothing is written" : "");
}

Result<ExitCode> run_golden(const GoldenVerb& verb) {
  return verb.update_app->parsed() ? run_update(verb) : run_check(verb);
}

}  // namespace

Verb add_golden(CLI::App& app) {
  const auto owned = std::make_shared<GoldenVerb>();
  GoldenVerb& verb = *owned;
  CLI::App* golden = app.add_subcommand(
      "golden", "what programs come to, bit by bit and plan by plan, against golden files");
  verb.check_app = golden->add_subcommand("check", "say what differs from the golden files");
  verb.check_app->add_option("folders", verb.folders, "golden folders (default: golden)")
      ->type_name(takes::kFolder);
  add_common_options(*verb.check_app, verb);
  add_planner_flags(*verb.check_app, verb.planner);
  verb.check_app->footer(
      "Examples:\n  graphgate golden check\n"
      "  graphgate golden check --only models/mutations\n"
      "  graphgate golden check --memory pools\n\n"
      "The last one says what a planner's flag changes.\n\n"
      "Exit code: 0 all as recorded, 1 differences, 2 records of another arithmetic, 3 "
      "infrastructure, 4 bad input or a damaged file.");
  verb.update_app = golden->add_subcommand(
      "update", "make golden files anew, if reference, optimized executor and all judges agree");
  verb.update_app->add_option("folders", verb.folders, "golden folders (default: golden)")
      ->type_name(takes::kFolder);
  add_common_options(*verb.update_app, verb);
  verb.update_app->add_option("--reason", verb.reason, "why; kept in the files that change")
      ->type_name(takes::kWords)
      ->required();
  verb.update_app->add_flag("--dry-run", verb.dry_run, "say what would change, and write nothing");
  verb.update_app->footer(
      "Example:\n  graphgate golden update --only models/llama --reason \"norms are fused\"\n\n"
      "Files that would not change keep their bytes, and the reason in them. Records of programs "
      "that are not listed are removed.\n\n"
      "Exit code: 0 written or nothing to do, 1 a judge objects (nothing is written), 3 "
      "infrastructure, 4 bad input.");
  golden->require_subcommand(1);
  return {golden, [owned](const auto& /*words*/) { return run_golden(*owned); }};
}

}  // namespace graphgate::tools
