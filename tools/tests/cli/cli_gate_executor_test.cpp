// graphgate gate between commands, with graphgate serve at the other end, right and wrong.
#include "tools/tests/cli/cli_gate_test.h"

#include "base/result_test.h"
#include "interop/safetensors.h"
#include "spec/host_tensor_test.h"

namespace graphgate::tools {
namespace {

class CliGateExecutor : public GateCorpus {
 protected:
  [[nodiscard]] std::string served(const std::string& profile = "fixed") const {
    return path("graphgate") + " serve optimized --profile " + profile;
  }
  // Sides as they are; `flags` behind them.
  CliRun gate(const std::string& baseline, const std::string& candidate,
              const std::string& flags = "") {
    return run("gate --corpus " + path("corpus") + " --baseline '" + baseline + "' --candidate '" +
               candidate + "' --json " + path("gate.json") + " " + flags);
  }
  [[nodiscard]] nlohmann::json step() const {
    return nlohmann::json::parse(read_file(folder_ / "gate.json"), nullptr, false)["steps"][0];
  }
  // "regressed run R2.broke-down [] {}", ...
  [[nodiscard]] std::vector<std::string> rows() const {
    std::vector<std::string> out;
    const nlohmann::json one = step();
    for (const auto& row : one["rows"]) {
      out.push_back(row["bucket"].get<std::string>() + " " + row.value("signature", ""));
    }
    return out;
  }
};

TEST_F(CliGateExecutor, FindsBetweenCommandsWhatItFindsBetweenProfiles) {
  const CliRun profiles = gate("fixed", "torch-2.9.0");
  EXPECT_EQ(profiles.code, 1) << profiles.out << profiles.err;
  const auto expected = rows();
  EXPECT_FALSE(expected.empty());
  const CliRun commands = gate("cmd:" + served(), "cmd:" + served("torch-2.9.0"));
  EXPECT_EQ(commands.code, 1) << commands.out << commands.err;
  EXPECT_EQ(rows(), expected);
  EXPECT_EQ(step()["compared"], 2);
  const CliRun mixed = gate("fixed", "cmd:" + served("torch-2.9.0"));
  EXPECT_EQ(mixed.code, 1) << mixed.out << mixed.err;
  EXPECT_EQ(rows(), expected);
}

TEST_F(CliGateExecutor, CallsSidesByTheirNamesAndByHowTheyGreet) {
  const CliRun same =
      gate("old=cmd:" + served(), "new=cmd:" + served(), "--save " + path("s.json"));
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_EQ(same.out.find("old (optimized "), 0U) << same.out;
  const auto side = nlohmann::json::parse(read_file(folder_ / "s.json"), nullptr, false);
  EXPECT_EQ(side["name"], "new");
  EXPECT_EQ(side["identity"].get<std::string>().find("optimized "), 0U);
  const CliRun stored = gate(path("s.json"), "cmd:" + served("torch-2.9.0"));
  EXPECT_EQ(stored.code, 1) << stored.out << stored.err;
  EXPECT_EQ(step()["baseline"], "new (" + side["identity"].get<std::string>() + ")");
}

TEST_F(CliGateExecutor, CallsWhatEndsOrTalksNonsenseRegressed) {
  const auto regressed = [&](const std::string& candidate, const std::string& signature,
                             const std::string& words) {
    const CliRun outcome =
        gate("cmd:" + served(), "cmd:" + candidate, "--reruns 0 --executor-timeout 2");
    EXPECT_EQ(outcome.code, 1) << candidate << "\n" << outcome.out << outcome.err;
    EXPECT_EQ(rows(), std::vector<std::string>{"regressed " + signature}) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, words));
    EXPECT_EQ(step()["rows"][0]["candidate_cases"].size(), 2U);
  };
  const std::string serve = served();
  // Three requests in: hello, open, load.
  regressed(serve + " | (sed -u 3q; kill -SEGV 0)", "run R2.broke-down [] {}", "by signal 11");
  regressed(serve + " | sed -u s/.result./resul/", "run R2.broke-down [] {}", "is no answer");
  // More elements than there are bytes.
  regressed(serve + " | sed -u s/.sizes.:../\\\"sizes\\\":[99/", "run R2.broke-down [] {}",
            "is no answer");
}

TEST_F(CliGateExecutor, ComparesNothingOfWhatDoesNotAnswer) {
  const std::string hangs = "cmd:(" + served() + " | sed -u 3q; sleep 1000)";
  const CliRun outcome =
      gate("cmd:" + served(), hangs, "--reruns 0 --executor-timeout 2 --only conversion");
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_EQ(rows(), std::vector<std::string>{"not compared "}) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "did not answer in time"));
}

TEST_F(CliGateExecutor, CallsWrongNumbersRegressed) {
  const CliRun outcome =
      gate("cmd:" + served(), "cmd:sed -u s/aten.relu/aten.neg/ | " + served(), "--judges bounds");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  ASSERT_FALSE(rows().empty()) << outcome.out;
  EXPECT_EQ(rows().front(), "regressed bounds B3.exact [pointwise] {}");
  EXPECT_EQ(step()["clean"], 1);
}

TEST_F(CliGateExecutor, TellsWhatACommandDoesNotSupport) {
  const std::string refuses =
      "cmd:" + served() +
      " | sed -u s/^..program.:.*/{\\\"refusal\\\":\\\"unsupported\\\",\\\"message\\\":"
      "\\\"nothing\\\"}/";
  const CliRun lost = gate("cmd:" + served(), refuses);
  EXPECT_EQ(lost.code, 2) << lost.out << lost.err;
  EXPECT_EQ(rows(), std::vector<std::string>{"unsupported candidate R4.unsupported [] {}"});
  const CliRun both = gate(refuses, refuses);
  EXPECT_EQ(both.code, 2) << both.out << both.err;
  EXPECT_TRUE(rows().empty()) << both.out;
  EXPECT_EQ(step()["unsupported_on_both"], 2);
}

// Cases of an op that a command has, and the reference does not.
class GateWithoutReference : public CliGateExecutor {
 protected:
  void SetUp() override {
    CliGateExecutor::SetUp();
    fs::remove_all(folder_ / "corpus");
    fs::create_directories(folder_ / "corpus");
    for (const char* name : {"one", "three", "two"}) {
      std::ofstream(folder_ / "corpus" / (std::string(name) + ".case"))
          << "graphgate-case 1\nname \"" << name << "\"\nseed 1\n"
          << "op my::rectify(Tensor self) -> Tensor\n"
          << "program \"p\" {\n  input %x : f32[4]\n  %y = my.rectify.default(%x)\n"
          << "  output %y\n}\nscenario {\n  call p\n}\n"
          << "expect call 0 out0 : f32[4] = [0, 0, 0, 0]\n";
    }
  }
  // A command that takes my.rectify for this op.
  [[nodiscard]] std::string runs_as(const std::string& op) const {
    return "cmd:sed -u \"s/my[.]rectify[.]default(%x)/" + op + "/g\" | " + served();
  }
};

TEST_F(GateWithoutReference, IsNoPassAndNamesWhatWasNotCompared) {
  const CliRun outcome =
      gate(runs_as("aten.relu.default(%x)"), runs_as("aten.neg.default(%x)"), "--junit - ");
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_TRUE(rows().empty()) << outcome.out;
  EXPECT_EQ(step()["compared"], 0);
  EXPECT_EQ(step()["clean"], 0);
  ASSERT_EQ(step()["not_compared"].size(), 3U) << step().dump(1);
  EXPECT_EQ(step()["not_compared"][0]["case"], "one");
  EXPECT_TRUE(contains(step()["not_compared"][0]["reason"].get<std::string>(),
                       "the reference has no body for my.rectify.default"));
  EXPECT_TRUE(contains(outcome.out, "failures=\"0\""));
  EXPECT_TRUE(contains(outcome.out, "<skipped message=\"UNSUPPORTED: nothing was compared\""));
}

TEST_F(GateWithoutReference, SeesTheWrongDtypeThatARecordingShows) {
  const CliRun outcome = gate(runs_as("aten.relu.default(%x)"), runs_as("aten.eq.Scalar(%x, 0)"));
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_EQ(rows(), std::vector<std::string>{"regressed bounds B3.exact [my.rectify] {}"});
  EXPECT_EQ(step()["rows"][0]["candidate_cases"].size(), 3U);
}

// As a decoder's step of one token is, in a program that torch.export gives sizes from 2.
class GateOfOneToken : public CliGateExecutor {
 protected:
  void SetUp() override {
    CliGateExecutor::SetUp();
    fs::remove_all(folder_ / "corpus");
    fs::create_directories(folder_ / "corpus");
    std::ofstream(folder_ / "p.txt")
        << "program \"p\" {\n  symbol s0 in [2, 8] hint 3\n  input %x : f32[s0]\n"
           "  %y : f32[s0] = aten.relu.default(%x)\n  output %y\n}\n";
    EXPECT_EQ(run("convert " + path("p.txt") + " " + path("corpus/p.pt2")).code, 0);
    must(interop::write_safetensors(path("corpus/p.safetensors"),
                                    {{"call0.input0", spec::float_tensor({1})},
                                     {"call0.output0.float32", spec::float_tensor({1})}}));
    std::ofstream(folder_ / "corpus/p.geometry.json")
        << R"({"recorded": "float32", "calls": {"call0": [{"dtype": "float32", "sizes": [1],)"
        << R"( "strides": [1], "storage_offset": 0, "device": "cpu",)"
        << R"( "shares_storage_with": null}]}})";
  }
};

TEST_F(GateOfOneToken, SaysWhichFlagTakesItAndTakesItThen) {
  const CliRun refused = gate("fixed", "cmd:" + served());
  EXPECT_EQ(refused.code, 4) << refused.out << refused.err;
  EXPECT_TRUE(contains(refused.err, "--allow-zero-and-one takes it")) << refused.err;
  const std::string negates = "cmd:sed -u s/aten.relu/aten.neg/ | " + served();
  const CliRun taken = gate("fixed", negates, "--allow-zero-and-one --judges bounds");
  EXPECT_EQ(taken.code, 1) << taken.out << taken.err;
  ASSERT_FALSE(rows().empty()) << taken.out;
  EXPECT_EQ(rows().front(), "regressed bounds B3.exact [pointwise] {}");
  EXPECT_TRUE(contains(taken.out, "--allow-zero-and-one " + path("corpus/p.pt2"))) << taken.out;
  EXPECT_EQ(gate("fixed", "cmd:" + served(), "--allow-zero-and-one").code, 0);
}

// Whoever takes what was recorded is not at fault, though the reference refuses it.
TEST_F(GateOfOneToken, IsBadInputAlsoWhereACommandTakesIt) {
  const CliRun outcome =
      run("check " + path("corpus/p.pt2") + " --executor '" + served() + " --allow-zero-and-one'");
  EXPECT_EQ(outcome.code, 4) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "--allow-zero-and-one takes it")) << outcome.err;
}

TEST_F(CliGateExecutor, StartsACommandForManyCasesAndAnewForOneThatFailed) {
  const auto starts = [&](const std::string& profile) {
    fs::remove(folder_ / "starts");
    const CliRun outcome = gate("fixed", "cmd:echo >>" + path("starts") + " && " + served(profile),
                                "--judges verifier --reruns 1");
    EXPECT_EQ(step()["compared"], 2) << outcome.out << outcome.err;
    return line_count(read_file(folder_ / "starts"));
  };
  EXPECT_EQ(starts("fixed"), 2U);  // to greet, and for both cases
  // The second fails: to greet, for both, and for the look at that one.
  EXPECT_EQ(starts("torch-2.9.0"), 3U);
}

TEST_F(CliGateExecutor, ComparesWhatItRanWhereItIsInterrupted) {
  // One that hangs in the second case.
  const std::string hangs =
      "cmd:(sed -u /aten.relu/Q; touch " + path("hangs") + "; sleep 1000) | " + served();
  const std::string waiver = "verifier-V2.missing-output-add-0123456789ab";
  std::ofstream(folder_ / "waivers")
      << waiver << " https://example.org/issues/12 2999-01-31 until it is mended\n";
  const CliRun outcome = run_until(
      folder_ / "hangs", "gate --corpus " + path("corpus") + " --baseline fixed --candidate '" +
                             hangs + "' --judges bounds,verifier --waivers " + path("waivers") +
                             " --json " + path("gate.json") + " --junit " + path("gate.xml"));
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "1 cases on both, 1 clean; interrupted, 1 case not run"));
  EXPECT_TRUE(contains(outcome.out, "INCONCLUSIVE"));
  EXPECT_EQ(step()["verdict"], "INCONCLUSIVE");
  EXPECT_EQ(step()["compared"], 1);
  EXPECT_TRUE(rows().empty()) << step().dump(1);  // the waiver's finding may be in the other case
  const auto report = nlohmann::json::parse(read_file(folder_ / "gate.json"), nullptr, false);
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_EQ(report["not_run"], 1);
  EXPECT_TRUE(contains(read_file(folder_ / "gate.xml"), "interrupted"));
}

TEST_F(CliGateExecutor, EndsWhereACommandDoesNotStart) {
  const CliRun missing = gate("cmd:" + served(), "new=cmd:optimised");
  EXPECT_EQ(missing.code, 3) << missing.out;
  // Behind the events of both sides that start.
  EXPECT_EQ(line_count(missing.err), 3U) << missing.err;
  EXPECT_TRUE(contains(missing.err, "{\"event\":\"starting\",\"side\":\"new\"}\ngraphgate: "));
  EXPECT_TRUE(contains(missing.err, "'optimised' ended with status 127"));
  // One that starts once and no more: its cases could not be compared.
  const CliRun once = gate("cmd:" + served(), "cmd:mkdir " + path("once") + " && " + served());
  EXPECT_EQ(once.code, 3) << once.out << once.err;
  EXPECT_EQ(rows(), std::vector<std::string>(2, "not compared "));
  EXPECT_TRUE(contains(once.out, "candidate: the executor"));
}

TEST_F(CliGateExecutor, RunsDrawnCasesOnCommandsToo) {
  const CliRun outcome =
      gate("cmd:" + served(), "cmd:" + served() + " --deviation lifetimes_touch_wrongly",
           "--time 1s --seed 3 --reruns 0 --judges verifier");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_GE(step()["drawn"]["cases"], 16);
  EXPECT_EQ(step()["compared"].get<int>() + step()["unsupported_on_both"].get<int>(),
            step()["drawn"]["cases"].get<int>() + 2);
  EXPECT_GE(step()["drawn"]["regressions"], 1) << step().dump(1);
}

TEST_F(CliGateExecutor, StartsTheAdapterOfAPythonEnvironment) {
  const fs::path python = folder_ / "venv/bin/python";
  fs::create_directories(python.parent_path());
  std::ofstream(python) << "#!/bin/sh\n"
                           "[ \"$1\" = -c ] && exit 1\n"
                           "[ \"$*\" = \"-m graphgate_torch serve --backend compile\" ] || exit 8\n"
                           "[ -d \"${PYTHONPATH%%:*}/graphgate_torch\" ] || exit 9\n"
                           "exec "
                        << served() << "\n";
  ASSERT_EQ(::chmod(python.c_str(), 0755), 0);
  const CliRun outcome = gate("fixed", "python:" + path("venv") + ":compile");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(step()["compared"], 2);
  const CliRun other = gate("fixed", "python:" + path("venv") + ":eager");
  EXPECT_EQ(other.code, 3) << other.out << other.err;
  EXPECT_TRUE(contains(other.err, "ended with status 8"));
  EXPECT_EQ(gate("fixed", "python:" + path("no-venv")).code, 3);
}

TEST_F(CliGateExecutor, StartsTheAdapterOfAnEnvironmentWithVllm) {
  const fs::path python = folder_ / "venv/bin/python";
  fs::create_directories(python.parent_path());
  std::ofstream(python) << "#!/bin/sh\n"
                           "[ \"$1\" = -c ] && exit 1\n"
                           "[ \"$*\" = \"-m graphgate_vllm serve --compiler eager\" ] || exit 8\n"
                           "[ -d \"${PYTHONPATH%%:*}/graphgate_vllm\" ] || exit 9\n"
                           "exec "
                        << served() << "\n";
  ASSERT_EQ(::chmod(python.c_str(), 0755), 0);
  const CliRun outcome = gate("fixed", "next=vllm:" + path("venv") + ":eager");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(step()["compared"], 2);
  EXPECT_EQ(step()["candidate"].get<std::string>().find("next (optimized "), 0U);
  const CliRun other = gate("fixed", "vllm:" + path("venv"));
  EXPECT_EQ(other.code, 3) << other.out << other.err;
  EXPECT_TRUE(contains(other.err, "ended with status 8"));
}

TEST_F(CliGateExecutor, RefusesWhatIsNoCommandInOneLine) {
  const auto refused = [&](const std::string& candidate, const std::string& flags,
                           const std::string& words) {
    const CliRun outcome = gate("fixed", candidate, flags);
    EXPECT_EQ(outcome.code, 4) << candidate << "\n" << outcome.out;
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, words));
  };
  refused("cmd:", "", "nothing stands behind cmd:");
  refused("python:x:", "", "found the backend");
  refused("vllm:x:", "", "found the compiler");
  refused("new=cmd:" + served(), "--overrides vllm", "'new' is a command");
  const CliRun serve = run("serve optimized --profile torch-1.0.0 </dev/null");
  EXPECT_EQ(serve.code, 4) << serve.err;
  const CliRun reference = run("serve reference --no-reuse </dev/null");
  EXPECT_EQ(reference.code, 4) << reference.err;
  EXPECT_TRUE(contains(reference.err, "no option 'no-reuse'"));
}

}  // namespace
}  // namespace graphgate::tools
