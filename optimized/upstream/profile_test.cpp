#include "optimized/upstream/profile.h"

#include "base/result_test.h"
#include "optimized/upstream/overrides.h"

namespace graphgate::optimized {
namespace {

using D = spec::Deviation;
using State = OverrideReport::State;

Profile profile(std::string_view text) { return resolve_profile(text).value(); }

State state_of(const std::vector<OverrideReport>& reports, std::string_view name) {
  for (const OverrideReport& report : reports) {
    if (report.name == name) return report.state;
  }
  ADD_FAILURE() << "no report on " << name;
  return State::kOff;
}

TEST(Profile, HasADeviationFromTheReleaseThatBroughtItToTheOneThatFixedIt) {
  EXPECT_FALSE(profile("torch-2.8.0").deviations.has(D::kCapturesNodesWithoutOrigin));
  EXPECT_TRUE(profile("torch-2.9.0").deviations.has(D::kCapturesNodesWithoutOrigin));
  EXPECT_FALSE(profile("torch-2.9.1").deviations.has(D::kCapturesNodesWithoutOrigin));
  EXPECT_TRUE(profile("torch-2.10.0").deviations.has(D::kCapturesUnbackedSymbols));
  EXPECT_FALSE(profile("torch-2.11.0").deviations.has(D::kCapturesUnbackedSymbols));
}

TEST(Profile, CountsACandidateOfAFixAsBeforeIt) {
  EXPECT_TRUE(profile("torch-2.9.1rc1").deviations.has(D::kSignatureOmitsFrees));
  EXPECT_FALSE(profile("torch-2.9.1+cu128").deviations.has(D::kSignatureOmitsFrees));
}

TEST(Profile, HasAnAxisForEachStack) {
  const Profile both = profile("torch-2.9.0,vllm-0.11.0");
  EXPECT_TRUE(both.deviations.has(D::kGraphKeyDropsMode));
  EXPECT_TRUE(both.deviations.has(D::kTailAllocationsByGraphOutputs));
  EXPECT_FALSE(profile("torch-2.9.0").deviations.has(D::kGraphKeyDropsMode));
  EXPECT_EQ(both.choices.at("split_graph"), "own");
  EXPECT_EQ(profile("vllm-0.16.0").choices.at("split_graph"), "adjacent");
  EXPECT_EQ(profile("vllm-0.18.0").choices.at("split_graph"), "adjacent_and_empty");
}

TEST(Profile, TakesShortNamesOfMinorVersions) {
  EXPECT_EQ(profile("torch-2.10").deviations, profile("torch-2.10.0").deviations);
  EXPECT_EQ(profile("torch-2.13").choices, profile("torch-2.13.0").choices);
}

TEST(Profile, KnowsWhatTheNewestReleasesDecide) {
  EXPECT_TRUE(profile("torch-2.13.0").deviations.has(D::kOutputByExactName));
  EXPECT_TRUE(profile("torch-2.14.0").deviations.empty());
  EXPECT_TRUE(profile("torch-2.15.0,vllm-0.33.0").deviations.empty());
  EXPECT_EQ(profile("torch-2.12.0").choices.at("realize_cpu"), "30");
  EXPECT_EQ(profile("torch-2.13.0").choices.at("realize_cpu"), "50");
  EXPECT_EQ(profile("torch-2.15.0").choices.at("realize_cpu"), "50,users");
  EXPECT_TRUE(profile("torch-2.9.1").deviations.has(D::kAutotunesWithoutStream));
  EXPECT_FALSE(profile("torch-2.10.0").deviations.has(D::kAutotunesWithoutStream));
}

TEST(Overrides, OfVllm033KnowTheVersionsThatTheyAreFor) {
  Profile older = profile("torch-2.9.1");
  const auto before = apply_overrides(vllm_overrides(), older);
  EXPECT_EQ(state_of(before, "get_raw_stream"), State::kApplied);
  EXPECT_EQ(state_of(before, "atomic_standalone_save"), State::kInformational);
  EXPECT_EQ(state_of(before, "inductor_asserts"), State::kInformational);
  Profile newest = profile("torch-2.15.0");
  const auto after = apply_overrides(vllm_overrides(), newest);
  EXPECT_EQ(state_of(after, "get_raw_stream"), State::kDoesNotApply);
  EXPECT_EQ(state_of(after, "atomic_standalone_save"), State::kDoesNotApply);
  EXPECT_EQ(state_of(after, "inductor_asserts"), State::kDoesNotApply);
  EXPECT_EQ(state_of(after, "pattern_matcher"), State::kInformational);
  EXPECT_EQ(state_of(after, "fallback_allow_list"), State::kInformational);
}

// Nobody knows a program on which a release shows these, or ours act on more than theirs did.
TEST(Profile, HasNoDeviationWithoutAKnownCondition) {
  for (const char* version : {"torch-2.8.0", "torch-2.9.0", "torch-2.12.0", "torch-2.13.0",
                              "torch-2.14.0", "torch-2.15.0"}) {
    for (const D deviation : {D::kSignatureFiltersRemoved, D::kPrunesWeakDependences,
                              D::kRecomputesDependencesFromBody, D::kReusesInvertedRanges}) {
      EXPECT_FALSE(profile(version).deviations.has(deviation)) << version;
    }
  }
}

TEST(Profile, FixedHasNoDeviation) { EXPECT_TRUE(profile("fixed").deviations.empty()); }

TEST(Profile, RefusesWhatItDoesNotKnow) {
  const auto message = [](std::string_view text) {
    return message_of(resolve_profile(text), "accepted");
  };
  EXPECT_EQ(message("torch"), "expected 'fixed' or AXIS-VERSION (torch-2.9.0), found 'torch'");
  EXPECT_EQ(message("jax-1.0"), "profile jax-1.0: no axis is called 'jax' (there are torch, vllm)");
  EXPECT_EQ(message("torch-2.9.0,torch-2.9.1"),
            "profile torch-2.9.0,torch-2.9.1: torch is named twice");
  EXPECT_EQ(message("torch-2.16.0"),
            "profile torch-2.16.0: versions from 2.8.0 to 2.15.0 are known");
  EXPECT_TRUE(contains(message("torch-2.x"), "expected a version"));
}

TEST(UpstreamData, GivesEvidenceForEveryRow) {
  for (const DeviationEvidence& row : upstream_data().deviations) {
    EXPECT_NE(row.evidence.find('#'), std::string::npos) << spec::row_of(row.deviation).name;
    EXPECT_TRUE(contains(row.evidence, "released")) << spec::row_of(row.deviation).name;
  }
}

TEST(UpstreamData, IsRefusedWithThePlaceOfTheFault) {
  const auto message = [](std::string_view json) {
    return message_of(read_upstream_data(json, "data.json"), "accepted");
  };
  EXPECT_EQ(message("{"), "data.json: no JSON at byte 2");
  EXPECT_EQ(message(std::string(1'000'000, '[')), "data.json: nested deeper than 256 levels");
  EXPECT_EQ(message("{\"axes\": 1e999}"), "data.json: a number is larger than a double can be");
  EXPECT_EQ(message("[]"), "data.json: expected an object");
  EXPECT_EQ(message(R"({"axes": {}, "deviations": [{"deviation": "no_such"}], "choices": []})"),
            "data.json: deviations[0]: no deviation is called 'no_such'");
  EXPECT_EQ(message(R"({"axes": {"torch": {"first": "1", "last": "2"}}, "choices": [],
                        "deviations": [{"deviation": "frees_twice", "axis": "torch"}]})"),
            "data.json: deviations[0]: expected a text 'evidence'");
  EXPECT_EQ(message(R"({"axes": {}, "deviations": [], "choices": [], "more": 1})"),
            "data.json: unknown member 'more'");
}

TEST(Overrides, OfVllmMendWhatTorch290Had) {
  Profile mended = profile("torch-2.9.0");
  const auto reports = apply_overrides(vllm_overrides(), mended);
  EXPECT_EQ(state_of(reports, "memory_plan_reuse"), State::kApplied);
  EXPECT_EQ(state_of(reports, "get_graph_partition_signature"), State::kApplied);
  EXPECT_EQ(state_of(reports, "should_partition"), State::kApplied);
  EXPECT_EQ(state_of(reports, "get_raw_stream"), State::kApplied);
  EXPECT_FALSE(mended.deviations.has(D::kAutotunesWithoutStream));
  EXPECT_EQ(state_of(reports, "get_runtime_env"), State::kDoesNotApply);
  EXPECT_EQ(state_of(reports, "byte_cost_realization"), State::kOff);
  EXPECT_FALSE(mended.deviations.has(D::kTailAllocationsByGraphOutputs));
  EXPECT_FALSE(mended.deviations.has(D::kSignatureOmitsFrees));
  EXPECT_TRUE(mended.deviations.has(D::kSignatureIgnoresMutations));  // nobody's patch
}

TEST(Overrides, SayWhenTheyNoLongerApply) {
  Profile later = profile("torch-2.10.0");
  const spec::DeviationSet before = later.deviations;
  const auto reports = apply_overrides(vllm_overrides(), later);
  EXPECT_EQ(state_of(reports, "memory_plan_reuse"), State::kDoesNotApply);
  EXPECT_EQ(reports.front().sentence,
            "memory_plan_reuse (pytorch#165514) does not apply to torch 2.10.0");
  EXPECT_EQ(later.deviations, before);
}

TEST(Overrides, SayWhenTheyAreNotNeeded) {
  const auto overrides = read_overrides(R"({"overrides": [
      {"name": "wide", "link": "pytorch#165514", "axis": "torch", "at_least": "2.9.0",
       "removes": ["tail_allocations_by_graph_outputs"]}]})",
                                        "mine.json");
  Profile later = profile("torch-2.10");
  const auto reports = apply_overrides(overrides.value(), later);
  EXPECT_EQ(reports[0].state, State::kNotNeeded);
  EXPECT_EQ(reports[0].sentence,
            "wide (pytorch#165514) is not needed: torch 2.10 does not decide so");
}

TEST(Overrides, ApplyToAllBuildsOfARelease) {
  Profile build = profile("torch-2.9.0+cu128");
  EXPECT_EQ(state_of(apply_overrides(vllm_overrides(), build), "memory_plan_reuse"),
            State::kApplied);
  Profile nightly = profile("torch-2.9.0.dev20250801");
  EXPECT_EQ(state_of(apply_overrides(vllm_overrides(), nightly), "memory_plan_reuse"),
            State::kDoesNotApply);
}

TEST(Overrides, AreRefusedWithThePlaceOfTheFault) {
  const auto message = [](std::string_view row) {
    return message_of(read_overrides("{\"overrides\": [" + std::string(row) + "]}", "mine.json"),
                      "accepted");
  };
  EXPECT_EQ(message(R"({"name": "a", "link": "b", "axis": "torch", "removes": ["frees_twice"]})"),
            "mine.json: overrides[0]: expected a gate: 'equals', 'at_least' or 'below'");
  EXPECT_EQ(message(R"({"name": "a", "link": "b", "axis": "torch", "below": "2.9.0"})"),
            "mine.json: overrides[0]: expected 'removes', 'sets', or 'informational' with the "
            "reason");
  EXPECT_EQ(message(R"({"name": "a", "link": "b", "axis": "torch", "below": "nine"})"),
            "mine.json: overrides[0]: below: expected a version such as 2.9.0 or "
            "2.11.0.dev20260101+cpu, found 'nine'");
}

}  // namespace
}  // namespace graphgate::optimized
