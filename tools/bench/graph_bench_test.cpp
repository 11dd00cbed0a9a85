// What `bench replay` counts, on devices without a GPU: the times say nothing there, the rest does.
#include "tools/bench/graph_bench.h"

#include "base/result_test.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "spec/graph_text.h"
#include "tools/bench/chain.h"
#include "tools/bench/idle_device.h"
#include "tools/bench/size_bench.h"

namespace graphgate::tools {
namespace {

LaunchMeasure once(LaunchSubject subject, std::shared_ptr<optimized::Device> device) {
  LaunchMeasure measure;
  measure.subject = std::move(subject);
  measure.device = std::move(device);
  measure.rounds = 1;
  measure.launches = 1;
  return measure;
}

TEST(GraphBench, LaunchesEveryPartitionOfAChainAndCopiesNothing) {
  const auto device = optimized::emulated::make_emulated_device().value();
  const auto times = must(measure_launches(once({"chain", 3, 4, 0}, device)));
  EXPECT_EQ(times.graphs, 3U);
  EXPECT_EQ(times.eager_launches, 0U);
  EXPECT_EQ(times.kernels, 12U);  // none has joined another
  EXPECT_EQ(times.copied_bytes, 0);
  EXPECT_GT(times.launch_by_bare.ratio, 0);
  EXPECT_GT(times.run_by_bare.second_seconds, 0);
}

TEST(GraphBench, RunsADecoderPiecewiseOnTheDeviceAlone) {
  const auto device = std::make_shared<IdleDevice>();
  const auto times = must(measure_launches(once({"decoder", 0, 0, 3}, device)));
  EXPECT_EQ(times.graphs, 4U);
  EXPECT_EQ(times.eager_launches, 3U);
  EXPECT_EQ(times.copied_bytes, 0);
  // Both sides of both comparisons, each once and once before it counts, and a first run.
  EXPECT_EQ(device->launches(), 9U * 7);
}

TEST(GraphBench, HasTheSameKernelsOnBothSidesOfABoundary) {
  const auto device = optimized::emulated::make_emulated_device().value();
  const auto times = must(measure_boundaries(once({"chain", 3, 4, 0}, device)));
  EXPECT_EQ(times.graphs, 3U);
  EXPECT_EQ(times.kernels, 12U);
  EXPECT_GT(times.cut_by_whole.second_seconds, 0);
}

TEST(GraphBench, SaysThatADeviceHasNoGraphs) {
  IdleDevice device;
  const auto cost = must(measure_graphs(device, 2, 1));
  EXPECT_FALSE(cost);
}

// ---- sizes ----

SizeMeasure three_layers(std::shared_ptr<optimized::Device> device) {
  SizeMeasure measure;
  measure.program = make_layers(3, 64, 64);
  measure.compile.partition.max_nodes = 2;
  measure.device = std::move(device);
  measure.sizes = {1, 4, 16};
  return measure;
}

TEST(SizeBench, RecordsEverySizeOnceAndLaunchesItsGraphsForPaddedCalls) {
  const auto device = optimized::emulated::make_emulated_device().value();
  const auto costs = must(measure_sizes(three_layers(device)));
  EXPECT_EQ(costs.refusal, "");
  EXPECT_EQ(costs.state_bytes, 3 * 64 * 64 * 4);
  const std::vector<SizeCost>& sizes = costs.sizes;
  ASSERT_EQ(sizes.size(), 3U);
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected = {{16, 5}, {4, 2}, {1, 1}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sizes[i].size, expected[i].first);
    EXPECT_EQ(sizes[i].least, expected[i].second) << sizes[i].size;
    EXPECT_EQ(sizes[i].graphs, 3U) << sizes[i].size;
    EXPECT_EQ(sizes[i].kernels, 6U) << "a product and what follows it, a layer";
    EXPECT_GT(sizes[i].ready_seconds, sizes[i].load_seconds);
    EXPECT_GT(sizes[i].load_seconds, 0);
    EXPECT_FALSE(sizes[i].made) << "nothing is captured there";
    // An input, an output, and what lies between.
    EXPECT_GE(sizes[i].own_bytes, 2 * sizes[i].size * 64 * 4);
  }
  EXPECT_GT(sizes[0].own_bytes, sizes[1].own_bytes);
  EXPECT_GT(sizes[1].own_bytes, sizes[2].own_bytes);
  EXPECT_EQ(sizes[0].added_bytes, sizes[0].own_bytes) << "the first brings the arenas";
  EXPECT_EQ(sizes[1].added_bytes, 0) << "smaller ones lie in them";
  EXPECT_EQ(sizes[2].added_bytes, 0);
  EXPECT_EQ(costs.all().graphs, 9U);
  EXPECT_EQ(costs.all().added_bytes, sizes[0].added_bytes);
}

TEST(SizeBench, LaunchesNothingElse) {
  const auto device = std::make_shared<IdleDevice>();
  must(measure_sizes(three_layers(device)));
  // Three graphs for each size's first call, and for its smallest one.
  EXPECT_EQ(device->launches(), 3U * 3 * 2);
}

TEST(SizeBench, SaysWhyNoCallIsPadded) {
  SizeMeasure measure = three_layers(std::make_shared<IdleDevice>());
  measure.program = spec::parse_program(R"(program "sums" {
  symbol s0 in [1, 64]
  input %x : f32[s0, 4]
  %s : f32[4] = aten.sum.dim_IntList(%x, [0])
  output %s
})",
                                        spec::builtin_op_table())
                        .value();
  const auto costs = must(measure_sizes(measure));
  EXPECT_TRUE(contains(costs.refusal, "works along the rows"));
  for (const SizeCost& cost : costs.sizes) {
    EXPECT_EQ(cost.graphs, 1U);
    EXPECT_EQ(cost.least, cost.size);
  }
}

TEST(SizeBench, RefusesSizesThatAProgramDoesNotHave) {
  SizeMeasure measure = three_layers(std::make_shared<IdleDevice>());
  measure.sizes = {4, 128};
  EXPECT_EQ(failure_of(measure_sizes(measure)).kind, ErrorKind::kBadInput);
  measure.sizes = {4, 2};
  EXPECT_EQ(failure_of(measure_sizes(measure)).kind, ErrorKind::kBadInput);
  measure.program = make_turning_chain(2, 8);
  EXPECT_EQ(failure_of(measure_sizes(measure)).message, "chain: no size of an input is symbolic");
}

TEST(SizeBench, UsuallyTakesPowersOfTwoThatAProgramMayHave) {
  spec::Program program = make_layers(1, 8, 40);
  EXPECT_EQ(usual_sizes(program), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32}));
  program.symbols.at("s0").min = 2;
  program.symbols.at("s0").max.reset();
  EXPECT_EQ(usual_sizes(program), (std::vector<std::int64_t>{2, 4, 8, 16, 32, 64, 128, 256, 512}));
  EXPECT_TRUE(usual_sizes(make_turning_chain(1, 8)).empty());
  SizeMeasure measure = three_layers(std::make_shared<IdleDevice>());
  measure.sizes = {};
  EXPECT_EQ(failure_of(measure_sizes(measure)).message, "layers: no sizes to capture");
}

}  // namespace
}  // namespace graphgate::tools
