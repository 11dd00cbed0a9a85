#include "tools/report/report.h"

#include "base/file_io.h"
#include "base/result_test.h"
#include "tools/report/check_report.h"
#include "tools/report/forms.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

FileReport file_with(const std::string& file, spec::Outcome outcome) {
  FileReport report;
  report.file = file;
  ExecutorReport executor;
  executor.executor = "optimized";
  executor.judged.outcome = outcome;
  executor.judged.reason = "a < b & \x01";
  conformance::JudgeReport judge{.judge = conformance::Judge::kVerifier, .outcome = outcome};
  if (outcome != spec::Outcome::kPass) {
    judge.findings.push_back({"V3.overlap", outcome, "two \"buffers\"", {"add"}, {}, {}, {}});
  }
  executor.judged.judges.push_back(std::move(judge));
  report.executors.push_back(std::move(executor));
  return report;
}

Report report() {
  std::vector<FileReport> all = {file_with("good.pt2", spec::Outcome::kPass),
                                 file_with("a b\xff.case", spec::Outcome::kFail),
                                 file_with("open.case", spec::Outcome::kUndecided)};
  all.push_back({});
  all.back().file = "bad.pt2";
  all.back().error = bad_input("bad.pt2: is no zip archive");
  return report_of(all);
}

TEST(JUnitReport, CountsAndEscapes) {
  const std::string xml = print_junit(report());
  EXPECT_TRUE(contains(xml, "tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""));
  EXPECT_TRUE(contains(xml, "name=\"a b\xef\xbf\xbd.case\""));
  EXPECT_TRUE(contains(xml, "message=\"FAIL: a &lt; b &amp; \xef\xbf\xbd\""));
  EXPECT_TRUE(contains(xml, "V3.overlap (optimized, verifier): two &quot;buffers&quot;"));
}

TEST(MarkdownReport, HasWhatHasNotPassed) {
  EXPECT_EQ(print_markdown(report()),
            "### ERROR: `graphgate check`\n\n1 passed, 2 failed, 1 skipped.\n\n"
            "| outcome | what | why |\n| --- | --- | --- |\n"
            "| FAIL | `a b\xff.case` | a < b & \x01 |\n"
            "| UNDECIDED | `open.case` | a < b & \x01 |\n"
            "| ERROR | `bad.pt2` | bad.pt2: is no zip archive |\n\n");
}

TEST(SarifReport, HasRulesResultsAndWhatCouldNotBeRead) {
  const auto json = nlohmann::json::parse(print_sarif(report()), nullptr, false);
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

// docs/adding_a_report_format.md: a form is one file, and the page's places are there.
TEST(ReportForms, AreInTheFilesThatThePageNames) {
  const std::string root = GRAPHGATE_SOURCE_DIR "/";
  for (const ReportForm& form : report_forms()) {
    const std::string name = form.name;
    const auto text = must(read_text(root + "tools/report/" + name + ".cpp"));
    EXPECT_TRUE(contains(text, "print_" + name + "(const Report& report) {")) << name;
    EXPECT_FALSE(form.print(report()).empty()) << name;
  }
  const std::string page = read_text(root + "docs/adding_a_report_format.md").value();
  std::size_t places = 0;
  for (std::size_t at = page.find("`tools/"); at != std::string::npos;
       at = page.find("`tools/", at + 1)) {
    const std::string path = page.substr(at + 1, page.find('`', at + 1) - at - 1);
    if (path.find("NAME") != std::string::npos) continue;
    EXPECT_TRUE(graphgate::is_there(root + path).value()) << path;
    ++places;
  }
  EXPECT_GE(places, 5U);
}

}  // namespace
}  // namespace graphgate::tools
