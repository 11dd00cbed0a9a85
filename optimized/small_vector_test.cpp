#include "optimized/small_vector.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace graphgate::optimized {
namespace {

TEST(SmallVector, ComesFromAVectorAndGoesToOne) {
  using Small = SmallVector<std::int64_t, 3>;
  for (const std::vector<std::int64_t>& list :
       {std::vector<std::int64_t>{}, {1, 2}, {1, 2, 3, 4, 5}}) {
    const Small small = list;
    EXPECT_TRUE(small == list);
    EXPECT_EQ(std::vector<std::int64_t>(small), list);
    Small longer = list;
    longer.push_back(0);
    EXPECT_FALSE(longer == list);
  }
}

}  // namespace
}  // namespace graphgate::optimized
