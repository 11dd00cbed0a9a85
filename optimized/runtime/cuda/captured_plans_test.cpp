// What the CUDA backend captures of plans on several streams, over a driver of the test's own.
#include <gtest/gtest.h>

#include "optimized/runtime/cuda/fake_device_test.h"
#include "optimized/runtime/host/host_program.h"
#include "optimized/schedule/streams_test.h"

namespace graphgate::optimized::cuda {
namespace {

// What capturing the plan says: "" where all is well.
std::string refusal(const char* text, const CompileOptions& options) {
  const auto device = std::make_shared<FakeCuda>();
  StateMemory state;
  HostOptions host;
  host.device = device;
  const Plan plan = good_plan_of(program_of(text), eight(), options);
  try {
    const HostProgram program(plan, *options.ops, state, host);
  } catch (const DeviceError& error) {
    return error.what();
  }
  EXPECT_EQ(device->kept().size(), 1U);
  return "";
}

TEST(CapturedPlans, OrderWhatMeetsOnSeveralStreams) {
  EXPECT_EQ(refusal(programs::kSharedInput, on_streams(2)), "");
  EXPECT_EQ(refusal(programs::kSideStream, side_streams()), "");
}

TEST(CapturedPlans, AreRefusedWhereAnEventIsMissing) {
  EXPECT_EQ(
      refusal(programs::kSharedInput, with(on_streams(2), spec::Deviation::kForksWithoutAliasTest)),
      "partition 0 of @main: the captured graph does not order steps 0 'h' to 2 'experts' of "
      "stream 0 before step 1 'shared' of stream 1, and one of them writes bytes [0, 32) of "
      "pool @arena, which the other one touches");
}

TEST(CapturedPlans, AreRefusedWhereBytesAreGivenOnTooEarly) {
  EXPECT_EQ(
      refusal(programs::kSideStream, with(side_streams(), spec::Deviation::kFreesOnMainStream)),
      "partition 0 of @main: the captured graph does not order steps 1 't' to 2 'u' of stream "
      "1 before steps 0 'p' to 3 'v' of stream 0, and one of them writes bytes [256, 288) of "
      "pool @arena, which the other one touches");
}

// The seed is for those that run one launch after the other.
TEST(CapturedPlans, AreTheSameWhateverOrderTheHostWouldLaunchIn) {
  const CompileOptions options = side_streams();
  const Plan plan = good_plan_of(program_of(programs::kSideStream), eight(), options);
  std::vector<FakeCuda::Kept> kept;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto device = std::make_shared<FakeCuda>(seed % 2 == 1);
    StateMemory state;
    HostOptions host;
    host.device = device;
    host.interleaving_seed = seed;
    const HostProgram program(plan, *options.ops, state, host);
    ASSERT_EQ(device->kept().size(), 1U);
    kept.push_back(device->kept().front());
    EXPECT_EQ(first_difference({kept.front().capture, kept.front().arenas},
                               {kept.back().capture, kept.back().arenas}),
              "")
        << seed;
  }
  // t and u beside p and v, which w joins.
  EXPECT_TRUE(kept.front().capture.edges == (std::vector<CapturedEdge>{{0, 2, 0}, {1, 2, 0}}));
}

}  // namespace
}  // namespace graphgate::optimized::cuda
