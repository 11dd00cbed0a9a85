// What `bench replay` counts, on devices without a GPU: the times say nothing there, the rest does.
#include "tools/bench/graph_bench.h"

#include <gtest/gtest.h>

#include "optimized/runtime/emulated/emulated_device.h"
#include "tools/bench/idle_device.h"

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
  const auto times = measure_launches(once({"chain", 3, 4, 0}, device));
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_EQ(times.value().graphs, 3U);
  EXPECT_EQ(times.value().eager_launches, 0U);
  EXPECT_EQ(times.value().kernels, 12U);  // none has joined another
  EXPECT_EQ(times.value().copied_bytes, 0);
  EXPECT_GT(times.value().launch_by_bare.ratio, 0);
  EXPECT_GT(times.value().run_by_bare.second_seconds, 0);
}

TEST(GraphBench, RunsADecoderPiecewiseOnTheDeviceAlone) {
  const auto device = std::make_shared<IdleDevice>();
  const auto times = measure_launches(once({"decoder", 0, 0, 3}, device));
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_EQ(times.value().graphs, 4U);
  EXPECT_EQ(times.value().eager_launches, 3U);
  EXPECT_EQ(times.value().copied_bytes, 0);
  // Both sides of both comparisons, each once and once before it counts, and a first run.
  EXPECT_EQ(device->launches(), 9U * 7);
}

TEST(GraphBench, SaysThatADeviceHasNoGraphs) {
  IdleDevice device;
  const auto cost = measure_graphs(device, 2, 1);
  ASSERT_TRUE(cost.ok()) << cost.error().message;
  EXPECT_FALSE(cost.value());
}

}  // namespace
}  // namespace graphgate::tools
