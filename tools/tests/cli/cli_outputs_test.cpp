// What verbs write beside their lines: traces, and bundles with and without data.
#include "interop/zip_archive.h"
#include "tools/report/trace_format_test.h"
#include "tools/tests/cli/cli_test.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class CliOutputs : public Cli {
 protected:
  [[nodiscard]] nlohmann::json json(const char* name) const {
    return nlohmann::json::parse(read_file(folder_ / name));
  }
  [[nodiscard]] std::string option(const char* flag, const char* name) const {
    return std::string(" ") + flag + " " + (folder_ / name).string();
  }
  // The trace that a verb writes, which is one.
  nlohmann::json trace_of(const std::string& line) {
    const std::string file = (folder_ / "trace.json").string();
    const CliRun wrote = run(line + " --trace " + file);
    EXPECT_EQ(wrote.code, 0) << wrote.out << wrote.err;
    return expect_trace(read_file(file));
  }
  // Of slices whose track has such a name.
  static std::vector<std::string> slices_on(const nlohmann::json& trace, const std::string& track) {
    std::set<std::pair<int, int>> tracks;
    std::vector<std::string> names;
    for (const auto& event : trace["traceEvents"]) {
      const std::pair<int, int> at = {event["pid"], event["tid"]};
      const bool is_name = event["ph"] == "M" && event["name"] == "thread_name";
      if (is_name && event["args"]["name"] == track) tracks.insert(at);
      if (event["ph"] == "X" && tracks.contains(at)) names.push_back(event["name"]);
    }
    return names;
  }
};

TEST_F(CliOutputs, TraceAPlanWithItsCutsAndStreams) {
  const auto trace = trace_of("plan " + model("vllm_like.pt2") + " --streams 2");
  const auto partitions = slices_on(trace, "partitions");
  ASSERT_GT(partitions.size(), 3U);
  EXPECT_EQ(partitions[1], "1 eager: split op vllm.unified_attention_with_output");
  EXPECT_FALSE(slices_on(trace, "stream 0").empty());
  const auto has_reason = [](const nlohmann::json& event) {
    return event["ph"] == "X" && event["tid"] != 1 && event["args"].contains("cut reason");
  };
  EXPECT_TRUE(std::any_of(trace["traceEvents"].begin(), trace["traceEvents"].end(), has_reason));
  EXPECT_EQ(run("plan " + model("vllm_like.pt2") + " --quality --trace a.json").code, 4);
  const CliRun alone = run("plan " + model("vllm_like.pt2") + " --trace -");
  (void)expect_trace(alone.out);
}

TEST_F(CliOutputs, TraceACheckWithItsPlansAndTimes) {
  const auto trace =
      trace_of("check -j 2 " + model("mutations.pt2") + " " + model("vllm_like.pt2"));
  std::set<std::string> processes;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
  }
  EXPECT_TRUE(processes.contains("judging"));
  EXPECT_GE(processes.size(), 3U);
  const auto first = slices_on(trace, "job 0");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(run("check " + model("mutations.pt2") + " --against reference --trace a.json").code, 4);
}

TEST_F(CliOutputs, TraceARunCallByCall) {
  const std::string file = model("mutations.pt2");
  const auto trace = trace_of("run --executor optimized " + file);
  EXPECT_EQ(slices_on(trace, file), (std::vector<std::string>{"load", "call 0", "call 1"}));
  EXPECT_FALSE(slices_on(trace, "partitions").empty());
}

TEST_F(CliOutputs, TraceACampaignByWorkersCasesAndFindings) {
  const std::string line =
      "fuzz --cases 40 -j 2 --deviation lifetimes_touch_wrongly --judges verifier --corpus " +
      (folder_ / "corpus").string();
  const std::string file = (folder_ / "campaign.json").string();
  const CliRun wrote = run(line + " --trace " + file);
  EXPECT_EQ(wrote.code, 1) << wrote.out << wrote.err;
  const auto trace = expect_trace(read_file(file));
  std::vector<std::string> cases = slices_on(trace, "worker 0");
  const std::vector<std::string> others = slices_on(trace, "worker 1");
  EXPECT_FALSE(cases.empty());
  EXPECT_FALSE(others.empty());
  cases.insert(cases.end(), others.begin(), others.end());
  std::sort(cases.begin(), cases.end());
  EXPECT_EQ(cases.size(), 40U);
  EXPECT_EQ(std::unique(cases.begin(), cases.end()) - cases.begin(), 40);
  std::set<std::string> outcomes;
  std::size_t findings = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["args"].contains("outcome")) outcomes.insert(event["args"]["outcome"]);
    if (contains(event["name"].get<std::string>(), "confirmed, reduced to ")) ++findings;
  }
  EXPECT_TRUE(outcomes.contains("FAIL"));
  EXPECT_TRUE(outcomes.contains("PASS"));
  EXPECT_GE(findings, 1U);
  EXPECT_EQ(run(line + " --replay-only --trace " + file).code, 4);
  EXPECT_EQ(run("fuzz --trace " + file + " merge " + (folder_ / "corpus").string()).code, 4);
}

double seconds_in(const nlohmann::json& rows) {
  double sum = 0;
  for (const auto& row : rows) sum += row["seconds"].get<double>();
  return sum;
}

std::set<std::string> names_in(const nlohmann::json& rows, const char* what) {
  std::set<std::string> names;
  for (const auto& row : rows) names.insert(row[what]);
  return names;
}

// The rows by judge, and those by stage, are what went by for all jobs, with what was idle.
void expect_whole(const nlohmann::json& timings, double jobs) {
  const double whole = jobs * timings["seconds"].get<double>();
  EXPECT_DOUBLE_EQ(timings["whole"].get<double>(), whole);
  EXPECT_NEAR(seconds_in(timings["judges"]), whole, 0.02 * whole);
  EXPECT_NEAR(seconds_in(timings["stages"]), whole, 0.02 * whole);
  EXPECT_LT(timings["idle"].get<double>(), whole);
}

TEST_F(CliOutputs, TimeACampaignByTheClockThatItsTraceHas) {
  const std::string file = (folder_ / "campaign.json").string();
  const std::string line =
      "fuzz --cases 48 -j 2 --timings --corpus " + (folder_ / "corpus").string();
  const CliRun ran = run(line + " --trace " + file + option("--json", "r.json"));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto timings = json("r.json")["timings"];
  ASSERT_EQ(timings["lanes"].size(), 2U);
  expect_whole(timings, 2);
  // Quick judges of all, all judges of each 16th.
  const auto judges = names_in(timings["judges"], "judge");
  for (const char* judge : {"provenance", "exact", "bounds", "configurations", "verifier", "shadow",
                            "state", "happens-before", "quality", "vacuity", "no judge", "idle"}) {
    EXPECT_TRUE(judges.contains(judge)) << judge;
    EXPECT_TRUE(contains(ran.out + ran.err, std::string("  ") + judge + " ")) << ran.out << ran.err;
  }
  const auto stages = names_in(timings["stages"], "stage");
  for (const char* stage : {"drawing", "reading", "subject, watched", "reference: provenance",
                            "reference: sampled", "reference: nodes alone", "judging"}) {
    EXPECT_TRUE(stages.contains(stage)) << stage;
  }
  // Of each case the trace has what its stages add up to, to the digits of its text.
  double cases = 0;
  const auto trace = expect_trace(read_file(file));
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") cases += event["dur"].get<double>() * 1e-6;
  }
  double of_cases = 0;
  for (const auto& lane : timings["lanes"]) {
    for (const auto& row : lane["rows"]) {
      const std::string stage = row["stage"];
      const bool is_between = stage == "adding up" || stage == "waiting for cases";
      of_cases += is_between ? 0 : row["seconds"].get<double>();
    }
  }
  EXPECT_NEAR(cases, of_cases, 1e-3 * of_cases);
  EXPECT_EQ(run("fuzz --timings merge " + (folder_ / "corpus").string()).code, 4);
}

TEST_F(CliOutputs, TimeACheckByJudgesAndJobs) {
  const CliRun ran =
      run("check -j 2 --timings --judges bounds,state,vacuity " + model("mutations.pt2") + " " +
          model("vllm_like.pt2") + option("--json", "r.json") + option("--html", "r.html"));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "timings: ")) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("2 passed, 0 failed, 0 skipped\n")) << ran.out;
  const auto timings = json("r.json")["timings"];
  expect_whole(timings, 2);
  const auto judges = names_in(timings["judges"], "judge");
  for (const char* judge : {"bounds", "state", "vacuity"}) EXPECT_TRUE(judges.contains(judge));
  EXPECT_FALSE(judges.contains("verifier"));
  EXPECT_TRUE(contains(read_file(folder_ / "r.html"), "\"panel\":\"timings\""));
}

TEST_F(CliOutputs, TraceAGateBySidesAndCases) {
  const std::string file = (folder_ / "gate.json").string();
  const CliRun wrote =
      run("gate --baseline torch-2.8.0 --candidate torch-2.9.0 -j 2 --reruns 1 "
          "--only catalogue/p8-node --trace " +
          file + " --corpus " + GRAPHGATE_GOLDEN_DIR "/cases");
  EXPECT_EQ(wrote.code, 1) << wrote.out << wrote.err;
  const auto trace = expect_trace(read_file(file));
  std::map<std::string, std::vector<std::string>> looks;  // by outcome
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") looks[event["args"]["outcome"]].push_back(event["name"]);
  }
  const std::string name = "catalogue/p8-node-without-origin";
  EXPECT_EQ(looks["PASS"], std::vector<std::string>({name}));        // the baseline
  EXPECT_EQ(looks["FAIL"], std::vector<std::string>({name, name}));  // looked at again
  const CliRun alone =
      run("gate --baseline torch-2.8.0 --candidate torch-2.8.0 --limit 2 "
          "--trace - --corpus " GRAPHGATE_GOLDEN_DIR "/cases");
  EXPECT_EQ(slices_on(expect_trace(alone.out), "torch-2.8.0").size() +
                slices_on(expect_trace(alone.out), "torch-2.8.0, worker 1").size(),
            4U);
  EXPECT_EQ(run("gate --baseline torch-2.8.0 --candidate torch-2.8.0 --trace - --json -").code, 4);
}

TEST_F(CliOutputs, LeaveCasesAndScriptsOutOfACampaignsReportsAndSaySo) {
  const auto at = [&](const char* name) { return (folder_ / name).string(); };
  const std::string corpus = " --corpus " + at("corpus");
  const std::string line =
      "fuzz --cases 20 -j 2 --deviation lifetimes_touch_wrongly --judges verifier" + corpus;
  EXPECT_EQ(run(line + " --html " + at("whole.html")).code, 1);
  EXPECT_TRUE(contains(read_file(at("whole.html")), "graphgate-case 1"));
  const CliRun wrote =
      run(line + " --overwrite --no-data --html " + at("r.html") + " --json " + at("r.json") +
          " --markdown " + at("r.md") + " --junit " + at("r.xml") + " --sarif " + at("r.sarif"));
  EXPECT_EQ(wrote.code, 1) << wrote.out << wrote.err;
  for (const char* report : {"r.html", "r.json", "r.md", "r.xml", "r.sarif"}) {
    const std::string text = read_file(at(report));
    EXPECT_TRUE(contains(text, "cases and scripts of findings are left out (--no-data)")) << report;
    EXPECT_FALSE(contains(text, "graphgate-case 1")) << report;
  }
  EXPECT_EQ(run("fuzz merge --no-data --html " + at("m.html") + " " + at("corpus")).code, 1);
  EXPECT_FALSE(contains(read_file(at("m.html")), "graphgate-case 1"));
  EXPECT_EQ(run(line + " --no-data").code, 4);  // nothing is written
}

TEST_F(CliOutputs, BundleWhatWasJudgedAndRunItAgain) {
  const std::string bundle = (folder_ / "bundle").string();
  const std::string model_file = model("mutations.pt2");
  ASSERT_EQ(run("check --bundle " + bundle + " " + model_file).code, 0);
  const auto manifest = nlohmann::json::parse(read_file(bundle + "/manifest.json"));
  EXPECT_EQ(manifest["data"], true);
  EXPECT_EQ(manifest["files"][0]["stored"].size(), 3U) << manifest;
  EXPECT_EQ(read_file(bundle + "/programs/0/mutations.pt2"), read_file(model_file));
  const CliRun again = run("check -v " + bundle + "/programs/0/mutations.pt2");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(contains(again.out, "2 recorded calls"));
  const CliRun replayed = run("replay " + bundle);
  EXPECT_EQ(replayed.code, 4);
  EXPECT_EQ(line_count(replayed.err), 1U) << replayed.err;
  EXPECT_TRUE(contains(replayed.err, "is a bundle, and no case")) << replayed.err;
}

TEST_F(CliOutputs, LeaveWeightsAndInputsOutAndSaySo) {
  const std::string bundle = (folder_ / "bundle.zip").string();
  const auto at = [&](const char* name) { return (folder_ / name).string(); };
  const CliRun wrote = run("check --no-data --bundle " + bundle + " --json " + at("r.json") +
                           " --markdown " + at("r.md") + " --junit " + at("r.xml") + " --sarif " +
                           at("r.sarif") + " " + model("mutations.pt2"));
  EXPECT_EQ(wrote.code, 0) << wrote.out << wrote.err;
  for (const char* report : {"r.json", "r.md", "r.xml", "r.sarif"}) {
    EXPECT_TRUE(contains(read_file(at(report)), "weights and inputs are left out (--no-data)"))
        << report;
  }
  const auto zip = must(interop::ZipReader::open(bundle));
  for (const std::string& entry : zip.entries()) {
    EXPECT_FALSE(entry.ends_with(".pt2") || entry.ends_with(".safetensors")) << entry;
  }
  EXPECT_TRUE(contains(must(zip.read_text("statement.txt")), "Left out: weights and inputs"));
  const std::string graph = must(zip.read_text("programs/0/graph0.txt"));
  EXPECT_TRUE(graph.starts_with("program \"")) << graph;
  EXPECT_EQ(graph.find(" = ["), std::string::npos) << graph;  // no elements
  const auto manifest = nlohmann::json::parse(must(zip.read_text("manifest.json")));
  EXPECT_EQ(manifest["data"], false);
  const CliRun replayed = run("replay " + bundle);
  EXPECT_EQ(replayed.code, 4);
  EXPECT_EQ(line_count(replayed.err), 1U) << replayed.err;
  EXPECT_TRUE(contains(replayed.err, "whose weights and inputs are left out (--no-data)"));
  EXPECT_EQ(run("check --no-data " + model("mutations.pt2")).code, 4);  // nothing is written
}

}  // namespace
}  // namespace graphgate::tools
