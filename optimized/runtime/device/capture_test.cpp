#include "optimized/runtime/device/capture.h"

#include <gtest/gtest.h>

#include <functional>

namespace graphgate::optimized {
namespace {

struct Placed {
  DeviceCapture capture;
  std::vector<DeviceArena> arenas;
};

// Two kernels over arenas of 64 and 32 bytes.
Placed over(std::uint64_t first, std::uint64_t second) {
  const CapturedKernel a{"k_a", {2, 1, 1}, {256, 1, 1}, 1024, 2, {first, first + 16, second + 32}};
  const CapturedKernel b{"k_b", {1, 1, 1}, {256, 1, 1}, 0, 1, {second + 4}};
  return {{{a, b}, {{0, 1, 1}}}, {{first, 64}, {second, 32}}};
}

std::string difference(const Placed& one, const Placed& other) {
  return first_difference({one.capture, one.arenas}, {other.capture, other.arenas});
}

TEST(CaptureDifference, IsNoneWhereOnlyTheArenasLieElsewhere) {
  const Placed one = over(0x1000, 0x2000);
  EXPECT_EQ(difference(one, over(0x1000, 0x2000)), "");
  EXPECT_EQ(difference(one, over(0x9000, 0x2000)), "");
  EXPECT_EQ(difference(one, over(0x7000, 0x3000)), "");  // the other way round
  EXPECT_EQ(difference(one, over(0x1000, 0x1040)), "");  // neighbours
  EXPECT_EQ(difference(over(0x1000, 0x1040), one), "");
  Placed nowhere = over(0x1000, 0x2000);
  Placed nowhere_else = over(0x9000, 0x2000);
  nowhere.capture.kernels[0].arguments[1] = nowhere_else.capture.kernels[0].arguments[1] = 0;
  EXPECT_EQ(difference(nowhere, nowhere_else), "");
  EXPECT_EQ(difference(one, nowhere_else),
            "kernel 0 (k_a), parameter 1: 0x1010, byte 16 of arena 0, and 0x0, in no arena");
}

TEST(CaptureDifference, NamesAddressesFromElsewhere) {
  const Placed one = over(0x1000, 0x2000);
  const auto with = [](std::uint64_t address) {
    Placed other = over(0x9000, 0x5000);
    other.capture.kernels[0].arguments[1] = address;
    return other;
  };
  // The old place, another byte, another arena, and a host's address that both have.
  EXPECT_EQ(difference(one, with(0x1010)),
            "kernel 0 (k_a), parameter 1: 0x1010, byte 16 of arena 0, and 0x1010, in no arena");
  EXPECT_EQ(difference(one, with(0x9011)),
            "kernel 0 (k_a), parameter 1: 0x1010, byte 16 of arena 0, and 0x9011, byte 17 of "
            "arena 0");
  EXPECT_EQ(difference(one, with(0x5010)),
            "kernel 0 (k_a), parameter 1: 0x1010, byte 16 of arena 0, and 0x5010, byte 16 of "
            "arena 1");
  Placed stray = over(0x1000, 0x2000);
  stray.capture.kernels[0].arguments[1] = 0x777000;
  EXPECT_EQ(difference(stray, with(0x777000)),
            "kernel 0 (k_a), parameter 1: 0x777000, in no arena, and 0x777000, in no arena");
}

TEST(CaptureDifference, NamesAllElseThatIsNotTheSame) {
  using Change = std::function<void(Placed&)>;
  const Change kShapes[] = {[](Placed& p) { p.capture.kernels[0].name = "k_c"; },
                            [](Placed& p) { p.capture.kernels[0].grid[0] = 3; },
                            [](Placed& p) { p.capture.kernels[0].block[2] = 2; },
                            [](Placed& p) { p.capture.kernels[0].shared_bytes = 0; },
                            [](Placed& p) { p.capture.kernels[0].cluster = 1; }};
  const auto changed = [](const Change& change) {
    Placed other = over(0x9000, 0x5000);
    change(other);
    return difference(over(0x1000, 0x2000), other);
  };
  for (const Change& change : kShapes) {
    EXPECT_EQ(changed(change), "kernel 0 (k_a): another function, grid, block, cluster or memory");
  }
  EXPECT_EQ(changed([](Placed& p) { p.capture.kernels[1].arguments.pop_back(); }),
            "kernel 1 (k_b): another number of parameters");
  EXPECT_EQ(changed([](Placed& p) { p.capture.kernels.pop_back(); }), "2 kernels and 1");
  EXPECT_EQ(changed([](Placed& p) { p.capture.edges[0].type = 0; }),
            "other edges between the kernels");
  EXPECT_EQ(changed([](Placed& p) { p.arenas.pop_back(); }), "2 arenas and 1");
  EXPECT_EQ(changed([](Placed& p) { p.arenas[1].size_bytes = 48; }), "arena 1 has 32 bytes and 48");
}

// A diamond, as a driver may name its nodes: the last come first.
TEST(CaptureOrder, IsThatOfTheCallsHoweverTheGraphNamesItsNodes) {
  const auto kernel = [](std::uint64_t argument) {
    CapturedKernel out;
    out.name = "k";
    out.arguments = {argument};
    return out;
  };
  const std::vector<CapturedKernel> calls = {kernel(10), kernel(11), kernel(12), kernel(10)};
  const std::vector<CapturedEdge> diamond = {{0, 1, 0}, {0, 2, 1}, {1, 3, 0}, {2, 3, 0}};
  const auto one = in_order_of(calls, {calls, diamond});
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->kernels == calls);
  EXPECT_TRUE(one->edges == diamond);
  const auto other = in_order_of(calls, {{kernel(10), kernel(12), kernel(11), kernel(10)},
                                         {{1, 3, 0}, {0, 2, 0}, {2, 3, 0}, {0, 1, 1}}});
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->kernels == calls);
  EXPECT_TRUE(other->edges == diamond);
}

TEST(CaptureOrder, IsNoneForOtherKernels) {
  const Placed one = over(0x1000, 0x2000);
  const auto& calls = one.capture.kernels;
  EXPECT_TRUE(in_order_of(calls, one.capture));
  EXPECT_FALSE(in_order_of(calls, {{calls[0], calls[0]}, {}}));
  EXPECT_FALSE(in_order_of(calls, {{calls[0]}, {}}));
  EXPECT_FALSE(in_order_of(calls, {{calls[0], calls[1], calls[1]}, {}}));
}

}  // namespace
}  // namespace graphgate::optimized
