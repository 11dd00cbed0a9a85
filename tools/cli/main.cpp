// The command line: declares the verbs, runs the one that was asked for, turns an Error into one
// line and an exit code.
#include <csignal>
#include <cstdio>
#include <system_error>

#include "base/one_line.h"
#include "tools/cli/golden.h"
#include "tools/cli/option_types.h"
#include "tools/cli/verbs.h"

namespace {

using graphgate::Result;
using graphgate::tools::ExitCode;

int finish(const Result<ExitCode>& result) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (result.ok() && written) return static_cast<int>(result.value());
  if (result.ok()) {
    std::fprintf(stderr, "graphgate: standard output cannot be written\n");
    return static_cast<int>(ExitCode::kInfrastructure);
  }
  std::fprintf(stderr, "graphgate: %s\n",
               graphgate::tools::one_line(result.error().message).c_str());
  return static_cast<int>(graphgate::tools::exit_code_of(result.error().kind));
}

// One line, as for all wrong input.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string verb = "graphgate";
  for (const CLI::App* below = app; !below->get_subcommands().empty();) {
    below = below->get_subcommands().front();
    verb += " " + below->get_name();
  }
  return "graphgate: " + std::string(error.what()) + " ('" + verb + " --help' shows the options)\n";
}

int run(int argc, char** argv) {
  CLI::App app{"Tells whether a graph executor still computes what the graph says."};
  app.set_version_flag("--version", GRAPHGATE_VERSION);
  app.require_subcommand(1);
  app.failure_message(usage_error);
  app.footer("`graphgate VERB --help` shows the options of a verb and an example.");
  graphgate::tools::CheckVerb check;
  graphgate::tools::PlanVerb plan;
  graphgate::tools::RunVerb run;
  graphgate::tools::OpsVerb ops;
  graphgate::tools::ConvertVerb convert;
  graphgate::tools::BenchVerb bench;
  graphgate::tools::MutantsVerb mutants;
  graphgate::tools::FuzzVerb fuzz;
  graphgate::tools::ReduceVerb reduce;
  graphgate::tools::ReplayVerb replay;
  graphgate::tools::GateVerb gate;
  graphgate::tools::GoldenVerb golden;
  graphgate::tools::ServeVerb serve;
  graphgate::tools::DoctorVerb doctor;
  check.command_line.assign(argv, argv + argc);
  const CLI::App* check_app = add_check(app, check);
  const CLI::App* plan_app = add_plan(app, plan);
  const CLI::App* run_app = add_run(app, run);
  const CLI::App* ops_app = add_ops(app, ops);
  const CLI::App* convert_app = add_convert(app, convert);
  const CLI::App* bench_app = add_bench(app, bench);
  const CLI::App* mutants_app = add_mutants(app, mutants);
  const CLI::App* fuzz_app = add_fuzz(app, fuzz);
  const CLI::App* reduce_app = add_reduce(app, reduce);
  const CLI::App* replay_app = add_replay(app, replay);
  const CLI::App* gate_app = add_gate(app, gate);
  const CLI::App* golden_app = add_golden(app, golden);
  const CLI::App* serve_app = add_serve(app, serve);
  const CLI::App* doctor_app = add_doctor(app, doctor);
  graphgate::tools::refuse_empty_paths(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const bool is_unknown_verb = argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty();
    if (!is_unknown_verb) {
      app.exit(error);
      return static_cast<int>(ExitCode::kBadInput);
    }
    std::fprintf(stderr, "graphgate: unknown verb '%s' ('graphgate --help' lists them)\n", argv[1]);
    return static_cast<int>(ExitCode::kBadInput);
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    app.exit(error);
    return static_cast<int>(is_help ? ExitCode::kGood : ExitCode::kBadInput);
  }
  if (check_app->parsed()) return finish(run_check(check));
  if (plan_app->parsed()) return finish(run_plan(plan));
  if (run_app->parsed()) return finish(run_run(run));
  if (ops_app->parsed()) return finish(run_ops(ops));
  if (convert_app->parsed()) return finish(run_convert(convert));
  if (bench_app->parsed()) return finish(run_bench(bench));
  if (mutants_app->parsed()) return finish(run_mutants_verb(mutants));
  if (fuzz_app->parsed()) return finish(run_fuzz(fuzz));
  if (reduce_app->parsed()) return finish(run_reduce(reduce));
  if (replay_app->parsed()) return finish(run_replay(replay));
  if (gate_app->parsed()) return finish(run_gate(gate));
  if (golden_app->parsed()) return finish(run_golden(golden));
  if (serve_app->parsed()) return finish(run_serve(serve));
  if (doctor_app->parsed()) return finish(run_doctor(doctor));
  return static_cast<int>(ExitCode::kBadInput);
}

}  // namespace

int main(int argc, char** argv) {
  // A limit on the size of files is an error of the write, and no end of the process.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "graphgate: out of memory\n");
    return static_cast<int>(ExitCode::kInfrastructure);
  } catch (const std::system_error& error) {
    // A last resort: whoever asks the machine for something says itself what was refused.
    std::fprintf(stderr, "graphgate: the machine refused: %s\n", error.what());
    return static_cast<int>(ExitCode::kInfrastructure);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graphgate: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
