// Campaigns over cases that are made up: what matters here is what becomes of them.
#include "fuzz/campaign/run_campaign.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/folder_test.h"
#include "base/processes.h"
#include "base/result_test.h"
#include "fuzz/campaign/own_findings.h"
#include "tools/report/fuzz_report.h"
#include "tools/report/fuzz_view.h"
#include "tools/store/programs.h"

namespace graphgate::fuzz {
namespace {

namespace fs = std::filesystem;
using spec::Outcome;

constexpr const char* kWrong = "verifier V3.overlap [mm] {}";

// Every 10th case has a finding, every 25th a feature of its own.
CaseVerdict plain_verdict(std::uint64_t index) {
  CaseVerdict verdict;
  verdict.index = index;
  verdict.content = hash_of(std::to_string(index));
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

  Result<CampaignEnd> run(const JudgeDrawn& judge, const std::string& folder = "corpus") {
    options_.pool.shard = options_.shard;
    auto corpus = Corpus::open(folder_.path() + "/" + folder, write_);
    if (!corpus.ok()) return corpus.error();
    const StopSignals stop;
    output_.reset(std::tmpfile());
    const auto view = tools::ndjson_view(output_.get());
    const CampaignParts parts{
        judge,
        look_again_,
        [](const Descent& descent) { return plain_verdict(descent.index).content; },
        [](const Descent& descent, const std::vector<std::string>& header) -> Result<std::string> {
          std::string text;
          for (const std::string& line : header) text += "# " + line + "\n";
          return text + "case " + std::to_string(descent.index) + "\n";
        },
        corpus.value(),
        ledger_,
        *view,
        stop,
        may_be_known_};
    return run_campaign(options_, parts);
  }

  static CampaignState plain_state(std::uint64_t cases) {
    CampaignState state;
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
  TemporaryFolder folder_ = made_folder();
  CampaignOptions options_;
  Ledger ledger_;
  Corpus::Write write_ = write_text;
  LookAgain look_again_ = [](const TriageTask& task) {
    TriageResult result;
    result.triage.status = TriageStatus::kConfirmed;
    result.triage.from = task.index;
    result.triage.nodes = 3;
    result.triage.calls = 1;
    result.folder = task.ends_process() ? CorpusFolder::kCrashing : CorpusFolder::kRegression;
    result.case_text = "reduced from " + std::to_string(task.index) + "\n";
    return result;
  };
  MayBeKnown may_be_known_;
  std::unique_ptr<std::FILE, Closer> output_;
};

CaseVerdict judge_plainly(const Descent& descent, const std::function<void()>& begin_judging) {
  begin_judging();
  return plain_verdict(descent.index);
}

TEST_F(CampaignTest, RunsEveryCaseAndTellsEachFindingOnce) {
  const auto end = must(run(judge_plainly));
  EXPECT_TRUE(same_results(end.state, plain_state(200)));
  EXPECT_EQ(end.state.triage.at(kWrong).nodes, 3U);
  EXPECT_EQ(events("finding").size(), 1U);
  EXPECT_EQ(events("triage").size(), 1U);
  const std::string corpus = folder_.path() + "/corpus";
  const auto found = case_files(corpus, CorpusFolder::kRegression).value();
  EXPECT_EQ(found, std::vector{"regression/" + finding_name(kWrong) + ".case"});
  EXPECT_FALSE(fs::exists(corpus + "/campaigns/shard-0-of-1.journal"));
}

TEST_F(CampaignTest, KeepsACaseForEachFeatureAndNoneTwice) {
  ASSERT_TRUE(run(judge_plainly).ok());
  const std::string corpus = folder_.path() + "/corpus";
  EXPECT_EQ(case_files(corpus, CorpusFolder::kCoverage).value().size(), 7U + 8U - 1U);
}

// Later batches end first: the early cases of a feature take long.
TEST_F(CampaignTest, KeepsTheSameCoverageWithAnyNumberOfWorkers) {
  const auto judge = [](const Descent& descent, const std::function<void()>& begin_judging) {
    if (descent.index % 40 < 4) ::usleep(60'000);
    begin_judging();
    CaseVerdict verdict = plain_verdict(descent.index);
    verdict.features.push_back(static_cast<std::uint32_t>(1000 + descent.index / 13 % 9));
    return verdict;
  };
  const auto kept_by = [&](int jobs) {
    options_.pool.jobs = jobs;
    const std::string folder = std::to_string(jobs);
    must(run(judge, folder));
    return case_files(folder_.path() + "/" + folder, CorpusFolder::kCoverage).value();
  };
  const auto kept = kept_by(1);
  EXPECT_GT(kept.size(), 20U);
  EXPECT_EQ(kept_by(3), kept);
  // Interrupted, and gone on with.
  const SharedCount runs;
  const pid_t campaign = ::getpid();
  const auto interrupting = [&](const Descent& descent, const std::function<void()>& begin) {
    if (runs.add() == 90) (void)::kill(campaign, SIGTERM);
    return judge(descent, begin);
  };
  EXPECT_TRUE(must(run(interrupting, "interrupted")).is_interrupted);
  options_.resume = true;
  must(run(judge, "interrupted"));
  EXPECT_EQ(case_files(folder_.path() + "/interrupted", CorpusFolder::kCoverage).value(), kept);
}

// What is compiled for one data set is there for the others.
TEST_F(CampaignTest, LeavesTheDataSetsOfADrawToOneWorker) {
  constexpr std::uint64_t kSets = 7;
  const std::string path = folder_.path() + "/who";
  options_.data_sets = kSets;
  for (const std::uint32_t shards : {1U, 3U}) {
    fs::remove(path);
    options_.shard = {shards - 1, shards};
    must(run(
        [&](const Descent& descent, const std::function<void()>& begin_judging) {
          std::ofstream(path, std::ios::app)
              << std::to_string(descent.index / kSets) + " " + std::to_string(::getpid()) + "\n";
          return judge_plainly(descent, begin_judging);
        },
        std::to_string(shards)));
    std::ifstream file(path);
    std::map<int, std::set<int>> workers;
    int cases = 0;
    for (int draw = 0, worker = 0; file >> draw >> worker; ++cases) {
      workers[draw].insert(worker);
    }
    EXPECT_EQ(cases, shards == 1 ? 200 : 66);
    EXPECT_EQ(workers.size(), 29U);
    for (const auto& [draw, one] : workers) EXPECT_EQ(one.size(), 1U) << draw;
  }
}

TEST_F(CampaignTest, OfShardsMergesIntoTheUnshardedOne) {
  std::vector<CampaignState> states;
  for (std::uint32_t i = 0; i < 3; ++i) {
    options_.shard = {i, 3};
    const auto end = must(run(judge_plainly));
    states.push_back(end.state);
  }
  const auto merged = must(merge_states(states));
  EXPECT_TRUE(same_results(merged, plain_state(200)));
}

TEST_F(CampaignTest, NamesWhatTakesItsProcessDownAndGoesOn) {
  options_.pool.timeout_seconds = 2;
  options_.pool.memory_bytes = can_limit_memory() ? std::uint64_t{1} << 30U : 0;
  const auto judge = [](const Descent& descent, const std::function<void()>& begin_judging) {
    begin_judging();
    const std::uint64_t index = descent.index;
    if (index == 17) {
      (void)std::signal(SIGSEGV, SIG_DFL);  // sanitizers take it themselves
      (void)std::raise(SIGSEGV);
    }
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
  const auto end = must(run(judge));
  const auto& signatures = end.state.tally.signatures;
  EXPECT_EQ(end.state.tally.cases, 200U);
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
  EXPECT_EQ(case_files(folder_.path() + "/corpus", CorpusFolder::kCrashing).value().size(),
            can_limit_memory() ? 5U : 4U);
}

// Other processes take memory, and give it back.
TEST_F(CampaignTest, TakesACaseWithoutMemoryForNoFindingWhereItHasSomeLater) {
  const SharedCount thrown;
  const SharedCount told;
  const auto judge = [&](const Descent& descent, const std::function<void()>& begin_judging) {
    begin_judging();
    if (descent.index == 83 && thrown.add() == 1) throw std::bad_alloc();
    CaseVerdict verdict = plain_verdict(descent.index);
    if (descent.index == 84 && told.add() == 1) {  // its executor says so
      verdict.outcome = Outcome::kCrash;
      verdict.signature = kNoMemorySignature;
    }
    return verdict;
  };
  const auto end = must(run(judge));
  EXPECT_EQ(end.state.tally.cases, 200U);
  EXPECT_EQ(thrown.get(), 2);
  EXPECT_EQ(told.get(), 2);
  EXPECT_TRUE(same_results(end.state, plain_state(200)));
}

TEST_F(CampaignTest, ThatIsInterruptedIsWholeAndGoesOnWhereItWas) {
  options_.pool.jobs = 1;
  const SharedCount runs;
  const pid_t campaign = ::getpid();
  const auto end =
      must(run([&](const Descent& descent, const std::function<void()>& begin_judging) {
        if (runs.add() == 100) (void)::kill(campaign, SIGTERM);
        ::usleep(1000);
        return judge_plainly(descent, begin_judging);
      }));
  EXPECT_TRUE(end.is_interrupted);
  const std::uint64_t cases = end.state.tally.cases;
  EXPECT_GT(cases, 0U);
  EXPECT_LT(cases, 200U);
  const auto text =
      must(tools::read_text(folder_.path() + "/corpus/campaigns/shard-0-of-1.campaign"));
  EXPECT_EQ(text, print_state(end.state));
  options_.resume = true;
  const SharedCount more;
  const auto rest =
      must(run([&](const Descent& descent, const std::function<void()>& begin_judging) {
        more.add();
        return judge_plainly(descent, begin_judging);
      }));
  EXPECT_FALSE(rest.is_interrupted);
  EXPECT_EQ(static_cast<std::uint64_t>(more.get()), 200 - cases);
  EXPECT_TRUE(same_results(rest.state, plain_state(200)));
}

TEST_F(CampaignTest, ThatIsKilledGoesOnWithTheSameResults) {
  options_.pool.jobs = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    (void)run([](const Descent& descent, const std::function<void()>& begin_judging) {
      ::usleep(50'000);
      return judge_plainly(descent, begin_judging);
    });
    ::_exit(0);
  }
  // As soon as its state tells of cases.
  const std::string path = folder_.path() + "/corpus/campaigns/shard-0-of-1.campaign";
  for (int i = 0; i < 300; ++i) {
    ::usleep(100'000);
    const auto text = tools::read_text(path);
    if (text.ok() && text.value().find("done 0 of 1 [0, ") != std::string::npos) break;
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  options_.resume = true;
  const SharedCount more;
  const auto end =
      must(run([&](const Descent& descent, const std::function<void()>& begin_judging) {
        more.add();
        return judge_plainly(descent, begin_judging);
      }));
  EXPECT_LT(more.get(), 200);
  EXPECT_TRUE(same_results(end.state, plain_state(200)));
  const auto remarks = events("remark");
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_TRUE(contains(remarks[0]["message"].get<std::string>(), "when the campaign ended"));
}

TEST_F(CampaignTest, IsNotResumedAsAnother) {
  ASSERT_TRUE(run(judge_plainly).ok());
  options_.resume = true;
  options_.cases = 100;
  EXPECT_EQ(run(judge_plainly).error().kind, ErrorKind::kBadInput);
  options_.cases = 300;
  const auto longer = must(run(judge_plainly));
  EXPECT_TRUE(same_results(longer.state, plain_state(300)));
  options_.key.seed = 43;
  EXPECT_TRUE(contains(failure_of(run(judge_plainly)).message, "seeds 43 and 42"));
}

TEST_F(CampaignTest, ThatTheMachineFailedIsNoDefect) {
  for (const auto& [signature, code] : {std::pair(kMachineFailed, tools::ExitCode::kInfrastructure),
                                        std::pair(kHarnessError, tools::ExitCode::kInternal)}) {
    options_.cases = 3;
    const auto end = must(run(
        [&, name = signature](const Descent& descent, const std::function<void()>& begin_judging) {
          begin_judging();
          CaseVerdict verdict = plain_verdict(descent.index);
          verdict.outcome = Outcome::kInfra;
          verdict.signature = std::string(name);
          return verdict;
        },
        finding_name(signature)));
    tools::FuzzOutcome outcome;
    outcome.state = end.state;
    EXPECT_EQ(tools::report_of(outcome, ledger_).code, code) << signature;
  }
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
  const Error end = failure_of(run(judge_plainly));
  EXPECT_EQ(end.kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(contains(end.message, "No space left"));
}

TEST_F(CampaignTest, DoesNotLookAgainAtWhatTheCorpusHas) {
  ASSERT_TRUE(run(judge_plainly).ok());
  int looked = 0;
  look_again_ = [&](const TriageTask&) -> TriageResult {
    ++looked;
    std::abort();
  };
  const auto end = must(run(judge_plainly));
  EXPECT_EQ(end.state.triage.at(kWrong).remark, "the corpus had it");
  EXPECT_TRUE(events("triage").empty());
}

// A look that finds what is known, but for one case.
class KnownCampaignTest : public CampaignTest {
 protected:
  KnownCampaignTest() {
    look_again_ = [this](const TriageTask& task) {
      looks_.add();
      TriageResult result;
      result.triage.status = TriageStatus::kConfirmed;
      result.triage.from = task.index;
      if (task.index != other_) result.triage.known = "one";
      if (task.index == other_) result.case_text = "another\n";
      result.folder = CorpusFolder::kRegression;
      return result;
    };
    may_be_known_ = [this](const TriageTask& task) { return task.index != other_; };
  }
  SharedCount looks_;
  std::uint64_t other_ = 0;
};

// The first cases of its signature are looked at, and of the others none that may be the same.
TEST_F(KnownCampaignTest, KeepsNoCaseOfWhatIsKnown) {
  const auto end = must(run(judge_plainly));
  const Triage& triage = end.state.triage.at(kWrong);
  EXPECT_EQ(triage.known, "one");
  EXPECT_EQ(triage.file, "");
  EXPECT_EQ(looks_.get(), 3);
  EXPECT_EQ(events("progress").back()["findings"], 0);
  EXPECT_EQ(events("progress").back()["known"], 1);
  const CampaignState again = must(parse_state(print_state(end.state), "s"));
  EXPECT_EQ(again.triage.at(kWrong), triage);
}

// It may not hide another one that has its signature.
TEST_F(KnownCampaignTest, FindsWhatIsNotKnownAmongCasesOfItsSignature) {
  other_ = 149;
  const auto end = must(run(judge_plainly));
  const Triage& triage = end.state.triage.at(kWrong);
  EXPECT_EQ(triage.known, "");
  EXPECT_EQ(triage.from, 149U);
  EXPECT_NE(triage.file, "");
  EXPECT_EQ(triage.remark, "others are one");
  EXPECT_EQ(events("progress").back()["findings"], 1);
}

TEST_F(CampaignTest, SurvivesWhatLooksAgain) {
  look_again_ = [](const TriageTask&) -> TriageResult { std::abort(); };
  const auto end = must(run(judge_plainly));
  EXPECT_EQ(end.state.triage.at(kWrong).remark,
            "looking at it again was killed by signal 6 (Aborted)");
  EXPECT_EQ(end.state.tally.cases, 200U);
}

// What a bred case shows depends on all that it descends from.
CaseVerdict judge_bred(const Descent& descent, const std::function<void()>& begin_judging) {
  begin_judging();
  CaseVerdict verdict = plain_verdict(descent.index);
  verdict.ancestors = descent.ancestors;
  verdict.score = 1 + static_cast<double>(descent.ancestors.size());
  for (const std::uint64_t ancestor : descent.ancestors) {
    verdict.content = hash_of(std::to_string(ancestor), verdict.content);
  }
  verdict.features = {static_cast<std::uint32_t>(10'000 + descent.ancestors.size()),
                      static_cast<std::uint32_t>(20'000 + verdict.content % 50)};
  return verdict;
}

class GuidedCampaignTest : public CampaignTest {
 protected:
  GuidedCampaignTest() {
    options_.cases = 5 * kGenerationCases;
    breed(1);
  }
  void breed(std::uint32_t lineages) {
    options_.breeding = Breeding{42, BreedFrom::kFeatures, lineages};
    options_.pool.lineages = lineages;
    options_.key.settings["lineages"] = std::to_string(lineages);
  }
  CampaignState state_of(const std::string& folder) {
    const auto end = must(run(judge_bred, folder));
    return end.state;
  }
};

TEST_F(GuidedCampaignTest, IsTheSameForAnyNumberOfWorkers) {
  options_.pool.jobs = 1;
  const auto alone = state_of("alone");
  options_.pool.jobs = 5;
  EXPECT_TRUE(same_results(state_of("several"), alone));
  // It goes from generation to generation, and is another one than the blind campaign.
  EXPECT_EQ(alone.lineages.at(0).generation, 5U);
  EXPECT_TRUE(alone.tally.features.contains(10'004));
  options_.breeding.reset();
  EXPECT_FALSE(alone.tally == state_of("blind").tally);
}

TEST_F(GuidedCampaignTest, MergedFromShardsIsTheUnshardedOne) {
  breed(4);
  options_.cases = 10 * kGenerationCases;
  const auto whole = state_of("whole");
  std::vector<CampaignState> states;
  for (std::uint32_t i = 0; i < 2; ++i) {
    options_.shard = {i, 2};
    states.push_back(state_of("parts"));
  }
  const auto merged = must(merge_states(states));
  EXPECT_TRUE(same_results(merged, whole));
  EXPECT_EQ(whole.lineages.size(), 4U);
}

TEST_F(GuidedCampaignTest, ThatIsInterruptedGoesOnAsIfItWereNot) {
  const auto whole = state_of("whole");
  options_.pool.jobs = 1;
  const pid_t campaign = ::getpid();
  const SharedCount runs;
  const auto interrupt = [&](const Descent& descent, const std::function<void()>& begin_judging) {
    if (runs.add() == 700) (void)::kill(campaign, SIGTERM);
    return judge_bred(descent, begin_judging);
  };
  const auto end = must(run(interrupt, "parts"));
  EXPECT_TRUE(end.is_interrupted);
  options_.resume = true;
  EXPECT_TRUE(same_results(state_of("parts"), whole));
}

TEST_F(GuidedCampaignTest, GoesOnBehindCasesThatEndTheirProcess) {
  const auto judge = [](const Descent& descent, const std::function<void()>& begin_judging) {
    if (descent.index % 200 == 190) std::abort();
    return judge_bred(descent, begin_judging);
  };
  const auto end = must(run(judge));
  const auto& state = end.state;
  EXPECT_EQ(state.tally.cases, options_.cases);
  EXPECT_EQ(state.lineages.at(0).generation, 5U);
  EXPECT_EQ(state.tally.signatures.at("crash SIGABRT [] {}").first.front(), 190U);
}

TEST_F(GuidedCampaignTest, TowardAScoreKeepsTheBestCases) {
  options_.breeding->from = BreedFrom::kScores;
  options_.target = Score::kPeak;
  const auto state = state_of("corpus");
  // Each generation is bred from the cases of the most ancestors.
  ASSERT_FALSE(state.tally.best.empty());
  EXPECT_EQ(state.tally.best.front().score, 5);
  const std::string corpus = folder_.path() + "/corpus";
  const auto files = case_files(corpus, CorpusFolder::kTargets).value();
  ASSERT_EQ(files.size(), 16U);
  EXPECT_EQ(files.front(), "targets/peak-01-shard-0-of-1.case");
  const auto text = must(tools::read_text(corpus + "/" + files.front()));
  EXPECT_TRUE(text.starts_with("# Score peak: 5.\n# Case f1:42:")) << text;
}

}  // namespace
}  // namespace graphgate::fuzz
