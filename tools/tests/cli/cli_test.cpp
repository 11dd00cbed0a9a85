// The program as its users meet it: run as a process, judged by its output and exit code.
#include "tools/tests/cli/cli_test.h"

#include <fstream>

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

TEST_F(Cli, ChecksARecordedModelAndEndsWithTheTotals) {
  const CliRun outcome = run("check " + model("mutations.pt2") + " " + model("quant_mixed.pt2"));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(last_line(outcome.out), "2 passed, 0 failed, 0 skipped");
}

TEST_F(Cli, ChecksOnSeededInputsWhereThereIsNoRecording) {
  fs::copy_file(model("mutations.pt2"), folder_ / "alone.pt2");
  const CliRun outcome = run("check " + (folder_ / "alone.pt2").string());
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "2 seeded calls"));
}

// What a large call takes is held for every call.
TEST_F(Cli, ChecksALargeProgramOnOneSeededCall) {
  const std::string program = (folder_ / "large.txt").string();
  std::ofstream(program) << "program \"large\" {\n  input %x : u8[33555, 1001]\n"
                            "  %y : u8[33555] = aten.amax.default(%x, [1])\n  output %y\n}\n";
  const CliRun outcome = run("check --executor optimized " + program);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "1 seeded calls")) << outcome.out;
}

// A recording passes its inputs each time anew: where one is said to keep its address, check keeps
// it there.
TEST_F(Cli, ChecksAProgramWithAStaticInput) {
  const std::string program = model("decode_static_cache.pt2");
  const CliRun kept = run("check --static-input tok --static-input 1 " + program);
  EXPECT_EQ(kept.code, 0) << kept.out << kept.err;
  const CliRun written = run("check --static-input r " + model("quant_mixed.pt2"));
  EXPECT_EQ(written.code, 2) << written.out << written.err;
  for (const char* flag : {"--static-input nope", "--static-input 9", "--pad s77"}) {
    const CliRun refused = run("check " + std::string(flag) + " " + program);
    EXPECT_EQ(refused.code, 4) << refused.out;
    EXPECT_EQ(line_count(refused.err), 1U) << refused.err;
  }
}

TEST_F(Cli, FailsARecordingWithOneElementOff) {
  const std::string data = edited_recording("mutations", [](interop::NamedTensors& tensors) {
    float x = 0;
    std::byte* at = tensors.at("call1.output0.float32").storage->bytes.data();
    std::memcpy(&x, at, sizeof(x));
    x += 1;
    std::memcpy(at, &x, sizeof(x));
  });
  const CliRun outcome = run("check " + model("mutations.pt2") + " --data " + data);
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "recording: call 1, output 0: element [0]"));
  EXPECT_EQ(last_line(outcome.out), "0 passed, 1 failed, 0 skipped");
}

TEST_F(Cli, FailsARecordedFinalStateThatIsOff) {
  const std::string data = edited_recording("mutations", [](interop::NamedTensors& tensors) {
    auto& bytes = tensors.at("call0.buffer.state.float32").storage->bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0x40});
  });
  const CliRun outcome = run("check " + model("mutations.pt2") + " --data " + data);
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "state 'state'"));
}

TEST_F(Cli, RefusesAnInputOfAnotherDtypeInOneLine) {
  const std::string data = edited_recording("mutations", [](interop::NamedTensors& tensors) {
    tensors.insert_or_assign("call0.input0", spec::make_host_tensor(spec::DType::kInt64, {8, 16}));
  });
  const CliRun outcome = run("check " + model("mutations.pt2") + " --data " + data);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "input 'x': dtype is int64, expected float32"));
}

TEST_F(Cli, RefusesASizeOutsideItsRangeInOneLine) {
  const std::string data = edited_recording("quant_mixed", [](interop::NamedTensors& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (name.compare(0, 11, "call0.input") != 0) continue;
      std::vector<std::int64_t> sizes = tensor.sizes;
      sizes[0] = 65;
      tensor = spec::make_host_tensor(tensor.dtype, sizes);
    }
  });
  const CliRun outcome = run("check " + model("quant_mixed.pt2") + " --data " + data);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "outside its range [1, 64]"));
}

TEST_F(Cli, RefusesEveryBadArchiveWithOneLineAndCode4) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "golden/bad")) {
    if (entry.path().extension() != ".pt2") continue;
    const CliRun outcome = run("check " + entry.path().string());
    const bool is_unsupported = outcome.code == 2;  // right, and beyond what there is
    EXPECT_TRUE(is_unsupported || outcome.code == 4) << entry.path() << " gave " << outcome.code;
    EXPECT_EQ(line_count(outcome.err), is_unsupported ? 0U : 1U) << entry.path() << outcome.err;
    EXPECT_EQ(outcome.out.starts_with("UNSUPPORTED "), is_unsupported) << outcome.out;
    ++files;
  }
  EXPECT_GT(files, 30U);
}

// Exports of PyTorch 2.15 (golden/exports says what they are).
TEST_F(Cli, RefusesAProgramThatCopiesIntoAnotherSizeWhereItSaysSo) {
  const std::string folder = (folder_ / "golden/exports").string();
  for (const char* verb : {"check", "check --judges all", "plan", "run"}) {
    const CliRun outcome = run(verb + (" " + folder) + "/resized_input.core.pt2");
    EXPECT_EQ(outcome.code, 4) << verb << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.err,
                         "the new contents of 'x' have sizes [0], which do not broadcast to "
                         "its sizes [3, 4]"));
  }
}

TEST_F(Cli, ChecksProgramsWhoseSizesHaveFloatsInThem) {
  const std::string folder = (folder_ / "golden/exports").string();
  const CliRun outcome =
      run("check --judges all " + folder + "/float_of_size.pt2 " + folder + "/scaled_size.pt2");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(last_line(outcome.out), "2 passed, 0 failed, 0 skipped");
}

// An op without a schema says as little of the other programs as one without a body.
TEST_F(Cli, HasNoVerdictOnProgramsWithOpsThatItDoesNotKnowAndJudgesTheOthers) {
  const auto program = [&](const std::string& name, const std::string& op) {
    std::ofstream(folder_ / name) << ("program \"p\" {\n  input %x : f32[3]\n  %y : f32[3] = " +
                                      op + "(%x)\n  output %y\n}\n");
    return " " + (folder_ / name).string();
  };
  const std::string unknown = program("unknown.txt", "mine.op.default");
  const std::string bare = program("bare.txt", "_c10d_functional.wait_tensor.default");
  const std::string good = program("good.txt", "aten.neg.default");
  for (const std::string& one : {unknown, bare}) {
    for (const char* verb : {"check", "check --judges all", "plan", "run"}) {
      const CliRun alone = run(verb + one);
      EXPECT_EQ(alone.code, 2) << verb << one << alone.out << alone.err;
    }
    EXPECT_TRUE(contains(run("check" + one).out, "UNSUPPORTED" + one + ":"));
  }
  const CliRun all = run("check" + unknown + good + bare);
  EXPECT_EQ(all.code, 2) << all.out << all.err;
  EXPECT_EQ(last_line(all.out), "1 passed, 0 failed, 2 skipped");
}

// A recorded call of an op that the table lacks is passed over; the others are judged.
TEST_F(Cli, PassesOverRecordedCallsOfOpsThatItDoesNotKnow) {
  std::ofstream(folder_ / "calls.jsonl")
      << ("{\"case\": 0, \"op\": \"mine.op.default\", \"args\": [1.5], \"kwargs\": {}, "
          "\"result\": 1.5, \"mutated\": {}}\n");
  interop::NamedTensors none;
  ASSERT_TRUE(interop::write_safetensors((folder_ / "calls.safetensors").string(), none).ok());
  const CliRun outcome = run("ops --cases " + (folder_ / "calls.jsonl").string());
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "0 passed, 0 failed, 1 skipped"));
}

TEST_F(Cli, NamesTheFileOfAnErrorWithItsFolderAndOnce) {
  const std::string archive = model("mutations.pt2");
  const std::string data = model("cond_nonzero.safetensors");
  EXPECT_EQ(run("check " + archive + " --data " + data).err,
            "graphgate: " + archive + ": 1 inputs given, expected 2\n");
  const std::string bad = (folder_ / "golden/bad/cycle.pt2").string();
  const std::string error = "graphgate: " + bad + ": model.json: ";
  EXPECT_EQ(run("check " + bad).err.substr(0, error.size()), error);
  EXPECT_EQ(run("run " + bad).err.substr(0, error.size()), error);
}

TEST_F(Cli, ChecksTheOtherFilesWhenTheInputsOfOneCannotBeDrawn) {
  std::ofstream(folder_ / "huge.txt")
      << "program \"p\" {\n  input %x : f64[1099511627776]\n  output %x\n}\n";
  std::ofstream(folder_ / "negative.txt")
      << "program \"p\" {\n  symbol s0 in [2, 4]\n  input %x : f32[s0, s0 - 3]\n  output %x\n}\n";
  const std::string files = (folder_ / "negative.txt").string() + " " + model("mutations.pt2");
  const CliRun outcome =
      run("check -j 4 --json - " + (folder_ / "huge.txt").string() + " " + files);
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["failed"], 2);
}

TEST_F(Cli, RefusesAProgramThatMutatesAConstant) {
  std::ofstream(folder_ / "p.txt") << "program \"p\" {\n  input \"flag\" = True\n"
                                      "  %y = aten.ones.default([2])\n"
                                      "  mutation input \"flag\" %y\n}\n";
  const CliRun outcome = run("check " + (folder_ / "p.txt").string());
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(contains(outcome.err, "'flag', which is a constant"));
}

TEST_F(Cli, TakesMoreJobsThanThereAreFiles) {
  EXPECT_EQ(run("check -j 1000 " + model("mutations.pt2")).code, 0);
}

TEST_F(Cli, WritesJsonOfAFileWhoseNameIsNoText) {
  const fs::path file = folder_ / "b\xff.pt2";
  const CliRun outcome = run("check --json - " + file.string());
  EXPECT_EQ(outcome.code, 4);
  EXPECT_FALSE(nlohmann::json::parse(outcome.out, nullptr, false).is_discarded()) << outcome.out;
}

TEST_F(Cli, RefusesFoldersAndPipesAsFiles) {
  for (const char* name : {"folder.pt2", "folder.txt"}) {
    fs::create_directory(folder_ / name);
    const CliRun outcome = run("check " + (folder_ / name).string());
    EXPECT_EQ(outcome.code, 4);
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  }
  ASSERT_EQ(mkfifo((folder_ / "pipe.pt2").c_str(), 0600), 0);
  EXPECT_EQ(run("check " + (folder_ / "pipe.pt2").string()).code, 4);
  const std::string archive = model("mutations.pt2");
  EXPECT_EQ(run("check " + archive + " --custom-ops " + folder_.string()).code, 4);
}

TEST_F(Cli, TellsWhenItsResultsCannotBeWritten) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(
      run("check --json " + (folder_ / "none/x.json").string() + " " + model("mutations.pt2")).code,
      3);
  for (const char* const words : {"doctor", "--version", "--help", "check --help", "help"}) {
    const std::string command =
        (folder_ / "graphgate").string() + " " + words + " >/dev/full 2>/dev/null";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): our own words
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 3) << words;
  }
}

TEST_F(Cli, WritesJsonToStandardOutputAlone) {
  const CliRun outcome = run("check --json - " + model("cond_nonzero.pt2"));
  EXPECT_EQ(outcome.code, 0);
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["programs"][0]["outcome"], "PASS");
}

// By an executor that greets, and then answers nobody.
TEST_F(Cli, ReportsWhatItJudgedWhereItIsInterrupted) {
  const fs::path sign = folder_ / "asked";
  const fs::path temporary = folder_ / "scratch";
  fs::create_directory(temporary);
  std::ofstream(folder_ / "slow.sh")
      << "read -r line\necho '{\"name\": \"slow\", \"options\": []}'\nread -r line\ntouch "
      << sign.string() << "\nsleep 100\n";
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const CliRun outcome = run_until(
      sign, "check --executor reference --executor 'sh " + (folder_ / "slow.sh").string() +
                "' -j 1 " + model("mutations.pt2") + " " + model("cond_nonzero.pt2") + " --json " +
                (folder_ / "r.json").string() + " --sarif " + (folder_ / "r.sarif").string() +
                " --junit " + (folder_ / "r.xml").string() + " --markdown " +
                (folder_ / "r.md").string());
  ::unsetenv("TMPDIR");
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "mutations.pt2: SIGTERM came before it was judged"))
      << outcome.out;
  EXPECT_TRUE(contains(last_line(outcome.out), "interrupted, 2 of 2 files not judged"));
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"));
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["programs"].size(), 2U);
  EXPECT_EQ(json["skipped"], 2);
  const auto sarif = nlohmann::json::parse(read_file(folder_ / "r.sarif"));
  EXPECT_EQ(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
  EXPECT_TRUE(contains(read_file(folder_ / "r.xml"), "name=\"what was not run\""));
  EXPECT_TRUE(contains(read_file(folder_ / "r.md"), "Incomplete: interrupted"));
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(Cli, TellsHowMuchIsCapturedAndWhatMemoryItTakes) {
  const CliRun outcome = run("check -v " + model("vllm_like.pt2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "of 30 steps captured in 4 of 7 partitions, peak "));
  EXPECT_TRUE(contains(outcome.out, "(no reuse "));
}

TEST_F(Cli, HoldsEveryNodeToItsOwnBoundOnRequest) {
  const CliRun outcome =
      run("check -v --judge-nodes --executor optimized " + model("mutations.pt2"));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, " node runs judged, worst "));
}

TEST_F(Cli, JudgesCasesByContentWithAllJudges) {
  for (const char* name :
       {"two_sizes", "held_output", "feed_back", "swapped_weights", "refused_dtype"}) {
    const std::string file = (folder_ / "golden/cases" / (std::string(name) + ".case")).string();
    const CliRun outcome = run("check -v " + file);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, " judges, "));
  }
}

TEST_F(Cli, FailsACaseWhoseExpectedOutputIsNotWhatComes) {
  std::string text = read_file(folder_ / "golden/cases/feed_back.case");
  text.replace(text.find("[1.75,"), 6, "[1.25,");
  const fs::path file = folder_ / "off.case";
  std::ofstream(file) << text;
  const CliRun outcome = run("check --judges bounds " + file.string());
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "B8.recording (bounds): recording: call 1, output 0"));
}

TEST_F(Cli, RefusesJudgesAndCasesThatAreNone) {
  const CliRun judge = run("check --judges bound " + model("mutations.pt2"));
  EXPECT_EQ(judge.code, 4);
  EXPECT_TRUE(contains(judge.err, "--judges: no judge is called 'bound'"));
  std::ofstream(folder_ / "bad.case") << "graphgate-case 1\nprogram \"p\" {\n}\nscenario {\n"
                                         "  call q\n}\n";
  const CliRun bad = run("check " + (folder_ / "bad.case").string());
  EXPECT_EQ(bad.code, 4);
  EXPECT_EQ(line_count(bad.err), 1U) << bad.err;
  EXPECT_TRUE(contains(bad.err, "bad.case: step 0 (call q): the case has no program 'q'"));
}

// The reference asked for the format of an integer, and ended the process.
TEST_F(Cli, RefusesIntegersWhereThereIsNoKernelOfThem) {
  for (const std::string node : {"aten.hardshrink.default(%x)", "aten.softshrink.default(%x)"}) {
    const std::string file = (folder_ / "integers.txt").string();
    std::ofstream(file) << "program \"p\" {\n  input %x : i64[3, 3]\n  %y = " << node
                        << "\n  output %y\n}\n";
    const CliRun refused = run("run --executor reference " + file);
    EXPECT_EQ(refused.code, 4) << refused.err;
    EXPECT_TRUE(contains(refused.err, "is not implemented for int64")) << refused.err;
  }
}

TEST_F(Cli, JudgesAStoredRunAgainWithoutTheExecutor) {
  const std::string kept = (folder_ / "kept").string();
  const CliRun first =
      run("check --executor optimized --record " + kept + " " + model("mutations.pt2"));
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(fs::exists(fs::path(kept) / "mutations.optimized/plan0.plan"));
  const CliRun again = run("check --judge-recorded " + kept);
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(last_line(again.out), "1 passed, 0 failed, 0 skipped");
  EXPECT_EQ(run("check --judge-recorded " + kept + " " + model("mutations.pt2")).code, 4);
  EXPECT_EQ(run("check --judge-recorded " + (folder_ / "none").string()).code, 4);
}

TEST_F(Cli, PacksTheSameBundleTwice) {
  const auto bundle = [&](const std::string& name) {
    fs::create_directory(folder_ / name);
    const std::string command =
        "check --executor optimized --bundle bundle.zip " + model("mutations.pt2");
    const std::string shell = "cd " + (folder_ / name).string() + " && ";
    const int status =
        std::system((shell + (folder_ / "graphgate").string() + " " + command + " >/dev/null")
                        .c_str());  // NOLINT(cert-env33-c): our own words
    EXPECT_EQ(status, 0);
    return read_file(folder_ / name / "bundle.zip");
  };
  const std::string first = bundle("a");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, bundle("b"));
  for (const char* entry :
       {"statement.txt", "command.txt", "versions.json", "report.json", "log.txt", "plans/"}) {
    EXPECT_TRUE(contains(first, entry)) << entry;
  }
}

TEST_F(Cli, WritesReportsForOtherPrograms) {
  const std::string data = edited_recording("mutations", [](interop::NamedTensors& tensors) {
    tensors.at("call1.output0.float32").storage->bytes[3] ^= std::byte{0x40};
  });
  const std::string program = model("mutations.pt2") + " --data " + data;
  const CliRun sarif = run("check --sarif - " + program);
  EXPECT_EQ(sarif.code, 1);
  const auto json = nlohmann::json::parse(sarif.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << sarif.out;
  EXPECT_EQ(json["runs"][0]["results"][0]["ruleId"], "B8.recording");
  const CliRun junit = run("check --junit - " + program);
  EXPECT_TRUE(contains(junit.out, "failures=\"1\""));
  const CliRun markdown = run("check --markdown - " + program);
  EXPECT_EQ(markdown.out.find("### FAIL: `graphgate check`\n\n0 passed, 1 failed, "), 0U)
      << markdown.out;
  EXPECT_EQ(run("check --sarif - --junit - " + program).code, 4);
}

TEST_F(Cli, PrintsPartitionsReasonsSignaturesAndADrawing) {
  const CliRun outcome = run("plan " + model("vllm_like.pt2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* expected :
       {"partition 1 eager, 1 step: 'unified_attention_with_output'; split op "
        "vllm.unified_attention_with_output",
        "in, freed $linear", "symbols   s26", "pool @arena: arena on cpu"}) {
    EXPECT_TRUE(contains(outcome.out, expected)) << expected << "\n" << outcome.out;
  }
}

TEST_F(Cli, SaysWhatChangedAgainstAStoredPlan) {
  const std::string text = (folder_ / "stored.plan").string();
  const std::string json = (folder_ / "stored.json").string();
  const std::string program = model("mutations.pt2");
  EXPECT_EQ(run("plan --text " + program).code, 0);
  fs::copy_file(folder_ / "out.txt", text, fs::copy_options::overwrite_existing);
  EXPECT_EQ(run("plan --json " + json + " " + program).code, 0);
  for (const std::string& stored : {text, json}) {
    const CliRun same = run("plan " + program + " --diff " + stored);
    EXPECT_EQ(same.code, 0) << same.out << same.err;
    EXPECT_EQ(same.out, "");
    const CliRun changed = run("plan --no-reuse " + program + " --diff " + stored);
    EXPECT_EQ(changed.code, 1) << changed.err;
    EXPECT_TRUE(contains(changed.out, "pool @arena: "));
  }
}

TEST_F(Cli, RefusesABrokenPlanWithItsPlace) {
  const fs::path stored = folder_ / "broken.plan";
  std::ofstream(stored) << "plan \"x\" strict {\n  pool @a arena on\n}\n";
  const CliRun outcome = run("plan " + model("mutations.pt2") + " --diff " + stored.string());
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(contains(outcome.err, "broken.plan:2:"));
}

TEST_F(Cli, PlansNoProgramWhoseStatesHaveNoData) {
  const std::string path = (folder_ / "stateless.txt").string();
  std::ofstream(path) << "program \"p\" {\n  buffer %s \"s\" : f32[4]\n"
                         "  %y = aten.neg.default(%s)\n  output %y\n}\n";
  const CliRun outcome = run("plan " + path);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err, "graphgate: " + path + ": no data for 's'\n");
}

TEST_F(Cli, DrawsAPlanForGraphviz) {
  const CliRun outcome = run("plan --dot " + model("cond_nonzero.pt2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("digraph ", 0), 0U);
  EXPECT_TRUE(contains(outcome.out, "eager: conditional"));
}

TEST_F(Cli, RunsAProgramAndSavesItsResults) {
  const fs::path saved = folder_ / "results.safetensors";
  const CliRun outcome = run("run " + model("mutations.pt2") + " --save " + saved.string());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto tensors = must(interop::read_safetensors(saved.string()));
  EXPECT_EQ(tensors.tensors.at("call0.output1").sizes, (std::vector<std::int64_t>{8, 16}));
}

TEST_F(Cli, RunsAHandWrittenProgramWithAnOpOfTheUsersOwn) {
  std::ofstream(folder_ / "ops.txt") << "mine::unknown(Tensor x) -> Tensor\n";
  std::ofstream(folder_ / "p.txt") << "program \"p\" {\n  input %x : f32[2]\n"
                                      "  %y = mine.unknown.default(%x)\n  output %y\n}\n";
  const std::string program = (folder_ / "p.txt").string();
  EXPECT_EQ(run("check " + program).code, 2);
  const CliRun outcome =
      run("check " + program + " --custom-ops " + (folder_ / "ops.txt").string());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.out, "UNSUPPORTED"));
}

TEST_F(Cli, ConvertsAnArchiveToTextAndBackWithoutChangingWhatItComputes) {
  const std::string text = (folder_ / "mutations.txt").string();
  const std::string archive = (folder_ / "mutations.pt2").string();
  EXPECT_EQ(run("convert --inline " + model("mutations.pt2") + " " + text).code, 0);
  EXPECT_EQ(run("convert " + text + " " + archive).code, 0);
  const CliRun outcome = run("check " + archive + " --data " + model("mutations.safetensors"));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

TEST_F(Cli, ListsOpsAndCoverage) {
  const CliRun list = run("ops silu");
  EXPECT_EQ(list.code, 0);
  EXPECT_TRUE(contains(list.out, "aten::silu_(Tensor(a!) self) -> Tensor(a!)"));
  const CliRun coverage = run("ops --coverage " + model("mutations.pt2"));
  EXPECT_EQ(coverage.code, 0) << coverage.out;
  EXPECT_TRUE(contains(last_line(coverage.out), "0 without a reference"));
}

// Ops that the table lacks, and one that nobody has a body for, in every kind of input.
class UnknownOps : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    fs::create_directory(folder_ / "in");
    write("ops.txt", "my::one(Tensor self) -> Tensor\nmy::two(Tensor self) -> Tensor\n");
    write("two.txt", program("two", "aten.relu.default", "my.one.default", "my.two.default"));
    write("one.txt", program("one", "aten.relu.default", "my.one.default", "my.one.default"));
    write("none.txt", program("none", "aten.relu.default", "aten.neg.default", "aten.abs.default"));
    write("one.case", a_case("my.one.default", ""));
    write("body.case", a_case("my.bodiless.default", "op my::bodiless(Tensor self) -> Tensor\n"));
    const CliRun made =
        run("convert --custom-ops " + at("ops.txt") + " " + at("two.txt") + " " + at("two.pt2"));
    EXPECT_EQ(made.code, 0) << made.err;
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_ / "in" / name).string();
  }

  [[nodiscard]] std::string report() const { return (folder_ / "report").string(); }

  static std::string program(const std::string& name, const std::string& a, const std::string& b,
                             const std::string& c) {
    return "program \"" + name + "\" {\n  input %x : f32[4]\n  %a : f32[4] = " + a +
           "(%x)\n  %b : f32[4] = " + b + "(%a)\n  %c : f32[4] = " + c + "(%b)\n  output %c\n}\n";
  }
  static std::string a_case(const std::string& op, const std::string& row) {
    return "graphgate-case 1\nname \"c\"\nseed 1\n" + row + "program \"p\" {\n" +
           "  input %x : f32[4]\n  %y : f32[4] = " + op +
           "(%x)\n  output %y\n}\nscenario {\n  call p\n}\n";
  }

  // One line, exit code 2, and the op's name.
  void says_unsupported(const CliRun& outcome, const std::string& op) {
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "the op table has no schema for " + op)) << outcome.err;
  }
};

TEST_F(UnknownOps, MakeTheirProgramUnsupportedAndNoOther) {
  const CliRun checked =
      run("check --json " + report() + " " + at("two.txt") + " " + at("two.pt2") + " " +
          at("one.case") + " " + at("body.case") + " " + at("none.txt"));
  EXPECT_EQ(checked.code, 2) << checked.out << checked.err;
  EXPECT_EQ(last_line(checked.out), "1 passed, 0 failed, 4 skipped");
  EXPECT_TRUE(contains(checked.out,
                       "\nmissing ops: my.one.default (3), my.two.default (2), "
                       "my.bodiless.default (1)\n"))
      << checked.out;
  const auto json = nlohmann::json::parse(read_file(report()));
  EXPECT_EQ(
      json["missing_ops"],
      nlohmann::json({{"my.one.default", 3}, {"my.two.default", 2}, {"my.bodiless.default", 1}}));
  EXPECT_EQ(json["not_compared"], 4);
  for (const char* verb : {"run ", "plan "}) {
    const CliRun several = run(verb + at("two.txt") + " " + at("none.txt"));
    says_unsupported(several, "my.one.default, nor for my.two.default");
    EXPECT_TRUE(contains(several.out, "none")) << several.out;
  }
  says_unsupported(run("convert " + at("two.pt2") + " " + at("out.txt")), "my.one.default");
  says_unsupported(run("reduce --output " + at("out.case") + " " + at("two.pt2")),
                   "my.one.default");
  says_unsupported(run("replay " + at("one.case")), "my.one.default");
}

TEST_F(UnknownOps, InPlansAreUnsupportedInBothForms) {
  const CliRun made = run("plan --text --json " + at("none.json") + " " + at("none.txt"));
  ASSERT_EQ(made.code, 0) << made.err;
  const auto replaced = [](std::string text) {
    for (std::size_t found = 0; (found = text.find("aten.relu.default")) != std::string::npos;) {
      text.replace(found, 17, "my.one.default");
    }
    return text;
  };
  write("none.plan", replaced(made.out));
  write("none.json", replaced(read_file(at("none.json"))));
  says_unsupported(run("plan --verify " + at("none.plan")), "my.one.default");
  says_unsupported(run("plan --verify " + at("none.json")), "my.one.default");
}

TEST_F(UnknownOps, InACorpusCostTheOthersNothing) {
  fs::create_directories(at("corpus/regression"));
  fs::copy_file(at("one.case"), at("corpus/regression/one.case"));
  write("corpus/regression/good.case", a_case("aten.relu.default", ""));
  const CliRun replayed =
      run("fuzz --replay-only --jobs 1 --json " + report() + " --corpus " + at("corpus"));
  EXPECT_EQ(replayed.code, 2) << replayed.out << replayed.err;
  // The summary is a line of the log: its line breaks are escaped.
  EXPECT_TRUE(
      contains(replayed.out, R"(missing ops: my.one.default (1)\n1 passed, 0 failed, 1 skipped\n)"))
      << replayed.out;
  EXPECT_EQ(nlohmann::json::parse(read_file(report()))["missing_ops"]["my.one.default"], 1);
}

TEST_F(UnknownOps, AreCountedByTheGate) {
  const CliRun gated = run("gate --baseline torch-2.12.0 --candidate torch-2.13.0 --json " +
                           report() + " --corpus " + at(""));
  EXPECT_EQ(gated.code, 2) << gated.out << gated.err;
  EXPECT_TRUE(contains(gated.out, "missing ops: my.one.default (2)")) << gated.out;
  const auto step = nlohmann::json::parse(read_file(report()))["steps"][0];
  EXPECT_EQ(step["missing_ops"]["my.bodiless.default"], 1) << step.dump(1);
}

TEST_F(UnknownOps, AreListedForAllProgramsOfAFolder) {
  const CliRun listed = run("ops --coverage " + at("") + " --json " + report());
  EXPECT_EQ(listed.code, 2) << listed.out << listed.err;
  EXPECT_TRUE(contains(last_line(listed.out), "3 without a reference")) << listed.out;
  const auto json = nlohmann::json::parse(read_file(report()));
  EXPECT_EQ(json["programs"], 6);
  ASSERT_EQ(json["gaps"].size(), 3U) << json.dump(1);
  EXPECT_EQ(json["gaps"][0]["op"], "my.one.default");
  EXPECT_EQ(json["gaps"][0]["programs"], 4);
  EXPECT_EQ(json["gaps"][0]["nodes"], 5);
  EXPECT_EQ(json["gaps"][0]["lacks"], nlohmann::json({"schema"}));
  EXPECT_EQ(json["gaps"][1]["op"], "my.two.default");
  EXPECT_EQ(json["gaps"][2]["lacks"], nlohmann::json({"body", "kernel"}));
  write("bad.case", "graphgate-case 1\nprogram {");
  const CliRun with_bad = run("ops --coverage " + at(""));
  EXPECT_EQ(with_bad.code, 4) << with_bad.err;
  EXPECT_EQ(line_count(with_bad.err), 1U) << with_bad.err;
  EXPECT_TRUE(contains(last_line(with_bad.out), "3 without a reference")) << with_bad.out;
}

TEST_F(UnknownOps, OfRecordedCallsAreSkippedAndTheNextCallsJudged) {
  const auto line = [](int id, const std::string& op) {
    const std::string tensor =
        R"({"tensor": {"storage": 0, "dtype": "float32", "sizes": [2], "strides": [1], )"
        R"("storage_offset": 0}})";
    return R"({"case": )" + std::to_string(id) + R"(, "op": ")" + op + R"(", "args": [)" + tensor +
           R"(], "kwargs": {}, "result": )" + tensor + R"(, "mutated": {}})" + "\n";
  };
  write("c.jsonl", line(0, "my.one.default") + line(1, "aten.neg.default") +
                       line(2, "my.one.default") + line(3, "my.two.default"));
  interop::NamedTensors bytes;
  for (int id = 0; id < 4; ++id) {
    const auto zeros = spec::make_host_tensor(spec::DType::kUInt8, {8});
    bytes.emplace(std::to_string(id) + ".in0", zeros);
    bytes.emplace(std::to_string(id) + ".out0", zeros);
  }
  ASSERT_TRUE(interop::write_safetensors(at("c.safetensors"), bytes).ok());
  for (const char* executor : {"reference", "optimized"}) {
    const CliRun judged =
        run("ops --cases " + at("c.jsonl") + " --json " + report() + " --executor " + executor);
    EXPECT_EQ(judged.code, 2) << judged.out << judged.err;
    EXPECT_EQ(last_line(judged.out), "1 passed, 0 failed, 3 skipped") << judged.out;
    EXPECT_TRUE(contains(judged.out, "missing ops: my.one.default (2), my.two.default (1)\n"));
    const auto json = nlohmann::json::parse(read_file(report()));
    EXPECT_EQ(json["missing_ops"]["my.one.default"], 2);
  }
}

TEST_F(Cli, TellsUsageErrorsWithCode4AndHelpWithCode0) {
  EXPECT_EQ(run("").code, 4);
  EXPECT_TRUE(contains(run("frobnicate").err, "unknown verb 'frobnicate'"));
  EXPECT_EQ(run("frobnicate").code, 4);
  EXPECT_EQ(run("check").code, 4);
  EXPECT_EQ(run("check no_such_file.pt2").code, 4);
  for (const char* verb : {"check", "run", "ops", "convert", "bench", "doctor"}) {
    const CliRun help = run(std::string(verb) + " --help");
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_TRUE(contains(help.out, "Example")) << verb;
  }
}

TEST_F(Cli, ReadsNoTextBeyondTheFlag) {
  const std::string file = (folder_ / "golden/cases/op/creation.case").string();
  EXPECT_EQ(run("check --text-limit 1M " + file).code, 0);
  for (const char* line : {"check --text-limit 100 ", "replay --text-limit 100 ",
                           "golden check --text-limit 10 --only x "}) {
    const bool is_golden = std::string_view(line).starts_with("golden");
    const CliRun outcome = run(line + (is_golden ? (folder_ / "golden").string() : file));
    EXPECT_EQ(outcome.code, 3) << line << outcome.err;
    EXPECT_TRUE(contains(outcome.err, is_golden ? "expected at most 10" : "expected at most 100"))
        << outcome.err;
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  }
  for (const char* wrong : {"much", "0", "-1"}) {
    const CliRun outcome = run("check --text-limit=" + std::string(wrong) + " " + file);
    EXPECT_EQ(outcome.code, 4) << wrong;
    EXPECT_TRUE(contains(outcome.err, "--text-limit")) << outcome.err;
  }
}

// In whatever group they stand.
TEST_F(Cli, DeclaresDevicesInOnePlace) {
  const auto device_flags = [&](const std::string& verb) {
    const std::string help = run(verb + " --help").out;
    const std::size_t begin = help.find("  --device TEXT");
    const std::size_t second = help.find("  --device-memory TEXT", begin);
    if (begin == std::string::npos || second == std::string::npos) return std::string();
    // A line with the name, a line that says what.
    const std::size_t end = help.find('\n', help.find('\n', second) + 1);
    return help.substr(begin, end - begin);
  };
  const std::string expected = device_flags("check");
  EXPECT_TRUE(contains(expected, "--device-memory TEXT:{plain,guarded,guarded-front}=plain"));
  for (const char* verb :
       {"plan", "run", "fuzz", "golden check", "serve", "reduce", "replay", "gate", "bench"}) {
    EXPECT_EQ(device_flags(verb), expected) << verb;
    if (std::string(verb) == "serve") continue;  // which waits for requests
    const CliRun outcome = run(std::string(verb) + " --device-memory guarded --device tpu");
    EXPECT_EQ(outcome.code, 4) << verb;
    EXPECT_TRUE(contains(outcome.err, "--device: tpu not in {host,cuda,emulated,compiled}"))
        << verb << ": " << outcome.err;
  }
}

TEST_F(Cli, MeasuresPlanningAndReplayAsRatios) {
  const CliRun outcome =
      run("bench plan --nodes 300 --tensor-mib 1 --json - --model " + model("quant_mixed.pt2"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_EQ(json["planning"]["sizes"].back()["nodes"], 300);
  EXPECT_EQ(json["fusion"]["fused_launches"], 1);
  EXPECT_EQ(json["replay"]["partitions"], 50);
  EXPECT_EQ(json["start"]["plans"], 15);
  EXPECT_GT(json["start"]["plans_cold_by_warm"]["ratio"], 0);
}

TEST_F(Cli, MeasuresWhatTheRuntimeAddsToLaunches) {
  const CliRun outcome = run("bench replay --only runtime --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  ASSERT_EQ(json["runtime"].size(), 4U);
  EXPECT_EQ(json["runtime"][1]["graphs"], 33);
  EXPECT_EQ(json["runtime"][1]["copied_bytes"], 0);
  EXPECT_EQ(json["runtime"][3]["eager_launches"], 32);
  EXPECT_GT(json["runtime"][3]["run_by_bare"]["run_seconds"], 0);
  EXPECT_FALSE(json.contains("launch"));
}

TEST_F(Cli, MeasuresWhatCaptureSizesCost) {
  const CliRun outcome =
      run("bench replay --device emulated --only sizes --capture-sizes 2,8 --json - --model " +
          model("llama_sdpa.pt2"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  ASSERT_EQ(json["sizes"].size(), 1U);
  const auto& sizes = json["sizes"][0]["sizes"];
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0]["size"], 8);
  EXPECT_EQ(sizes[0]["least"], 3);
  EXPECT_EQ(sizes[1]["size"], 2);
  EXPECT_GT(sizes[0]["graphs"], 0);
  EXPECT_GT(sizes[0]["own_bytes"], sizes[1]["own_bytes"]);
  EXPECT_TRUE(sizes[0]["made"].is_null());
  EXPECT_EQ(json["sizes"][0]["all"]["graphs"],
            sizes[0]["graphs"].get<int>() + sizes[1]["graphs"].get<int>());
}

TEST_F(Cli, MeasuresWhatJudgesCostAsRatios) {
  const fs::path models = folder_ / "models";
  fs::create_directories(models);
  for (const char* file : {"mutations.pt2", "mutations.safetensors", "mutations.geometry.json"}) {
    fs::copy_file(model(file), models / file, fs::copy_options::overwrite_existing);
  }
  const CliRun outcome = run("bench judges --json - --models " + models.string());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  for (const char* part : {"provenance", "reference-provenance", "shadow"}) {
    ASSERT_EQ(json[part]["models"].size(), 1U) << part;
    EXPECT_EQ(json[part]["worst_model"], "mutations") << part;
    EXPECT_GT(json[part]["worst"], 1.0) << part;
    EXPECT_GT(json[part]["all"]["plain_seconds"], 0) << part;
  }
  const auto& verifier = json["verifier"]["models"][0];
  EXPECT_GT(verifier["share"], 0);
  EXPECT_GT(verifier["share_with_run"], verifier["share"]);
  EXPECT_LT(verifier["share_with_run"], 1.0);
}

TEST_F(Cli, RefusesToMeasureWhatItDoesNotKnow) {
  EXPECT_EQ(run("bench everything").code, 4);
  EXPECT_EQ(run("bench plan --only nothing").code, 4);
  EXPECT_EQ(run("bench plan --nodes 99").code, 4);
  EXPECT_EQ(run("bench plan --only shadow").code, 4);
  EXPECT_EQ(run("bench judges --models no_such_folder").code, 4);
  EXPECT_EQ(run("bench replay --only launch").code, 4);
  EXPECT_EQ(run("bench replay --only sizes").code, 4);
  EXPECT_EQ(run("bench replay --device tpu").code, 4);
  EXPECT_EQ(run("bench plan --device emulated").code, 4);
  EXPECT_EQ(run("bench replay --device-memory guarded").code, 4);
  EXPECT_EQ(run("bench replay --device compiled").code, 4);
  const CliRun missing = run("bench plan --only start --model no_such_file.pt2");
  EXPECT_EQ(missing.code, 4);
  EXPECT_EQ(line_count(missing.err), 1U) << missing.err;
}

TEST_F(Cli, CudaWithoutAGpuIsAnInfrastructureErrorInOneLine) {
  // What doctor says in one sentence: a driver and its GPUs, or why there are none.
  const std::string sentence =
      nlohmann::json::parse(run("doctor --json -").out).at("cuda").get<std::string>();
  if (sentence.starts_with("driver for CUDA")) GTEST_SKIP() << "there is a GPU";
  const std::string file = model("mutations.pt2");
  for (const std::string& verb :
       {"check --device cuda " + file, "run --executor optimized --device cuda " + file,
        "plan --device cuda " + file, std::string("bench replay --device cuda")}) {
    const CliRun outcome = run(verb);
    EXPECT_EQ(outcome.code, 3) << verb;
    EXPECT_EQ(outcome.out, "") << verb;
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, sentence));
  }
  EXPECT_EQ(run("run --device cuda " + model("mutations.pt2")).code, 4);
  EXPECT_EQ(run("run --device-memory guarded " + model("mutations.pt2")).code, 4);
  EXPECT_EQ(run("run --executor optimized --mode oracle " + model("mutations.pt2")).code, 4);
}

TEST_F(Cli, EmulatesADeviceWhereThereIsACompiler) {
  const char* const before = std::getenv("CXX");
  const std::string own = before == nullptr ? "" : before;
  const std::string both = model("mutations.pt2") + " " + model("quant_mixed.pt2");
  const CliRun right = run("check --executor optimized --device emulated --jobs 2 " + both);
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  EXPECT_TRUE(contains(right.out, "2 passed, 0 failed"));
  setenv("CXX", "no-such-compiler -O2", 1);
  const CliRun without =
      run("run --executor optimized --device emulated " + model("mutations.pt2"));
  own.empty() ? unsetenv("CXX") : setenv("CXX", own.c_str(), 1);
  EXPECT_EQ(without.code, 3);
  EXPECT_EQ(line_count(without.err), 1U) << without.err;
  EXPECT_TRUE(contains(without.err, "there is no 'no-such-compiler'"));
}

TEST_F(Cli, CompilesForAGpuWhereThereIsNone) {
  // What doctor says in one line: a version, or why there is none.
  const std::string nvrtc =
      nlohmann::json::parse(run("doctor --json -").out).at("nvrtc").get<std::string>();
  const fs::path cache = folder_ / "compiled";
  const CliRun outcome = run("check --executor optimized --device compiled --cache " +
                             cache.string() + " " + model("mutations.pt2"));
  if (outcome.code == 3) {
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, nvrtc));
    GTEST_SKIP() << nvrtc;
  }
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "1 passed, 0 failed"));
  const auto cubins = std::distance(fs::directory_iterator(cache / "cubins"), {});
  EXPECT_GT(cubins, 0);
  const CliRun guarded = run("run --executor optimized --device compiled --device-memory guarded " +
                             model("mutations.pt2"));
  EXPECT_EQ(guarded.code, 4);
  EXPECT_TRUE(contains(guarded.err, "--device-memory guarded goes with --device cuda or emulated"));
}

// A compiler that fails the first time: what a device refuses is one program's error.
TEST_F(Cli, GoesOnWithTheNextProgramWhereADeviceRefusesOne) {
  const char* const before = std::getenv("CXX");
  const std::string own = before == nullptr ? "c++" : before;
  const std::string mark = (folder_ / "refused").string();
  const fs::path compiler = folder_ / "compiler";
  std::ofstream(compiler) << "#!/bin/sh\n[ -e " << mark << " ] && exec " << own << " \"$@\"\ntouch "
                          << mark << "\necho not today >&2\nexit 1\n";
  fs::permissions(compiler, fs::perms::owner_all);
  setenv("CXX", compiler.c_str(), 1);
  const CliRun outcome = run("check --executor optimized --device emulated " +
                             model("mutations.pt2") + " " + model("quant_mixed.pt2"));
  before == nullptr ? unsetenv("CXX") : setenv("CXX", own.c_str(), 1);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.out, "1 passed, 1 failed"));
  EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "mutations.pt2: "));
  EXPECT_TRUE(contains(outcome.err, "not today"));
}

TEST_F(Cli, RunsTheOptimizedExecutor) {
  const CliRun outcome = run("run --executor optimized " + model("mutations.pt2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "call0.output0 "));
}

TEST_F(Cli, DoctorRunsEverywhere) {
  const CliRun outcome = run("doctor --json -");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_FALSE(nlohmann::json::parse(outcome.out, nullptr, false).is_discarded()) << outcome.out;
}

}  // namespace
}  // namespace graphgate::tools
