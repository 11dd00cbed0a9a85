// Ops that put elements in order or go along rows, on a GPU against the host, bit by bit. Skipped
// without one.
#include "optimized/runtime/cuda/cuda_device.h"
#include "tools/tests/device/device_drawn_test.h"
#include "tools/tests/device/order_case_test.h"

namespace graphgate {
namespace {

class OrdersOnGpu : public testing::TestWithParam<std::string> {};

TEST_P(OrdersOnGpu, HaveTheBitsOfTheHost) {
  const auto device = optimized::cuda::make_cuda_device();
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  expect_bits_of_host("cuda", GetParam());
}

// Neither a block nor a warp has as many threads.
TEST(LongOrdersOnGpu, HaveTheBitsOfTheHostInRowsOfAVocabulary) {
  const auto device = optimized::cuda::make_cuda_device();
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  expect_bits_of_host("cuda", order_case(kOrders, "f32", 50001, 1));
}

INSTANTIATE_TEST_SUITE_P(Cases, OrdersOnGpu, testing::ValuesIn(order_cases()),
                         [](const auto& test) { return std::to_string(test.index); });

}  // namespace
}  // namespace graphgate
