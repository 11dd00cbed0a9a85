// What verbs write beside their lines: traces, and bundles with and without data.
#include "interop/zip_archive.h"
#include "tools/report/trace_format_test.h"
#include "tools/tests/cli/cli_test.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class CliOutputs : public Cli {
 protected:
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
