#include "tools/report/report.h"

#include "base/file_io.h"
#include "base/one_line.h"
#include "base/result_test.h"
#include "base/sha256.h"
#include "tools/report/check_report.h"
#include "tools/report/escape.h"
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
            "| FAIL | `a b?.case` | a &lt; b &amp; ? |\n"
            "| UNDECIDED | `open.case` | a &lt; b &amp; ? |\n"
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

// A comparison: what differs, and each case.
Report comparison() {
  Report made = one_section("graphgate gate");
  ReportSection& section = made.sections.front();
  ReportItem row;
  row.place = "crash-mm";
  row.outcome = spec::Outcome::kFail;
  row.kind = "crash";
  row.files = {"corpus/a b.case", "corpus/c.case"};
  row.findings.push_back(
      {{"R2.broke-down", spec::Outcome::kFail, "ended", {"mm"}, {}, {}, {}}, "new", ""});
  section.items = {row};
  ReportItem clean;
  clean.place = "d";
  clean.seconds = 1.5;
  ReportItem fails = row;
  fails.place = "a b";
  section.cases = {fails, clean};
  section.page = {ReportFold{"1 <clean> case", {{{"corpus/d`.case", true}, {"run|it", true}}}},
                  ReportFold{"none", {}}};
  return made;
}

TEST(SarifReport, PointsAtTheFilesOfAnItem) {
  const auto json = nlohmann::json::parse(print_sarif(comparison()), nullptr, false);
  const auto& result = json["runs"][0]["results"][0];
  ASSERT_EQ(result["locations"].size(), 2U);
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "corpus/a%20b.case");
  EXPECT_EQ(result["locations"][0]["logicalLocations"][0]["name"], "mm");
  EXPECT_EQ(result["locations"][1]["physicalLocation"]["artifactLocation"]["uri"], "corpus/c.case");
  EXPECT_EQ(result["properties"]["kind"], "crash");
}

TEST(JUnitReport, ListsCasesWhereThereAreSome) {
  const std::string xml = print_junit(comparison());
  EXPECT_TRUE(contains(xml, "tests=\"2\" failures=\"1\""));
  EXPECT_TRUE(contains(xml, "name=\"d\" time=\"1.500\"/>"));
  EXPECT_TRUE(contains(xml, "<failure type=\"crash\" message="));
}

TEST(MarkdownReport, FoldsLongListsUp) {
  EXPECT_EQ(print_markdown(comparison()),
            "### PASS: `graphgate gate`\n\n<details><summary>1 &lt;clean> case</summary>\n\n"
            "- `` corpus/d`.case ``, `run|it`\n\n</details>\n\n\n");
}

// What a file or an executor may be called, and may say.
const std::string kHostile =
    "no\nPASS all.case: \x1b[31m\x07\r\t\xff\xc2\x9b"
    "2J</failure>]]><script>&\"'`|\\"
    "\xef\xbf\xbe\xe2\x80\xa8\xe2\x80\xae{0} [a](javascript:b)";

FileReport hostile_file() {
  FileReport file = file_with(kHostile, spec::Outcome::kFail);
  ExecutorReport& executor = file.executors.front();
  executor.executor = kHostile;
  executor.judged.reason = kHostile;
  executor.judged.localization = {kHostile};
  spec::Finding& finding = executor.judged.judges.front().findings.front();
  finding.rule = kHostile;
  finding.message = kHostile;
  finding.nodes = {kHostile, std::string(100'000, 'n')};
  finding.drawing = kHostile + "\n";
  return file;
}

std::vector<FileReport> hostile_files() {
  FileReport refused;
  refused.file = kHostile;
  refused.error = unsupported(kHostile);
  FileReport unread = refused;
  unread.error = bad_input(kHostile);
  return {hostile_file(), refused, unread};
}

// Nothing but printable characters and ends of lines.
bool is_plain(const std::string& text) { return text == plain_lines(text); }

TEST(Reports, PrintNoLineAndNoControlOfAnothers) {
  const Report made = report_of(hostile_files());
  std::string lines = made.totals;
  for (const ReportItem* item : made.items()) lines += item->text + item->trouble;
  EXPECT_TRUE(is_plain(lines)) << lines;
  EXPECT_EQ(("\n" + lines).find("\nPASS"), std::string::npos) << lines;
  for (const ReportForm& form : report_forms()) {
    const std::string text = form.print(made);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << form.name;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << form.name;
    const bool is_whole = text.find(std::string(1'000, 'n')) != std::string::npos;
    EXPECT_EQ(is_whole, std::string_view(form.name) == "json") << form.name;
  }
}

TEST(MarkdownReport, ShowsNamesAndWordsAsTheyAre) {
  EXPECT_EQ(markdown_code("a`b``c|d"), "``` a`b``c\\|d ```");
  EXPECT_EQ(markdown_code("plain_name*"), "`plain_name*`");
  EXPECT_EQ(markdown_text("<script> & `a` [b](c) | x_y \n"),
            "&lt;script> &amp; \\`a\\` \\[b\\](c) \\| x_y  ");
  EXPECT_EQ(markdown_link("javascript:alert(1)"), "#");
  EXPECT_EQ(markdown_link("https://a.b/c d)e"), "https://a.b/c%20d%29e");
  const std::string text = print_markdown(report_of(hostile_files()));
  EXPECT_TRUE(is_plain(text)) << text;
  EXPECT_EQ(text.find("<script>`"), std::string::npos);
  const std::size_t begin = text.find("\n| FAIL") + 1;
  const std::string row = text.substr(begin, text.find('\n', begin) - begin);
  std::size_t bars = 0;
  for (std::size_t i = 1; i < row.size(); ++i) bars += row[i] == '|' && row[i - 1] != '\\';
  EXPECT_EQ(bars, 3U) << row;
}

TEST(JUnitReport, HasNoCharacterThatXmlLacks) {
  EXPECT_EQ(xml_text("\xef\xbf\xbe\xef\xbf\xbf\x0b\xed\xa0\x80"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  const std::string xml = print_junit(report_of(hostile_files()));
  EXPECT_EQ(xml.find("<script"), std::string::npos);
  EXPECT_EQ(xml.find("\nPASS"), std::string::npos);
  EXPECT_EQ(xml_attribute("a\n\"b\""), "a&#10;&quot;b&quot;");
  EXPECT_EQ(xml.find("\xef\xbf\xbe"), std::string::npos);
  EXPECT_EQ(xml.find("]]>"), std::string::npos);
}

TEST(SarifReport, MakesNoLinkAndNoPlaceholder) {
  EXPECT_EQ(sarif_text("a[0](b) {1} {x}"), "a[0\\](b) {{1} {x}");
  EXPECT_TRUE(nlohmann::json::accept(print_sarif(report_of(hostile_files()))));
}

TEST(JsonReport, SteersNoTerminal) {
  EXPECT_EQ(json_line({{"a", "\x7f\xc2\x9b\xc3\xa9\xff"}}),
            "{\"a\":\"\\u007f\\u009b\xc3\xa9\xef\xbf\xbd\"}");
}

// What stands between the two, behind which the second stands.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HtmlReport, HoldsItsDataAndNoMarkupOfAnothers) {
  const std::string page = print_html(report_of(hostile_files()));
  EXPECT_EQ(count_of(page, "<script"), 2U);  // the data and the script
  EXPECT_EQ(count_of(page, "</script"), 2U);
  EXPECT_EQ(count_of(page, "<style"), 1U);
  EXPECT_EQ(count_of(page, "<body>"), 1U);
  const std::string text = between(page, "id=\"data\">", "</script>");
  const auto data = nlohmann::json::parse(text, nullptr, false);
  ASSERT_FALSE(data.is_discarded());
  EXPECT_EQ(data["verb"], "graphgate check");
  EXPECT_EQ(data["verdict"], "ERROR");
  const auto& items = data["sections"][0]["items"];
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0]["class"], "bad");
  EXPECT_EQ(items[1]["class"], "open");
  const auto reason = items[0]["reason"].get<std::string>();
  EXPECT_TRUE(contains(reason, "</failure>]]><script>&\"'`|\\"));
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(text.find('&'), std::string::npos);
  // For a reader without scripts, what a terminal shows.
  EXPECT_TRUE(
      contains(between(page, "<noscript>", "</noscript>"), "0 passed, 2 failed, 1 skipped"));
}

TEST(HtmlReport, LetsNoOtherScriptRunAndAsksNoNetwork) {
  const std::string page = print_html(report());
  const std::string policy = between(page, "\"Content-Security-Policy\" content=\"", "\"");
  const std::string script = between(page, "</script>\n<script>", "</script>");
  const std::string style = between(page, "<style>", "</style>");
  ASSERT_GT(script.size(), 1'000U);
  ASSERT_GT(style.size(), 1'000U);
  EXPECT_EQ(policy, "default-src 'none'; script-src 'sha256-" + sha256_base64(script) +
                        "'; style-src 'sha256-" + sha256_base64(style) +
                        "'; base-uri 'none'; form-action 'none'");
  EXPECT_EQ(page.find("://"), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_EQ(page.find("url("), std::string::npos);
  // Texts of others become text nodes, and nothing else.
  for (const char* unsafe : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                             "eval(", "new Function", "fetch(", "XMLHttpRequest", "import("}) {
    EXPECT_EQ(script.find(unsafe), std::string::npos) << unsafe;
  }
}

TEST(HtmlReport, KeepsJsonWhole) {
  const std::string json = R"({"a":"</script><!--&amp;\u003c"})";
  const std::string text = html_json(json);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(json));
}

TEST(ReportForms, SayWhatIsLeftOut) {
  Report lacking = report();
  lacking.left_out = "weights and inputs";
  lacking.facts["left_out"] = lacking.left_out;  // members of JSON are the verbs'
  for (const ReportForm& form : report_forms()) {
    EXPECT_FALSE(contains(form.print(report()), "weights and inputs")) << form.name;
    EXPECT_TRUE(contains(form.print(lacking), "weights and inputs")) << form.name;
  }
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
