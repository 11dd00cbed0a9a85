// graphgate gate as it is watched, cut short, killed and resumed.
#include <sstream>

#include "base/result_test.h"
#include "tools/report/replay_line.h"
#include "tools/tests/cli/cli_gate_test.h"

namespace graphgate::tools {
namespace {

class CliGateWatch : public GateCorpus {
 protected:
  [[nodiscard]] std::string served(const std::string& profile = "fixed") const {
    return path("graphgate") + " serve optimized --profile " + profile;
  }
  // One that hangs in the second case, and says so by a file.
  [[nodiscard]] std::string hangs() const {
    return "(sed -u /aten.relu/Q; touch " + path("hangs") + "; sleep 1000) | " + served();
  }
  [[nodiscard]] std::string words(const std::string& candidate, const std::string& flags) const {
    return "gate --corpus " + path("corpus") + " --baseline 'cmd:" + served() + "' --candidate '" +
           candidate + "' --judges bounds,verifier " + flags;
  }
  [[nodiscard]] nlohmann::json json(const char* name) const {
    return nlohmann::json::parse(read_file(folder_ / name), nullptr, false);
  }
  // Every line is an object.
  static std::vector<nlohmann::json> events(const std::string& text) {
    std::vector<nlohmann::json> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(nlohmann::json::parse(line, nullptr, false));
      EXPECT_FALSE(all.back().is_discarded()) << line;
    }
    return all;
  }
  // Sides that start are told of before it.
  static nlohmann::json begin_of(const std::string& text) {
    for (const nlohmann::json& event : events(text)) {
      if (event["event"] == "begin") return event;
    }
    return {};
  }
};

TEST_F(CliGateWatch, TellsOfEachCaseAsSoonAsItIsDone) {
  const CliRun outcome = run(words("cmd:" + served("torch-2.9.0"), ""));
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  auto all = events(outcome.err);
  ASSERT_GE(all.size(), 5U) << outcome.err;
  EXPECT_EQ(all.front()["event"], "starting");  // before the command can answer
  while (all.front()["event"] == "starting") all.erase(all.begin());
  EXPECT_EQ(all.front()["event"], "begin");
  EXPECT_EQ(all.front()["planned_cases"], 2);
  EXPECT_EQ(all.back()["event"], "end");
  EXPECT_EQ(all.back()["cases"], 2);
  EXPECT_EQ(all.back()["differing"], 1);
  std::map<std::string, nlohmann::json> cases;
  for (const auto& event : all) {
    if (event["event"] == "case") cases[event["case"]] = event;
  }
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases["conversion"]["differs"], false);
  EXPECT_EQ(cases["p1-tail-allocation"]["sides"][0]["outcome"], "PASS");
  EXPECT_EQ(cases["p1-tail-allocation"]["sides"][1]["outcome"], "FAIL");
}

TEST_F(CliGateWatch, RunsAPartOfTheCorpus) {
  const CliRun only = run(words("torch-2.9.0", "--only conv --json " + path("only.json")));
  EXPECT_EQ(only.code, 0) << only.out << only.err;
  EXPECT_EQ(json("only.json")["steps"][0]["compared"], 1);
  const CliRun limit = run(words("torch-2.9.0", "--limit 1 --json " + path("limit.json")));
  EXPECT_EQ(limit.code, 0) << limit.out << limit.err;
  EXPECT_EQ(json("limit.json")["steps"][0]["compared"], 1);
  const CliRun none = run(words("torch-2.9.0", "--only matmul"));
  EXPECT_EQ(none.code, 4) << none.out;
  EXPECT_EQ(none.err, "graphgate: --only 'matmul': no case of the corpus is called so\n");
  // A stored side has more, and a waiver is of a case that was left out.
  run(words("torch-2.9.0", "--save " + path("old.json")));
  std::ofstream(folder_ / "waivers")
      << "verifier-V2.missing-output-add-0123456789ab https://example.org/12 2999-01-31\n";
  const CliRun stored =
      run("gate --corpus " + path("corpus") + " --baseline " + path("old.json") +
          " --candidate fixed --judges bounds,verifier --only conv --waivers " + path("waivers"));
  EXPECT_EQ(stored.code, 0) << stored.out << stored.err;
}

TEST_F(CliGateWatch, MarksEachFormIncompleteWhereItIsStopped) {
  const CliRun outcome = run_until(
      folder_ / "hangs",
      words("cmd:" + hangs(), "--json " + path("g.json") + " --junit " + path("g.xml") +
                                  " --sarif " + path("g.sarif") + " --markdown " + path("g.md")),
      SIGINT);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  const std::string lacks = "interrupted, 1 case not run";
  EXPECT_TRUE(contains(outcome.out, "1 cases on both, 1 clean; " + lacks));
  EXPECT_EQ(json("g.json")["interrupted"], true);
  EXPECT_EQ(json("g.json")["not_run"], 1);
  EXPECT_EQ(json("g.json")["steps"][0]["compared"], 1);
  const auto invocation = json("g.sarif")["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["toolExecutionNotifications"][0]["message"]["text"], lacks);
  EXPECT_TRUE(contains(read_file(folder_ / "g.md"), "Incomplete: " + lacks));
  const std::string xml = read_file(folder_ / "g.xml");
  EXPECT_TRUE(contains(xml, "name=\"conversion\""));
  EXPECT_TRUE(contains(xml, lacks));
  EXPECT_EQ(events(outcome.err).back()["interrupted"], true);
}

// The report, without what no two runs share.
std::string report_of(const CliRun& outcome, const nlohmann::json& json) {
  return outcome.out + json.dump(1);
}

TEST_F(CliGateWatch, EndsWithTheSameReportWhereItWasKilledAndResumed) {
  const std::string journal = " --resume " + path("gate.journal");
  // A side that hangs once, in the case that differs.
  const std::string stalls = "cmd:if [ -e " + path("hangs") + " ]; then exec " +
                             served("torch-2.9.0") + "; else " + hangs() + "; fi";
  std::ofstream(folder_ / "hangs") << "";
  const CliRun whole = run(words(stalls, "--json " + path("whole.json")));
  EXPECT_EQ(whole.code, 1) << whole.out << whole.err;
  fs::remove(folder_ / "hangs");
  run_until(folder_ / "hangs", words(stalls, "--json " + path("killed.json") + journal), SIGKILL);
  EXPECT_FALSE(fs::exists(folder_ / "killed.json"));
  EXPECT_EQ(line_count(read_file(folder_ / "gate.journal")), 2U) << "a head, and the first case";
  const CliRun resumed = run(words(stalls, "--json " + path("resumed.json") + journal));
  EXPECT_EQ(resumed.code, whole.code) << resumed.out << resumed.err;
  EXPECT_EQ(report_of(resumed, json("resumed.json")), report_of(whole, json("whole.json")));
  EXPECT_EQ(begin_of(resumed.err)["resumed_cases"], 1);
  // Behind the end there is nothing left to run.
  const CliRun again = run(words(stalls, "--json " + path("again.json") + journal));
  EXPECT_EQ(report_of(again, json("again.json")), report_of(whole, json("whole.json")));
  EXPECT_EQ(begin_of(again.err)["resumed_cases"], 2);
}

TEST_F(CliGateWatch, ResumesNoOtherRun) {
  const std::string journal = " --resume " + path("gate.journal");
  EXPECT_EQ(run(words("torch-2.9.0", journal)).code, 1);
  const std::string before = read_file(folder_ / "gate.journal");
  const auto refused = [&](const std::string& candidate, const std::string& flags,
                           const std::string& what) {
    const CliRun outcome = run(words(candidate, journal + flags));
    EXPECT_EQ(outcome.code, 4) << outcome.out << outcome.err;
    // The greeting of a side is part of what a journal is of: sides start before.
    const std::string said =
        outcome.err.substr(std::min(outcome.err.find("graphgate:"), outcome.err.size()));
    EXPECT_EQ(line_count(said), 1U) << outcome.err;
    EXPECT_TRUE(contains(said, what)) << outcome.err;
    EXPECT_EQ(read_file(folder_ / "gate.journal"), before);
  };
  refused("torch-2.9.1", "", "its candidate 1 was 'torch-2.9.0', and is 'torch-2.9.1'");
  refused("torch-2.9.0", " --reruns 5", "its reruns was '2', and is '5'");
  refused("torch-2.9.0", " --time 1s", "does not go with --time");
  // How much of it runs, and how fast, makes no other run of it.
  EXPECT_EQ(run(words("torch-2.9.0", journal + " -j 2 --only conv")).code, 0);
  std::ofstream(folder_ / "corpus/conversion.case", std::ios::app) << "# another\n";
  refused("torch-2.9.0", "", "the files of its corpus were others");
}

TEST_F(CliGateWatch, PointsAtFilesAndListsEveryCase) {
  ::setenv("PYTHONPATH", "a b", 1);  // a command's, which the lines have to say
  const std::string environment = replay_environment() + " ";
  EXPECT_TRUE(contains(environment, "PYTHONPATH='a b' "));
  const CliRun outcome = run(words(
      "new=cmd:" + served("torch-2.9.0"),
      "--sarif " + path("g.sarif") + " --junit " + path("g.xml") + " --markdown " + path("g.md")));
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const std::string wrong = path("corpus") + "/p1-tail-allocation.case";
  const nlohmann::json result = json("g.sarif")["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], wrong);
  EXPECT_EQ(result["properties"]["kind"], "wrong values");
  const std::string xml = read_file(folder_ / "g.xml");
  EXPECT_TRUE(contains(xml, "tests=\"2\" failures=\"1\""));
  EXPECT_TRUE(contains(xml, "<testcase classname=\"graphgate.gate\" name=\"conversion\" time=\""));
  EXPECT_EQ(xml.find("name=\"conversion\" time=\"0.000\""), std::string::npos) << xml;
  EXPECT_TRUE(contains(xml, "<failure type=\"wrong values\""));
  const std::string page = read_file(folder_ / "g.md");
  EXPECT_TRUE(contains(page, "<details><summary>1 clean case</summary>"));
  EXPECT_TRUE(contains(
      page, "- `" + path("corpus") + "/conversion.case`, `" + environment + "graphgate check"));
  // What is printed runs the case again, and shows it.
  const std::string before = "run again: " + environment + "graphgate ";
  ASSERT_TRUE(contains(outcome.out, before)) << outcome.out;
  const std::size_t begin = outcome.out.find(before) + before.size();
  const std::string line = outcome.out.substr(begin, outcome.out.find('\n', begin) - begin);
  const CliRun again = run(line);
  EXPECT_EQ(again.code, 1) << line << "\n" << again.out << again.err;
  EXPECT_TRUE(contains(again.out, "FAIL " + wrong));
  ::unsetenv("PYTHONPATH");
}

}  // namespace
}  // namespace graphgate::tools
