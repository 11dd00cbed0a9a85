// Campaigns over cases that are made up: what matters here is what becomes of them.
#include "tools/fuzz_campaign.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/harness/temporary_folder.h"
#include "tools/fuzz_report.h"
#include "tools/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using conformance::TemporaryFolder;
using fuzz::CaseVerdict;
using spec::Outcome;

constexpr const char* kWrong = "verifier V3.overlap [mm] {}";

// Every 10th case has a finding, every 25th a feature of its own.
CaseVerdict plain_verdict(std::uint64_t index) {
  CaseVerdict verdict;
  verdict.index = index;
  verdict.content = fuzz::hash_of(std::to_string(index));
  verdict.features = {static_cast<std::uint32_t>(index % 7)};
  if (index % 25 == 1) verdict.features.push_back(static_cast<std::uint32_t>(100 + index));
  if (index % 10 != 9) return verdict;
  verdict.outcome = Outcome::kFail;
  verdict.signature = kWrong;
  verdict.message = "buffers of case " + std::to_string(index) + " overlap";
  return verdict;
}

// A number that all processes of a test see.
class SharedCount {
 public:
  SharedCount()
      : count_(static_cast<std::atomic<int>*>(::mmap(nullptr, sizeof(std::atomic<int>),
                                                     PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  ~SharedCount() { (void)::munmap(count_, sizeof(std::atomic<int>)); }
  int add() const { return ++*count_; }
  [[nodiscard]] int get() const { return *count_; }

 private:
  std::atomic<int>* count_;
};

// What a campaign says, as lines.
class CampaignTest : public testing::Test {
 protected:
  CampaignTest() {
    options_.key = {1, 42, {{"judges", "made up"}}};
    options_.cases = 200;
    options_.pool.jobs = 2;
    options_.pool.timeout_seconds = 20;
  }

  Result<CampaignEnd> run(const JudgeIndex& judge, const std::string& folder = "corpus") {
    options_.pool.shard = options_.shard;
    auto corpus = fuzz::Corpus::open(folder_.path() + "/" + folder, write_);
    if (!corpus.ok()) return corpus.error();
    const StopSignals stop;
    output_.reset(std::tmpfile());
    const auto view = ndjson_view(output_.get());
    const CampaignParts parts{judge,
                              look_again_,
                              [](std::uint64_t index) { return plain_verdict(index).content; },
                              [](std::uint64_t index) -> Result<std::string> {
                                return "case " + std::to_string(index) + "\n";
                              },
                              corpus.value(),
                              ledger_,
                              *view,
                              stop};
    return run_campaign(options_, parts);
  }

  static fuzz::CampaignState plain_state(std::uint64_t cases) {
    fuzz::CampaignState state;
    state.key = {1, 42, {{"judges", "made up"}}};
    state.cases = cases;
    for (std::uint64_t i = 0; i < cases; ++i) state.tally.add(plain_verdict(i));
    state.done[{0, 1}].add(0, cases);
    return state;
  }

  // The events of the last run with this name.
  std::vector<nlohmann::json> events(const std::string& name) {
    std::vector<nlohmann::json> out;
    std::rewind(output_.get());
    std::string text;
    for (int c = std::fgetc(output_.get()); c != EOF; c = std::fgetc(output_.get())) {
      text += static_cast<char>(c);
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      auto json = nlohmann::json::parse(line, nullptr, false);
      EXPECT_FALSE(json.is_discarded()) << line;
      if (json["event"] == name) out.push_back(std::move(json));
    }
    return out;
  }

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  TemporaryFolder folder_;
  CampaignOptions options_;
  fuzz::Ledger ledger_;
  fuzz::Corpus::Write write_ = write_text;
  LookAgain look_again_ = [](const TriageTask& task) {
    TriageResult result;
    result.triage.status = fuzz::TriageStatus::kConfirmed;
    result.triage.from = task.index;
    result.triage.nodes = 3;
    result.triage.calls = 1;
    result.folder =
        task.ends_process() ? fuzz::CorpusFolder::kCrashing : fuzz::CorpusFolder::kRegression;
    result.case_text = "reduced from " + std::to_string(task.index) + "\n";
    return result;
  };
  std::unique_ptr<std::FILE, Closer> output_;
};

CaseVerdict judge_plainly(std::uint64_t index, const std::function<void()>& begin_judging) {
  begin_judging();
  return plain_verdict(index);
}

TEST_F(CampaignTest, RunsEveryCaseAndTellsEachFindingOnce) {
  const auto end = run(judge_plainly);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_TRUE(same_results(end.value().state, plain_state(200)));
  EXPECT_EQ(end.value().state.triage.at(kWrong).nodes, 3U);
  EXPECT_EQ(events("finding").size(), 1U);
  EXPECT_EQ(events("triage").size(), 1U);
  const std::string corpus = folder_.path() + "/corpus";
  const auto found = fuzz::case_files(corpus, fuzz::CorpusFolder::kRegression);
  EXPECT_EQ(found, std::vector{"regression/" + fuzz::finding_name(kWrong) + ".case"});
  // A case for each feature, and none twice.
  EXPECT_EQ(fuzz::case_files(corpus, fuzz::CorpusFolder::kCoverage).size(), 7U + 8U - 1U);
  EXPECT_FALSE(fs::exists(corpus + "/campaigns/shard-0-of-1.journal"));
}

TEST_F(CampaignTest, OfShardsMergesIntoTheUnshardedOne) {
  std::vector<fuzz::CampaignState> states;
  for (std::uint32_t i = 0; i < 3; ++i) {
    options_.shard = {i, 3};
    const auto end = run(judge_plainly);
    ASSERT_TRUE(end.ok()) << end.error().message;
    states.push_back(end.value().state);
  }
  const auto merged = fuzz::merge_states(states);
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_TRUE(same_results(merged.value(), plain_state(200)));
}

TEST_F(CampaignTest, NamesWhatTakesItsProcessDownAndGoesOn) {
  options_.pool.timeout_seconds = 2;
  options_.pool.memory_bytes = can_limit_memory() ? std::uint64_t{1} << 30U : 0;
  const auto judge = [](std::uint64_t index, const std::function<void()>& begin_judging) {
    begin_judging();
    if (index == 17) (void)::raise(SIGSEGV);
    if (index == 40) {
      std::fprintf(stderr, "some/where.cpp:3: CHECK failed: x\n");
      std::abort();
    }
    if (index == 61) ::pause();
    if (index == 62) ::_exit(3);
    if (index == 83 && can_limit_memory()) {
      std::vector<std::unique_ptr<char[]>> all;
      for (;;)
        all.emplace_back(new char[std::size_t{1} << 26U]);  // std::bad_alloc, taken by nobody
    }
    return plain_verdict(index);
  };
  const auto end = run(judge);
  ASSERT_TRUE(end.ok()) << end.error().message;
  const auto& signatures = end.value().state.tally.signatures;
  EXPECT_EQ(end.value().state.tally.cases, 200U);
  const auto first = [&](const char* signature) -> std::uint64_t {
    return signatures.contains(signature) ? signatures.at(signature).first.front() : 9999;
  };
  EXPECT_EQ(first("crash SIGSEGV [] {}"), 17U);
  EXPECT_EQ(first("crash SIGABRT [] {}"), 40U);
  EXPECT_EQ(first("timeout no-end [] {}"), 61U);
  EXPECT_EQ(first("crash exit [] {}"), 62U);
  if (can_limit_memory()) {
    EXPECT_EQ(first("memory out-of-memory [] {}"), 83U);
  }
  EXPECT_EQ(signatures.at("timeout no-end [] {}").outcome, Outcome::kTimeout);
  EXPECT_EQ(signatures.at("crash SIGABRT [] {}").message,
            "while judging, the case ended its process by signal 6 (Aborted): some/where.cpp:3: "
            "CHECK failed: x");
  EXPECT_EQ(signatures.at(kWrong).cases, 20U);
  EXPECT_EQ(fuzz::case_files(folder_.path() + "/corpus", fuzz::CorpusFolder::kCrashing).size(),
            can_limit_memory() ? 5U : 4U);
}

TEST_F(CampaignTest, ThatIsInterruptedIsWholeAndGoesOnWhereItWas) {
  options_.pool.jobs = 1;
  const SharedCount runs;
  const pid_t campaign = ::getpid();
  const auto end = run([&](std::uint64_t index, const std::function<void()>& begin_judging) {
    if (runs.add() == 100) (void)::kill(campaign, SIGTERM);
    ::usleep(1000);
    return judge_plainly(index, begin_judging);
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_TRUE(end.value().is_interrupted);
  const std::uint64_t cases = end.value().state.tally.cases;
  EXPECT_GT(cases, 0U);
  EXPECT_LT(cases, 200U);
  const auto text = read_text(folder_.path() + "/corpus/campaigns/shard-0-of-1.campaign");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value(), fuzz::print_state(end.value().state));
  options_.resume = true;
  const SharedCount more;
  const auto rest = run([&](std::uint64_t index, const std::function<void()>& begin_judging) {
    more.add();
    return judge_plainly(index, begin_judging);
  });
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  EXPECT_FALSE(rest.value().is_interrupted);
  EXPECT_EQ(static_cast<std::uint64_t>(more.get()), 200 - cases);
  EXPECT_TRUE(same_results(rest.value().state, plain_state(200)));
}

TEST_F(CampaignTest, ThatIsKilledGoesOnWithTheSameResults) {
  options_.pool.jobs = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    (void)run([](std::uint64_t index, const std::function<void()>& begin_judging) {
      ::usleep(50'000);
      return judge_plainly(index, begin_judging);
    });
    ::_exit(0);
  }
  // As soon as its state tells of cases.
  const std::string path = folder_.path() + "/corpus/campaigns/shard-0-of-1.campaign";
  for (int i = 0; i < 300; ++i) {
    ::usleep(100'000);
    const auto text = read_text(path);
    if (text.ok() && text.value().find("done 0 of 1 [0, ") != std::string::npos) break;
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  options_.resume = true;
  const SharedCount more;
  const auto end = run([&](std::uint64_t index, const std::function<void()>& begin_judging) {
    more.add();
    return judge_plainly(index, begin_judging);
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_LT(more.get(), 200);
  EXPECT_TRUE(same_results(end.value().state, plain_state(200)));
  const auto remarks = events("remark");
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0]["message"].get<std::string>().find("when the campaign ended"),
            std::string::npos);
}

TEST_F(CampaignTest, IsNotResumedAsAnother) {
  ASSERT_TRUE(run(judge_plainly).ok());
  options_.resume = true;
  options_.cases = 100;
  EXPECT_EQ(run(judge_plainly).error().kind, ErrorKind::kBadInput);
  options_.cases = 300;
  const auto longer = run(judge_plainly);
  ASSERT_TRUE(longer.ok());
  EXPECT_TRUE(same_results(longer.value().state, plain_state(300)));
  options_.key.seed = 43;
  const auto other = run(judge_plainly);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("seeds 43 and 42"), std::string::npos)
      << other.error().message;
}

TEST_F(CampaignTest, WritesALineForEachCase) {
  options_.case_log = folder_.path() + "/log";
  options_.pool.wants_lines = true;
  ASSERT_TRUE(run(judge_plainly).ok());
  std::ifstream log(options_.case_log);
  std::size_t lines = 0;
  std::size_t failed = 0;
  for (std::string line; std::getline(log, line); ++lines) {
    failed += line.find(" FAIL ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(lines, 200U);
  EXPECT_EQ(failed, 20U);
  options_.case_log = "/dev/full";
  EXPECT_EQ(run(judge_plainly).error().message,
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(CampaignTest, EndsWithAClearErrorWhereTheCorpusIsFull) {
  int writes = 0;
  write_ = [&](const std::string& text, const std::string& path) -> Result<void> {
    if (++writes > 3) return infrastructure(path + ": cannot be written: No space left on device");
    return write_text(text, path);
  };
  const auto end = run(judge_plainly);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().kind, ErrorKind::kInfrastructure);
  EXPECT_NE(end.error().message.find("No space left"), std::string::npos);
}

TEST_F(CampaignTest, DoesNotLookAgainAtWhatTheCorpusHas) {
  ASSERT_TRUE(run(judge_plainly).ok());
  int looked = 0;
  look_again_ = [&](const TriageTask&) -> TriageResult {
    ++looked;
    std::abort();
  };
  const auto end = run(judge_plainly);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end.value().state.triage.at(kWrong).remark, "the corpus had it");
  EXPECT_TRUE(events("triage").empty());
}

TEST_F(CampaignTest, SurvivesWhatLooksAgain) {
  look_again_ = [](const TriageTask&) -> TriageResult { std::abort(); };
  const auto end = run(judge_plainly);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end.value().state.triage.at(kWrong).remark,
            "looking at it again was killed by signal 6 (Aborted)");
  EXPECT_EQ(end.value().state.tally.cases, 200U);
}

}  // namespace
}  // namespace graphgate::tools
