// The verbs of the command line: one file each, with its flags, its help and what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tools/report/exit_code.h"

namespace graphgate::tools {

// A subcommand, and what it does where it was asked for.
struct Verb {
  const CLI::App* app;
  // Gets the words of the command line.
  std::function<Result<ExitCode>(const std::vector<std::string>& words)> run;
};

// Declare a verb each in the program, which outlives them. main.cpp has the list.
[[nodiscard]] Verb add_bench(CLI::App& app);
[[nodiscard]] Verb add_check(CLI::App& app);
[[nodiscard]] Verb add_completion(CLI::App& app);
[[nodiscard]] Verb add_convert(CLI::App& app);
[[nodiscard]] Verb add_doctor(CLI::App& app);
[[nodiscard]] Verb add_fuzz(CLI::App& app);
[[nodiscard]] Verb add_gate(CLI::App& app);
[[nodiscard]] Verb add_golden(CLI::App& app);
[[nodiscard]] Verb add_help(CLI::App& app);
[[nodiscard]] Verb add_mutants(CLI::App& app);
[[nodiscard]] Verb add_ops(CLI::App& app);
[[nodiscard]] Verb add_plan(CLI::App& app);
[[nodiscard]] Verb add_reduce(CLI::App& app);
[[nodiscard]] Verb add_replay(CLI::App& app);
[[nodiscard]] Verb add_run(CLI::App& app);
[[nodiscard]] Verb add_serve(CLI::App& app);

}  // namespace graphgate::tools
