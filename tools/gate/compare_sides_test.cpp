#include "tools/gate/compare_sides.h"

#include "base/result_test.h"
#include "fuzz/campaign/corpus.h"

namespace graphgate::tools {
namespace {

constexpr const char* kOverlap = "verifier V3.overlap [mm] {}";
constexpr const char* kStale = "shadow S2.stale-read [view] {}";

GateCase passing() { return {}; }

GateCase failing(const std::vector<std::string>& signatures, bool is_flaky = false) {
  GateCase one;
  one.outcome = spec::Outcome::kFail;
  for (const std::string& signature : signatures) one.findings.push_back({signature, "why"});
  one.is_flaky = is_flaky;
  return one;
}

GateCase not_run(spec::Outcome outcome) {
  GateCase one;
  one.outcome = outcome;
  one.reason = "no such op here";
  return one;
}

GateCase with_plan(std::int64_t peak, std::int64_t captured = 10) {
  GateCase one;
  one.plans = {{{"peak", peak}, {"lower-bound", 1}, {"captured-steps", captured}}};
  return one;
}

GateSide side(std::map<std::string, GateCase> cases) { return {"side", std::move(cases)}; }

GateComparison compare(std::map<std::string, GateCase> before,
                       std::map<std::string, GateCase> after, const CompareOptions& options = {}) {
  return compare_sides(side(std::move(before)), side(std::move(after)), options);
}

TEST(CompareSides, FindsNothingWhereNothingIsFound) {
  const auto report = compare({{"a", passing()}}, {{"a", passing()}});
  EXPECT_TRUE(report.rows.empty());
  EXPECT_EQ(report.compared, 1U);
  EXPECT_EQ(report.clean, 1U);
  EXPECT_FALSE(report.has_failed());
}

GateCase of_release(std::uint16_t minor, GateCase one = {}) {
  one.torch = {2, minor};
  one.version_facts = {{"clamp: a bound beyond the dtype bounds nothing", {2, 15}}};
  return one;
}

TEST(CompareSides, NamesWhatTheReleasesOfBothSidesDoOtherwise) {
  const auto report =
      compare({{"a", of_release(11)}, {"b", passing()}}, {{"a", of_release(15)}, {"b", passing()}});
  ASSERT_EQ(report.count(GateBucket::kChanged), 1U);
  const GateRow& row = report.rows.front();
  EXPECT_EQ(row.kind, GateKind::kSemantics);
  EXPECT_EQ(row.signature, "versions since-2.15 [clamp] {}");
  EXPECT_EQ(row.message, "clamp: a bound beyond the dtype bounds nothing, since PyTorch 2.15");
  EXPECT_EQ(row.candidate_cases, std::vector<std::string>{"a"});
  EXPECT_EQ(report.clean, 1U);
  EXPECT_FALSE(report.has_failed());
  EXPECT_FALSE(report.is_open());
}

TEST(CompareSides, CallNothingChangedBetweenSidesOfOneReleaseOrOfNone) {
  for (const auto& [before, after] :
       std::vector<std::pair<GateCase, GateCase>>{{of_release(15), of_release(15)},
                                                  {of_release(11), of_release(14)},
                                                  {of_release(15), of_release(16)},
                                                  {passing(), of_release(15)}}) {
    EXPECT_TRUE(compare({{"a", before}}, {{"a", after}}).rows.empty());
  }
}

TEST(CompareSides, TellWhatOneReleaseRefusesAsAChangeAndAFindingBesideIt) {
  GateCase refusing = of_release(11, not_run(spec::Outcome::kUnsupported));
  const auto refused = compare({{"a", refusing}}, {{"a", of_release(15)}});
  EXPECT_EQ(refused.count(GateBucket::kChanged), 1U);
  EXPECT_EQ(refused.count(GateBucket::kUnsupported), 0U);
  EXPECT_EQ(refused.compared, 1U);
  EXPECT_FALSE(refused.is_open());
  const auto wrong = compare({{"a", refusing}}, {{"a", of_release(15, failing({kStale}))}});
  EXPECT_EQ(wrong.count(GateBucket::kRegressed), 1U);
  EXPECT_TRUE(wrong.has_failed());
  const auto lost = compare({{"a", of_release(11)}}, {{"a", [] {
                                                         GateCase one =
                                                             not_run(spec::Outcome::kUnsupported);
                                                         one.torch = {2, 15};
                                                         return one;
                                                       }()}});
  EXPECT_EQ(lost.count(GateBucket::kUnsupported), 1U);
  EXPECT_TRUE(lost.is_open());
  const auto found = compare({{"a", of_release(11)}}, {{"a", of_release(15, failing({kStale}))}});
  EXPECT_EQ(found.count(GateBucket::kChanged), 1U);
  EXPECT_EQ(found.count(GateBucket::kRegressed), 1U);
  EXPECT_TRUE(found.has_failed());
}

TEST(CompareSides, CallsASignatureThatOnlyTheCandidateShowsRegressed) {
  const auto report = compare({{"a", failing({kStale})}, {"b", passing()}},
                              {{"a", failing({kStale, kOverlap})}, {"b", passing()}});
  ASSERT_EQ(report.count(GateBucket::kRegressed), 1U);
  EXPECT_EQ(report.rows.front().signature, kOverlap);
  EXPECT_EQ(report.rows.front().name, fuzz::finding_name(kOverlap));
  EXPECT_EQ(report.rows.front().candidate_cases, std::vector<std::string>{"a"});
  EXPECT_EQ(report.count(GateBucket::kBoth), 1U);
  EXPECT_TRUE(report.has_failed());
}

TEST(CompareSides, CallsASignatureThatOnlyTheBaselineShowsFixed) {
  const auto report = compare({{"a", failing({kStale})}}, {{"a", passing()}});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows.front().bucket, GateBucket::kFixed);
  EXPECT_EQ(report.rows.front().outcome(), spec::Outcome::kPass);
  EXPECT_FALSE(report.has_failed());
}

TEST(CompareSides, GoesByTheSignatureAndNotByTheCase) {
  // The fault has moved to a case that showed another one: it is the same fault.
  const auto report = compare({{"a", failing({kStale})}, {"b", failing({kOverlap})}},
                              {{"a", failing({kOverlap})}, {"b", failing({kStale})}});
  EXPECT_EQ(report.count(GateBucket::kBoth), 2U);
  EXPECT_FALSE(report.has_failed());
}

TEST(CompareSides, SaysThatAFaultSpreadsToCasesThatWereClean) {
  const auto report = compare({{"a", failing({kStale})}, {"b", passing()}},
                              {{"a", failing({kStale})}, {"b", failing({kStale})}});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows.front().bucket, GateBucket::kSpread);
  EXPECT_TRUE(report.has_failed());
}

TEST(CompareSides, HoldsNothingAgainstWhatIsFlaky) {
  const auto report = compare({{"a", passing()}}, {{"a", failing({kStale}, true)}});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows.front().bucket, GateBucket::kFlaky);
  EXPECT_FALSE(report.has_failed());
  // Nor takes it for fixed.
  const auto gone = compare({{"a", failing({kStale}, true)}}, {{"a", passing()}});
  EXPECT_EQ(gone.rows.front().bucket, GateBucket::kFlaky);
}

TEST(CompareSides, DoesNotCompareWhatOneSideCouldNotRun) {
  const auto report =
      compare({{"a", passing()}, {"b", not_run(spec::Outcome::kUnsupported)}, {"only", passing()}},
              {{"a", not_run(spec::Outcome::kInfra)}, {"b", not_run(spec::Outcome::kUnsupported)}});
  EXPECT_EQ(report.count(GateBucket::kNotCompared), 2U);  // "b" is as it was
  EXPECT_EQ(report.compared, 0U);
  EXPECT_EQ(report.rows.front().message, "candidate: no such op here");
  EXPECT_EQ(report.rows.back().message, "the candidate does not have the case");
}

TEST(CompareSides, ComparesNothingWithInfrastructureOnBothSides) {
  const auto report =
      compare({{"a", not_run(spec::Outcome::kInfra)}}, {{"a", not_run(spec::Outcome::kInfra)}});
  ASSERT_EQ(report.count(GateBucket::kNotCompared), 1U);
  EXPECT_EQ(report.rows.front().outcome(), spec::Outcome::kInfra);
  EXPECT_TRUE(report.is_open());
}

TEST(CompareSides, TellsWhatOneSideAloneCannotRun) {
  const GateCase lost = not_run(spec::Outcome::kUnsupported);
  GateCase other = lost;
  other.reason = "no such dtype here";
  const auto report =
      compare({{"a", passing()}, {"b", failing({kStale})}, {"c", lost}, {"d", lost}},
              {{"a", lost}, {"b", other}, {"c", lost}, {"d", passing()}});
  EXPECT_EQ(report.compared, 0U);
  EXPECT_EQ(report.unsupported(), 1U);
  ASSERT_EQ(report.count(GateBucket::kUnsupported), 2U);
  ASSERT_EQ(report.rows.size(), 2U) << "what 'b' showed is not fixed";
  const GateRow& before = report.rows.front();
  const GateRow& after = report.rows.back();
  EXPECT_EQ(before.signature, "baseline R4.unsupported [] {}");
  EXPECT_EQ(before.baseline_cases, std::vector<std::string>{"d"});
  EXPECT_EQ(before.message, "'d': no such op here");
  EXPECT_EQ(after.signature, "candidate R4.unsupported [] {}");
  EXPECT_EQ(after.candidate_cases, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(after.message, "'a': no such op here; other cases: 1 more reasons");
  EXPECT_EQ(after.outcome(), spec::Outcome::kUnsupported);
  EXPECT_TRUE(after.is_open());
  EXPECT_FALSE(report.has_failed());
  EXPECT_TRUE(report.is_open());
}

GateCase without_reference(std::vector<std::string> signatures = {}) {
  GateCase one = signatures.empty() ? not_run(spec::Outcome::kUnsupported) : failing(signatures);
  one.not_compared = "the reference has no body for my.op";
  return one;
}

TEST(CompareSides, CallsACaseWithoutAReferenceNeitherComparedNorClean) {
  GateCase undecided = without_reference();
  undecided.outcome = spec::Outcome::kUndecided;
  const auto report = compare({{"a", without_reference()}, {"b", undecided}},
                              {{"a", without_reference()}, {"b", undecided}});
  EXPECT_EQ(report.compared, 0U);
  EXPECT_EQ(report.clean, 0U);
  EXPECT_EQ(report.unsupported(), 0U) << "both sides ran them";
  ASSERT_EQ(report.uncompared.size(), 2U);
  EXPECT_EQ(report.uncompared[0].name, "a");
  EXPECT_EQ(report.uncompared[0].reason, "the reference has no body for my.op");
  EXPECT_TRUE(report.is_open()) << "a gate that compares nothing is no pass";
}

TEST(CompareSides, SeesWhatACaseWithoutAReferenceShowsAllTheSame) {
  const std::string dtype = "bounds B3.exact [my.op] {}";
  const auto report = compare({{"a", without_reference()}}, {{"a", without_reference({dtype})}});
  ASSERT_EQ(report.count(GateBucket::kRegressed), 1U);
  EXPECT_EQ(report.rows.front().signature, dtype);
  EXPECT_TRUE(report.uncompared.empty());
  EXPECT_TRUE(report.has_failed());
}

TEST(CompareSides, LetsAWaivedLossOfSupportPass) {
  CompareOptions options;
  options.day = "2027-01-31";
  options.waivers[fuzz::finding_name("candidate R4.unsupported [] {}")] = {"https://example.org/12",
                                                                           "2027-01-31", ""};
  const auto report =
      compare({{"a", passing()}, {"b", passing()}},
              {{"a", not_run(spec::Outcome::kUnsupported)}, {"b", passing()}}, options);
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows.front().outcome(), spec::Outcome::kXFail);
  EXPECT_FALSE(report.is_open());
}

TEST(CompareSides, LetsAWaivedFindingPassUntilItsLastDay) {
  CompareOptions options;
  options.day = "2027-01-31";
  options.waivers[fuzz::finding_name(kOverlap)] = {"https://example.org/12", "2027-01-31", ""};
  const auto waived = compare({{"a", passing()}}, {{"a", failing({kOverlap})}}, options);
  ASSERT_EQ(waived.rows.size(), 1U);
  EXPECT_EQ(waived.rows.front().waiver, "https://example.org/12");
  EXPECT_EQ(waived.rows.front().outcome(), spec::Outcome::kXFail);
  EXPECT_FALSE(waived.has_failed());
  options.day = "2027-02-01";
  const auto late = compare({{"a", passing()}}, {{"a", failing({kOverlap})}}, options);
  EXPECT_TRUE(late.has_failed());
  EXPECT_TRUE(contains(late.rows.front().message, "its waiver ended on 2027-01-31"));
}

TEST(CompareSides, FailsAWaiverWhoseFindingHasGone) {
  CompareOptions options;
  options.day = "2026-01-01";
  options.waivers[fuzz::finding_name(kOverlap)] = {"https://example.org/12", "2027-01-31", ""};
  const auto report = compare({{"a", failing({kOverlap})}}, {{"a", passing()}}, options);
  EXPECT_EQ(report.count(GateBucket::kUnexpectedPass), 1U);
  EXPECT_EQ(report.count(GateBucket::kFixed), 1U);
  EXPECT_TRUE(report.has_failed());
}

TEST(CompareSides, TellsOfPlansThatCostMoreThanTheThresholdAllows) {
  const auto within = compare({{"a", with_plan(1000)}}, {{"a", with_plan(1050)}});
  EXPECT_TRUE(within.rows.empty());
  const auto worse = compare({{"a", with_plan(1000)}, {"b", with_plan(1000)}},
                             {{"a", with_plan(1100)}, {"b", with_plan(500)}});
  ASSERT_EQ(worse.rows.size(), 1U);
  EXPECT_EQ(worse.rows.front().bucket, GateBucket::kRegressed);
  EXPECT_EQ(worse.rows.front().signature, "plans peak [] {}");
  EXPECT_EQ(worse.rows.front().message,
            "peak is worse in 1 and better in 1 by more than 5%; 'a': 1000 -> 1100 (+10%)");
  const auto better = compare({{"a", with_plan(1000)}}, {{"a", with_plan(500)}});
  ASSERT_EQ(better.rows.size(), 1U);
  EXPECT_EQ(better.rows.front().bucket, GateBucket::kFixed);
}

TEST(CompareSides, WantsMoreCapturedStepsAndNotFewer) {
  const auto fewer = compare({{"a", with_plan(1, 10)}}, {{"a", with_plan(1, 5)}});
  ASSERT_EQ(fewer.rows.size(), 1U);
  EXPECT_EQ(fewer.rows.front().bucket, GateBucket::kRegressed);
  const auto more = compare({{"a", with_plan(1, 5)}}, {{"a", with_plan(1, 10)}});
  EXPECT_EQ(more.rows.front().bucket, GateBucket::kFixed);
}

TEST(CompareSides, CallsAFusionThatCapturesAllItsStepsNoLoss) {
  const auto fused = [](std::int64_t steps, std::int64_t captured) {
    GateCase one;
    one.plans = {{{"captured-steps", captured}, {"steps", steps}}};
    return one;
  };
  const auto fewer = compare({{"a", fused(5, 5)}}, {{"a", fused(4, 4)}});
  ASSERT_EQ(fewer.rows.size(), 1U);
  EXPECT_EQ(fewer.rows.front().signature, "plans steps [] {}");
  EXPECT_EQ(fewer.rows.front().bucket, GateBucket::kFixed);
  const auto back = compare({{"a", fused(4, 4)}}, {{"a", fused(5, 5)}});
  ASSERT_EQ(back.rows.size(), 1U) << "more steps are no gain of captures";
  EXPECT_EQ(back.rows.front().kind, GateKind::kPlan);
  EXPECT_EQ(compare({{"a", fused(5, 5)}}, {{"a", fused(5, 3)}}).rows.front().bucket,
            GateBucket::kRegressed);
}

TEST(CompareSides, TakesAWrongPlanForNoYardstick) {
  GateCase wrong = failing({kOverlap});
  wrong.plans = with_plan(512).plans;
  const auto report = compare({{"a", wrong}}, {{"a", with_plan(1024)}});
  EXPECT_EQ(report.count(GateBucket::kRegressed), 0U);
}

GateCase with_times(std::vector<double> seconds) {
  GateCase one;
  one.answer_seconds = std::move(seconds);
  return one;
}

TEST(CompareSides, CallsACaseSlowerWhereEachLookIs) {
  const std::vector<double> fast = {0.2, 0.4, 0.2, 0.3, 0.2, 0.2};
  const std::vector<double> slow = {2, 1.5, 1.8, 2, 3, 2};
  const auto slower = compare({{"a", with_times(fast)}, {"b", with_times({1, 1, 1, 1, 1, 1})}},
                              {{"a", with_times(slow)}, {"b", with_times({1.5, 9, 9, 9, 9, 9})}});
  ASSERT_EQ(slower.rows.size(), 1U);
  EXPECT_EQ(slower.rows.front().bucket, GateBucket::kRegressed);
  EXPECT_EQ(slower.rows.front().kind, GateKind::kSlower);
  EXPECT_EQ(slower.rows.front().candidate_cases, std::vector<std::string>{"a"});
  EXPECT_EQ(slower.rows.front().message,
            "answers take longer in 1 case by more than 100%, in each look; 'a': at most 0.40 s -> "
            "at least 1.50 s");
  // A difference that nobody notices, and a side that was stored.
  EXPECT_TRUE(compare({{"a", with_times(std::vector<double>(6, 0.01))}},
                      {{"a", with_times(std::vector<double>(6, 0.4))}})
                  .rows.empty());
  EXPECT_TRUE(compare({{"a", passing()}}, {{"a", with_times(slow)}}).rows.empty());
}

// On a busy machine an answer may take any time.
TEST(CompareSides, CallsNothingSlowerByFewLooks) {
  const std::vector<double> five(5, 9.0);
  EXPECT_TRUE(compare({{"a", with_times({0.5})}}, {{"a", with_times({9})}}).rows.empty());
  EXPECT_TRUE(
      compare({{"a", with_times({1, 1, 1, 1, 1})}}, {{"a", with_times(five)}}).rows.empty());
  EXPECT_TRUE(compare({{"a", with_times(std::vector<double>(6, 1))}}, {{"a", with_times(five)}})
                  .rows.empty());
  std::vector<double> once = {9, 9, 9, 9, 9, 1.9};
  EXPECT_TRUE(compare({{"a", with_times(std::vector<double>(6, 1))}}, {{"a", with_times(once)}})
                  .rows.empty());
}

TEST(CompareSides, HoldsNothingAgainstWhoIsLate) {
  const GateCase late = failing({"run R2.no-answer [] {}"});
  GateCase killed;
  killed.outcome = spec::Outcome::kTimeout;
  killed.findings = {{"timeout no-end [] {}", "killed after its time was up"}};
  const auto report = compare({{"a", passing()}, {"b", failing({kStale})}, {"c", late}},
                              {{"a", late}, {"b", killed}, {"c", failing({kStale})}});
  EXPECT_EQ(report.count(GateBucket::kNotCompared), 3U);
  EXPECT_EQ(report.rows.size(), 3U) << "nothing is regressed, and nothing fixed";
  EXPECT_EQ(report.rows[0].message, "candidate: why");
  EXPECT_EQ(report.rows[1].message, "candidate: killed after its time was up");
  EXPECT_EQ(report.rows[2].message, "baseline: why");
}

TEST(CompareSides, SaysOfEachCaseWhatItCameTo) {
  GateCase timed = passing();
  timed.seconds = 2;
  const auto report = compare({{"a", timed},
                               {"b", passing()},
                               {"c", passing()},
                               {"d", failing({kStale})},
                               {"e", passing()}},
                              {{"a", timed},
                               {"b", failing({kOverlap})},
                               {"c", not_run(spec::Outcome::kUnsupported)},
                               {"d", failing({kStale})},
                               {"e", failing({kStale})}});
  ASSERT_EQ(report.cases.size(), 5U);
  EXPECT_EQ(report.cases[0].outcome, spec::Outcome::kPass);
  EXPECT_TRUE(report.cases[0].is_clean);
  EXPECT_EQ(report.cases[0].seconds, 4);
  EXPECT_EQ(report.cases[1].outcome, spec::Outcome::kFail);
  ASSERT_EQ(report.cases[1].rows.size(), 1U);
  EXPECT_EQ(report.rows[report.cases[1].rows.front()].signature, kOverlap);
  EXPECT_EQ(report.cases[2].outcome, spec::Outcome::kUnsupported);
  EXPECT_EQ(report.cases[3].outcome, spec::Outcome::kPass) << "it is as it was";
  EXPECT_FALSE(report.cases[3].is_clean);
  EXPECT_EQ(report.cases[4].outcome, spec::Outcome::kFail) << "it has spread";
}

TEST(CompareSides, CountsACostThatCameFromNothing) {
  const auto report = compare({{"a", with_plan(0)}}, {{"a", with_plan(64)}});
  EXPECT_TRUE(report.has_failed());
}

}  // namespace
}  // namespace graphgate::tools
