// The CUDA backend against the host on every recorded op case. Skipped without a GPU.
#include "optimized/runtime/cuda/cuda_device.h"
#include "tools/tests/device/device_ops_test.h"

namespace graphgate {
namespace {

constexpr std::size_t kShards = 16;

class OpsOnGpu : public testing::TestWithParam<std::size_t> {};

TEST_P(OpsOnGpu, HaveTheBitsOfTheHost) {
  auto device = optimized::cuda::make_cuda_device();
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  compare_op_cases(device.value(), GetParam(), kShards);
}

INSTANTIATE_TEST_SUITE_P(Shards, OpsOnGpu, testing::Range(std::size_t{0}, kShards));

}  // namespace
}  // namespace graphgate
