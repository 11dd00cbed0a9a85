// The emulator against the host on every recorded op case, and on many drawn ones: a compilation
// for each plan.
#include "optimized/runtime/emulated/emulated_device.h"
#include "tools/tests/device/device_drawn_test.h"
#include "tools/tests/device/device_ops_test.h"

namespace graphgate {
namespace {

constexpr std::size_t kShards = 16;

class OpsEmulated : public testing::TestWithParam<std::size_t> {};

TEST_P(OpsEmulated, HaveTheBitsOfTheHost) {
  compare_op_cases(optimized::emulated::make_emulated_device().value(), GetParam(), kShards);
}

INSTANTIATE_TEST_SUITE_P(Shards, OpsEmulated, testing::Range(std::size_t{0}, kShards));

constexpr std::uint64_t kDrawnShards = 8;
constexpr std::uint64_t kDrawn = 400;

class DrawnEmulated : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DrawnEmulated, HaveTheBitsOfTheHost) {
  const std::uint64_t each = kDrawn / kDrawnShards;
  const auto seen = compare_drawn("emulated", 12, GetParam() * each, (GetParam() + 1) * each);
  EXPECT_GT(seen.plans, each / 2);
  std::printf("%zu cases, %zu refused, %zu captured plans\n", seen.cases, seen.refused, seen.plans);
}

INSTANTIATE_TEST_SUITE_P(Shards, DrawnEmulated, testing::Range(std::uint64_t{0}, kDrawnShards));

}  // namespace
}  // namespace graphgate
