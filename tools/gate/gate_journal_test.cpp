#include "tools/gate/gate_journal.h"

#include <filesystem>
#include <fstream>

#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::tools {
namespace {

const GateKey kKey = {
    {"baseline", "torch-2.8.0"}, {"candidate 1", "torch-2.9.0"}, {"corpus", "12"}};

GateCase failing() {
  GateCase one;
  one.outcome = spec::Outcome::kFail;
  one.findings = {{"verifier V3.overlap [mm] {}", "two at once"}};
  one.seconds = 1.5;
  one.answer_seconds = {0.5, 0.25};
  return one;
}

class Journal : public testing::Test {
 protected:
  Result<GateJournal> open(const GateKey& key = kKey, std::size_t sides = 2) const {
    return GateJournal::open(path_, key, sides);
  }
  [[nodiscard]] std::string text() const { return read_whole(path_).value(); }

  const TestFolder folder_;
  const std::string path_ = (folder_.path() / "gate.journal").string();
};

TEST_F(Journal, KeepsCasesWithTheirTimes) {
  {
    GateJournal journal = must(open());
    EXPECT_TRUE(journal.cases().empty());
    must(journal.add("a", {GateCase(), failing()}));
  }
  {
    GateJournal journal = must(open());
    ASSERT_EQ(journal.cases().size(), 1U);
    EXPECT_EQ(journal.cases().at("a"), (std::vector<GateCase>{GateCase(), failing()}));
    must(journal.add("b", {failing(), GateCase()}));
  }
  EXPECT_EQ(must(open()).cases().size(), 2U);
}

// Wherever a kill stops the writing, whole lines count, and the next run goes on behind them.
TEST_F(Journal, GoesOnWhereverAKillCutIt) {
  {
    GateJournal journal = must(open());
    must(journal.add("a", {GateCase(), failing()}));
    must(journal.add("b", {GateCase(), GateCase()}));
  }
  const std::string whole = text();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::ofstream(path_, std::ios::trunc) << whole.substr(0, size);
    {
      GateJournal journal = must(open());
      const auto lines =
          std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size), '\n');
      EXPECT_EQ(journal.cases().size(),
                static_cast<std::size_t>(std::max<std::ptrdiff_t>(lines - 1, 0)));
      must(journal.add("c", {failing(), failing()}));
    }
    EXPECT_TRUE(must(open()).cases().contains("c"));
  }
}

TEST_F(Journal, LeavesOutWhatTheMachineCouldNotDo) {
  GateJournal journal = must(open());
  GateCase lost;
  lost.outcome = spec::Outcome::kInfra;
  GateCase late;
  late.outcome = spec::Outcome::kTimeout;
  const std::string before = text();
  must(journal.add("a", {GateCase(), lost}));
  must(journal.add("b", {late, GateCase()}));
  EXPECT_EQ(text(), before);
}

TEST_F(Journal, IsRefusedOfAnotherRun) {
  EXPECT_TRUE(open().ok());
  GateKey other = kKey;
  other["candidate 1"] = "torch-2.9.1";
  EXPECT_EQ(message_of(open(other)),
            path_ +
                ": is of another run: its candidate 1 was 'torch-2.9.0', and is 'torch-2.9.1'; "
                "name another file, or remove this one");
  other = kKey;
  other["corpus"] = "13";
  EXPECT_TRUE(contains(message_of(open(other)), "the files of its corpus were others"));
  other = kKey;
  other["candidate 2"] = "fixed";
  EXPECT_TRUE(contains(message_of(open(other)), "its candidate 2 was '', and is 'fixed'"));
}

TEST_F(Journal, IsRefusedWhereItIsNone) {
  const std::string others = "PASS all\n";
  std::ofstream(path_) << others;
  EXPECT_EQ(message_of(open()), path_ + ": is no journal of a gate");
  EXPECT_EQ(text(), others);
  std::ofstream(path_) << "{\"graphgate_gate_journal\":1,\"of\":{}}\n{\"case\":\"a\"}\n";
  EXPECT_TRUE(contains(message_of(open({})), "line 2: expected 2 sides"));
  std::ofstream(path_) << "{\"graphgate_gate_journal\":1,\"of\":{}}\n[\n";
  EXPECT_TRUE(contains(message_of(open({})), "line 2: line 1, column 2"));
  std::ofstream(path_) << "{\"graphgate_gate_journal\":1,\"of\":{}}\n"
                       << std::string(300, '[') << std::string(300, ']') << "\n";
  EXPECT_TRUE(contains(message_of(open({})), "line 2: "));
  EXPECT_TRUE(contains(message_of(open({})), "256"));
  EXPECT_TRUE(contains(message_of(GateJournal::open(folder_.path().string(), kKey, 2)),
                       "cannot be opened to be written"));
  EXPECT_TRUE(contains(message_of(GateJournal::open("/dev/null", kKey, 2)), "no regular file"));
}

}  // namespace
}  // namespace graphgate::tools
