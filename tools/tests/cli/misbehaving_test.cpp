// Every state of the protocol times every way to misbehave (cli/misbehaving.py): what the
// verbs make of it, and that nothing is left of it.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <sstream>
#include <thread>
#include <vector>

#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

constexpr const char* kCrash = "CRASH R2.broke-down";
constexpr const char* kTimeout = "TIMEOUT R2.no-answer";
constexpr const char* kUnsupported = "UNSUPPORTED R4.unsupported";
constexpr const char* kRefuses = "FAIL R1.refused-wrongly";
constexpr const char* kInfra = "INFRA";
constexpr const char* kPass = "PASS";

// From open on: at hello there is no executor yet, and all that is no greeting is the same.
constexpr const char* kAll = "open load call set_state close";
constexpr const char* kAfter = "hello+ open+ load+ call+ set_state+ close+";
constexpr const char* kCall = "call";

// Seconds for an answer: who has to be waited for gets the first, nobody else comes near the other.
constexpr int kShort = 4;
constexpr int kFlood = 1;  // it writes all the time, and so do we read: that costs two processors
constexpr int kLong = 300;

struct Row {
  const char* mode;
  const char* states;
  const char* outcome;
  int seconds = kLong;
};

constexpr std::array kTable = {
    // It ends.
    Row{"signal", kAll, kCrash},
    Row{"signal", kAfter, kCrash},
    Row{"kill", kAll, kCrash},
    Row{"exit-0", kAll, kCrash},
    Row{"exit-0", kAfter, kCrash},
    Row{"exit-3", kAll, kCrash},
    // It does not answer.
    Row{"hang", kAll, kTimeout, kShort},
    Row{"hang", "open+ load+ call+ set_state+ close+", kTimeout, kShort},
    Row{"drip", kAll, kTimeout, kShort},
    Row{"half-hang", kAll, kTimeout, kShort},
    Row{"endless-errors", "open", kTimeout, kFlood},
    Row{"endless-error-lines", "call", kTimeout, kFlood},
    Row{"closed-input", kAll, kTimeout, kShort},
    Row{"closed-errors", kAll, kTimeout, kShort},
    // It says what is no answer.
    Row{"garbage", kAll, kCrash},
    Row{"garbage", "open+ load+ call+ set_state+ close+", kCrash},
    Row{"empty", kAll, kCrash},
    Row{"no-object", kAll, kCrash},
    Row{"half-exit", kAll, kCrash},
    Row{"half-signal", kAll, kCrash},
    Row{"endless", "open call close", kCrash},
    Row{"endless-lines", kAll, kCrash},
    Row{"other", kAll, kCrash},
    Row{"twice", kAll, kCrash},
    Row{"more", kAll, kCrash},
    Row{"deep", "load set_state close", kCrash},
    Row{"deep-open", "call close", kCrash},
    Row{"many", "open call", kCrash},
    Row{"refuses-maybe", kAll, kCrash},
    Row{"closed-output", kAll, kCrash},
    Row{"closed-all", kAll, kCrash},
    // It refuses.
    Row{"refuses-unsupported", kAll, kUnsupported},
    Row{"refuses-internal", kAll, kCrash},
    Row{"forges", kAll, kCrash},
    Row{"refuses-infrastructure", kAll, kInfra},
    Row{"refuses-bad-input", "load call set_state close", kRefuses},
    Row{"refuses-bad-input", "open", kUnsupported},
    // It refuses for the last time: that it ends then is no finding.
    Row{"last-unsupported", kAll, kUnsupported},
    Row{"last-internal", kAll, kCrash},
    Row{"last-infrastructure", kAll, kInfra},
    Row{"last-bad-input", "load call set_state close", kRefuses},
    // Others hold its files.
    Row{"child-signal", kAll, kCrash},
    Row{"orphan-signal", kAll, kCrash},
    Row{"child-exit", kAll, kCrash},
    Row{"orphan-exit", kAll, kCrash},
    Row{"orphan-hang", kAll, kTimeout, kShort},
    Row{"child-answer", kAll, kPass},
    Row{"orphan-answer", kAll, kPass},
    // Tensors that are none.
    Row{"sizes", kCall, kCrash},
    Row{"more-sizes", kCall, kCrash},
    Row{"negative-sizes", kCall, kCrash},
    Row{"negative-strides", kCall, kCrash},
    Row{"nan-size", kCall, kCrash},
    Row{"expanded", kCall, kCrash},
    Row{"dimensions", kCall, kCrash},
    Row{"no-storage", kCall, kCrash},
    Row{"many-storages", kCall, kCrash},
    Row{"deep-plan", kCall, kCrash},
    Row{"deep-result", kCall, kCrash},
    Row{"deep-own-plans", kCall, kCrash},
    Row{"folder-up", kCall, kCrash},
    Row{"folder-root", kCall, kCrash},
    Row{"folder-zero", kCall, kCrash},
    Row{"folder-long", kCall, kCrash},
    Row{"folder-gone", kCall, kCrash},
    Row{"folder-file", kCall, kCrash},
    Row{"folder-loop", kCall, kCrash},
    Row{"tensors-fifo", kCall, kCrash},
    Row{"tensors-device", kCall, kCrash},
    Row{"tensors-sparse", kCall, kCrash},
    Row{"tensors-cut", kCall, kCrash},
    Row{"tensors-empty", kCall, kCrash},
    Row{"header-nan", kCall, kCrash},
    Row{"header-deep", kCall, kCrash},
    Row{"header-many", kCall, kCrash},
    Row{"header-text", kCall, kCrash},
    Row{"no-exchange", "open load call set_state", kCrash},
    Row{"other-exchange", "open load call set_state", kCrash},
    Row{"planted-requests", "open load call set_state", kCrash},
    Row{"planted-programs", "open", kCrash},
};

// All that has to say so at hello.
constexpr std::array kNoGreeting = {
    Row{"signal", "hello", kInfra},        Row{"exit-0", "hello", kInfra},
    Row{"exit-3", "hello", kInfra},        Row{"hang", "hello", kInfra, kShort},
    Row{"drip", "hello", kInfra, kShort},  Row{"garbage", "hello", kInfra},
    Row{"empty", "hello", kInfra},         Row{"half-hang", "hello", kInfra, kShort},
    Row{"half-exit", "hello", kInfra},     Row{"endless", "hello", kInfra},
    Row{"endless-lines", "hello", kInfra}, Row{"endless-errors", "hello", kInfra, kFlood},
    Row{"deep", "hello", kInfra},          Row{"deep-open", "hello", kInfra},
    Row{"many", "hello", kInfra},          Row{"closed-output", "hello", kInfra},
    Row{"twice", "hello", kInfra},         Row{"orphan-signal", "hello", kInfra},
    Row{"other", "hello", kInfra},         Row{"refuses-unsupported", "hello", kInfra},
};

// What a shell fragment comes to; standard error is in `out`.
CliRun run_shell(const std::string& command) {
  CliRun result;
  FILE* pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "re");
  if (pipe == nullptr) return result;
  std::array<char, 4096> chunk{};
  for (std::size_t count = 0; (count = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) {
    result.out.append(chunk.data(), count);
  }
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// Returns the command lines that have the text in them. Reads with the system's calls: a process
// that ends while it is looked at is an error of read(2), which a stream may throw.
std::vector<std::string> running(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int file = ::open((entry.path() / "cmdline").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    std::string line;
    std::array<char, 4096> chunk{};
    for (::ssize_t count = 0; (count = ::read(file, chunk.data(), chunk.size())) > 0;) {
      line.append(chunk.data(), static_cast<std::size_t>(count));
    }
    ::close(file);
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

struct PlacedRun : CliRun {
  std::string place;  // what went wrong where, for messages
};

class Misbehaving : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (python().empty()) GTEST_SKIP() << "there is no python3";
    std::ofstream(at("subject.case")) << R"(graphgate-case 1
name "subject"
program "g" {
  parameter %w "w" : f32[2]
  input %x : f32[2]
  %y = aten.mul.Tensor(%x, %w)
  output %y
}
weights "g" seed 7
inputs "some" of "g" {
  x seed 1
}
scenario {
  call g inputs=some
  swap-weights g seed=11
  call g inputs=some
}
expect PASS
)";
  }
  // What was started goes with whoever started it: in a moment.
  void TearDown() override {
    for (int i = 0; i < 300 && !running(folder_.string()).empty(); ++i) ::usleep(100'000);
    for (const std::string& line : running(folder_.string())) ADD_FAILURE() << "is left: " << line;
    Cli::TearDown();
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string executor(const std::string& mode, const std::string& state) const {
    // exec: else the shell holds the files of who closes them.
    return "exec " + python() + " -I -S " GRAPHGATE_SOURCE_DIR "/tools/tests/cli/misbehaving.py " +
           at("graphgate") + " " + mode + " " + state;
  }
  // Runs it with that time for an answer. On a busy machine a greeting may take longer than that:
  // then it gets more.
  [[nodiscard]] PlacedRun graphgate(const std::string& verb, const Row& row,
                                    const std::string& state, const std::string& arguments) const {
    PlacedRun outcome;
    for (int seconds = row.seconds; seconds <= 16 * row.seconds; seconds *= 4) {
      static_cast<CliRun&>(outcome) =
          run_shell(at("graphgate") + " " + verb + " --executor-timeout " +
                    std::to_string(seconds) + " " + arguments);
      const bool is_slow =
          outcome.out.find("in time, and was killed (asked to hello)") != std::string::npos &&
          std::string(row.states) != "hello";
      if (!is_slow) break;
    }
    outcome.place = std::string(row.mode) + " at " + state + ": " + outcome.out;
    return outcome;
  }

  // Runs all that the rows say, several at a time: most of it is waiting.
  template <class Check>
  static void for_each(const std::vector<Row>& rows, const Check& check) {
    struct One {
      Row row;
      std::string state;
    };
    std::vector<One> all;
    for (const Row& row : rows) {
      std::istringstream states(row.states);
      for (std::string state; states >> state;) all.push_back({row, state});
    }
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 24; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < all.size(); i = next++) check(all[i].row, all[i].state);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  template <class Rows, class Check>
  static void for_each(const Rows& rows, const Check& check) {
    for_each(std::vector<Row>(rows.begin(), rows.end()), check);
  }
};

int code_of(const std::string& outcome) {
  if (outcome == kInfra) return 3;
  if (outcome == kPass) return 0;
  return outcome == kUnsupported ? 2 : 1;
}

TEST_F(Misbehaving, IsTheSubjectsOutcomeInACheck) {
  for_each(kTable, [&](const Row& row, const std::string& state) {
    const PlacedRun outcome = graphgate("check", row, state,
                                        "--judges bounds,state --executor '" +
                                            executor(row.mode, state) + "' " + at("subject.case"));
    EXPECT_EQ(outcome.code, code_of(row.outcome)) << outcome.place;
    const std::string word = std::string(row.outcome) == kInfra ? "no disk" : row.outcome;
    EXPECT_TRUE(contains(outcome.out, word)) << outcome.place;
    EXPECT_FALSE(contains(outcome.out, "\nPASS all.case")) << outcome.place;
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.place;
  });
}

TEST_F(Misbehaving, IsNoExecutorBeforeItHasGreeted) {
  for_each(kNoGreeting, [&](const Row& row, const std::string& state) {
    const PlacedRun outcome = graphgate(
        "check", row, state,
        "--judges bounds --executor '" + executor(row.mode, state) + "' " + at("subject.case"));
    EXPECT_EQ(outcome.code, 3) << outcome.place;
    EXPECT_EQ(line_count(outcome.out), 2U) << outcome.place;  // the line, and the count of files
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.place;
  });
}

TEST_F(Misbehaving, CostsNoOtherFileItsResult) {
  fs::copy_file(at("subject.case"), at("other.case"));
  // The process for the second file is another, and behaves.
  constexpr std::array kRows = {
      Row{"deep-plan", kCall, kCrash},
      Row{"deep-open", kCall, kCrash},
      Row{"many", kCall, kCrash},
      Row{"expanded", kCall, kCrash},
      Row{"endless", kCall, kCrash},
      Row{"tensors-sparse", kCall, kCrash},
      Row{"orphan-exit", "close", kCrash},
      Row{"signal", "hello", kInfra},
      Row{"last-bad-input", kCall, kRefuses},
  };
  for_each(kRows, [&](const Row& row, const std::string& state) {
    const std::string flag = std::string("only-once-") + row.mode;
    const std::string command = "if mkdir " + at(flag) + "; then " + executor(row.mode, state) +
                                "; else exec " + at("graphgate") + " serve; fi";
    const PlacedRun outcome = graphgate("check", row, state,
                                        "--judges bounds,state --executor '" + command + "' " +
                                            at("subject.case") + " " + at("other.case"));
    EXPECT_EQ(outcome.code, code_of(row.outcome)) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, "PASS " + at("other.case"))) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, "1 passed, 1 failed, 0 skipped")) << outcome.place;
  });
}

// What a judge runs by itself is the subject's as well. The case calls twice; what comes after
// that, the nodes with taps, the judge could do without.
TEST_F(Misbehaving, IsToldWhereverAJudgeMeetsIt) {
  constexpr std::array kRows = {
      Row{"signal", "call3 load2 open2 close2", kCrash},
      Row{"garbage", "call3 close2", kCrash},
      Row{"hang", "call3 close2", kTimeout, kShort},
  };
  for_each(kRows, [&](const Row& row, const std::string& state) {
    const PlacedRun outcome = graphgate(
        "check", row, state,
        "--judges bounds --executor '" + executor(row.mode, state) + "' " + at("subject.case"));
    EXPECT_EQ(outcome.code, 1) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, row.outcome)) << outcome.place;
  });
}

// What only one of many runs meets: judges made a refusal of it, or left the run out.
TEST_F(Misbehaving, IsNoFaultAndNoPassWhereTheMachineFailsInSomeRun) {
  constexpr std::array kRows = {Row{
      "refuses-infrastructure", "call3 call4 call6 call9 call13 load3 load7 open2 open5", kInfra}};
  for_each(kRows, [&](const Row& row, const std::string& state) {
    const PlacedRun outcome = graphgate(
        "check", row, state,
        "--judges all --executor '" + executor(row.mode, state) + "' " + at("subject.case"));
    EXPECT_EQ(outcome.code, 3) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, "no disk")) << outcome.place;
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos) << outcome.place;
  });
}

// A few of each kind, for the verbs that look at cases in processes of their own.
constexpr std::array kSome = {
    Row{"signal", "open load call set_state close", kCrash},
    Row{"garbage", "open close", kCrash},
    Row{"orphan-signal", "open call close", kCrash},
    Row{"deep-plan", kCall, kCrash},
    Row{"expanded", kCall, kCrash},
    Row{"endless", kCall, kCrash},
    Row{"hang", "open call close", kTimeout, kShort},
};

std::string rule_of(const Row& row) {
  return "run " + std::string(row.outcome).substr(std::string(row.outcome).find(' ') + 1);
}

TEST_F(Misbehaving, IsTheSubjectsOutcomeInAGate) {
  fs::create_directory(at("corpus"));
  fs::copy_file(at("subject.case"), at("corpus") + "/subject.case");
  for_each(kSome, [&](const Row& row, const std::string& state) {
    const PlacedRun outcome =
        graphgate("gate", row, state,
                  "--judges bounds,state --reruns 0 --corpus " + at("corpus") +
                      " --baseline fixed --candidate 'cmd:" + executor(row.mode, state) + "'");
    if (std::string(row.outcome) == kTimeout) {  // the machine may be busy: it decides nothing
      EXPECT_EQ(outcome.code, 3) << outcome.place;
      EXPECT_TRUE(contains(outcome.out, "NOT COMPARED subject")) << outcome.place;
      return;
    }
    EXPECT_EQ(outcome.code, 1) << outcome.place;
    std::string regressed = "REGRESSED " + rule_of(row) + "-";
    std::replace(regressed.begin() + 10, regressed.end(), ' ', '-');
    EXPECT_TRUE(contains(outcome.out, regressed)) << outcome.place;
  });
}

// It worked when it greeted: its case could not be compared.
TEST_F(Misbehaving, IsNotComparedInAGateWhereItDoesNotStartAgain) {
  fs::create_directory(at("corpus"));
  fs::copy_file(at("subject.case"), at("corpus") + "/subject.case");
  constexpr std::array kRows = {
      Row{"signal", "hello", kInfra},
      Row{"garbage", "hello", kInfra},
      Row{"hang", "hello", kInfra, kShort},
  };
  for_each(kRows, [&](const Row& row, const std::string& state) {
    const std::string flag = std::string("greeted-") + row.mode;
    const std::string command = "if mkdir " + at(flag) + "; then exec " + at("graphgate") +
                                " serve; else " + executor(row.mode, state) + "; fi";
    const PlacedRun outcome = graphgate("gate", row, state,
                                        "--judges bounds --reruns 0 --corpus " + at("corpus") +
                                            " --baseline fixed --candidate 'cmd:" + command + "'");
    EXPECT_EQ(outcome.code, 3) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, "not compared")) << outcome.place;
  });
}

TEST_F(Misbehaving, IsTheSubjectsOutcomeInAReplay) {
  for_each(kSome, [&](const Row& row, const std::string& state) {
    const PlacedRun outcome = graphgate("replay", row, state,
                                        "--judges bounds,state --executor '" +
                                            executor(row.mode, state) + "' " + at("subject.case"));
    EXPECT_EQ(outcome.code, 1) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, "found: " + rule_of(row) + " [] {}")) << outcome.place;
  });
}

TEST_F(Misbehaving, IsTheSubjectsOutcomeWhereACaseIsReduced) {
  for_each(kSome, [&](const Row& row, const std::string& state) {
    const std::string name = std::string(row.mode) + "-" + state;
    const PlacedRun outcome =
        graphgate("reduce", row, state,
                  "--judges bounds,state --checks 2 --executor '" + executor(row.mode, state) +
                      "' -o " + at(name + ".reduced.case") + " " + at("subject.case"));
    EXPECT_EQ(outcome.code, 0) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, "shows: " + rule_of(row) + " [] {}")) << outcome.place;
  });
}

TEST_F(Misbehaving, IsTheSubjectsOutcomeInACampaign) {
  for_each(kSome, [&](const Row& row, const std::string& state) {
    if (state == "set_state") return;  // few drawn cases replace states
    const std::string name = std::string(row.mode) + "-" + state;
    const PlacedRun outcome =
        graphgate("fuzz", row, state,
                  "--cases 1 --seed 3 -j 1 --judges bounds --reduce-time 1 --executor '" +
                      executor(row.mode, state) + "' --corpus " + at(name));
    EXPECT_EQ(outcome.code, 1) << outcome.place;
    EXPECT_TRUE(contains(outcome.out, rule_of(row) + " [] {}")) << outcome.place;
  });
}

}  // namespace
}  // namespace graphgate::tools
