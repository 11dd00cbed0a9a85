#include "optimized/memory/peak_guard.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace graphgate::optimized {
namespace {

TEST(PeakGuard, HoldsWhatStaysWithinThePeak) {
  PeakGuard guard({1, 5, 2, 2});
  EXPECT_EQ(guard.peak_bytes(), 5);
  EXPECT_FALSE(guard.hold(0, 3, 1));
  EXPECT_TRUE(guard.hold(2, 4, 3));
  EXPECT_FALSE(guard.hold(3, 4, 1)) << "what is held counts";
  EXPECT_TRUE(guard.hold(2, 2, 100)) << "nothing lies between";
}

RC_GTEST_PROP(PeakGuard, AgreesWithAPlainArray, ()) {
  auto plain = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 100)));
  PeakGuard guard(plain);
  const std::int64_t peak = *std::max_element(plain.begin(), plain.end());
  const auto steps = static_cast<std::int64_t>(plain.size());
  for (int i = 0; i < 20; ++i) {
    const auto begin = *rc::gen::inRange<std::int64_t>(0, steps);
    const auto end = *rc::gen::inRange<std::int64_t>(begin + 1, steps + 1);
    const auto bytes = *rc::gen::inRange<std::int64_t>(0, 40);
    const auto most = *std::max_element(plain.begin() + begin, plain.begin() + end);
    RC_ASSERT(guard.most(begin, end) == most);
    RC_ASSERT(guard.hold(begin, end, bytes) == (most + bytes <= peak));
    if (most + bytes > peak) continue;
    for (auto t = begin; t < end; ++t) plain[static_cast<std::size_t>(t)] += bytes;
  }
}

}  // namespace
}  // namespace graphgate::optimized
