// How small planted faults get, and how fast.
//
//   build/release/tools/bench/reduction [--drawn N] [--seconds S] [--jobs N] [--keep FOLDER]
//   [NAME...]
//
// For each mutant (or those whose names contain a NAME): the first golden case that shows it,
// buried among nodes, calls and options that have nothing to do with it, is reduced; with --drawn,
// the first of N drawn cases. One line each: nodes and calls before and after, options left,
// checks, wall-clock seconds, signature. The last lines are medians.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/tests/suites/reduced_mutant.h"

namespace {

using namespace graphgate;

struct Arguments {
  tools::ReductionSettings settings;
  std::string keep;
  std::vector<std::string> names;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--drawn" && has_value) {
      out.settings.drawn = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seconds" && has_value) {
      out.settings.seconds = std::strtod(argv[++i], nullptr);
    } else if (word == "--jobs" && has_value) {
      out.settings.jobs = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
    } else if (word == "--keep" && has_value) {
      out.keep = argv[++i];
    } else {
      out.names.push_back(word);
    }
  }
  return out;
}

bool is_chosen(const tools::Mutant& mutant, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  for (const std::string& name : names) {
    if (mutant.name.find(name) != std::string::npos) return true;
  }
  return false;
}

void print(const tools::MutantReduction& made) {
  if (!made.error.empty()) {
    std::printf("%-40s %s\n", made.mutant.c_str(), made.error.c_str());
    return;
  }
  if (made.path.empty()) {
    std::printf("%-40s no case shows it\n", made.mutant.c_str());
    return;
  }
  std::printf(
      "%-40s %3zu -> %2zu nodes %3zu -> %zu calls %2zu options %5zu checks %6.2f s%s  %s  %s\n",
      made.mutant.c_str(), made.before.nodes, made.after.nodes, made.before.calls, made.after.calls,
      made.after.options, made.checks, made.seconds, made.is_finished ? "" : " (limit)",
      made.path.c_str(), made.signature.c_str());
}

int run(const Arguments& arguments) {
  const auto cases = tools::passing_golden_cases(GRAPHGATE_GOLDEN_DIR "/cases");
  if (!cases.ok()) {
    std::fprintf(stderr, "%s\n", cases.error().message.c_str());
    return 4;
  }
  std::vector<tools::Mutant> mutants;
  for (tools::Mutant& mutant : tools::all_mutants()) {
    if (is_chosen(mutant, arguments.names)) mutants.push_back(std::move(mutant));
  }
  const auto made = tools::reduce_mutants(mutants, cases.value(), arguments.settings);
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 5;
  }
  for (const tools::MutantReduction& one : made.value()) {
    print(one);
    if (arguments.keep.empty() || one.path.empty()) continue;
    std::filesystem::create_directories(arguments.keep);
    std::ofstream(arguments.keep + "/" + one.mutant + ".case") << one.text;
  }
  const tools::ReductionMedians medians = tools::medians_of(made.value());
  std::printf("\n%zu of %zu mutants are shown by a case\n", medians.mutants, made.value().size());
  std::printf("median: %.1f nodes, %.1f calls, %.2f s; at most %.2f s\n", medians.nodes,
              medians.calls, medians.seconds, medians.seconds_max);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(read_arguments(argc, argv)); }
