#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/folder_test.h"
#include "base/result_test.h"
#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/claim.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/ledger.h"
#include "fuzz/campaign/residual_risk.h"

namespace graphgate::fuzz {
namespace {

namespace fs = std::filesystem;
using spec::Outcome;

// A made-up verdict, a pure function of the index.
CaseVerdict verdict_of(std::uint64_t index) {
  CaseVerdict verdict;
  verdict.index = index;
  verdict.content = hash_of(std::to_string(index));
  verdict.features = {static_cast<std::uint32_t>(index % 11), 100};
  if (index % 50 == 3) verdict.features.push_back(static_cast<std::uint32_t>(1000 + index));
  if (index % 13 == 5) {
    verdict.outcome = Outcome::kFail;
    verdict.signature = "verifier V3.overlap [mm] {}";
    verdict.message = "case " + std::to_string(index) + " has \"overlaps\"\nand more";
    verdict.nodes = {"add", "mul " + std::to_string(index)};
  } else if (index % 7 == 2) {
    verdict.outcome = index % 2 == 0 ? Outcome::kUndecided : Outcome::kMistrusted;
    verdict.inconclusive = std::string(spec::outcome_name(verdict.outcome)) + " B5.undecided";
    verdict.message = "a tie of \"" + std::to_string(index) + "\"";
  }
  return verdict;
}

CampaignState campaign(const Shard& shard, std::uint64_t cases, std::uint64_t begin = 0,
                       std::uint64_t end = ~std::uint64_t{0}) {
  CampaignState state;
  state.key = {1, 42, {{"judges", "all"}, {"ops", "a=5"}}};
  state.cases = cases;
  end = std::min(end, shard.size(cases));
  for (std::uint64_t o = begin; o < end; ++o) state.tally.add(verdict_of(shard.case_index(o)));
  state.done[shard].add(begin, end);
  return state;
}

TEST(RangeSets, HoldWhatWasAdded) {
  RangeSet set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(20, 22);
  set.add(5, 5);
  EXPECT_EQ(set.size(), 22U);
  EXPECT_EQ(set.ranges().size(), 2U);
  EXPECT_TRUE(set.has(21));
  EXPECT_FALSE(set.has(22));
  EXPECT_EQ(set.gap(0, 100), (std::pair<std::uint64_t, std::uint64_t>{0, 10}));
  EXPECT_EQ(set.gap(10, 100), (std::pair<std::uint64_t, std::uint64_t>{22, 30}));
  EXPECT_EQ(set.gap(35, 100), (std::pair<std::uint64_t, std::uint64_t>{40, 100}));
  EXPECT_EQ(set.gap(35, 38), (std::pair<std::uint64_t, std::uint64_t>{40, 40}));
  set.add(0, 50);
  EXPECT_EQ(set.ranges().size(), 1U);
}

RC_GTEST_PROP(RangeSets, AgreeWithASetOfNumbers, ()) {
  const auto ranges = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 60), rc::gen::inRange(0, 9)));
  RangeSet set;
  std::set<std::uint64_t> numbers;
  for (const auto& [begin, length] : ranges) {
    set.add(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(begin + length));
    for (int n = begin; n < begin + length; ++n) numbers.insert(static_cast<std::uint64_t>(n));
  }
  RC_ASSERT(set.size() == numbers.size());
  for (std::uint64_t n = 0; n < 80; ++n) RC_ASSERT(set.has(n) == numbers.contains(n));
  for (std::size_t i = 1; i < set.ranges().size(); ++i) {
    RC_ASSERT(set.ranges()[i - 1].second < set.ranges()[i].first);
  }
}

TEST(Campaigns, MergedFromShardsEqualTheUnshardedOne) {
  constexpr std::uint64_t kCases = 10'007;  // more than one block
  const CampaignState whole = campaign({0, 1}, kCases);
  for (const std::uint32_t count : {2U, 4U, 7U}) {
    std::vector<CampaignState> shards;
    for (std::uint32_t i = count; i-- > 0;) shards.push_back(campaign({i, count}, kCases));
    const auto merged = must(merge_states(shards));
    EXPECT_TRUE(same_results(merged, whole)) << count;
    EXPECT_EQ(merged.tally.signatures, whole.tally.signatures);
    EXPECT_EQ(merged.tally.blocks, whole.tally.blocks);
  }
}

TEST(Campaigns, ThatDifferInOneCaseAreNotEqual) {
  const CampaignState whole = campaign({0, 1}, 5'000);
  CampaignState other = campaign({0, 1}, 5'000, 0, 4'999);
  CaseVerdict last = verdict_of(4'999);
  last.content ^= 1;
  other.tally.add(last);
  other.done[{0, 1}].add(4'999, 5'000);
  EXPECT_FALSE(same_results(whole, other));
}

TEST(Campaigns, AreNotAddedUpWhereTheyDoNotFit) {
  const CampaignState first = campaign({0, 2}, 100);
  EXPECT_EQ(merge_states({first, first}).error().message,
            "shard 0/2 and shard 0/2 ran the same cases");
  EXPECT_EQ(merge_states({first, campaign({3, 4}, 100), campaign({2, 4}, 100)}).error().message,
            "shard 2/4 and shard 0/2 ran the same cases");
  EXPECT_TRUE(merge_states({first, campaign({1, 4}, 100), campaign({3, 4}, 100)}).ok());
  CampaignState other = campaign({1, 2}, 100);
  other.key.seed = 43;
  EXPECT_EQ(merge_states({first, other}).error().message,
            "campaigns that differ do not add up: seeds 42 and 43");
  other = campaign({1, 2}, 100);
  other.key.settings.erase("ops");
  EXPECT_EQ(merge_states({first, other}).error().message,
            "campaigns that differ do not add up: ops: 'a=5' and nothing");
  EXPECT_FALSE(merge_states({first, campaign({1, 2}, 101)}).ok());
  EXPECT_FALSE(merge_states({}).ok());
}

TEST(Campaigns, ThatLackAShardStayInShards) {
  const auto merged = must(merge_states({campaign({0, 3}, 100), campaign({2, 3}, 100)}));
  EXPECT_EQ(merged.done.size(), 2U);
  EXPECT_EQ(merged.tally.cases, 67U);
}

class ClaimTest : public testing::Test {
 protected:
  static Result<void> write(const std::string& text, const std::string& path) {
    std::ofstream(path) << text;
    return {};
  }
  void store(const Shard& shard, std::uint64_t seed) const {
    CampaignState state = campaign(shard, 100);
    state.key.seed = seed;
    must(corpus_.write(print_state(state), corpus_.state_path(shard)));
  }
  [[nodiscard]] std::string message(std::uint64_t seed, const Shard& shard, bool overwrites) const {
    CampaignKey key = campaign(shard, 1).key;
    key.seed = seed;
    const auto made = make_room(corpus_, key, shard, overwrites);
    return made.ok() ? "" : made.error().message;
  }
  const TestFolder folder_;
  const Corpus corpus_ = must(Corpus::open(folder_.file("corpus"), write));
};

TEST_F(ClaimTest, IsForOneProcessAtATimeAndEachShardHasItsOwn) {
  {
    const ShardClaim first = must(ShardClaim::take(corpus_, {0, 2}));
    EXPECT_EQ(first.trouble(), "");
    const ShardClaim other = must(ShardClaim::take(corpus_, {1, 2}));
    const auto again = ShardClaim::take(corpus_, {0, 2});
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().kind, ErrorKind::kInfrastructure);
    EXPECT_EQ(again.error().message,
              corpus_.root() + ": shard 0/2 is being run by process " + std::to_string(::getpid()));
  }
  must(ShardClaim::take(corpus_, {0, 2}));
  EXPECT_TRUE(fs::is_empty(corpus_.root() + "/campaigns"));
}

TEST_F(ClaimTest, IsHeldAlsoWhereItsFileIsRemoved) {
  const std::string path = corpus_.root() + "/campaigns/shard-0-of-1.lock";
  ShardClaim first = must(ShardClaim::take(corpus_, {0, 1}));
  fs::remove(path);
  must(first.hold());
  EXPECT_FALSE(ShardClaim::take(corpus_, {0, 1}).ok());
  fs::remove(path);
  {
    const ShardClaim second = must(ShardClaim::take(corpus_, {0, 1}));
    const auto held = first.hold();
    ASSERT_FALSE(held.ok());
    EXPECT_EQ(held.error().kind, ErrorKind::kInfrastructure);
    EXPECT_EQ(held.error().message,
              path + ": was removed while this process ran the shard, which process " +
                  std::to_string(::getpid()) + " has taken since");
    { const ShardClaim gone = std::move(first); }
    EXPECT_TRUE(fs::exists(path));  // it is the second's
  }
  EXPECT_FALSE(fs::exists(path));
}

// As another container does it over the same folder.
TEST_F(ClaimTest, SaysWhereTheOwnersNumberCounts) {
  const std::string path = corpus_.root() + "/campaigns/shard-0-of-1.lock";
  const ShardClaim first = must(ShardClaim::take(corpus_, {0, 1}));
  std::ofstream(path, std::ios::trunc) << "process 1\n00000000.1.7\n";
  EXPECT_EQ(
      ShardClaim::take(corpus_, {0, 1}).error().message,
      corpus_.root() + ": shard 0/1 is being run by process 1 of another machine or container");
}

TEST_F(ClaimTest, GoesWithAProcessThatIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = ShardClaim::take(corpus_, {0, 1});
    std::ofstream(folder_.file("taken")) << claim.ok();
    for (;;) ::pause();
  }
  for (int i = 0; i < 300 && !fs::exists(folder_.file("taken")); ++i) ::usleep(10'000);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(ShardClaim::take(corpus_, {0, 1}).ok());
}

TEST_F(ClaimTest, LosesNoOtherCampaignUnlessItIsTold) {
  store({0, 2}, 42);
  EXPECT_EQ(message(42, {0, 2}, false), "");
  EXPECT_EQ(message(42, {1, 2}, false), "");
  const std::string path = corpus_.state_path({0, 2});
  const std::string refusal =
      path + ": holds another campaign, which --overwrite would remove: seeds 7 and 42";
  EXPECT_EQ(message(7, {0, 2}, false), refusal);
  EXPECT_EQ(message(7, {1, 2}, false), refusal);
  EXPECT_TRUE(fs::exists(path));
  {
    const ShardClaim running = must(ShardClaim::take(corpus_, {0, 2}));
    EXPECT_TRUE(contains(message(7, {1, 2}, true), "shard-0-of-2 is being run by process"));
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_EQ(message(7, {1, 2}, true), "");
  EXPECT_FALSE(fs::exists(path));
  store({0, 1}, 42);
  EXPECT_EQ(message(7, {0, 1}, true), "");
  EXPECT_FALSE(fs::exists(corpus_.state_path({0, 1})));
  must(corpus_.write("no state\n", corpus_.state_path({0, 1})));
  EXPECT_TRUE(contains(message(7, {0, 1}, false), "--overwrite would remove"));
}

TEST(Campaigns, AreReadAsTheyArePrinted) {
  CampaignState state = campaign({1, 4}, 30'000, 10, 6'000);
  state.done[{1, 4}].add(6'001, 6'005);
  state.seconds = 12.5;
  state.triage["verifier V3.overlap [mm] {}"] = {TriageStatus::kOrderDependent,
                                                 5,
                                                 3,
                                                 2,
                                                 "quarantine/x.case",
                                                 "after \"g1\"",
                                                 "median-expanded"};
  const std::string text = print_state(state);
  const auto read = must(parse_state(text, "state"));
  EXPECT_TRUE(same_results(read, state));
  EXPECT_EQ(read.triage, state.triage);
  EXPECT_EQ(print_state(read), text);
}

TEST(Campaigns, OfOtherVersionsAndTornFilesAreRefused) {
  const std::string text = print_state(campaign({0, 1}, 100));
  std::string newer = text;
  newer.replace(newer.find(" 1\n"), 3, " 9\n");
  EXPECT_EQ(parse_state(newer, "s").error().message,
            "s:1:20: unknown version 9, this build reads version 1");
  EXPECT_FALSE(parse_state("", "s").ok());
  EXPECT_FALSE(parse_state("graphgate-case 1\n", "s").ok());
  EXPECT_FALSE(parse_state(text + "done 4 of 4 [0, 1)\n", "s").ok());
  EXPECT_FALSE(parse_state(text + "block 1\n", "s").ok());
  for (const char* line : {"seconds 1e999\n", "best 1e999 at 0\n"}) {
    const auto endless = parse_state(text + line, "s");
    ASSERT_FALSE(endless.ok()) << line;
    EXPECT_TRUE(endless.error().message.ends_with("the number 1e999 does not fit in 64 bits"))
        << endless.error().message;
  }
}

TEST(Campaigns, KeepTheFirstCasesOfASignature) {
  Tally tally;
  for (std::uint64_t index = 1000; index-- > 0;) tally.add(verdict_of(index));
  const SignatureCount& count = tally.signatures.at("verifier V3.overlap [mm] {}");
  ASSERT_EQ(count.first.size(), kFirstCases);
  EXPECT_EQ(count.first.front(), 5U);
  EXPECT_EQ(count.first.back(), 5U + 13 * (kFirstCases - 1));
  EXPECT_EQ(count.message, verdict_of(5).message);
  EXPECT_EQ(count.cases, 77U);
}

TEST(Campaigns, TellWhatLeavesCasesInconclusive) {
  Tally tally;
  for (const std::uint64_t index : {30U, 16U, 9U, 58U, 2U}) tally.add(verdict_of(index));
  ASSERT_EQ(tally.inconclusive.size(), 2U);
  EXPECT_EQ(tally.inconclusive.at("UNDECIDED B5.undecided"),
            (InconclusiveCount{4, 2, "a tie of \"2\""}));
  EXPECT_EQ(tally.inconclusive.at("MISTRUSTED B5.undecided").cases, 1U);
  tally.forget_results();
  EXPECT_TRUE(tally.inconclusive.empty());
}

// Of a bred case that is named it is known where it comes from.
TEST(Campaigns, NameTheFirstInconclusiveCase) {
  CaseVerdict bred;
  bred.index = 9;
  bred.inconclusive = "MISTRUSTED vacuity";
  bred.ancestors = {4, 8};
  Tally tally;
  tally.add(bred);
  EXPECT_EQ(tally.descent_of(9).ancestors, bred.ancestors);
  CaseVerdict before = bred;
  before.index = 1;
  before.ancestors = {};
  tally.add(before);
  EXPECT_TRUE(tally.descent_of(9).ancestors.empty());
}

TEST(Journals, SurviveAProcessThatIsKilled) {
  const TemporaryFolder folder = made_folder();
  fs::create_directories(folder.path());
  const std::string path = folder.path() + "/journal";
  {
    auto journal = must(Journal::create(path, 2));
    const pid_t child = ::fork();
    if (child == 0) {
      Journal& own = journal;
      for (std::uint64_t i = 0; i < 5000; ++i) {
        own.begin(1, i);
        own.enter(1, CasePhase::kJudging);
        own.finish(1, static_cast<std::uint32_t>(Outcome::kPass));
      }
      own.begin(1, 4711);
      own.enter(1, CasePhase::kJudging);
      (void)::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  const auto journal = must(Journal::open(path));
  EXPECT_EQ(journal.workers(), 2U);
  EXPECT_FALSE(journal.in_flight(0));
  const auto entry = journal.in_flight(1);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->index, 4711U);
  EXPECT_EQ(entry->phase, CasePhase::kJudging);
  EXPECT_EQ(journal.begun(1), 5001U);
  const auto latest = journal.latest(1, 3);
  ASSERT_EQ(latest.size(), 3U);
  EXPECT_EQ(latest[0].index, 4998U);
  EXPECT_EQ(latest[1].phase, CasePhase::kDone);
  EXPECT_GE(latest[1].end_nanoseconds, latest[1].begin_nanoseconds);
  EXPECT_EQ(latest[1].latest_nanoseconds(), latest[1].end_nanoseconds);
  EXPECT_EQ(latest[2].latest_nanoseconds(), latest[2].begin_nanoseconds);
  EXPECT_EQ(journal.latest(1, 1'000'000).size(), Journal::kRingEntries);
}

TEST(Journals, RefuseOtherFiles) {
  const TemporaryFolder folder = made_folder();
  fs::create_directories(folder.path());
  const std::string path = folder.path() + "/journal";
  EXPECT_FALSE(Journal::open(path).ok());
  std::ofstream(path) << std::string(200, 'x');
  EXPECT_FALSE(Journal::open(path).ok());
  EXPECT_EQ(Journal::create("/dev/null/journal", 1).error().kind, ErrorKind::kInfrastructure);
}

// A word of a damaged one is no index into anything.
TEST(Journals, TellOfNoPhaseThatThereIsNot) {
  const TemporaryFolder folder = made_folder();
  fs::create_directories(folder.path());
  const std::string path = folder.path() + "/journal";
  { must(Journal::create(path, 1)).begin(0, 4711); }
  std::string bytes;
  {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::uint32_t drawing = static_cast<std::uint32_t>(CasePhase::kDrawing);
  constexpr std::size_t kPhaseOfFirst = 64 + 64 + 16;  // behind the header, the ring's, two numbers
  ASSERT_EQ(std::memcmp(bytes.data() + kPhaseOfFirst, &drawing, sizeof(drawing)), 0);
  std::memset(bytes.data() + kPhaseOfFirst, 0x7f, sizeof(drawing));
  std::ofstream(path, std::ios::binary) << bytes;
  const auto journal = must(Journal::open(path));
  EXPECT_FALSE(journal.in_flight(0));
  ASSERT_EQ(journal.latest(0, 1).size(), 1U);
  EXPECT_EQ(journal.latest(0, 1).front().phase, CasePhase::kNone);
}

TEST(Ledgers, LinkFindingsToIssues) {
  const auto ledger =
      must(Ledger::parse("# known\n\n"
                         "a-1 FAIL https://example.org/1 reads before the copy\n"
                         "b-2 CRASH https://example.org/2\n"
                         "c-3 PASS https://example.org/3 fixed\n"
                         "d-4 FLAKY https://example.org/4\n",
                         "ledger.txt"));
  EXPECT_EQ(ledger.find_known("a-1")->issue, "https://example.org/1");
  EXPECT_EQ(ledger.find_known("a-1")->note, "reads before the copy");
  EXPECT_EQ(ledger.find_known("c-3"), nullptr);
  EXPECT_EQ(ledger.judge("a-1", Outcome::kFail), Outcome::kXFail);
  EXPECT_EQ(ledger.judge("a-1", Outcome::kPass), Outcome::kXPass);
  EXPECT_EQ(ledger.judge("a-1", Outcome::kCrash), Outcome::kCrash);
  EXPECT_EQ(ledger.judge("b-2", Outcome::kCrash), Outcome::kXFail);
  EXPECT_EQ(ledger.judge("c-3", Outcome::kPass), Outcome::kPass);
  EXPECT_EQ(ledger.judge("c-3", Outcome::kFail), Outcome::kFail);
  EXPECT_EQ(ledger.judge("d-4", Outcome::kPass), Outcome::kPass);
  EXPECT_EQ(ledger.judge("d-4", Outcome::kFail), Outcome::kXFail);
  EXPECT_EQ(ledger.judge("none", Outcome::kFail), Outcome::kFail);
}

TEST(Ledgers, AreRefusedWithTheLine) {
  const auto error = [](const char* text) { return Ledger::parse(text, "l").error().message; };
  EXPECT_EQ(error("a FAIL\n"), "l:1: expected the address of an issue behind 'a FAIL'");
  EXPECT_EQ(error("#\na BAD http://x\n"),
            "l:2: expected PASS, FAIL, SUSPECT, CRASH, TIMEOUT or FLAKY behind 'a'");
  EXPECT_EQ(error("a XFAIL http://x\n"),
            "l:1: expected PASS, FAIL, SUSPECT, CRASH, TIMEOUT or FLAKY behind 'a'");
  EXPECT_EQ(error("a FAIL http://x\na FAIL http://y\n"), "l:2: 'a' comes twice");
}

Result<void> write_plainly(const std::string& text, const std::string& path) {
  std::ofstream file(path);
  file << text;
  return file.good() ? Result<void>() : infrastructure(path + ": cannot be written");
}

TEST(Corpora, KeepCasesByName) {
  const TemporaryFolder folder = made_folder();
  const auto corpus = must(Corpus::open(folder.path(), write_plainly));
  const std::string name = finding_name("verifier V3.overlap [mm, neg] {}");
  EXPECT_EQ(name.substr(0, name.size() - 12), "verifier-V3.overlap-mm-neg-");
  EXPECT_NE(name, finding_name("verifier V3.overlap [mm; neg] {}"));
  EXPECT_EQ(corpus.find(name), "");
  const auto kept = must(corpus.keep(CorpusFolder::kCrashing, name, "text"));
  EXPECT_EQ(kept, "crashing/" + name + ".case");
  EXPECT_EQ(corpus.find(name), kept);
  EXPECT_EQ(case_files(folder.path(), CorpusFolder::kCrashing).value(), std::vector{kept});
  EXPECT_TRUE(case_files(folder.path(), CorpusFolder::kRegression).value().empty());
  EXPECT_FALSE(find_states(folder.path()).ok());
}

// When each op and each rule of places was a finding of its own.
TEST(Corpora, FindCasesThatWereStoredUnderAnotherName) {
  const TemporaryFolder folder = made_folder();
  const std::string before = finding_name("verifier V3.kept-bytes [addmv_] {}");
  const std::string file = "regression/" + before + ".case";
  {
    const auto corpus = must(Corpus::open(folder.path(), write_plainly));
    EXPECT_EQ(must(corpus.keep(CorpusFolder::kRegression, before,
                               "graphgate-case 1\n# Found in 2025.\n"
                               "# Signature: verifier V3.kept-bytes [addmv_] {compiler=eager}\n"
                               "name \"x\"\n")),
              file);
  }
  const auto corpus = must(Corpus::open_for_reading(folder.path()));
  EXPECT_EQ(corpus.find(before), file);
  EXPECT_EQ(corpus.find(finding_name("verifier V3.overlap [] {}")), file);
  EXPECT_EQ(corpus.find(finding_name("verifier V4.wrong-version [] {}")), "");
  EXPECT_EQ(stored_name(file), before);
}

TEST(Corpora, ThatCannotBeWrittenAreRefusedAtOnce) {
  EXPECT_EQ(Corpus::open("/dev/null/corpus", write_plainly).error().kind,
            ErrorKind::kInfrastructure);
  const TemporaryFolder folder = made_folder();
  const auto full = Corpus::open(folder.path(), [](const auto&, const auto& path) {
    return Result<void>(infrastructure(path + ": no space left on device"));
  });
  EXPECT_FALSE(full.ok());
}

TEST(ResidualRisk, IsTheShareOfKindsSeenOnce) {
  EXPECT_EQ(residual_risk(0, 0, 0).probability, 1);
  const ResidualRisk risk = residual_risk(1'000'000, 200, 30);
  EXPECT_EQ(risk.probability, 30.0 / 1'000'000);
  // (2 sqrt 2 + sqrt 3) sqrt(ln 60 / 1e6)
  EXPECT_NEAR(risk.upper_bound.value(), 30e-6 + 4.5604779323 * std::sqrt(4.0943445622e-6), 1e-9);
  // Nothing in 2,994 cases: less than a thousandth, in 95 of 100 campaigns.
  EXPECT_NEAR(residual_risk(2'994, 0, 0).upper_bound.value(), 1e-3, 1e-6);
}

TEST(ResidualRisk, HoldsForDrawsFromAKnownDistribution) {
  // Kind k has the probability 2^-(k + 1): what the sample lacks is known exactly.
  Tally tally;
  double missing = 1;
  std::uint64_t state = 1;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    state = hash_of(std::to_string(n), state);
    CaseVerdict verdict;
    verdict.index = n;
    const int kind = __builtin_ctzll(state >> 8U | 1ULL << 50U);
    verdict.features = {static_cast<std::uint32_t>(kind)};
    verdict.signature = std::to_string(kind);
    tally.add(verdict);
  }
  for (const auto& [feature, count] : tally.features)
    missing -= std::ldexp(1.0, -1 - static_cast<int>(feature));
  const ResidualRisk risk = feature_risk(tally);
  EXPECT_NEAR(risk.probability, missing, 4e-4);
  EXPECT_EQ(signature_risk(tally).probability, risk.probability);
  EXPECT_LT(missing, signature_risk(tally).upper_bound.value());
}

TEST(ResidualRisk, CountsCasesAndNotTheirFeatures) {
  Tally tally;
  for (std::uint32_t n = 0; n < 4; ++n) {
    CaseVerdict verdict;
    verdict.index = n;
    verdict.features = {7};
    if (n == 2) verdict.features.insert(verdict.features.end(), {20, 21, 22, 23, 24});
    tally.add(verdict);
  }
  const ResidualRisk risk = feature_risk(tally);
  EXPECT_EQ(risk.once, 5U);
  EXPECT_EQ(risk.probability, 0.25);
  EXPECT_FALSE(risk.upper_bound);
}

}  // namespace
}  // namespace graphgate::fuzz
