// The emulator against the host on every recorded op case: a compilation for each.
#include "optimized/runtime/emulated/emulated_device.h"
#include "tools/device_ops_test.h"

namespace graphgate {
namespace {

constexpr std::size_t kShards = 16;

class OpsEmulated : public testing::TestWithParam<std::size_t> {};

TEST_P(OpsEmulated, HaveTheBitsOfTheHost) {
  compare_op_cases(optimized::emulated::make_emulated_device(), GetParam(), kShards);
}

INSTANTIATE_TEST_SUITE_P(Shards, OpsEmulated, testing::Range(std::size_t{0}, kShards));

}  // namespace
}  // namespace graphgate
