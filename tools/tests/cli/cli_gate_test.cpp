// graphgate gate as its users meet it.
#include "tools/tests/cli/cli_gate_test.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class CliGate : public GateCorpus {
 protected:
  CliRun gate(const std::string& arguments) {
    return run("gate --corpus " + (folder_ / "corpus").string() + " " + arguments);
  }
  [[nodiscard]] nlohmann::json json(const char* name) const {
    return nlohmann::json::parse(read_file(folder_ / name), nullptr, false);
  }
  static std::size_t rows(const nlohmann::json& step, const char* bucket) {
    return static_cast<std::size_t>(
        std::count_if(step["rows"].begin(), step["rows"].end(),
                      [&](const auto& row) { return row["bucket"] == bucket; }));
  }
};

TEST_F(CliGate, LetsAFixThroughAndStopsTheWayBack) {
  const CliRun up = gate("--baseline torch-2.9.0 --candidate fixed --json " + path("up.json"));
  EXPECT_EQ(up.code, 0) << up.out << up.err;
  const auto step = json("up.json")["steps"][0];
  EXPECT_EQ(step["verdict"], "PASS");
  EXPECT_GE(rows(step, "fixed"), 1U);
  EXPECT_EQ(rows(step, "regressed"), 0U);
  EXPECT_EQ(step["compared"], 2);

  const CliRun down =
      gate("--baseline fixed --candidate torch-2.9.0 --json " + path("down.json") + " --junit " +
           path("down.xml") + " --sarif " + path("down.sarif") + " --markdown " + path("down.md"));
  EXPECT_EQ(down.code, 1) << down.out << down.err;
  EXPECT_EQ(rows(json("down.json")["steps"][0], "regressed"), rows(step, "fixed"));
  EXPECT_TRUE(contains(down.out, "REGRESSED verifier-V"));
  EXPECT_TRUE(contains(read_file(folder_ / "down.xml"), "<testsuite name=\"graphgate gate\""));
  EXPECT_EQ(json("down.sarif")["runs"][0]["results"][0]["baselineState"], "new");
  EXPECT_EQ(read_file(folder_ / "down.md").find("### FAIL: `fixed` → `torch-2.9.0`"), 0U);
}

TEST_F(CliGate, GoesByAStoredSideInsteadOfRunningIt) {
  const CliRun save = gate("--baseline fixed --candidate torch-2.9.0 --save " + path("old.json"));
  EXPECT_EQ(save.code, 1) << save.err;
  const CliRun same = gate("--baseline " + path("old.json") + " --candidate torch-2.9.0");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  const CliRun stored = gate("--baseline " + path("old.json") + " --candidate " + path("old.json"));
  EXPECT_EQ(stored.code, 0) << stored.out << stored.err;
}

TEST_F(CliGate, RunsProfilesOnADevice) {
  const std::string sides = "--baseline torch-2.9.1 --candidate fixed --judges bounds --reruns 0 ";
  const std::string there = " --device emulated --device-memory guarded";
  const CliRun outcome = gate(sides + "--json " + path("device.json") + there);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(json("device.json")["steps"][0]["compared"], 2);
  // That it is there: without a compiler nothing is emulated.
  const char* const before = std::getenv("CXX");
  const std::string own = before == nullptr ? "" : before;
  setenv("CXX", "no-such-compiler", 1);
  const CliRun without = gate(sides + there);
  before == nullptr ? unsetenv("CXX") : setenv("CXX", own.c_str(), 1);
  EXPECT_EQ(without.code, 3) << without.out << without.err;
  EXPECT_TRUE(contains(without.out, "there is no 'no-such-compiler'"));
  EXPECT_EQ(gate("--baseline x.json --candidate cmd:true" + there).code, 4);
  EXPECT_EQ(gate(sides + "--device-memory guarded").code, 4);
}

TEST_F(CliGate, NamesTheFirstBadVersion) {
  const CliRun outcome =
      gate("--baseline fixed --candidate fixed --candidate torch-2.9.0 --candidate torch-2.9.1");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(last_line(outcome.out), "first bad: torch-2.9.0");
}

TEST_F(CliGate, DrawsCasesBesideTheCorpus) {
  const CliRun outcome =
      gate("--baseline fixed --candidate 'cmd:" + path("graphgate") +
           " serve optimized --deviation lifetimes_touch_wrongly' --time 1s --seed 3 --reruns 0 "
           "--json " +
           path("d.json"));
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const auto step = json("d.json")["steps"][0];
  EXPECT_GE(step["drawn"]["cases"], 16);
  // A drawn case that the oracle cannot run is told, and not compared.
  EXPECT_GE(step["compared"].get<int>(), 16);
  EXPECT_EQ(step["compared"].get<std::size_t>() + step["not_compared"].size(),
            step["drawn"]["cases"].get<std::size_t>() + 2);
  EXPECT_GE(step["drawn"]["regressions"], 1) << step.dump(1);
  EXPECT_TRUE(contains(outcome.out, "drawn cases: the next one shows another"));
  // What a drawn case shows can be run again by its id.
  std::string id;
  for (const auto& row : step["rows"]) {
    if (row["bucket"] != "regressed") continue;
    for (const auto& name : row["candidate_cases"]) {
      if (name.get<std::string>().starts_with("g")) id = name;
    }
  }
  ASSERT_FALSE(id.empty());
  const CliRun again = run("replay " + id + " --deviation lifetimes_touch_wrongly");
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_EQ(gate("--baseline x.json --candidate fixed --time 1s").code, 4);
}

TEST_F(CliGate, SaysWhichOverridesACandidateNeeds) {
  const CliRun outcome = gate(
      "--baseline torch-2.8.0 --candidate torch-2.9.0 --candidate torch-2.9.1 --overrides vllm "
      "--json " +
      path("o.json"));
  const auto report = json("o.json");
  ASSERT_FALSE(report.is_discarded()) << outcome.err;
  const auto use = [&](std::size_t step, const std::string& name) -> std::string {
    for (const auto& verdict : report["steps"][step]["overrides"]) {
      if (verdict["name"] == name) return verdict["use"];
    }
    return "";
  };
  EXPECT_EQ(use(0, "memory_plan_reuse"), "still needed") << report.dump(1);
  EXPECT_EQ(use(0, "custom_should_partition_ops"), "no longer needed");
  EXPECT_EQ(use(0, "compile_threads"), "not modelled");
  EXPECT_EQ(use(1, "memory_plan_reuse"), "applies to neither");
  EXPECT_EQ(use(1, "byte_cost_realization"), "off");
}

TEST_F(CliGate, LetsAWaivedFindingPass) {
  const CliRun plain = gate("--baseline fixed --candidate torch-2.9.0 --json " + path("p.json"));
  EXPECT_EQ(plain.code, 1);
  std::ofstream waivers(folder_ / "waivers.txt");
  const auto rows = json("p.json")["steps"][0]["rows"];
  for (const auto& row : rows) {
    if (row["fails_the_gate"] == true) {
      waivers << row["name"].get<std::string>() << " https://example.org/1 9999-12-31\n";
    }
  }
  waivers.close();
  const std::string flag = " --waivers " + path("waivers.txt");
  const CliRun waived = gate("--baseline fixed --candidate torch-2.9.0" + flag);
  EXPECT_EQ(waived.code, 0) << waived.out << waived.err;
  const CliRun gone = gate("--baseline fixed --candidate fixed" + flag);
  EXPECT_EQ(gone.code, 1) << gone.out;
  EXPECT_TRUE(contains(gone.out, "UNEXPECTED PASS"));
}

// Each is a line, and what is worse in the others is told all the same.
TEST_F(CliGate, GoesOnWhereACaseIsBadInput) {
  const fs::path corpus = folder_ / "mixed";
  fs::create_directories(corpus);
  const std::string right =
      "graphgate-case 1\nname \"right\"\nprogram \"p\" {\n  input %x : f32[2, 3]\n"
      "  %y = aten.sum.dim_IntList(%x, [1])\n  output %y\n}\nscenario {\n  call p\n}\n";
  std::string cyclic = right;
  cyclic.replace(cyclic.find("%x, [1]"), 2, "%y");
  std::string refused = right;
  refused.replace(refused.find("[1]"), 3, "[7]");
  std::ofstream(corpus / "a.case") << cyclic;
  std::ofstream(corpus / "b.case") << refused;
  std::ofstream(corpus / "c.case") << right;
  const CliRun outcome = run("gate --baseline fixed --candidate fixed --reruns 0 --corpus " +
                             corpus.string() + " --json " + path("mixed.json"));
  EXPECT_EQ(outcome.code, 4) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "a.case:")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "b.case:")) << outcome.err;
  const auto json = nlohmann::json::parse(must(read_whole(path("mixed.json"))));
  EXPECT_EQ(json["steps"][0]["compared"], 1) << outcome.out;
}

TEST_F(CliGate, RefusesWhatThereIsNotInOneLine) {
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const CliRun outcome = gate(arguments);
    EXPECT_EQ(outcome.code, 4) << arguments << "\n" << outcome.out;
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, words));
  };
  refused("--baseline torch-1.0.0 --candidate fixed", "torch-1.0.0");
  refused("--baseline fixed --candidate fixed --overrides none.json", "--overrides: none.json");
  refused("--baseline base --candidate fixed", "'base': ");
  refused("--baseline base --candidate fixed", "cmd:COMMAND, python:PATH, vllm:PATH and FILE.json");
  refused("--baseline none.json --candidate fixed", "none.json");
  refused("--baseline fixed --candidate fixed --candidate fixed --save x.json", "--save");
  refused("--baseline fixed --candidate fixed --judges verifer", "--judges");
  fs::create_directories(folder_ / "empty");
  const CliRun empty = run("gate --baseline fixed --candidate fixed --corpus " + path("empty"));
  EXPECT_EQ(empty.code, 4) << empty.out;
  EXPECT_TRUE(contains(empty.err, "no case"));
}

}  // namespace
}  // namespace graphgate::tools
