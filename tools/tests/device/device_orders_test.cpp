// Ops that put elements in order or go along rows, on the emulator against the host, bit by bit:
// rows of every length that changes how they go about it, full of equal elements and NaNs.
#include <gtest/gtest.h>

#include <tuple>

#include "conformance/run/runs.h"
#include "tools/tests/device/device_drawn_test.h"
#include "tools/tests/device/order_case_test.h"

namespace graphgate {
namespace {

class EmulatedOrders : public testing::TestWithParam<std::tuple<std::string, std::int64_t>> {};

TEST_P(EmulatedOrders, HaveTheBitsOfTheHost) {
  const auto& [dtype, length] = GetParam();
  expect_bits_of_host("emulated", order_case(kOrders, dtype, length, length % 2 == 0 ? 0 : 1));
}

// Around the 16 that are sorted by insertion, the runs of 32 and their doublings.
INSTANTIATE_TEST_SUITE_P(Rows, EmulatedOrders,
                         testing::Combine(testing::Values("f32", "bf16", "f64", "i64"),
                                          testing::Values(16, 17, 33, 65, 1000)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });

class EmulatedRows : public testing::TestWithParam<std::string> {};

TEST_P(EmulatedRows, HaveTheBitsOfTheHost) {
  for (const int dim : {0, 1}) {
    expect_bits_of_host("emulated", order_case(kScans, GetParam(), 40, dim));
    expect_bits_of_host("emulated", order_case(kSearches, GetParam(), 40, dim));
  }
  expect_bits_of_host("emulated", order_case(kRowSearches, GetParam(), 40, 1));
  if (GetParam() != "i64") expect_bits_of_host("emulated", order_case(kBins, GetParam(), 400, 1));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, EmulatedRows, testing::Values("f32", "f16", "f64", "i64"),
                         [](const auto& test) { return test.param; });

// What only the values tell ends the call as on the host.
TEST(EmulatedFaults, HaveTheWordsOfTheHost) {
  const struct {
    const char* op;
    const char* x;
    const char* words;
  } kFaults[] = {
      {"aten.histc.default(%x, 4)", "[1.0, nan, 2.0]", "the range of the elements is not finite"},
      {"aten.histc.default(%x, 4)", "[1.0, inf, 2.0]", "the range of the bins is not finite"},
      {"aten.searchsorted.Tensor(%x, %x, sorter=%i)", "[1.0, 3.0, 2.0]",
       "sorter index 3 is outside [0, 3)"},
  };
  for (const auto& fault : kFaults) {
    const std::string text =
        std::string("graphgate-case 1\nname \"fault\"\nseed 1\n") +
        "program \"p\" {\n  input %x : f32[3]\n  input %i : i64[3]\n  %y = " + fault.op +
        "\n  output %y\n}\ninputs \"bad\" of \"p\" {\n  x : f32[3] = " + fault.x +
        "\n  i : i64[3] = [0, 3, 1]\n}\n" + "scenario {\n  call p inputs=bad\n}\nexpect PASS\n";
    const auto script = must(tools::read_case(text, "fault.case"));
    const auto subject = tools::optimized_source();
    const auto oracle = tools::reference_source(false);
    conformance::Runs runs(script, *subject, *oracle);
    for (const char* device : {"host", "emulated"}) {
      const auto run = must(runs.subject({{"device", device}}));
      ASSERT_TRUE(run->error) << device << ": " << fault.words;
      EXPECT_TRUE(contains(run->error->message, fault.words))
          << device << ": " << run->error->message;
    }
  }
}

}  // namespace
}  // namespace graphgate
