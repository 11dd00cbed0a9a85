#include "tools/gate/gate_overrides.h"

#include <gtest/gtest.h>

namespace graphgate::tools {
namespace {

constexpr const char* kOverlapShown = "verifier V3.overlap [mm] {}";
constexpr const char* kStaleShown = "shadow S2.stale-read [view] {}";

GateSide showing(const std::map<std::string, std::vector<std::string>>& signatures) {
  GateSide side;
  for (const auto& [name, shown] : signatures) {
    GateCase& one = side.cases[name];
    for (const std::string& signature : shown) one.findings.push_back({signature, "why"});
  }
  return side;
}

OverrideVerdict weigh(const GateSide& with, const GateSide& left_out) {
  OverrideVerdict verdict;
  weigh_override(with, left_out, verdict);
  return verdict;
}

TEST(WeighOverride, StillNeedsOneWithoutWhichMoreShows) {
  const auto verdict = weigh(showing({{"a", {}}}), showing({{"a", {kOverlapShown}}}));
  EXPECT_EQ(verdict.use, OverrideUse::kStillNeeded);
  EXPECT_EQ(verdict.signatures, std::vector<std::string>{kOverlapShown});
}

TEST(WeighOverride, CallsOneHarmfulThatBringsAnythingWhateverItCures) {
  const auto verdict = weigh(showing({{"a", {kStaleShown}}}), showing({{"a", {kOverlapShown}}}));
  EXPECT_EQ(verdict.use, OverrideUse::kHarmful);
  EXPECT_EQ(verdict.signatures, std::vector<std::string>{kStaleShown});
}

TEST(WeighOverride, SeesAFaultThatComesInOneMoreCase) {
  const auto verdict = weigh(showing({{"a", {kStaleShown}}, {"b", {kStaleShown}}}),
                             showing({{"a", {kStaleShown}}, {"b", {}}}));
  EXPECT_EQ(verdict.use, OverrideUse::kHarmful);
}

TEST(WeighOverride, NoLongerNeedsOneThatChangesNothing) {
  const auto verdict = weigh(showing({{"a", {kStaleShown}}}), showing({{"a", {kStaleShown}}}));
  EXPECT_EQ(verdict.use, OverrideUse::kNoLongerNeeded);
  EXPECT_TRUE(verdict.signatures.empty());
}

}  // namespace
}  // namespace graphgate::tools
