// graphgate fuzz as its users meet it.
#include <csignal>
#include <map>

#include "base/processes.h"
#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

class CliFuzz : public Cli {
 protected:
  [[nodiscard]] std::string corpus(const char* name = "corpus") const {
    return (folder_ / name).string();
  }
  [[nodiscard]] nlohmann::json json(const char* name) const {
    return nlohmann::json::parse(read_file(folder_ / name), nullptr, false);
  }
  [[nodiscard]] std::string option(const char* flag, const char* name) const {
    return std::string(" ") + flag + " " + (folder_ / name).string();
  }
  // What a campaign of one shard came to, but for its times.
  [[nodiscard]] std::string results(const char* name) const {
    std::ifstream file(folder_ / name / "campaigns/shard-0-of-1.campaign");
    std::string text;
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("seconds") && !line.starts_with("triage")) text += line + "\n";
    }
    return text;
  }
  // The findings of a report whose signature holds the text.
  [[nodiscard]] static std::vector<nlohmann::json> findings(const nlohmann::json& report,
                                                            const std::string& text) {
    std::vector<nlohmann::json> out;
    for (const auto& finding : report["findings"]) {
      const bool has = finding["signature"].get<std::string>().find(text) != std::string::npos;
      if (has) out.push_back(finding);
    }
    return out;
  }
};

// Each worker speaks with a process of its own, and so does who reduces.
TEST_F(CliFuzz, TestsExecutorsInProcessesOfTheirOwn) {
  const std::string serve = (folder_ / "graphgate").string() + " serve optimized";
  const std::string flags =
      " --cases 12 -j 2 --seed 3 --judges bounds,verifier --timeout 100 --reduce-time 100 "
      "--corpus ";
  const CliRun here = run("fuzz" + flags + corpus("here") + option("--json", "here.json"));
  EXPECT_EQ(here.code, 0) << here.out << here.err;
  const CliRun there = run("fuzz --executor '" + serve + "'" + flags + corpus("there") +
                           option("--json", "there.json"));
  EXPECT_EQ(there.code, 0) << there.out << there.err;
  EXPECT_EQ(json("there.json")["outcomes"], json("here.json")["outcomes"]);
  EXPECT_EQ(json("there.json")["settings"]["executor"], serve);

  const std::string wrong = serve + " --deviation lifetimes_touch_wrongly";
  const CliRun found = run("fuzz --executor '" + wrong + "'" + flags + corpus("wrong") +
                           option("--json", "wrong.json"));
  EXPECT_EQ(found.code, 1) << found.out << found.err;
  const auto faults = findings(json("wrong.json"), "verifier V3.overlap");
  ASSERT_FALSE(faults.empty()) << found.out;
  EXPECT_EQ(faults.front()["status"], "confirmed");
  EXPECT_LE(faults.front()["reduced_nodes"].get<int>(), 5);
  const std::string file = corpus("wrong") + "/" + faults.front()["file"].get<std::string>();
  EXPECT_EQ(run("replay --judges verifier --executor '" + wrong + "' " + file).code, 1);
  EXPECT_EQ(run("replay --judges verifier --executor '" + serve + "' " + file).code, 0);

  const CliRun missing = run("fuzz --executor no-such-command" + flags + corpus("missing"));
  EXPECT_EQ(missing.code, 3) << missing.out;
  EXPECT_EQ(line_count(missing.err), 1U) << missing.err;
  const CliRun refused = run("fuzz --no-reuse --executor '" + (folder_ / "graphgate").string() +
                             " serve reference'" + flags + corpus("refused"));
  EXPECT_EQ(refused.code, 4) << refused.out;
  EXPECT_TRUE(contains(refused.err, "--no-reuse: 'reference' has no such option"));
}

TEST_F(CliFuzz, FindsNamesAndReducesAPlantedFaultOnce) {
  // Two of its findings would be reduced as long as that may take, to no fewer nodes.
  const std::string command =
      "fuzz --cases 30 -j 2 --reduce-time 3 --deviation lifetimes_touch_wrongly --judges verifier"
      " --corpus " +
      corpus() + option("--json", "r.json") + option("--junit", "r.xml") +
      option("--sarif", "r.sarif");
  const CliRun outcome = run(command);
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const auto report = json("r.json");
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(report["cases"], 30);
  const auto found = findings(report, "verifier V3.overlap");
  ASSERT_FALSE(found.empty()) << report["findings"].dump(2);
  const auto& first = found.front();
  EXPECT_EQ(first["status"], "confirmed");
  EXPECT_LE(first["reduced_nodes"].get<int>(), 5);
  EXPECT_LE(first["reduced_calls"].get<int>(), 3);
  const std::string name = first["name"];
  EXPECT_EQ(first["file"], "regression/" + name + ".case");
  const std::string text = read_file(folder_ / "corpus/regression" / (name + ".case"));
  EXPECT_TRUE(contains(text, "option \"deviation\" \"lifetimes_touch_wrongly\""));
  EXPECT_TRUE(contains(text, "Signature: verifier V3.overlap"));
  // NDJSON where nobody looks, JUnit and SARIF for the same findings.
  EXPECT_TRUE(contains(outcome.out, "{\"event\":\"finding\",\"name\":\"" + name + "\""));
  EXPECT_TRUE(contains(read_file(folder_ / "r.xml"), "<testsuite name=\"graphgate fuzz\""));
  EXPECT_TRUE(contains(read_file(folder_ / "r.xml"), name + ".case"));
  EXPECT_TRUE(contains(read_file(folder_ / "r.sarif"), "\"ruleId\": \"V3.overlap"));
  // The line of the report shows it again.
  const CliRun replayed = run(first["replay"].get<std::string>().substr(sizeof("graphgate")));
  EXPECT_EQ(replayed.code, 1) << replayed.out << replayed.err;
  EXPECT_TRUE(contains(replayed.out, "shows 'verifier V3.overlap"));
  // The next campaign tells of it, and does not reduce it again.
  EXPECT_EQ(run(command).code, 1);
  const auto again = findings(json("r.json"), "verifier V3.overlap");
  ASSERT_EQ(again.size(), found.size());
  EXPECT_EQ(again.front()["remark"], "the corpus had it");
}

TEST_F(CliFuzz, TellsWhatLeavesCasesInconclusive) {
  const std::string judges = " --judges exact,vacuity";
  const CliRun outcome = run("fuzz --cases 40 -j 2 --seed 5" + judges + " --corpus " + corpus() +
                             option("--json", "r.json"));
  const auto report = json("r.json");
  ASSERT_FALSE(report.is_discarded()) << outcome.out << outcome.err;
  ASSERT_FALSE(report["inconclusive"].empty()) << outcome.out;
  std::map<std::string, std::uint64_t> cases;
  for (const auto& row : report["inconclusive"]) {
    const std::string cause = row["cause"];
    cases[cause.substr(0, cause.find(' '))] += row["cases"].get<std::uint64_t>();
    EXPECT_TRUE(contains(outcome.out, "  " + cause + " in "));
    const CliRun again = run("replay " + row["first"].get<std::string>() + judges);
    EXPECT_EQ(again.code, 2) << again.out;
    EXPECT_TRUE(contains(again.out, row["message"].get<std::string>()));
  }
  for (const auto& [name, count] : cases) EXPECT_EQ(report["outcomes"][name], count) << name;
  std::uint64_t judged = 0;
  for (const auto& [name, count] : report["outcomes"].items()) {
    const bool is_good_or_bad = name == "PASS" || name == "FAIL" || name == "SUSPECT";
    if (is_good_or_bad) judged += count.get<std::uint64_t>();
    EXPECT_EQ(cases.contains(name), !is_good_or_bad) << name;
  }
  EXPECT_GT(judged, 0U);
}

// A campaign of other data sets has other cases, so it is another one; an id needs their number.
TEST_F(CliFuzz, JudgesEachProgramWithSeveralSetsOfData) {
  const std::string common = "fuzz -j 1 --judges state --no-replay --corpus " + corpus();
  const CliRun outcome = run(common + " --cases 8 --data-sets 4" + option("--json", "r.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(json("r.json")["cases"], 8);
  EXPECT_EQ(run(common + " --cases 12 --data-sets 4 --resume").code, 0);
  const CliRun other = run(common + " --cases 12 --data-sets 3 --resume");
  EXPECT_EQ(other.code, 4);
  EXPECT_TRUE(contains(other.err, "data-sets"));
  const auto drawn = [&](const std::string& words) { return run("replay --write - " + words).out; };
  const auto programs = [](const std::string& text) {
    const std::size_t begin = text.find("\nprogram");
    return text.substr(begin, text.find("\n}", begin) - begin);
  };
  const std::string first = drawn("g3:1:8 --data-sets 4");
  EXPECT_EQ(first, drawn("g3:1:2"));
  const std::string fourth = drawn("g3:1:11 --data-sets 4");
  EXPECT_NE(fourth, first);
  EXPECT_EQ(programs(fourth), programs(first));
  EXPECT_NE(programs(fourth), programs(drawn("g3:1:11")));
  EXPECT_EQ(run("replay --write - f3:1:2-11 --data-sets 4").code, 4);
}

TEST_F(CliFuzz, GoesOnWhereCasesTakeTheirProcessDown) {
  if (!can_limit_memory()) GTEST_SKIP() << "sanitizers need more address space than any limit";
  // Only small cases have room to run, in what the process holds already.
  const CliRun outcome =
      run("fuzz --cases 48 -j 2 --judges provenance,bounds,state --memory-limit 1M --corpus " +
          corpus() + option("--json", "r.json") + option("--trace", "t.json"));
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const auto report = json("r.json");
  EXPECT_EQ(report["cases"], 48);
  EXPECT_TRUE(contains(read_file(folder_ / "t.json"), "\"lost with its worker\""));
  EXPECT_EQ(report["findings"].size(), 1U) << "wherever memory ends, it is named so";
  const auto crashes = findings(report, "memory out-of-memory");
  ASSERT_EQ(crashes.size(), 1U) << report.dump(2);
  EXPECT_EQ(crashes[0]["outcome"], "CRASH");
  EXPECT_GT(crashes[0]["cases"], 24) << "one finding of many cases";
}

// Every case would end so: no GPU, or too little memory for its driver. Neither is a finding.
TEST_F(CliFuzz, DoesNotBeginWithoutItsDevice) {
  if (!can_limit_memory()) GTEST_SKIP() << "sanitizers need more address space than any limit";
  const CliRun outcome = run("fuzz --cases 4 --device cuda --memory-limit 1M --corpus " + corpus());
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "--device cuda: "));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  EXPECT_TRUE(fs::is_empty(corpus() + "/regression"));
}

TEST_F(CliFuzz, MergesShardsIntoTheUnshardedCampaign) {
  const std::string common =
      " --seed 5 --judges verifier --no-replay --reduce-time 0.1 -j 2 --corpus ";
  EXPECT_LE(run("fuzz --cases 60" + common + corpus("whole")).code, 1);
  EXPECT_LE(run("fuzz --cases 60 --shard 0/2" + common + corpus("parts")).code, 1);
  // The environment of a GoogleTest runner.
  ::setenv("GTEST_SHARD_INDEX", "1", 1);
  ::setenv("GTEST_TOTAL_SHARDS", "2", 1);
  ::setenv("GTEST_SHARD_STATUS_FILE", (folder_ / "status").c_str(), 1);
  EXPECT_LE(run("fuzz --cases 60" + common + corpus("parts")).code, 1);
  ::unsetenv("GTEST_TOTAL_SHARDS");
  EXPECT_EQ(run("fuzz --cases 60" + common + corpus("parts")).code, 4);
  ::unsetenv("GTEST_SHARD_INDEX");
  EXPECT_TRUE(fs::exists(folder_ / "status"));
  const CliRun merged = run("fuzz merge " + corpus("parts") + " --into " + corpus("all"));
  EXPECT_LE(merged.code, 1) << merged.err;
  EXPECT_EQ(results("all"), results("whole"));
  EXPECT_TRUE(contains(results("all"), "block 0 60 "));
  const CliRun twice = run("fuzz merge " + corpus("parts") + " " + corpus("whole"));
  EXPECT_EQ(twice.code, 4);
  EXPECT_TRUE(contains(twice.err, "ran the same cases"));
}

TEST_F(CliFuzz, DrawsByWhatEarlierGenerationsShowed) {
  const std::string common =
      " --seed 5 --cases 560 --judges verifier --no-replay --reduce-time 0.1 --lineages 2 "
      "--feedback --corpus ";
  EXPECT_LE(run("fuzz -j 2" + common + corpus("whole")).code, 1);
  EXPECT_LE(run("fuzz -j 1 --shard 0/2" + common + corpus("parts")).code, 1);
  EXPECT_LE(run("fuzz -j 1 --shard 1/2" + common + corpus("parts")).code, 1);
  EXPECT_LE(run("fuzz merge " + corpus("parts") + " --into " + corpus("all")).code, 1);
  EXPECT_EQ(results("all"), results("whole"));
  EXPECT_TRUE(contains(results("all"), "lineage 1 generation 1 shown {"));
  EXPECT_TRUE(contains(results("all"), "bred 5"));
}

TEST_F(CliFuzz, SearchesTowardAScoreAndKeepsTheBestCases) {
  const CliRun outcome =
      run("fuzz --cases 520 -j 2 --judges verifier --target reuse-depth --corpus " + corpus() +
          option("--json", "r.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto best = json("r.json")["best"];
  ASSERT_EQ(best.size(), 64U);
  EXPECT_GE(best[0]["score"].get<double>(), best[1]["score"].get<double>());
  const std::string text = read_file(folder_ / "corpus/targets/reuse-depth-01-shard-0-of-1.case");
  const std::string id = best[0]["case"];
  EXPECT_TRUE(contains(text, "# Case " + id + ".\n")) << text.substr(0, 200);
  // The id alone gives the case again.
  const CliRun replayed = run("replay --judges verifier " + id);
  EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
}

TEST_F(CliFuzz, LeavesAWholeReportWhenItIsInterrupted) {
  const CliRun outcome = run_until(
      folder_ / "corpus/campaigns/shard-0-of-1.campaign",
      "fuzz --time 300s -j 1 --judges verifier --corpus " + corpus() + option("--json", "r.json"));
  const auto report = json("r.json");
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_EQ(outcome.code, report["findings"].empty() ? 2 : 1);
  EXPECT_TRUE(contains(outcome.out, "{\"event\":\"end\""));
}

TEST_F(CliFuzz, SaysInEveryFormThatItWasInterrupted) {
  const CliRun outcome = run_until(folder_ / "corpus/campaigns/shard-0-of-1.campaign",
                                   "fuzz --time 300s -j 1 --judges verifier --corpus " + corpus() +
                                       option("--json", "r.json") + option("--sarif", "r.sarif") +
                                       option("--junit", "r.xml") + option("--markdown", "r.md"),
                                   SIGHUP);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(json("r.json")["interrupted"], true);
  EXPECT_EQ(json("r.sarif")["runs"][0]["invocations"][0]["executionSuccessful"], false);
  EXPECT_TRUE(contains(read_file(folder_ / "r.xml"), "name=\"what was not run\""));
  EXPECT_TRUE(contains(read_file(folder_ / "r.md"), "Incomplete: interrupted"));
}

TEST_F(CliFuzz, LosesNoOtherCampaignUnlessItIsTold) {
  const std::string common =
      "fuzz --cases 8 -j 1 --judges verifier --no-replay --corpus " + corpus() + " --seed ";
  EXPECT_LE(run(common + "5").code, 1);
  const std::string before = results("corpus");
  const CliRun other = run(common + "6");
  EXPECT_EQ(other.code, 4);
  EXPECT_EQ(line_count(other.err), 1U) << other.err;
  EXPECT_TRUE(contains(other.err, "--overwrite would remove: seeds 6 and 5"));
  EXPECT_EQ(results("corpus"), before);
  EXPECT_LE(run(common + "6 --overwrite").code, 1);
  EXPECT_NE(results("corpus"), before);
}

TEST_F(CliFuzz, LeavesACorpusToTheProcessThatHasIt) {
  const std::string common = "fuzz -j 1 --judges verifier --corpus " + corpus() + " ";
  const CliRun first =
      run_while(folder_ / "corpus/campaigns/shard-0-of-1.campaign", common + "--time 300s", [&] {
        const CliRun second = run(common + "--cases 8");
        EXPECT_EQ(second.code, 3);
        EXPECT_EQ(line_count(second.err), 1U) << second.err;
        EXPECT_TRUE(contains(second.err, "shard 0/1 is being run by process "));
      });
  EXPECT_EQ(first.code, 2);
}

TEST_F(CliFuzz, SaysWhatCannotBeWritten) {
  const CliRun nowhere = run("fuzz --cases 1 --corpus /dev/null/corpus");
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_TRUE(contains(nowhere.err, "/dev/null/corpus"));
  // As on a full disk: no file may grow beyond some KiB.
  const fs::path real = folder_ / "graphgate.real";
  fs::rename(folder_ / "graphgate", real);
  std::ofstream(folder_ / "graphgate")
      << "#!/bin/sh\ntrap '' XFSZ\nulimit -f 16\nexec " << real.string() << " \"$@\"\n";
  fs::permissions(folder_ / "graphgate", fs::perms::owner_all);
  const CliRun full = run("fuzz --cases 1 -j 4 --corpus " + corpus());
  EXPECT_EQ(full.code, 3) << full.out << full.err;
  EXPECT_TRUE(contains(full.err, "no room for the journal"));
}

TEST_F(CliFuzz, HoldsStoredCasesAgainstTheLedger) {
  EXPECT_EQ(run("fuzz --replay-only --corpus " + corpus()).code, 4);
  fs::create_directories(folder_ / "corpus/regression");
  const CliRun nothing = run("fuzz --replay-only --corpus " + corpus());
  EXPECT_EQ(nothing.code, 2) << nothing.out;
  EXPECT_TRUE(contains(nothing.out, "nothing was run, which is no pass"));
  const fs::path stored = folder_ / "corpus/regression/verifier-V3-0123456789ab.case";
  std::ofstream(stored) << "graphgate-case 1\nname \"stored\"\nseed 1\nprogram \"p\" {\n"
                           "  input %x : f32[4]\n  %y = aten.neg.default(%x)\n  output %y\n}\n"
                           "scenario {\n  call p\n}\nexpect PASS\n";
  EXPECT_EQ(run("fuzz --replay-only --corpus " + corpus()).code, 0);
  const fs::path ledger = folder_ / "corpus/ledger.txt";
  std::ofstream(ledger) << "verifier-V3-0123456789ab FAIL https://example.org/issues/1\n";
  const CliRun xpass = run("fuzz --replay-only --corpus " + corpus());
  EXPECT_EQ(xpass.code, 1) << xpass.out;
  EXPECT_TRUE(contains(xpass.out, "\"outcome\":\"XPASS\""));
  std::ofstream(ledger) << "verifier-V3-0123456789ab PASS https://example.org/issues/1\n";
  EXPECT_EQ(run("fuzz --replay-only --corpus " + corpus()).code, 0);
  std::ofstream(ledger) << "verifier-V4-0123456789ab FAIL https://example.org/issues/2\n";
  const CliRun blind = run("fuzz --replay-only --corpus " + corpus());
  EXPECT_EQ(blind.code, 4);
  EXPECT_TRUE(contains(blind.err, "has no case of 'verifier-V4-0123456789ab'"));
}

// Of an executor of others: what a first campaign finds is known to the second one. One of its
// cases fails: of two with one signature the second would be told as another finding.
TEST_F(CliFuzz, TakesForKnownWhatTheExecutorsLedgerTells) {
  const std::string serve = (folder_ / "graphgate").string() + " serve optimized";
  const auto fuzz = [&](const std::string& executor, const char* name, const std::string& known) {
    return run("fuzz --executor '" + executor +
               "' --cases 2 -j 2 --seed 20 --judges bounds,verifier --timeout 100 --reduce-time "
               "100 --known " +
               known + " --corpus " + corpus(name) +
               option("--json", (std::string(name) + ".json").c_str()));
  };
  const std::string wrong = serve + " --deviation lifetimes_touch_wrongly";
  const CliRun first = fuzz(wrong, "first", "none");
  EXPECT_EQ(first.code, 1) << first.out << first.err;
  nlohmann::json ledger = {{"format", "graphgate-known-findings"},
                           {"version", 1},
                           {"subject", "optimized"},
                           {"findings", nlohmann::json::array()}};
  const nlohmann::json report = json("first.json");
  for (const auto& found : report["findings"]) {
    const std::string name = found["name"];
    fs::copy_file(folder_ / "first" / found["file"].get<std::string>(), folder_ / (name + ".case"));
    ledger["findings"].push_back({{"name", name},
                                  {"case", name + ".case"},
                                  {"upstream", {{"issues", {"https://example.org/" + name}}}},
                                  {"results",
                                   {{{"version", "0"},
                                     {"device", ""},
                                     {"backend", ""},
                                     {"case", "shows"},
                                     {"signatures", {found["signature"]}}}}}});
  }
  ASSERT_FALSE(ledger["findings"].empty());
  const std::string path = (folder_ / "known.json").string();
  std::ofstream(path) << ledger.dump();
  const CliRun again = fuzz(wrong, "again", path);
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(json("again.json")["new"], 0);
  EXPECT_EQ(json("again.json")["known"], ledger["findings"].size());
  EXPECT_TRUE(contains(again.out, "0 new, ")) << again.out;
  EXPECT_TRUE(fs::is_empty(folder_ / "again/regression"));
  const CliRun mended = fuzz(serve, "mended", path);
  EXPECT_EQ(mended.code, 0) << mended.out << mended.err;
  EXPECT_EQ(json("mended.json")["mended"].size(), ledger["findings"].size());
  EXPECT_EQ(fuzz(serve, "none", (folder_ / "nothing").string()).code, 4);
}

TEST_F(CliFuzz, RefusesWhatMakesNoSense) {
  for (const char* arguments :
       {"--shard 4/4", "--time soon", "--memory-limit much", "--judges nobody",
        "--ops nothing.at.all", "--cases 0", "--replay-only --no-replay", "--json - --junit -",
        "--deviation nothing", "--lineages 2", "--feedback --target peak", "--target speed",
        "--target error --judges verifier", "--feedback --lineages 3 --shard 0/2", "--data-sets 0",
        "--feedback --data-sets 4"}) {
    const CliRun outcome = run("fuzz --cases 1 --corpus " + corpus() + " " + arguments);
    EXPECT_EQ(outcome.code, 4) << arguments << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "internal"));
  }
}

// docs/scaling.md shows the files that are used.
TEST(ClusterFiles, StandInTheirPage) {
  const fs::path root = fs::path(GRAPHGATE_GOLDEN_DIR).parent_path();
  const std::string page = read_file(root / "docs/scaling.md");
  for (const char* name : {"fuzz.sbatch", "fuzz-job.yaml"}) {
    std::ifstream file(root / "tools/cluster" / name);
    std::string shown;
    for (std::string line; std::getline(file, line);)
      shown += (line.empty() ? "" : "    ") + line + "\n";
    EXPECT_FALSE(shown.empty());
    EXPECT_TRUE(contains(page, shown)) << name;
  }
}

}  // namespace
}  // namespace graphgate::tools
