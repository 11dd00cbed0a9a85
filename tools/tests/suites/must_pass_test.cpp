// golden/mustpass/PROFILE.txt: which cases of the catalogue pass under an upstream version, and
// which are known to fail. One line a case, "pass NAME", "fail NAME" or "overridden NAME": one that
// fails, and passes with vLLM's overrides. A case that passes though it is to fail is a failure,
// too: then the version is better than its profile, or the case has lost its point.
//
// GRAPHGATE_WRITE_MUSTPASS=1 writes the files anew.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/result_test.h"
#include "tools/store/programs.h"
#include "tools/tests/suites/judged_case.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

using conformance::Configuration;
using Verdicts = std::map<std::string, std::string>;

// Those that say what is wrong with a run or a plan. Costs and intent are not a version's contract.
conformance::JudgeSet contract() {
  return conformance::parse_judges("exact,bounds,verifier,shadow,state,happens-before").value();
}

fs::path list_of(const std::string& profile) {
  return fs::path(GRAPHGATE_GOLDEN_DIR) / "mustpass" / (profile + ".txt");
}

bool passes(const GoldenCase& golden, const Configuration& changes) {
  const auto report = judge_golden(golden, changes, contract());
  EXPECT_TRUE(report.ok()) << golden.name() << ": " << report.error().message;
  return report.ok() && !run_failed(report.value()) && judges_that_object(report.value()).empty();
}

Verdicts verdicts_of(const std::string& profile) {
  Verdicts verdicts;
  const auto cases = must(golden_cases(fs::path(GRAPHGATE_GOLDEN_DIR) / "cases", "catalogue"));
  for (const GoldenCase& golden : cases) {
    std::string& verdict = verdicts[golden.path.stem().string()];
    verdict = "pass";
    if (passes(golden, {{"profile", profile}})) continue;
    const Configuration overridden = {{"profile", profile}, {"overrides", "vllm"}};
    verdict = profile != "fixed" && passes(golden, overridden) ? "overridden" : "fail";
  }
  return verdicts;
}

Verdicts read_verdicts(const fs::path& path) {
  Verdicts verdicts;
  std::istringstream lines(read_text(path.string()).value());
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t blank = line.find(' ');
    verdicts[line.substr(blank + 1)] = line.substr(0, blank);
  }
  return verdicts;
}

void write_verdicts(const std::string& profile, const Verdicts& verdicts) {
  std::ofstream file(list_of(profile), std::ios::binary);
  file << "# Cases of golden/cases/catalogue under --profile " << profile
       << ", as must_pass_test.cpp says.\n";
  for (const auto& [name, verdict] : verdicts) file << verdict << " " << name << "\n";
}

class MustPass : public testing::TestWithParam<std::string> {};

TEST_P(MustPass, HoldsForEveryCase) {
  const Verdicts found = verdicts_of(GetParam());
  ASSERT_FALSE(found.empty());
  if (std::getenv("GRAPHGATE_WRITE_MUSTPASS") != nullptr) return write_verdicts(GetParam(), found);
  const Verdicts expected = read_verdicts(list_of(GetParam()));
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [name, verdict] : found) {
    const auto known = expected.find(name);
    ASSERT_NE(known, expected.end()) << name << " is not in " << list_of(GetParam());
    EXPECT_EQ(verdict, known->second) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, MustPass,
                         testing::Values("fixed", "torch-2.8.0", "torch-2.9.0", "torch-2.9.1",
                                         "torch-2.10.0", "torch-2.11.0", "torch-2.12.0",
                                         "torch-2.13.0", "torch-2.14.0", "torch-2.15.0"),
                         [](const auto& profile) {
                           std::string name = profile.param;
                           for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
                           return name;
                         });

// The lists say something: no case fails on the fixed executor, and some do on the oldest version.
TEST(MustPassLists, TellVersionsApart) {
  const auto count = [](const std::string& profile, const std::string& verdict) {
    std::size_t found = 0;
    for (const auto& [name, what] : read_verdicts(list_of(profile)))
      found += what == verdict ? 1 : 0;
    return found;
  };
  EXPECT_EQ(count("fixed", "fail") + count("fixed", "overridden"), 0U);
  EXPECT_GT(count("torch-2.8.0", "fail"), count("torch-2.13.0", "fail"));
  EXPECT_GT(count("torch-2.9.0", "overridden"), 0U);
}

}  // namespace
}  // namespace graphgate::tools
