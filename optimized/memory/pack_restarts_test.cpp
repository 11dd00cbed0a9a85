#include "optimized/memory/pack_restarts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result_test.h"

namespace graphgate::optimized {
namespace {

// The instance of 7 items that has no packing at its bound of 4, and 4 bytes filled for 200 more
// steps that hang together with it.
PackPart long_part() {
  std::vector<PackItem> items = {{1, 2, 2}, {4, 8, 2}, {1, 3, 2}, {2, 5, 1},
                                 {3, 5, 1}, {2, 4, 1}, {5, 6, 2}};
  for (std::int64_t step = 7; step < 200; ++step) items.push_back({step, step + 2, 2});
  auto parts = must(make_parts(items, 1));
  EXPECT_EQ(parts.parts.size(), 1U);
  return parts.parts.front();
}

PackPart part_of_sizes(const std::vector<std::int64_t>& sizes) {
  PackPart part;
  part.section_count = 1;
  for (const std::int64_t size : sizes) part.boxes.push_back({0, 1, size, 1, part.boxes.size()});
  return part;
}

TEST(WindowIsRefuted, FindsTheFewStepsWithoutAPacking) {
  const PackPart part = long_part();
  EXPECT_EQ(part.bound, 4);
  std::int64_t work = 1'000'000;
  EXPECT_TRUE(window_is_refuted(part, 4, work));
  EXPECT_GT(work, 900'000);
  EXPECT_FALSE(window_is_refuted(part, 5, work));
}

TEST(WindowIsRefuted, EndsWithItsBudget) {
  std::int64_t work = 0;
  EXPECT_FALSE(window_is_refuted(long_part(), 4, work));
}

TEST(SearchWithRestarts, FindsAPackingOrRefutesTheCapacity) {
  const PackPart part = long_part();
  std::int64_t work = 50'000'000;
  const SearchResult found = search_with_restarts(part, 5, work);
  EXPECT_EQ(found.end, SearchEnd::kFound);
  EXPECT_EQ(found.offsets.size(), part.boxes.size());
  work = 0;
  EXPECT_EQ(search_with_restarts(part, 4, work).end, SearchEnd::kBudget);
}

TEST(Rung, LiesBetweenFloorAndTopAndReachesBoth) {
  for (const Top what : {Top::kGoal, Top::kBestSoFar}) {
    bool floor = false;
    for (std::uint64_t k = 0; k < 2 * kRungs; ++k) {
      EXPECT_GE(rung(k, 963, 1023, what), 963);
      EXPECT_LE(rung(k, 963, 1023, what), 1023);
      EXPECT_EQ(rung(k, 7, 7, what), 7);
      floor |= rung(k, 963, 1023, what) == 963;
    }
    EXPECT_TRUE(floor);
  }
  EXPECT_EQ(rung(0, 963, 1023, Top::kGoal), 1023) << "a goal is searched first";
}

TEST(NextSumOfSizes, LeavesOutWhatNoBoxesAddUpTo) {
  EXPECT_EQ(next_sum_of_sizes(part_of_sizes({4, 6, 9}), 9), 9);
  EXPECT_EQ(next_sum_of_sizes(part_of_sizes({4, 6, 9}), 11), 13);
  EXPECT_EQ(next_sum_of_sizes(part_of_sizes({64, 128, 1}), 66), 128);
}

TEST(NextSumOfSizes, GivesUpOnLargeNumbers) {
  EXPECT_EQ(next_sum_of_sizes(part_of_sizes({1'000'000'000'000, 3}), 5), 5);
}

RC_GTEST_PROP(NextSumOfSizes, AgreesWithAllSubsets, ()) {
  const auto sizes = *rc::gen::nonEmpty(rc::gen::resize(
      10, rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 200))));
  std::vector<std::int64_t> sums = {0};
  for (const std::int64_t size : sizes) {
    const std::size_t count = sums.size();
    for (std::size_t i = 0; i < count; ++i) sums.push_back(sums[i] + size);
  }
  std::sort(sums.begin(), sums.end());
  const std::int64_t bound = *rc::gen::inRange<std::int64_t>(0, sums.back() + 1);
  RC_ASSERT(next_sum_of_sizes(part_of_sizes(sizes), bound) ==
            *std::lower_bound(sums.begin(), sums.end(), bound));
}

}  // namespace
}  // namespace graphgate::optimized
