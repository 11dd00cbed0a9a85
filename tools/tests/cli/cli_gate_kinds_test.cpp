// graphgate gate: each kind of regression, by a pair of sides that differ in nothing else
// (the kinds that upgrades of PyTorch brought to vLLM), and what is no regression at all.
#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

// Steps that fuse into one, on buffers that can be used again.
constexpr const char* kChain =
    "graphgate-case 1\nname \"chain\"\nseed 7\nprogram \"chain\" {\n  input %x : f32[64]\n"
    "  %a = aten.mul.Tensor(%x, 2.0)\n  %b = aten.relu.default(%a)\n"
    "  %c = aten.cumsum.default(%b, 0)\n  %d = aten.relu.default(%c)\n"
    "  %e = aten.cumsum.default(%d, 0)\n  output %e\n}\nscenario {\n  call chain\n}\nexpect PASS\n";

class CliGateKinds : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (python().empty()) GTEST_SKIP() << "there is no python3";
    fs::create_directories(folder_ / "corpus");
    write_case("chain", kChain);
  }
  void write_case(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / "corpus" / (name + ".case")) << text;
  }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string served(const std::string& flags = "") const {
    return "cmd:" + path("graphgate") + " serve optimized " + flags;
  }
  // Rightly, but for one request (misbehaving.py).
  [[nodiscard]] std::string misbehaving(const std::string& mode, const std::string& state) const {
    return "cmd:" + python() + " -I -S " + GRAPHGATE_SOURCE_DIR +
           "/tools/tests/cli/misbehaving.py " + path("graphgate") + " " + mode + " " + state;
  }
  CliRun gate(const std::string& baseline, const std::string& candidate,
              const std::string& flags = "--reruns 1") {
    fs::remove(folder_ / "gate.json");
    return run("gate --corpus " + path("corpus") + " --baseline '" + baseline + "' --candidate '" +
               candidate + "' --json " + path("gate.json") + " " + flags);
  }
  [[nodiscard]] nlohmann::json step() const {
    return nlohmann::json::parse(read_file(folder_ / "gate.json"), nullptr, false)["steps"][0];
  }
  // "regressed: crash", of each row once.
  [[nodiscard]] std::set<std::string> kinds() const {
    std::set<std::string> out;
    const nlohmann::json one = step();
    for (const auto& row : one["rows"]) {
      out.insert(row["bucket"].get<std::string>() + ": " + row.value("kind", "none"));
    }
    return out;
  }
  // That the candidate regresses in this way alone, and that the way back is a fix.
  void expect_regression(const std::string& candidate, const std::string& kind,
                         const std::string& flags) {
    const CliRun there = gate(served(), candidate, flags);
    EXPECT_EQ(there.code, 1) << candidate << "\n" << there.out << there.err;
    EXPECT_EQ(kinds(), std::set<std::string>{"regressed: " + kind}) << there.out;
    EXPECT_TRUE(contains(there.out, kind + " in 1 case, "));
    const CliRun back = gate(candidate, served(), flags);
    EXPECT_EQ(back.code, 0) << candidate << "\n" << back.out << back.err;
  }
};

TEST_F(CliGateKinds, CallsWrongValuesSo) {
  expect_regression("cmd:sed -u s/aten.relu/aten.neg/ | " + served().substr(4), "wrong values",
                    "--reruns 1 --judges bounds");
}

TEST_F(CliGateKinds, CallsAPlanThatSharesBytesUnsafe) {
  const fs::path tail = folder_ / "golden/cases/catalogue/p1-tail-allocation.case";
  fs::remove(folder_ / "corpus/chain.case");
  fs::copy_file(tail, folder_ / "corpus/tail.case");
  expect_regression(served("--deviation tail_allocations_by_graph_outputs"), "unsafe plan",
                    "--reruns 0 --judges verifier");
}

// An engine that says that it cannot do what it did is no pass, and no proof of a fault.
TEST_F(CliGateKinds, CallsWhatACandidateSaysThatItCannotRunRefused) {
  const CliRun outcome = gate(served(), misbehaving("refuses-unsupported", "load"));
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_EQ(kinds(), std::set<std::string>{"unsupported: refused"});
}

TEST_F(CliGateKinds, CallsAnErrorOverWhatTheProgramTakesStricter) {
  expect_regression(misbehaving("refuses-bad-input", "call"), "stricter", "--reruns 1");
}

TEST_F(CliGateKinds, CallsASignalAndAnErrorOfItsOwnACrash) {
  expect_regression(misbehaving("signal", "call"), "crash", "--reruns 1");
  expect_regression(misbehaving("refuses-internal", "load"), "crash", "--reruns 0");
}

TEST_F(CliGateKinds, CallsAFusionThatIsNotAppliedAnyMoreSo) {
  const std::string flags = "--reruns 0 --judges bounds";
  const CliRun outcome = gate(served(), served("--compiler eager"), flags);
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_TRUE(kinds().contains("regressed: plan or fusion no longer applied")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "steps is worse in 1"));
  // Without it there are more steps to be captured: that is no gain, and with it no loss.
  EXPECT_EQ(outcome.out.find("captured-steps"), std::string::npos) << outcome.out;
  const CliRun back = gate(served("--compiler eager"), served(), flags);
  EXPECT_FALSE(kinds().contains("regressed: plan or fusion no longer applied")) << back.out;
}

TEST_F(CliGateKinds, CallsACaptureThatIsNotMadeAnyMoreSo) {
  expect_regression(served("--no-capture"), "plan or fusion no longer applied",
                    "--reruns 0 --judges bounds");
}

TEST_F(CliGateKinds, CallsWhatAStaleCacheServesSo) {
  const fs::path key = folder_ / "golden/cases/catalogue/k5-split-ops-in-the-key.case";
  fs::remove(folder_ / "corpus/chain.case");
  fs::copy_file(key, folder_ / "corpus/key.case");
  expect_regression(served("--deviation key_drops_split_ops"), "cache",
                    "--reruns 0 --judges configurations");
}

TEST_F(CliGateKinds, CallsMoreMemorySo) {
  expect_regression(served("--no-reuse --no-in-place"), "more memory",
                    "--reruns 0 --judges bounds");
}

// Each of six looks at the candidate has to be slower than all of the baseline's.
TEST_F(CliGateKinds, CallsAnswersThatTakeLongerSlower) {
  expect_regression(misbehaving("slow", "call"), "slower", "--reruns 1 --judges bounds");
  EXPECT_EQ(step()["compared"], 1);
  const CliRun once = gate(served(), misbehaving("slow-once=" + path("slept"), "call"),
                           "--reruns 1 --judges bounds");
  EXPECT_EQ(once.code, 0) << "what is slow once is the machine's doing\n" << once.out << once.err;
  EXPECT_TRUE(fs::exists(folder_ / "slept"));
}

// A side that is late or cannot be started may be so since the machine is busy, or lacks something.
TEST_F(CliGateKinds, HoldsNoDelayAndNoFailedStartAgainstTheCandidate) {
  const auto not_compared = [&](const CliRun& outcome, const std::string& words) {
    EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
    EXPECT_EQ(kinds(), std::set<std::string>{"not compared: none"});
    EXPECT_TRUE(contains(outcome.out, words));
    EXPECT_TRUE(contains(outcome.out, "0 regressed"));
  };
  const std::string brief = "--reruns 1 --judges bounds --executor-timeout 1";
  not_compared(gate(served(), misbehaving("hang", "call"), brief), "candidate: ");
  not_compared(gate(misbehaving("hang", "call"), served(), brief), "baseline: ");
  const std::string once = "cmd:mkdir " + path("once") + " && " + served().substr(4);
  not_compared(gate(served(), once), "candidate: ");
  // What the late side would have shown is not taken for fixed, or for new.
  const std::string wrong = "cmd:sed -u s/aten.relu/aten.neg/ | " + served().substr(4);
  not_compared(gate(wrong, misbehaving("hang", "call"), brief), "candidate: ");
  not_compared(gate(misbehaving("hang", "call"), wrong, brief), "baseline: ");
}

}  // namespace
}  // namespace graphgate::tools
