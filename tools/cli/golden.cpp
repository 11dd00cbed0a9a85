// graphgate golden: what programs come to, held against golden files; the files made anew.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "base/stop_signals.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"
#include "tools/executors/optimized_options.h"
#include "tools/golden/golden_run.h"
#include "tools/report/replay_line.h"
#include "tools/store/bundled_data.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct GoldenVerb {
  std::vector<std::string> folders;  // empty: the usual one
  std::string only;
  int jobs = 1;
  ReportPaths reports;
  spec::Configuration planner;    // of check
  std::string reason;             // of update
  bool dry_run = false;           // of update
  CLI::App* check_app = nullptr;  // the subcommands
  CLI::App* update_app = nullptr;
};

void add_common_options(CLI::App& app, GoldenVerb& verb) {
  app.add_option("--only", verb.only,
                 "only programs and texts whose path has this part, or is like this pattern with * "
                 "and ?")
      ->type_name(takes::kName);
  app.add_option("--jobs,-j", verb.jobs, "programs run at a time")->check(CLI::Range(1, 1024));
  add_report_options(app, verb.reports, "the result");
}

Result<ExitCode> write(const Report& report, const ReportPaths& paths) {
  if (to_stdout(paths) == 0) print_lines(report);
  GRAPHGATE_TRY_VOID(write_report(report, paths));
  return report.code;
}

Result<ExitCode> run_check(const GoldenVerb& verb) {
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table({}));
  GRAPHGATE_TRY_VOID(open_options(verb.planner, ops));
  const StopSignals stop;
  std::vector<std::string> folders = verb.folders;
  if (folders.empty()) {
    GRAPHGATE_TRY(folders.emplace_back(), usual_corpus("golden", "name a folder"));
  }
  std::vector<GoldenItem> items;
  for (const std::string& folder : folders) {
    GoldenOptions options;
    options.should_stop = [&stop] { return stop.came() != 0; };
    options.folder = folder;
    options.only = verb.only;
    options.flags = verb.planner;
    options.jobs = verb.jobs;
    GRAPHGATE_TRY(std::vector<GoldenItem> found, compare_golden(options));
    for (GoldenItem& item : found) {
      std::vector<std::string> words = {"graphgate", "golden", "check",
                                        folder,      "--only", item.name};
      const std::vector<std::string> flags = option_words(verb.planner);
      words.insert(words.end(), flags.begin(), flags.end());
      item.replay = replay_line("", words);
    }
    items.insert(items.end(), found.begin(), found.end());
  }
  return write(report_of(items, /*is_update=*/false), verb.reports);
}

Result<ExitCode> run_update(const GoldenVerb& verb) {
  if (verb.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    return bad_input("--reason is empty: say why the files change");
  }
  const StopSignals stop;
  // What is installed is nobody's to change: the usual folder is one of the current folder alone.
  const std::vector<std::string> folders =
      verb.folders.empty() ? std::vector<std::string>{"golden"} : verb.folders;
  std::vector<GoldenItem> items;
  for (const std::string& folder : folders) {
    GoldenOptions options{folder, verb.only, {}, verb.jobs, /*is_update=*/true, verb.reason};
    options.should_stop = [&stop] { return stop.came() != 0; };
    GRAPHGATE_TRY(std::vector<GoldenItem> found, compare_golden(options));
    items.insert(items.end(), found.begin(), found.end());
  }
  Report report = report_of(items, /*is_update=*/true);
  if (report.code != ExitCode::kGood || verb.dry_run) {
    report.totals.insert(report.totals.size() - 1, "; nothing is written");
  } else {
    GRAPHGATE_TRY_VOID(write_golden(items));
  }
  return write(report, verb.reports);
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
  verb.check_app
      ->add_option("folders", verb.folders,
                   "golden folders (default: golden here, else the one that comes with "
                   "the program)")
      ->type_name(takes::kFolder);
  add_common_options(*verb.check_app, verb);
  add_planner_flags(*verb.check_app, verb.planner);
  verb.check_app->footer(
      "Examples:\n  graphgate golden check\n"
      "  graphgate golden check --only models/mutations\n"
      "  graphgate golden check --memory pools\n\n"
      "The last one says what a planner's flag changes.\n\n"
      "Exit code: 0 all as recorded, 1 differences, 2 records of another arithmetic, or "
      "interrupted, 3 infrastructure, 4 bad input or a damaged file.");
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
      "Exit code: 0 written or nothing to do, 1 a judge objects, 2 interrupted (nothing is "
      "written in both cases), 3 infrastructure, 4 bad input.");
  golden->require_subcommand(1);
  return {golden, [owned](const auto& /*words*/) { return run_golden(*owned); }};
}

}  // namespace graphgate::tools
