#include "optimized/memory/pack_until.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result_test.h"

namespace graphgate::optimized {
namespace {

using Items = std::vector<PackItem>;

// At no step are more than 4 bytes alive, and 4 are not enough.
const Items kGap = {{1, 2, 2}, {4, 8, 2}, {1, 3, 2}, {2, 5, 1}, {3, 5, 1}, {2, 4, 1}, {5, 6, 2}};

// Fits alone, which a goal is to improve on.
PackRun run(const Items& items, const PackGoal& goal, const PackOptions& options = {0, 0, 2000}) {
  Packing begun = must(pack(items, 1, options));
  PackRun result = must(pack_until(items, 1, std::move(begun), options, goal));
  EXPECT_FALSE(find_overlap(items, result.packing.offsets_bytes));
  return result;
}

// A strip cut along straight lines, again and again: a packing of 96 bytes without a hole exists.
Items strip() {
  Items items = {{0, 96, 96}};
  std::uint64_t state = 7;
  const auto draw = [&](std::int64_t end) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33U) % static_cast<std::uint64_t>(end));
  };
  while (items.size() < 60) {
    const auto cut = static_cast<std::size_t>(draw(static_cast<std::int64_t>(items.size())));
    PackItem other = items[cut];
    if (draw(2) == 0 && other.upper - other.lower > 8) {
      other.lower += 4 + draw(other.upper - other.lower - 7);
      items[cut].upper = other.lower;
    } else if (other.size_bytes > 4) {
      other.size_bytes = 2 + draw(other.size_bytes - 3);
      items[cut].size_bytes -= other.size_bytes;
    } else {
      continue;
    }
    items.push_back(other);
  }
  return items;
}

TEST(PackUntil, MeetsACapacity) {
  PackGoal goal;
  goal.capacity_bytes = 96;
  const PackRun result = run(strip(), goal);
  EXPECT_EQ(result.end, PackEnd::kMet);
  EXPECT_EQ(result.packing.peak_bytes, 96);
}

TEST(PackUntil, MeetsACapacityWithSeveralThreads) {
  PackGoal goal;
  goal.capacity_bytes = 96;
  goal.jobs = 3;
  const PackRun result = run(strip(), goal);
  EXPECT_EQ(result.end, PackEnd::kMet);
  EXPECT_EQ(result.packing.peak_bytes, 96);
}

TEST(PackUntil, RefutesACapacityThatNoPackingMeets) {
  for (const int jobs : {1, 3}) {
    PackGoal goal;
    goal.capacity_bytes = 4;
    goal.jobs = jobs;
    const PackRun result = run(kGap, goal);
    EXPECT_EQ(result.end, PackEnd::kRefuted);
    EXPECT_EQ(result.packing.bound_bytes, 5);
    EXPECT_EQ(result.packing.refuted_bytes, 4);
  }
}

TEST(PackUntil, RefutesACapacityBelowTheLoadAtOnce) {
  PackGoal goal;
  goal.capacity_bytes = 3;
  goal.work = 0;
  EXPECT_EQ(run(kGap, goal).end, PackEnd::kRefuted);
}

TEST(PackUntil, GoesDownToTheOptimumWithoutACapacity) {
  const PackRun result = run(kGap, {});
  EXPECT_EQ(result.end, PackEnd::kMet);
  EXPECT_EQ(result.packing.peak_bytes, 5);
  EXPECT_EQ(result.packing.bound_bytes, 5);
}

TEST(PackUntil, EndsWithItsWork) {
  PackGoal goal;
  goal.capacity_bytes = 4;
  goal.work = 0;
  const PackRun result = run(kGap, goal);
  EXPECT_EQ(result.end, PackEnd::kWork);
  EXPECT_GT(result.packing.peak_bytes, 4);
}

// The answer to is_over counts, not the clock.
TEST(PackUntil, EndsWhenItsCallerSaysSo) {
  int asked = 0;
  PackGoal goal;
  goal.capacity_bytes = 4;
  goal.is_over = [&] { return ++asked > 1; };
  EXPECT_EQ(run(kGap, goal).end, PackEnd::kOver);
}

TEST(PackUntil, EqualArgumentsGiveEqualPackings) {
  PackGoal goal;
  goal.seed = 5;
  goal.work = 3'000'000;
  const PackRun one = run(strip(), goal);
  const PackRun other = run(strip(), goal);
  EXPECT_EQ(one.packing.offsets_bytes, other.packing.offsets_bytes);
  EXPECT_EQ(one.end, other.end);
}

// A part that is too large for a search gets fits in one order after the other.
TEST(PackUntil, GoesOnWithFitsWhereAPartIsTooLargeForASearch) {
  PackGoal goal;
  goal.capacity_bytes = 4;
  goal.work = 20'000;
  const PackRun result = run(kGap, goal, {0, 0, 2});
  EXPECT_EQ(result.end, PackEnd::kWork);
  EXPECT_EQ(result.packing.peak_bytes, 5);
}

TEST(PackUntil, PacksNothing) {
  const PackRun result = run({}, {});
  EXPECT_EQ(result.end, PackEnd::kMet);
  EXPECT_EQ(result.packing.peak_bytes, 0);
}

}  // namespace
}  // namespace graphgate::optimized
