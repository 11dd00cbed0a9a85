#include "tools/report/trace_events.h"

#include "base/split_mix.h"
#include "conformance/judges/plan_stats.h"
#include "spec/plan_drawing.h"
#include "spec/test_plans.h"
#include "tools/report/trace_format_test.h"

namespace graphgate::tools {
namespace {

std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const std::string& phase) {
  std::vector<nlohmann::json> found;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

nlohmann::json trace_of(const spec::Plan& plan) {
  TraceEvents trace;
  trace.add_plan("a \"plan\"", plan);
  return expect_trace(trace.print());
}

TEST(TraceEvents, HaveASliceForEachStepAndPartition) {
  const spec::Plan plan = spec::parse_sample(spec::kFullPlan);
  const auto trace = trace_of(plan);
  std::size_t steps = 0;
  std::multiset<std::string> reasons;  // of partitions; empty: captured
  for (const auto& slice : events_of(trace, "X")) {
    EXPECT_TRUE(slice["args"].contains("captured"));
    if (slice["tid"] == 1) reasons.insert(slice["args"].value("cut reason", ""));
    steps += slice["tid"] == 1 ? 0 : 1;
  }
  EXPECT_EQ(steps, spec::execution_order(plan).size());
  std::multiset<std::string> expected;
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      if (partition.begin_step < partition.end_step) expected.insert(partition.reason);
    }
  }
  EXPECT_EQ(reasons, expected);
}

TEST(TraceEvents, CountTheBytesInUseUpToTheBound) {
  const spec::Plan plan = spec::parse_sample(spec::kFullPlan);
  const auto trace = trace_of(plan);
  std::int64_t most = 0;
  const auto counters = events_of(trace, "C");
  ASSERT_FALSE(counters.empty());
  for (const auto& counter : counters) {
    EXPECT_LE(counter["args"]["live"], counter["args"]["bound"]);
    most = std::max(most, counter["args"]["live"].get<std::int64_t>());
  }
  EXPECT_EQ(most, conformance::plan_stats(plan).lower_bound_bytes);
  EXPECT_EQ(counters.back()["args"]["live"], 0);
}

TEST(TraceEvents, OfDrawnPlansAreWhatTheFormatAsks) {
  SplitMix64 random(7);
  for (int drawn = 0; drawn < 200; ++drawn) {
    std::vector<std::uint16_t> genes(random.next() % 60);
    for (std::uint16_t& gene : genes) gene = static_cast<std::uint16_t>(random.next());
    const spec::Plan plan = spec::draw_plan(genes);
    const auto trace = trace_of(plan);
    const auto slices = events_of(trace, "X");
    const auto steps = std::count_if(slices.begin(), slices.end(),
                                     [](const auto& slice) { return slice["tid"] != 1; });
    EXPECT_EQ(static_cast<std::size_t>(steps), spec::execution_order(plan).size());
  }
}

TEST(TraceEvents, PutSlicesOfRealTimeOnTracksByTheirNames) {
  TraceEvents trace;
  trace.add_spans("runs", {{"b", "load", 0.5, 1.0, {}},
                           {"a", "x\x1b", 0, 1, {{"n", 3}}},
                           {"b", "inside", 0.75, 0.25, {}}});
  const auto slices = events_of(expect_trace(trace.print()), "X");
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0]["ts"], 500000.0);
  EXPECT_EQ(slices[0]["tid"], slices[2]["tid"]);
  EXPECT_NE(slices[0]["tid"], slices[1]["tid"]);
  EXPECT_EQ(slices[1]["args"]["n"], 3);
}

}  // namespace
}  // namespace graphgate::tools
