// Ops that put elements in order, on the emulator against the host, bit by bit: rows of every
// length that changes how they go about it, full of equal elements and NaNs.
#include <gtest/gtest.h>

#include <tuple>

#include "tools/check_input.h"
#include "tools/device_drawn_test.h"
#include "tools/order_case_test.h"

namespace graphgate {
namespace {

class EmulatedOrders : public testing::TestWithParam<std::tuple<std::string, std::int64_t>> {};

TEST_P(EmulatedOrders, HaveTheBitsOfTheHost) {
  const auto& [dtype, length] = GetParam();
  const std::string text = order_case(dtype, length, length % 2 == 0 ? 0 : 1);
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  const auto script = tools::read_case(text, "order.case");
  ASSERT_TRUE(script.ok()) << script.error().message;
  conformance::Runs runs(script.value(), *subject, *oracle);
  const auto on_device = runs.subject({{"device", "emulated"}});
  const auto on_host = runs.subject();
  ASSERT_TRUE(on_device.ok()) << on_device.error().message;
  ASSERT_TRUE(on_host.ok()) << on_host.error().message;
  ASSERT_EQ(difference_of_calls(runs, *on_device.value(), *on_host.value()), "");
  const auto& call = on_device.value()->calls.at(0);
  ASSERT_TRUE(call.plan);
  for (const auto& partition : call.plan->blocks.front().partitions) {
    EXPECT_TRUE(partition.captured) << partition.reason;
  }
}

// Around the 16 that are sorted by insertion, the runs of 32 and their doublings.
INSTANTIATE_TEST_SUITE_P(Rows, EmulatedOrders,
                         testing::Combine(testing::Values("f32", "bf16", "f64", "i64"),
                                          testing::Values(1, 16, 17, 33, 64, 129, 1000)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace graphgate
