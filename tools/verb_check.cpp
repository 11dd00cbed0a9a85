// graphgate check: programs against the oracle and against PyTorch's recordings.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "conformance/harness/check_program.h"
#include "reference/reference.h"
#include "tools/executors.h"
#include "tools/programs.h"
#include "tools/report.h"
#include "tools/verbs.h"

namespace graphgate::tools {
namespace {

using conformance::ProgramReport;

Result<ProgramReport> check_file(const std::string& path, const CheckVerb& verb,
                                 const optimized::Options& planner, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const spec::Program program, read_program(path, ops));
  GRAPHGATE_TRY(const auto calls, read_expected_calls(path, verb.programs.data));
  std::vector<std::unique_ptr<spec::Executor>> owned;
  std::vector<spec::Executor*> executors;
  for (const std::string& name : verb.executors) {
    GRAPHGATE_TRY(auto executor,
                  make_executor(name, {&ops, verb.planner.allow_zero_and_one, planner}));
    executors.push_back(executor.get());
    owned.push_back(std::move(executor));
  }
  reference::Options options;
  options.ops = &ops;
  options.allow_zero_and_one = verb.planner.allow_zero_and_one;
  options.mode = reference::Mode::kSampled;
  const auto oracle = reference::make_executor(options);
  options.mode = reference::Mode::kWorstCase;
  const auto bounds = reference::make_executor(options);
  conformance::CheckOptions check_options;
  check_options.seed = verb.seed;
  check_options.seeded_calls = verb.calls;
  check_options.false_alarm_rate = verb.false_alarm_rate;
  check_options.judge_nodes = verb.judge_nodes;
  check_options.ops = &ops;
  return conformance::check_program(program, calls, {executors, oracle.get(), bounds.get()},
                                    check_options);
}

// The same, with what a file may make the machine throw as that file's own outcome: the others are
// still checked, and a thread never ends the process.
Result<ProgramReport> check_file_safely(const std::string& path, const CheckVerb& verb,
                                        const optimized::Options& planner,
                                        const spec::OpTable& ops) {
  try {
    auto report = check_file(path, verb, planner, ops);
    if (!report.ok()) return in_file(report.error(), path);
    return report;
  } catch (const std::bad_alloc&) {
    return infrastructure(path + ": out of memory");
  } catch (const std::length_error&) {
    return infrastructure(path + ": out of memory");
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal, path + ": " + error.what()};
  }
}

// Results in the order of the files, whatever thread made them.
std::vector<FileReport> check_files(const CheckVerb& verb, const optimized::Options& planner,
                                    const spec::OpTable& ops) {
  const auto& files = verb.programs.files;
  std::vector<FileReport> reports(files.size());
  std::atomic<std::size_t> next = 0;
  std::mutex printing;
  std::vector<bool> done(files.size(), false);
  std::size_t printed = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      auto report = check_file_safely(files[i], verb, planner, ops);
      const std::lock_guard lock(printing);
      reports[i].file = files[i];
      if (report.ok()) {
        reports[i].report = std::move(report).value();
      } else {
        reports[i].error = report.error();
      }
      done[i] = true;
      for (; printed < files.size() && done[printed]; ++printed) {
        if (verb.json != "-") print_report(reports[printed]);
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t jobs = std::min(static_cast<std::size_t>(verb.jobs), files.size());
  for (std::size_t t = 1; t < jobs; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return reports;
}

}  // namespace

CLI::App* add_check(CLI::App& app, CheckVerb& verb) {
  CLI::App* check = app.add_subcommand(
      "check", "run programs and compare with the oracle and with PyTorch's recordings");
  add_program_options(*check, verb.programs);
  check
      ->add_option("--executor", verb.executors,
                   "an executor to check (repeatable; by default all that are built in)")
      ->check(CLI::IsMember(executor_names()))
      ->allow_extra_args(false);
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
  add_planner_flags(*check, verb.planner);
  check->add_option("--json", verb.json, "write the reports as JSON to this file (- for stdout)");
  check->footer(
      "Examples:\n  graphgate check golden/models/quant_mixed.pt2\n"
      "  graphgate check --profile torch-2.9.0 --overrides vllm golden/models/*.pt2\n\n"
      "Exit code: 0 all passed, 1 findings, 2 inconclusive, 3 infrastructure, 4 bad input.");
  return check;
}

Result<ExitCode> run_check(const CheckVerb& verb) {
  if (!verb.programs.data.empty() && verb.programs.files.size() != 1) {
    return bad_input("--data goes with exactly one program");
  }
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.programs.custom_ops));
  GRAPHGATE_TRY(const PlannerChoice planner, choose_planner(verb.planner, ops));
  for (const std::string& remark : planner.remarks) std::fprintf(stderr, "%s\n", remark.c_str());
  const std::vector<FileReport> reports = check_files(verb, planner.options, ops);
  ExitCode code = reports.empty() ? ExitCode::kInconclusive : ExitCode::kGood;
  for (const FileReport& report : reports) code = worse(code, report.exit_code());
  if (!verb.json.empty()) GRAPHGATE_TRY_VOID(write_json(reports, verb.json));
  if (verb.json != "-") print_totals(reports);
  return code;
}

}  // namespace graphgate::tools
