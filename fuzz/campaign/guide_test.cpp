#include "fuzz/campaign/guide.h"

#include <algorithm>

#include "base/result_test.h"
#include "fuzz/campaign/campaign_state.h"

namespace graphgate::fuzz {
namespace {

// Feature 1 in every case, 2 in every tenth, 3 in one.
CaseVerdict verdict_for(std::uint64_t index) {
  CaseVerdict verdict;
  verdict.index = index;
  verdict.features = {1};
  if (index % 10 == 4) verdict.features.push_back(2);
  if (index == 77) verdict.features.push_back(3);
  verdict.score = static_cast<double>(index % 100);
  if (index >= 50) verdict.ancestors = {index % 7};
  return verdict;
}

Tally tally_of(std::uint64_t begin, std::uint64_t end) {
  Tally tally;
  for (std::uint64_t index = begin; index < end; ++index) tally.add(verdict_for(index));
  return tally;
}

TEST(Guides, FollowFromSumsInAnyOrder) {
  Lineage forward;
  Lineage backward;
  constexpr std::uint64_t kStep = 16;
  for (std::uint64_t b = 0; b < kGenerationCases; b += kStep) {
    EXPECT_EQ(forward.generation, 0U);
    add_to_lineage(forward, tally_of(b, b + kStep));
    add_to_lineage(backward, tally_of(kGenerationCases - b - kStep, kGenerationCases - b));
  }
  EXPECT_EQ(forward.generation, 1U);
  EXPECT_TRUE(forward == backward);
  EXPECT_EQ(forward.shown.cases, kGenerationCases);
  EXPECT_TRUE(forward.open == Tally());
  for (const auto from : {BreedFrom::kFeatures, BreedFrom::kScores}) {
    Guide one(9, from);
    one.learn(forward.shown);
    Guide other(9, from);
    other.learn(backward.shown);
    for (std::uint64_t index = 256; index < 512; ++index) {
      EXPECT_EQ(one.descent_of(index), other.descent_of(index));
    }
  }
}

TEST(Guides, BreedFromWhatIsRare) {
  Guide guide(3, BreedFrom::kFeatures);
  guide.learn(tally_of(0, 200));
  int blind = 0;
  std::map<std::vector<std::uint64_t>, int> children;
  for (std::uint64_t index = 1000; index < 2000; ++index) {
    const Descent descent = guide.descent_of(index);
    EXPECT_EQ(descent.index, index);
    blind += descent.ancestors.empty() ? 1 : 0;
    ++children[descent.ancestors];
  }
  EXPECT_GT(blind, 100);
  EXPECT_LT(blind, 400);
  // The case of the feature that no other has, which was bred from case 0.
  EXPECT_GT((children[{0, 77}]), 500);
  EXPECT_GT((children[{0, 77}]), 10 * children[{4}]);
  EXPECT_GT(children[{4}], children[{0}]);
}

TEST(Guides, BreedFromTheHighestScores) {
  Guide guide(3, BreedFrom::kScores);
  guide.learn(tally_of(0, 256));
  for (std::uint64_t index = 1000; index < 1100; ++index) {
    const Descent descent = guide.descent_of(index);
    if (descent.ancestors.empty()) continue;
    EXPECT_GE(descent.ancestors.back() % 100, 60U);
  }
}

TEST(Guides, LeaveOutWhatHasTooManyAncestors) {
  CaseVerdict verdict = verdict_for(100);
  verdict.ancestors.assign(kMostAncestors, 1);
  Tally tally;
  tally.add(verdict);
  Guide guide(3, BreedFrom::kFeatures);
  guide.learn(tally);
  for (std::uint64_t index = 0; index < 100; ++index) {
    EXPECT_TRUE(guide.descent_of(index).ancestors.empty());
  }
}

TEST(Guides, DrawAGenerationOnceAllBeforeItHasRun) {
  Lineages lineages;
  const Shard shard{1, 2};
  ShardGuide guide({3, BreedFrom::kFeatures, 4}, shard, lineages);
  EXPECT_EQ(lineages.size(), 2U);
  EXPECT_EQ(guide.drawable_ordinals(), 2 * kGenerationCases);
  const auto run = [&](std::uint64_t lineage) {
    Tally tally;
    for (std::uint64_t i = 0; i < kGenerationCases; ++i) tally.add(verdict_for(lineage + 4 * i));
    guide.add(static_cast<std::uint32_t>(lineage), tally);
  };
  run(1);
  EXPECT_EQ(guide.drawable_ordinals(), 2 * kGenerationCases);
  run(3);
  EXPECT_EQ(guide.drawable_ordinals(), 4 * kGenerationCases);
  // Lineages learn nothing of each other.
  for (std::uint64_t index = 1025; index < 1225; index += 4) {
    const Descent descent = guide.descent_of(index);
    if (descent.ancestors.empty()) continue;
    EXPECT_EQ(descent.ancestors.back() % 4, 1U);
  }
}

TEST(Tallies, KnowOfNamedCasesAloneWhatTheyDescendFrom) {
  const Tally whole = tally_of(0, 300);
  Tally sum = tally_of(150, 300);
  sum.add(tally_of(0, 150));
  EXPECT_TRUE(sum == whole);
  EXPECT_EQ(whole.descent_of(77), (Descent{77, {0}}));
  EXPECT_EQ(whole.descent_of(4), (Descent{4, {}}));
  EXPECT_EQ(whole.best.size(), kBestCases);
  EXPECT_EQ(whole.best.front(), (ScoredCase{99, 99}));
  EXPECT_LE(whole.ancestors.size(), kBestCases + 3);
}

TEST(Tallies, OfGuidedCampaignsAreReadAsTheyArePrinted) {
  CampaignState state;
  state.key = {1, 42, {{"lineages", "2"}}};
  state.cases = 300;
  state.done[{0, 1}].add(0, 300);
  state.tally = tally_of(0, 300);
  add_to_lineage(state.lineages[0], tally_of(0, 256));
  add_to_lineage(state.lineages[0], tally_of(256, 280));
  add_to_lineage(state.lineages[1], tally_of(280, 300));
  const std::string text = print_state(state);
  const auto parsed = must(parse_state(text, "here"));
  EXPECT_TRUE(same_results(parsed, state));
  EXPECT_EQ(print_state(parsed), text);
  EXPECT_EQ(parsed.lineages.at(0).generation, 1U);
}

}  // namespace
}  // namespace graphgate::fuzz
