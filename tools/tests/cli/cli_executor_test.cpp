// graphgate check --executor CMD, with graphgate serve at the other end, right and wrong.
#include "tools/tests/cli/cli_test.h"

#include <map>
#include <sstream>

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class CliExecutor : public Cli {
 protected:
  [[nodiscard]] std::string served(const char* executor) const {
    return (folder_ / "graphgate").string() + " serve " + executor;
  }
  // `command` in single quotes, on these cases of golden/cases.
  CliRun check(const std::string& command, const std::string& cases, const std::string& flags = "",
               const std::string& judges = "all") {
    return run("check --judges " + judges + " --executor '" + command + "' " + flags + " " +
               (folder_ / "golden/cases" / cases).string() + " --json " +
               (folder_ / "r.json").string());
  }
  [[nodiscard]] nlohmann::json report() const {
    return nlohmann::json::parse(read_file(folder_ / "r.json"), nullptr, false);
  }
  // What the judges said, without times and the executor's name.
  static std::vector<std::string> verdicts(const nlohmann::json& report) {
    std::vector<std::string> out;
    for (const auto& program : report["programs"]) {
      for (const auto& judge : program["executors"][0]["judges"]) {
        out.push_back(program["file"].get<std::string>() + " " + judge["judge"].get<std::string>() +
                      " " + judge["outcome"].get<std::string>() + " " + judge["checks"].dump());
      }
    }
    return out;
  }
};

TEST_F(CliExecutor, IsJudgedAsTheSameExecutorInThisProcess) {
  for (const char* cases : {"op/conv*.case", "mutation/*.case", "feed_back.case",
                            "swapped_weights.case", "wrapper/static-input*.case"}) {
    const CliRun apart = check(served("optimized"), cases);
    EXPECT_EQ(apart.code, 0) << apart.out << apart.err;
    const auto there = verdicts(report());
    const CliRun here = check("optimized", cases);
    EXPECT_EQ(here.code, 0) << here.out << here.err;
    EXPECT_FALSE(there.empty());
    EXPECT_EQ(there, verdicts(report())) << cases;
  }
}

TEST_F(CliExecutor, ThatDecidesWrongIsFound) {
  const CliRun outcome = check(served("optimized"), "catalogue/p1-tail-allocation.case",
                               "--profile torch-2.9.0", "verifier");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const CliRun right =
      check(served("reference"), "catalogue/p1-tail-allocation.case", "", "bounds");
  EXPECT_EQ(right.code, 0) << right.out << right.err;
}

TEST_F(CliExecutor, SleepsInItsProcessAndIsFoundWhereItDoesNot) {
  const CliRun right = check(served("optimized"), "catalogue/s[1-5]*.case", "", "exact,state");
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  const CliRun served_call = check(served("optimized"), "catalogue/s1-*.case",
                                   "--deviation runs_while_asleep", "exact,state");
  EXPECT_EQ(served_call.code, 1) << served_call.out << served_call.err;
  const CliRun lost = check(served("optimized"), "catalogue/s3-*.case",
                            "--deviation sleep_loses_buffers", "exact,state");
  EXPECT_EQ(lost.code, 1) << lost.out << lost.err;
  const CliRun awake = check(served("reference"), "catalogue/s1-*.case", "", "bounds");
  EXPECT_EQ(awake.code, 2) << awake.out << awake.err;
  EXPECT_TRUE(contains(awake.out, "does not sleep")) << awake.out;
}

TEST_F(CliExecutor, AnswersWithAsManyBytesAsTheFlagSays) {
  std::ofstream(folder_ / "made.case") << R"(graphgate-case 1
name "made"
program "made" {
  %f = aten.full.default([1000], 2.5)
  output %f
}
scenario {
  call made
}
expect PASS
)";
  const std::string line = "check --judges bounds --executor '" + served("optimized") + "' " +
                           (folder_ / "made.case").string();
  EXPECT_EQ(run(line).code, 0);
  const CliRun less = run(line + " --answer-limit 1K");
  EXPECT_EQ(less.code, 1) << less.err;
  EXPECT_TRUE(contains(less.out, "answers with what is no answer")) << less.out;
  EXPECT_EQ(run(line + " --answer-limit 8K").code, 0);
  const CliRun no_bytes = run(line + " --answer-limit much");
  EXPECT_EQ(no_bytes.code, 4);
  EXPECT_TRUE(contains(no_bytes.err, "--answer-limit")) << no_bytes.err;
}

TEST_F(CliExecutor, IsWrittenDownWithAllThatIsSaid) {
  const std::string log = (folder_ / "log.jsonl").string();
  const auto lines_of = [&] {
    std::vector<nlohmann::json> lines;
    std::istringstream text(read_file(log));
    for (std::string line; std::getline(text, line);) {
      lines.push_back(nlohmann::json::parse(line, nullptr, false));
      EXPECT_TRUE(lines.back().is_object()) << line;
    }
    return lines;
  };
  // Several processes at a time, each a session.
  const CliRun passes = check(served("reference"), "op/conv*.case", "-j 2 --log-protocol " + log);
  EXPECT_EQ(passes.code, 0) << passes.out << passes.err;
  std::map<std::string, std::vector<std::string>> said;
  for (const auto& line : lines_of()) {
    said[line["session"]].push_back(line["direction"]);
    EXPECT_TRUE(line["message"].is_object());
    EXPECT_EQ(line["message"].contains("folder"), line.contains("tensors"));
  }
  EXPECT_GT(said.size(), 1U);
  for (const auto& [session, directions] : said) {
    for (std::size_t i = 0; i < directions.size(); ++i) {
      EXPECT_EQ(directions[i], i % 2 == 0 ? "sent" : "answered") << session;
    }
  }
  EXPECT_EQ(passes.out.find("log-protocol"), std::string::npos);

  (void)check(served("reference") + " | sed -u 3s/.*/garbage/", "op/conversion.case",
              "--log-protocol " + log);
  const auto lines = lines_of();
  ASSERT_GT(lines.size(), 2U);
  EXPECT_EQ(lines[lines.size() - 2]["text"], "garbage");
  EXPECT_EQ(lines.back()["direction"], "ended");
  EXPECT_TRUE(contains(lines.back()["text"].get<std::string>(), "answers with what is no answer"));

  const std::string file = (folder_ / "golden/cases/op/conversion.case").string();
  EXPECT_EQ(run("check " + file + " --log-protocol " + log).code, 4);  // asks no process
  EXPECT_EQ(run("fuzz --cases 1 --log-protocol " + log).code, 4);
  EXPECT_EQ(run("gate --baseline fixed --candidate fixed --log-protocol " + log).code, 4);
  EXPECT_EQ(check(served("reference"), "op/conversion.case", "--log-protocol /no/such/log").code,
            3);
}

TEST_F(CliExecutor, ThatEndsHangsOrTalksNonsenseIsAFinding) {
  const std::string serve = served("optimized");
  const auto found = [&](const std::string& command, const std::string& words,
                         const std::string& rule = "CRASH R2.broke-down") {
    const CliRun outcome = check(command, "op/conversion.case", "--executor-timeout 2");
    EXPECT_EQ(outcome.code, 1) << command << "\n" << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, rule));
    EXPECT_TRUE(contains(outcome.out, words));
  };
  // Three requests in: hello, open, load.
  found("sed -u 3q | " + serve, "ended with status 0 and without an answer");
  found(serve + " | (sed -u 3q; kill -SEGV 0)", "was killed by signal 11");
  found("(" + serve + " | sed -u 3q; sleep 1000)", "did not answer in time",
        "TIMEOUT R2.no-answer");
  found(serve + " | sed -u s/.result./resul/", "answers with what is no answer");
  // More elements than there are bytes.
  found(serve + " | sed -u s/.sizes.:../\\\"sizes\\\":[99/", "answers with what is no answer");
}

TEST_F(CliExecutor, IsNotBlamedForWhatTheReferenceCannotRun) {
  const fs::path path = folder_ / "loop.case";
  for (const char* op : {"higher_order.associative_scan", "higher_order.out_dtype",
                         "higher_order.wrap_with_set_grad_enabled", "my.own.default"}) {
    std::ofstream(path) << "graphgate-case 1\nname \"loop\"\nseed 1\n"
                        << "op my::own(Tensor self) -> Tensor\nprogram \"p\" {\n"
                        << "  input %x : f32[4]\n  %y : f32[4] = " << op << "(%x)\n"
                        << "  output %y\n}\nscenario {\n  call p\n}\n";
    // One that runs the op as another one.
    const std::string takes =
        "sed -u \"s/" + std::string(op) + "(%x)/aten.relu.default(%x)/g\" | " + served("optimized");
    const CliRun outcome = run("check --judges bounds,state,exact,provenance,vacuity --executor '" +
                               takes + "' " + path.string());
    EXPECT_EQ(outcome.code, 2) << op << "\n" << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out.find("UNSUPPORTED "), 0U) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, std::string("the reference has no body for ") + op));
    EXPECT_TRUE(contains(outcome.out, "\n1 not compared: " + path.string() + "\n"));
  }
}

TEST_F(CliExecutor, ThatDoesNotSayHelloIsNoExecutor) {
  const CliRun missing = check("optimised", "op/conversion.case");
  EXPECT_EQ(missing.code, 3) << missing.out;
  EXPECT_EQ(line_count(missing.err), 1U) << missing.err;
  EXPECT_TRUE(contains(missing.err, "'optimised' ended with status 127"));
  EXPECT_EQ(check("echo hello", "op/conversion.case").code, 3);
  const CliRun old = check(served("optimized") + " | sed -u s/name/nom/", "op/conversion.case");
  EXPECT_EQ(old.code, 3) << old.out;
  EXPECT_TRUE(contains(old.err, "has no \"name\""));
}

// What shows plans may fail by itself: that costs the verifier its subject, and no other judge.
TEST_F(CliExecutor, WhosePlansAreNotShownIsJudgedByItsValues) {
  std::size_t scripts = 0;
  // `served`, with `text` written into its answers to calls.
  const auto changed = [&](const std::string& served, const std::string& text) {
    const std::string script = (folder_ / ("plans" + std::to_string(++scripts) + ".sed")).string();
    std::ofstream(script) << "/\"result\"/" << text << "\n";
    return served + " | sed -u -f " + script;
  };
  const auto verifier = [&] {
    const nlohmann::json written = report();
    for (const auto& judge : written["programs"][0]["executors"][0]["judges"]) {
      if (judge["judge"] == "verifier") return judge["outcome"].get<std::string>();
    }
    return std::string("not asked");
  };
  const std::string insert = "s/{/{";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {insert + R"("not_shown":["no words for it"],/)", "no words for it"},
           {insert + R"("own_plans":[7],/)", "own_plans[0]"},
           {insert + R"("own_plans":"many",/)", "own_plans"},
           {insert + R"("own_plans":[{"graph":"program","ops":[],"plan":{}}],/)", "graph:1:"},
           {R"(s/"steps":/"stepz":/)", "the plan cannot be read: "}}) {
    const std::string command = changed(served("optimized"), text);
    const CliRun all = check(command, "op/conversion.case", "", "bounds,verifier");
    EXPECT_EQ(all.code, 0) << text << "\n" << all.out << all.err;
    EXPECT_TRUE(contains(all.out, "V0.not-shown"));
    EXPECT_TRUE(contains(all.out, words));
    EXPECT_EQ(verifier(), "UNSUPPORTED") << text;
    const CliRun alone = check(command, "op/conversion.case", "", "verifier");
    EXPECT_EQ(alone.code, 2) << text << "\n" << alone.out << alone.err;
  }
  // Neither hides what is wrong with the values, or with plans that are shown.
  const std::string wrong = served("optimized --profile torch-2.9.0");
  const CliRun found = check(changed(wrong, insert + R"("not_shown":["no words for it"],/)"),
                             "catalogue/p1-tail-allocation.case", "", "verifier");
  EXPECT_EQ(found.code, 1) << found.out << found.err;
}

// The same executor, which promises less: what a promise is worth shows in what is found.
TEST_F(CliExecutor, MayPromiseLess) {
  std::size_t scripts = 0;
  const auto promising_json = [&](const std::string& key, const std::string& value) {
    const std::string script = (folder_ / (std::to_string(++scripts) + ".sed")).string();
    std::ofstream(script) << "1s/{/{\"" << key << "\":" << value << ",/\n";
    return served("optimized") + " | sed -u -f " + script;
  };
  const auto promising = [&](const std::string& key, const std::string& value) {
    return promising_json(key, '"' + value + '"');
  };
  for (const char* arithmetic : {"strict", "tensor-core", "fast", "approximate"}) {
    const CliRun right =
        check(promising("arithmetic", arithmetic), "op/conversion.case", "", "exact,bounds");
    EXPECT_EQ(right.code, 0) << right.out << right.err;
  }
  EXPECT_EQ(check(promising("layouts", "free"), "op/conversion.case").code, 0);
  EXPECT_EQ(check(promising("kernels", "cuda"), "op/conversion.case").code, 0);
  const std::string both = promising_json("split_sums", R"(["f16","bf16"])");
  EXPECT_EQ(check(both, "op/conversion.case", "", "exact,bounds").code, 0);
  const CliRun wide = check(promising_json("split_sums", R"(["f32"])"), "op/conversion.case");
  EXPECT_EQ(wide.code, 3) << wide.out;
  EXPECT_TRUE(contains(wide.err, "expected f16 or bf16, found 'f32'"));
  const CliRun typo = check(promising("layouts", "fre"), "op/conversion.case");
  EXPECT_EQ(typo.code, 3) << typo.out;
  EXPECT_TRUE(contains(typo.err, "expected kept or free, found 'fre'"));
  const CliRun loose = check(promising("arithmetic", "loose"), "op/conversion.case");
  EXPECT_TRUE(contains(loose.err, "fast or approximate, found 'loose'"));
}

// What an op does goes by the release of PyTorch that the greeting names.
TEST_F(CliExecutor, IsJudgedByTheReleaseThatItNames) {
  // An executor that does what `does` does, and greets as `greets`; "open": it says no release.
  const auto subject = [&](const std::string& does, const std::string& greets) {
    const std::string script = (folder_ / (does + "-" + greets + ".sed")).string();
    const std::string said = R"("torch":")" + does + "\"";
    const std::string instead = R"("torch":")" + greets + "\"";
    std::ofstream(script) << "1s/" << said << "/" << instead << "/\n";
    return served("optimized --semantics ") + does + " | sed -u -f " + script;
  };
  for (const char* name :
       {"versions/arange-floats-as-int64.case", "versions/clamp-bytes-below.case"}) {
    for (const std::string release : {"2.11", "2.15"}) {
      const CliRun right = check(subject(release, release), name, "", "bounds");
      EXPECT_EQ(right.code, 0) << release << right.out << right.err;
    }
    const CliRun newer = check(subject("2.11", "2.15"), name, "", "bounds");
    EXPECT_EQ(newer.code, 1) << name << newer.out << newer.err;
    const CliRun older = check(subject("2.15", "2.11"), name, "", "bounds");
    EXPECT_NE(older.code, 0) << name << older.out << older.err;
    const CliRun open = check(subject("2.11", "open"), name, "", "bounds");
    EXPECT_EQ(open.code, 2) << name << open.out << open.err;
    EXPECT_TRUE(contains(open.out, "releases of PyTorch differ here")) << open.out;
  }
  // One release refuses it.
  const char* const refused = "versions/hardtanh-bytes-beyond.case";
  const CliRun both = check(subject("2.11", "2.11"), refused, "", "bounds");
  EXPECT_EQ(both.code, 4) << both.out << both.err;
  EXPECT_EQ(check(subject("2.15", "2.15"), refused, "", "bounds").code, 0);
  const CliRun wrongly = check(subject("2.11", "2.15"), refused, "", "bounds");
  EXPECT_EQ(wrongly.code, 1) << wrongly.out << wrongly.err;
  EXPECT_TRUE(contains(wrongly.out, "R1.refused-wrongly")) << wrongly.out;
  const CliRun unsaid = check(subject("2.11", "open"), refused, "", "bounds");
  EXPECT_EQ(unsaid.code, 2) << unsaid.out << unsaid.err;
}

TEST_F(CliExecutor, RunsNoCaseOfAnotherRelease) {
  const std::string named = (folder_ / "named.case").string();
  std::ofstream(named) << R"(graphgate-case 1
name "a bound that wraps"
option "semantics" "2.11"
program "made" {
  input %x : u8[3]
  %y = aten.clamp.default(%x, -1, 100)
  output %y
}
inputs "bytes" of "made" {
  x : u8[3] = [0, 100, 255]
}
scenario {
  call made inputs=bytes
}
expect PASS
expect call 0 out0 : u8[3] = [100, 100, 100]
)";
  const auto on = [&](const std::string& command) {
    return run("check --judges bounds --executor '" + command + "' " + named);
  };
  EXPECT_EQ(on("optimized").code, 0);
  EXPECT_EQ(on(served("optimized")).code, 0);
  EXPECT_EQ(on(served("reference")).code, 0);
  EXPECT_EQ(on(served("optimized --semantics 2.11")).code, 0);
  const CliRun other = on(served("optimized --semantics 2.15"));
  EXPECT_EQ(other.code, 2) << other.out << other.err;
  EXPECT_TRUE(contains(other.out, "the case is one for PyTorch 2.11")) << other.out;
  const CliRun typo = run("check --semantics new " + named);
  EXPECT_EQ(typo.code, 4);
  EXPECT_TRUE(contains(typo.err, "expected a release of PyTorch as 2.11")) << typo.err;
}

// What each side's release does is no regression, and has a name.
TEST_F(CliExecutor, ChangesBetweenReleasesAreToldByAGate) {
  const std::string report = (folder_ / "gate.json").string();
  const auto gate = [&](const char* from, const char* to) {
    return run(
        "gate --reruns 0 --judges bounds --baseline 'old=cmd:" + served("optimized --semantics ") +
        from + "' --candidate 'new=cmd:" + served("optimized --semantics ") + to + "' --corpus " +
        (folder_ / "golden/cases/versions").string() + " --json " + report);
  };
  const CliRun changed = gate("2.11", "2.15");
  EXPECT_EQ(changed.code, 0) << changed.out << changed.err;
  EXPECT_TRUE(contains(changed.out, "CHANGED versions-since-2.15")) << changed.out;
  EXPECT_TRUE(contains(changed.out, "semantics in")) << changed.out;
  EXPECT_TRUE(contains(changed.out, "0 regressed")) << changed.out;
  const CliRun same = gate("2.15", "2.15");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_FALSE(contains(same.out, "changed")) << same.out;
}

}  // namespace
}  // namespace graphgate::tools
