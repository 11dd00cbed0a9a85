// graphgate check: programs and cases through the judges.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tools/cli/check_files.h"
#include "tools/cli/option_flags.h"
#include "tools/cli/option_types.h"
#include "tools/cli/report_options.h"
#include "tools/cli/verb.h"
#include "tools/store/bundle.h"

namespace graphgate::tools {
namespace {

void add_output_options(CLI::App& check, CheckVerb& verb) {
  add_report_options(check, verb.reports, "the reports");
  check
      .add_option("--bundle", verb.bundle,
                  "pack reports, plans, versions and a statement into this .zip, or folder")
      ->type_name(takes::kOutput);
  check
      .add_option("--record", verb.record,
                  "keep what the executor showed in this folder, to be judged again")
      ->type_name(takes::kOutputFolder);
  check
      .add_option("--judge-recorded", verb.judge_recorded,
                  "judge the runs kept in this folder, without running the executor")
      ->type_name(takes::kFolder);
}

Result<void> check_combination(const CheckVerb& verb) {
  const bool has_files = !verb.programs.files.empty();
  if (verb.judge_recorded.empty() != has_files) {
    return bad_input(has_files ? "--judge-recorded goes without files"
                               : "files is required: programs or cases to check");
  }
  if (!verb.judge_recorded.empty() && !verb.record.empty()) {
    return bad_input("--record and --judge-recorded contradict each other");
  }
  if (!verb.programs.data.empty() && verb.programs.files.size() != 1) {
    return bad_input("--data goes with exactly one program");
  }
  return check_report_paths(verb.reports);
}

Result<ExitCode> run_check(const CheckVerb& verb, const std::vector<std::string>& words) {
  GRAPHGATE_TRY_VOID(check_combination(verb));
  GRAPHGATE_TRY(const std::vector<FileReport> reports, check_files(verb));
  const Report report = report_of(reports);
  GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
  if (!verb.bundle.empty()) {
    const BundleRequest request = {words, verb.judges, verb.false_alarm_rate};
    GRAPHGATE_TRY_VOID(write_bundle(verb.bundle, request, reports, report.code));
  }
  if (to_stdout(verb.reports) == 0) std::printf("%s", report.totals.c_str());
  return report.code;
}

}  // namespace

Verb add_check(CLI::App& app) {
  const auto owned = std::make_shared<CheckVerb>();
  CheckVerb& verb = *owned;
  CLI::App* check = app.add_subcommand(
      "check", "judge programs and cases: against the oracle, recordings, and themselves");
  add_program_options(*check, verb.programs);
  check->get_option("files")->required(false)->description(
      "torch.export archives (.pt2), graph text, or cases");
  check
      ->add_option(
          "--executor", verb.executors,
          "an executor to check: reference, optimized, or a command that speaks the protocol of "
          "docs/executors.md (repeatable; default: both for programs, optimized for cases and with "
          "--judges)")
      ->type_name(takes::kCommand)
      ->allow_extra_args(false);
  check
      ->add_option("--executor-timeout", verb.executor_seconds,
                   "seconds for each answer of such a command")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  check->add_option("--seed", verb.seed, "seed of the inputs where there is no recording");
  check->add_option("--calls", verb.calls, "how many calls where there is no recording")
      ->check(CLI::Range(1, 1'000'000));
  check->add_option("--jobs,-j", verb.jobs, "programs checked at a time")
      ->check(CLI::Range(1, 1024));
  check
      ->add_option("--false-alarm-rate", verb.false_alarm_rate,
                   "probability that one right call is called SUSPECT")
      ->check([](const std::string& text) {
        const double rate = std::strtod(text.c_str(), nullptr);
        const bool good = rate >= 1e-300 && rate <= 1e-8;
        return good ? std::string() : "expected a number from 1e-300 to 1e-8, found " + text;
      });
  check->add_flag("--judge-nodes", verb.judge_nodes,
                  "also hold every node to its own worst-case bound, on the bytes that it read");
  check
      ->add_option("--judges", verb.judges,
                   "all, or names with commas (docs/judges.md; default: all for cases, bounds and "
                   "state for programs)")
      ->type_name(takes::kNames);
  check->add_flag("--every-configuration", verb.every_configuration,
                  "compare every configuration, not only the first few (judge configurations)");
  check
      ->add_option("--quality-baseline", verb.quality_baseline,
                   "fail plans that cost more than this file says (judge quality; lines of "
                   "'graphgate plan --quality')")
      ->type_name(takes::kFile);
  add_planner_flags(*check, verb.planner);
  add_output_options(*check, verb);
  check->footer(
      "Examples:\n  graphgate check golden/models/quant_mixed.pt2\n"
      "  graphgate check --profile torch-2.9.0 --overrides vllm golden/models/*.pt2\n"
      "  graphgate check --judges all golden/cases/*.case\n\n"
      "Exit code: 0 all passed, 1 findings, 2 inconclusive, 3 infrastructure, 4 bad input.");
  return {check, [owned](const auto& words) { return run_check(*owned, words); }};
}

}  // namespace graphgate::tools
