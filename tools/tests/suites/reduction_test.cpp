// The reducer on planted faults: a fixed sample; reduction_slow_test.cpp takes all.

#include "base/result_test.h"
#include "tools/tests/suites/reduced_mutant.h"

namespace graphgate::tools {
namespace {

std::vector<Mutant> mutants_called(const std::vector<std::string>& names) {
  std::vector<Mutant> out;
  for (Mutant& mutant : all_mutants()) {
    if (std::find(names.begin(), names.end(), mutant.name) != names.end()) {
      out.push_back(std::move(mutant));
    }
  }
  EXPECT_EQ(out.size(), names.size());
  return out;
}

std::vector<GoldenCase> cases_called(const std::vector<std::string>& names) {
  auto all = must(golden_cases(GRAPHGATE_GOLDEN_DIR "/cases", "catalogue"));
  std::vector<GoldenCase> out;
  for (GoldenCase& one : all) {
    const auto is_it = [&](const std::string& name) { return one.name() == "catalogue/" + name; };
    if (std::any_of(names.begin(), names.end(), is_it)) out.push_back(std::move(one));
  }
  EXPECT_EQ(out.size(), names.size());
  return out;
}

TEST(Reduction, LeavesLittleOfBuriedFaults) {
  const auto mutants = mutants_called(
      {"frees_twice", "key_without_alignment", "one_free_list_across_arms", "offset-over-live"});
  const auto cases = cases_called({"b4-freed-twice", "b5-key-without-alignment",
                                   "b11-lifetimes-that-touch", "b13-reuse-across-arms"});
  ReductionSettings settings;
  settings.seconds = 30;  // the test's machine may be slow
  const auto made = must(reduce_mutants(mutants, cases, settings));
  for (const MutantReduction& one : made) {
    EXPECT_TRUE(one.error.empty()) << one.mutant << ": " << one.error;
    EXPECT_FALSE(one.path.empty()) << one.mutant;
    EXPECT_GE(one.before.nodes, 40U) << one.mutant;
    EXPECT_GE(one.before.calls, 6U) << one.mutant;
    EXPECT_LE(one.after.nodes, 6U) << one.text;
    EXPECT_LE(one.after.calls, 1U) << one.text;
  }
  EXPECT_LE(medians_of(made).nodes, 5);
}

}  // namespace
}  // namespace graphgate::tools
