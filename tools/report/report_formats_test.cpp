#include "tools/report/report_formats.h"

#include <gtest/gtest.h>

namespace graphgate::tools {
namespace {

FileReport file_with(const std::string& file, spec::Outcome outcome) {
  FileReport report;
  report.file = file;
  ExecutorReport executor;
  executor.executor = "optimized";
  executor.judged.outcome = outcome;
  executor.judged.reason = "a < b & \x01";
  conformance::JudgeReport judge;
  judge.judge = conformance::Judge::kVerifier;
  judge.outcome = outcome;
  if (outcome != spec::Outcome::kPass) {
    judge.findings.push_back({"V3.overlap", outcome, "two \"buffers\"", {"add"}, {}, {}, {}});
  }
  executor.judged.judges.push_back(std::move(judge));
  report.executors.push_back(std::move(executor));
  return report;
}

std::vector<FileReport> reports() {
  std::vector<FileReport> all = {file_with("good.pt2", spec::Outcome::kPass),
                                 file_with("a b\xff.case", spec::Outcome::kFail),
                                 file_with("open.case", spec::Outcome::kUndecided)};
  all.push_back({});
  all.back().file = "bad.pt2";
  all.back().error = bad_input("bad.pt2: is no zip archive");
  return all;
}

TEST(JUnitReport, CountsAndEscapes) {
  const std::string xml = print_junit(reports());
  EXPECT_NE(xml.find("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""), std::string::npos)
      << xml;
  EXPECT_NE(xml.find("name=\"a b\xef\xbf\xbd.case\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("message=\"FAIL: a &lt; b &amp; \xef\xbf\xbd\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("V3.overlap (optimized, verifier): two &quot;buffers&quot;"),
            std::string::npos)
      << xml;
}

TEST(SarifReport, HasRulesResultsAndWhatCouldNotBeRead) {
  const auto json = nlohmann::json::parse(print_sarif(reports()), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["version"], "2.1.0");
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 1U);
  ASSERT_EQ(run["results"].size(), 2U);
  const auto& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "V3.overlap");
  EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
            "V3.overlap");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b%FF.case");
  EXPECT_EQ(run["results"][1]["level"], "warning");
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
}

}  // namespace
}  // namespace graphgate::tools
