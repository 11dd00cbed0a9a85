#include "optimized/memory/pack.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result_test.h"

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();

using Items = std::vector<PackItem>;

Packing packed(const Items& items, std::int64_t alignment_bytes, const PackOptions& options = {}) {
  return must(pack(items, alignment_bytes, options));
}

std::int64_t bound_of(const Items& items, std::int64_t alignment_bytes) {
  return must(lower_bound_bytes(items, alignment_bytes));
}

bool share_a_step(const PackItem& a, const PackItem& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

// Whether any two items share a byte at a step, pair by pair.
bool any_overlap(const Items& items, const std::vector<std::int64_t>& offsets_bytes) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool share_bytes = offsets_bytes[i] < offsets_bytes[k] + items[k].size_bytes &&
                               offsets_bytes[k] < offsets_bytes[i] + items[i].size_bytes;
      const bool both_have_bytes = items[i].size_bytes > 0 && items[k].size_bytes > 0;
      if (share_bytes && both_have_bytes && share_a_step(items[i], items[k])) return true;
    }
  }
  return false;
}

rc::Gen<Items> some_items(int count_max, int steps, int size_max) {
  const auto items = rc::gen::mapcat(rc::gen::inRange(0, count_max + 1), [=](int count) {
    const auto item =
        rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, steps), rc::gen::inRange(1, steps / 2 + 1),
                                    rc::gen::inRange(0, size_max + 1)),
                     [](const std::tuple<int, int, int>& numbers) {
                       const auto& [lower, duration, size] = numbers;
                       return PackItem{lower, lower + duration, size};
                     });
    return rc::gen::container<Items>(static_cast<std::size_t>(count), item);
  });
  // All sizes of instances from the start, not only towards the end of a run.
  return rc::gen::resize(rc::kNominalSize, items);
}

// The least peak of any packing, by trying every offset of every item: for a handful of tiny items.
std::int64_t least_peak(const Items& items, std::vector<std::int64_t>& offsets,
                        std::int64_t peak_max) {
  const std::size_t i = offsets.size();
  if (i == items.size()) {
    std::int64_t peak = 0;
    for (std::size_t k = 0; k < i; ++k) peak = std::max(peak, offsets[k] + items[k].size_bytes);
    return peak;
  }
  std::int64_t best = peak_max;
  const Items so_far(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  for (std::int64_t offset = 0; offset + items[i].size_bytes < best; ++offset) {
    offsets.push_back(offset);
    if (!any_overlap(so_far, offsets)) best = std::min(best, least_peak(items, offsets, best));
    offsets.pop_back();
  }
  return best;
}

// A rectangle of steps and bytes cut into items along straight lines: it can be packed without a
// hole.
void cut_rectangle(const PackItem& rectangle, std::uint64_t& state, Items& items) {
  const auto draw = [&](std::int64_t end) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(end));
  };
  const std::int64_t duration = rectangle.upper - rectangle.lower;
  if (duration * rectangle.size_bytes < 24 || duration < 2 || rectangle.size_bytes < 2) {
    items.push_back(rectangle);
    return;
  }
  PackItem one = rectangle;
  PackItem other = rectangle;
  if (draw(2) == 0) {
    one.upper = other.lower = rectangle.lower + 1 + draw(duration - 1);
  } else {
    one.size_bytes = 1 + draw(rectangle.size_bytes - 1);
    other.size_bytes = rectangle.size_bytes - one.size_bytes;
  }
  cut_rectangle(one, state, items);
  cut_rectangle(other, state, items);
}

TEST(Pack, PutsNothingNowhere) {
  const Packing packing = packed({}, 64);
  EXPECT_TRUE(packing.offsets_bytes.empty());
  EXPECT_EQ(packing.peak_bytes, 0);
  EXPECT_EQ(packing.bound_bytes, 0);
}

TEST(Pack, ReusesTheBytesOfAnItemThatDiedAtTheSameStep) {
  const Items items = {{0, 2, 100}, {2, 4, 100}};
  const Packing packing = packed(items, 1);
  EXPECT_EQ(packing.peak_bytes, 100);
  EXPECT_EQ(packing.offsets_bytes, (std::vector<std::int64_t>{0, 0}));
}

TEST(Pack, KeepsItemsOfOneStepApart) {
  const Packing packing = packed({{0, 2, 100}, {1, 3, 60}}, 64);
  EXPECT_EQ(packing.peak_bytes, 192);
  EXPECT_EQ(packing.offsets_bytes, (std::vector<std::int64_t>{0, 128}));
}

TEST(Pack, PutsItemsWithoutBytesAtZero) {
  const Packing packing = packed({{0, 9, 64}, {1, 2, 0}, {1, 2, 64}}, 64);
  EXPECT_EQ(packing.offsets_bytes[1], 0);
  EXPECT_EQ(packing.peak_bytes, 128);
}

TEST(Pack, RoundsToAlignmentsThatAreNoPowerOfTwo) {
  const Packing packing = packed({{0, 2, 13}, {0, 2, 1}}, 12);
  EXPECT_EQ(packing.peak_bytes, 36);
  for (const std::int64_t offset : packing.offsets_bytes) EXPECT_EQ(offset % 12, 0);
}

// a to g; at no step are more than 4 bytes alive, yet 4 are not enough.
TEST(Pack, ProvesThatTheBoundOfAnInstanceIsOutOfReach) {
  const Items items = {{1, 2, 2}, {4, 8, 2}, {1, 3, 2}, {2, 5, 1}, {3, 5, 1}, {2, 4, 1}, {5, 6, 2}};
  EXPECT_EQ(bound_of(items, 1), 4);
  const Packing packing = packed(items, 1);
  EXPECT_EQ(packing.peak_bytes, 5);
  EXPECT_EQ(packing.bound_bytes, 5);
  EXPECT_EQ(packing.refuted_bytes, 4);
  EXPECT_NE(packing.bound_reason, BoundReason::kLoad);
  EXPECT_FALSE(any_overlap(items, packing.offsets_bytes));
}

// The unit is 1 because of the last item, yet nothing lies between 4 * 256 and 5 * 256: the sizes
// of the others do not add up to it.
TEST(Pack, RoundsARefutedCapacityUpToASumOfSizes) {
  Items items = {{1, 2, 2}, {4, 8, 2}, {1, 3, 2}, {2, 5, 1}, {3, 5, 1}, {2, 4, 1}, {5, 6, 2}};
  for (PackItem& item : items) item.size_bytes *= 256;
  items.push_back({10, 11, 1});
  const Packing packing = packed(items, 1);
  EXPECT_EQ(packing.unit_bytes, 1);
  EXPECT_EQ(packing.peak_bytes, 5 * 256);
  EXPECT_EQ(packing.bound_bytes, 5 * 256);
  EXPECT_EQ(packing.refuted_bytes, 4 * 256);
}

// Placing one item after the other leaves holes in nearly all of these.
TEST(Pack, FindsPackingsWithoutAHole) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Items items;
    std::uint64_t state = seed;
    cut_rectangle({0, 28, 28}, state, items);
    const Packing packing = packed(items, 1);
    EXPECT_EQ(packing.peak_bytes, 28) << seed;
    EXPECT_FALSE(any_overlap(items, packing.offsets_bytes)) << seed;
  }
}

TEST(Pack, PacksPartsThatNeverMeetIntoTheSameBytes) {
  const Items gap = {{1, 2, 2}, {4, 8, 2}, {1, 3, 2}, {2, 5, 1}, {3, 5, 1}, {2, 4, 1}, {5, 6, 2}};
  Items items;
  for (int copy = 0; copy < 50; ++copy) {
    for (const PackItem& item : gap) {
      items.push_back({item.lower + copy * 10, item.upper + copy * 10, item.size_bytes});
    }
  }
  const Packing packing = packed(items, 1);
  EXPECT_EQ(packing.peak_bytes, 5);
  EXPECT_EQ(packing.bound_bytes, 5);
  EXPECT_FALSE(any_overlap(items, packing.offsets_bytes));
}

TEST(Pack, StaysWithinABudgetOfNothing) {
  const Items items = {{1, 2, 2}, {4, 8, 2}, {1, 3, 2}, {2, 5, 1}, {3, 5, 1}, {2, 4, 1}, {5, 6, 2}};
  const Packing packing = packed(items, 1, PackOptions{0, 0, 0});
  EXPECT_EQ(packing.method, "online best fit");
  EXPECT_EQ(packing.bound_bytes, 4);
  EXPECT_FALSE(any_overlap(items, packing.offsets_bytes));
}

TEST(Pack, PacksALongChainAtItsBound) {
  Items items;
  for (std::int64_t i = 0; i < 100'000; ++i) items.push_back({i, i + 2, 1024 * (1 + i % 2)});
  const Packing packing = packed(items, 256);
  EXPECT_EQ(packing.peak_bytes, 3 * 1024);
  EXPECT_EQ(find_overlap(items, packing.offsets_bytes), std::nullopt);
}

TEST(Pack, ReportsItemsThatMakeNoSense) {
  const auto message = [](const Items& items) { return message_of(pack(items, 64)); };
  EXPECT_EQ(message({{0, 1, 1}, {3, 3, 1}}), "item 1: expected a lifetime of some steps");
  EXPECT_EQ(message({{0, 1, -1}}), "item 0: expected a size that is not negative");
}

TEST(Pack, ReportsSumsBeyond63Bits) {
  EXPECT_FALSE(pack(Items{{0, 1, kInt64Max}}, 64).ok());
  EXPECT_FALSE(pack(Items{{0, 2, kInt64Max / 2 + 1}, {1, 3, kInt64Max / 2 + 1}}, 1).ok());
  EXPECT_FALSE(lower_bound_bytes(Items{{0, 2, kInt64Max}, {1, 3, 1}}, 1).ok());
  EXPECT_FALSE(pack_without_reuse(Items{{0, 1, kInt64Max}, {2, 3, 1}}, 1).ok());
}

TEST(Pack, PacksSizesAndStepsAtTheEdgeOf64Bits) {
  const Items items = {{kInt64Min, kInt64Max, kInt64Max / 2},
                       {kInt64Min, 0, kInt64Max / 2},
                       {0, kInt64Max, kInt64Max / 2}};
  const Packing packing = packed(items, 1);
  EXPECT_EQ(packing.peak_bytes, kInt64Max - 1);
  EXPECT_EQ(find_overlap(items, packing.offsets_bytes), std::nullopt);
}

TEST(PackWithoutReuse, GivesEveryItemBytesOfItsOwn) {
  const auto packing = must(pack_without_reuse(Items{{0, 1, 100}, {1, 2, 0}, {2, 3, 1}}, 64));
  EXPECT_EQ(packing.offsets_bytes, (std::vector<std::int64_t>{0, 0, 128}));
  EXPECT_EQ(packing.peak_bytes, 192);
}

TEST(PackBaseline, GivesValidPackingsAboveTheBound) {
  Items items;
  std::uint64_t state = 3;
  cut_rectangle({0, 60, 60}, state, items);
  for (const BaselineMethod method :
       {BaselineMethod::kNoReuse, BaselineMethod::kOnlineBestFit, BaselineMethod::kFirstFitBySize,
        BaselineMethod::kBestFitBySize}) {
    const auto packing = must(pack_baseline(items, 1, method));
    EXPECT_FALSE(any_overlap(items, packing.offsets_bytes)) << packing.method;
    EXPECT_GE(packing.peak_bytes, 60) << packing.method;
  }
}

TEST(PackBaseline, FirstFitPutsLargeItemsFirst) {
  const Items items = {{0, 2, 1}, {1, 3, 8}, {2, 4, 2}};
  const auto packing = must(pack_baseline(items, 1, BaselineMethod::kFirstFitBySize));
  EXPECT_EQ(packing.offsets_bytes, (std::vector<std::int64_t>{8, 0, 8}));
  EXPECT_FALSE(pack_baseline(Items{{3, 3, 1}}, 1, BaselineMethod::kFirstFitBySize).ok());
}

TEST(Pack, PacksLifetimesThatEndTogetherBackwards) {
  // Sizes grow by one: at run time every item leaves a hole that the next one does not fit into.
  Items items;
  for (std::int64_t i = 0; i < 40; ++i) {
    items.push_back({2 * i, 2 * i + 2, 10 + i});
    items.push_back({2 * i + 1, 200, 1});
  }
  const Packing online = pack_baseline(items, 1, BaselineMethod::kOnlineBestFit).value();
  const Packing packing = packed(items, 1, PackOptions{0, 0, 0});
  EXPECT_EQ(packing.method, "online best fit, backwards");
  EXPECT_LT(packing.peak_bytes, online.peak_bytes);
  EXPECT_FALSE(any_overlap(items, packing.offsets_bytes));
}

TEST(FindOverlap, NamesTwoItemsThatShareAByte) {
  const Items items = {{0, 4, 8}, {5, 6, 8}, {2, 3, 8}};
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{0, 0, 8}), std::nullopt);
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{0, 0, 7}), (PackConflict{0, 2}));
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{7, 0, 0}), (PackConflict{0, 2}));
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{3, 0, 3}), (PackConflict{0, 2}));
}

TEST(FindOverlap, RejectsOffsetsOutsideOfAnyArena) {
  const Items items = {{0, 4, 8}};
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{-1}), (PackConflict{0, 0}));
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{kInt64Max - 7}), (PackConflict{0, 0}));
  EXPECT_EQ(find_overlap(items, std::vector<std::int64_t>{kInt64Max - 8}), std::nullopt);
}

RC_GTEST_PROP(PackProperty, SweepAndPairwiseComparisonAgree, ()) {
  const Items items = *some_items(12, 10, 4);
  const auto offsets = *rc::gen::container<std::vector<std::int64_t>>(
      items.size(), rc::gen::inRange<std::int64_t>(0, 20));
  const auto found = find_overlap(items, offsets);
  RC_ASSERT(found.has_value() == any_overlap(items, offsets));
  if (!found) return;
  const Items pair = {items[found->first], items[found->second]};
  RC_ASSERT(any_overlap(pair, {offsets[found->first], offsets[found->second]}));
}

RC_GTEST_PROP(PackProperty, PackingsAreValidAndBetweenTheBoundAndNoReuse, ()) {
  const Items items = *some_items(60, 40, 30);
  const std::int64_t alignment = *rc::gen::element<std::int64_t>(1, 4, 12);
  const PackOptions options{*rc::gen::element<std::int64_t>(0, 200, 1'000'000),
                            *rc::gen::element<std::int64_t>(0, 2'000, 1'000'000), 2000};
  const Packing packing = packed(items, alignment, options);
  const auto apart = pack_without_reuse(items, alignment);
  RC_ASSERT(apart.ok());
  RC_ASSERT(!any_overlap(items, packing.offsets_bytes));
  RC_ASSERT(!any_overlap(items, apart.value().offsets_bytes));
  RC_ASSERT(bound_of(items, alignment) <= packing.bound_bytes);
  RC_ASSERT(packing.bound_bytes <= packing.peak_bytes);
  RC_ASSERT(packing.peak_bytes <= apart.value().peak_bytes);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    RC_ASSERT(packing.offsets_bytes[i] % alignment == 0);
    end = std::max(end, packing.offsets_bytes[i] + items[i].size_bytes);
  }
  RC_ASSERT(end <= packing.peak_bytes);
  RC_ASSERT(packing.peak_bytes < end + alignment);
}

RC_GTEST_PROP(PackProperty, EqualArgumentsGiveEqualPackings, ()) {
  const Items items = *some_items(80, 40, 30);
  const PackOptions options{1'000'000, 100'000, 2000};
  const Packing one = packed(items, 1, options);
  const Packing other = packed(items, 1, options);
  RC_ASSERT(one.offsets_bytes == other.offsets_bytes);
  RC_ASSERT(one.method == other.method);
}

// Few lifetimes: many items that could change places.
RC_GTEST_PROP(PackProperty, SmallInstancesOfFewLifetimesArePackedAtTheirOptimum, ()) {
  const Items items = *some_items(8, 3, 4);
  const Packing packing = packed(items, 1);
  std::vector<std::int64_t> offsets;
  RC_ASSERT(packing.peak_bytes == least_peak(items, offsets, packing.peak_bytes + 1));
  RC_ASSERT(packing.bound_bytes == packing.peak_bytes);
}

RC_GTEST_PROP(PackProperty, BoundsHoldWhateverTheBudgets, ()) {
  const Items items = *some_items(7, 8, 3);
  const PackOptions options{*rc::gen::inRange<std::int64_t>(0, 300),
                            *rc::gen::inRange<std::int64_t>(0, 30'000), 2000};
  const Packing packing = packed(items, 1, options);
  std::vector<std::int64_t> offsets;
  const std::int64_t least = least_peak(items, offsets, packing.peak_bytes + 1);
  RC_ASSERT(packing.bound_bytes <= least);
  RC_ASSERT(least <= packing.peak_bytes);
  RC_ASSERT(packing.refuted_bytes < least || least == 0);
}

RC_GTEST_PROP(PackProperty, SmallInstancesArePackedAtTheirOptimum, ()) {
  const Items items = *some_items(7, 8, 3);
  const Packing packing = packed(items, 1);
  std::vector<std::int64_t> offsets;
  RC_ASSERT(packing.peak_bytes == least_peak(items, offsets, packing.peak_bytes + 1));
  RC_ASSERT(packing.bound_bytes == packing.peak_bytes);
}

}  // namespace
}  // namespace graphgate::optimized
