#include "optimized/runtime/device/device.h"

#include <gtest/gtest.h>

namespace graphgate::optimized {
namespace {

std::optional<double> bytes_of(std::vector<std::int64_t> free_bytes) {
  return bytes_of_each(free_bytes);
}

TEST(BytesOfEach, CountsFromTheFirstStepOfFreeMemoryToTheLast) {
  // What was free in a chunk that others had begun, and what is left of the last, do not count.
  EXPECT_EQ(bytes_of({100, 100, 92, 92, 84, 84, 76, 76, 76}), 4.0);
  EXPECT_EQ(bytes_of({100, 90, 80, 70}), 10.0);
  EXPECT_EQ(bytes_of({100, 100, 100, 40, 34, 28}), 6.0);
}

TEST(BytesOfEach, SaysNothingOfWhatItCannotTell) {
  EXPECT_FALSE(bytes_of({}));
  EXPECT_FALSE(bytes_of({100, 100, 100}));
  EXPECT_FALSE(bytes_of({100, 100, 92, 92}));
  EXPECT_FALSE(bytes_of({100, 90, 95, 80, 70}));  // others give memory back
}

}  // namespace
}  // namespace graphgate::optimized
