// Every case of the catalogue passes, and fails when its row's bug is planted: by the judges that
// it names.
//
// GRAPHGATE_CASES=p1,m4 runs the cases whose names begin so.

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/result_test.h"
#include "conformance/run/executor_source.h"
#include "spec/deviation.h"
#include "tools/store/programs.h"
#include "tools/tests/suites/judged_case.h"

namespace graphgate::tools {
namespace {

using conformance::CaseReport;
using conformance::Configuration;
using conformance::JudgeSet;

bool is_chosen(const GoldenCase& golden) {
  const char* chosen = std::getenv("GRAPHGATE_CASES");
  if (chosen == nullptr) return true;
  const std::string list = std::string(chosen) + ",";
  for (std::size_t begin = 0; begin < list.size(); begin = list.find(',', begin) + 1) {
    const std::string prefix = list.substr(begin, list.find(',', begin) - begin);
    if (golden.path.stem().string().starts_with(prefix)) return true;
  }
  return false;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// "run" is no judge: the executor refuses what it must take, or breaks down, and nobody is asked.
const std::vector<std::string> kRun = {"run"};

JudgeSet named_judges(const CaseHeader& header) {
  if (header.judges == kRun) return JudgeSet::all();
  return must(conformance::parse_judges(list_of(header.judges)));
}

TEST(Catalogue, NamesARowJudgesAndDeviationsThatExist) {
  for (const GoldenCase& golden : catalogue()) {
    const CaseHeader& header = golden.header;
    EXPECT_FALSE(header.row.empty() || header.links.empty() || header.holds.empty())
        << golden.name();
    EXPECT_FALSE(header.judges.empty()) << golden.name();
    EXPECT_FALSE(named_judges(header).empty()) << golden.name();
    for (const std::string& name : header.deviations) {
      const auto deviation = spec::find_deviation(name);
      ASSERT_TRUE(deviation) << golden.name() << ": " << name;
      const bool stands_for_row = spec::row_of(*deviation).catalogue == header.row;
      EXPECT_TRUE(stands_for_row || header.deviations.size() > 1) << golden.name() << ": " << name;
    }
  }
}

TEST(Catalogue, FailsWithTheBugPlanted) {
  std::size_t planted = 0;
  for (const GoldenCase& golden : catalogue()) {
    if (golden.header.deviations.empty() || !is_chosen(golden)) continue;
    const Configuration bug = {{"deviation", list_of(golden.header.deviations)}};
    const auto wrong = judge_golden(golden, bug, named_judges(golden.header));
    ASSERT_TRUE(wrong.ok()) << golden.name() << ": " << wrong.error().message;
    ++planted;
    const bool is_by_run = run_failed(wrong.value());
    EXPECT_EQ(list_of(is_by_run ? kRun : judges_that_object(wrong.value())),
              list_of(golden.header.judges))
        << golden.name() << "\n"
        << print_outcomes(wrong.value());
  }
  EXPECT_GT(planted, 0U);
}

// What plans cost, for rows whose bug is a cost. GRAPHGATE_WRITE_QUALITY=1 writes the file anew.
TEST(Catalogue, StoresWhatPlansCost) {
  std::string text = "# What plans of these cases cost, as catalogue_test.cpp writes it.\n";
  for (const GoldenCase& golden : catalogue()) {
    if (list_of(golden.header.judges).find("quality") == std::string::npos) continue;
    const auto lines = quality_lines(golden);
    ASSERT_TRUE(lines.ok()) << golden.name() << ": " << lines.error().message;
    text += lines.value();
  }
  const std::string path = std::string(GRAPHGATE_GOLDEN_DIR) + "/cases/catalogue/quality.txt";
  if (std::getenv("GRAPHGATE_WRITE_QUALITY") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read_text(path).value(), text);
}

// Each deviation has a case that plants it alone, or a line in docs/coverage.md
// (coverage_test.cpp).
TEST(Catalogue, PassesOnTheRightExecutorUnderTheSameJudges) {
  for (const GoldenCase& golden : catalogue()) {
    if (!is_chosen(golden)) continue;
    const auto right = judge_golden(golden, {}, named_judges(golden.header));
    ASSERT_TRUE(right.ok()) << golden.name() << ": " << right.error().message;
    const spec::Outcome outcome = right.value().outcome;
    EXPECT_TRUE(outcome == spec::Outcome::kPass || outcome == spec::Outcome::kXFail)
        << golden.name() << "\n"
        << print_outcomes(right.value());
  }
}

}  // namespace
}  // namespace graphgate::tools
