// The packer on published instances: what it reaches today must not be lost. The budgets count
// operations, so these results do not depend on the machine.

#include <algorithm>
#include <string>
#include <vector>

#include "base/result_test.h"
#include "interop/minimalloc.h"
#include "optimized/memory/pack.h"
#include "optimized/memory/pack_until.h"

namespace graphgate {
namespace {

std::vector<optimized::PackItem> golden_items(const std::string& name) {
  const auto buffers =
      must(interop::read_minimalloc(std::string(GRAPHGATE_GOLDEN_DIR) + "/memplan/" + name));
  std::vector<optimized::PackItem> items;
  for (const auto& buffer : buffers) {
    items.push_back({buffer.lower, buffer.upper, buffer.size_bytes});
  }
  return items;
}

// The peak of a packing that was swept for overlaps; -1 when there is none.
std::int64_t peak_of(const std::string& name, const optimized::PackOptions& options = {}) {
  const auto items = golden_items(name);
  const auto packing = optimized::pack(items, 1, options);
  EXPECT_TRUE(packing.ok());
  if (!packing.ok() || optimized::find_overlap(items, packing.value().offsets_bytes)) return -1;
  EXPECT_LE(packing.value().bound_bytes, packing.value().peak_bytes);
  return packing.value().peak_bytes;
}

std::int64_t bound_of(const std::string& name) {
  return optimized::lower_bound_bytes(golden_items(name), 1).value();
}

TEST(PackingGolden, TightInstancesArePackedAtTheirBound) {
  for (const char* name : {"A.1048576.csv", "B.1048576.csv", "C.1048576.csv", "E.1048576.csv",
                           "F.1048576.csv", "example.12.csv"}) {
    EXPECT_EQ(peak_of(name), bound_of(name)) << name;
  }
}

TEST(PackingGolden, AnInstanceWithSlackIsPackedWithinItsCapacity) {
  const std::int64_t peak = peak_of("D.1048576.csv");
  EXPECT_GE(peak, bound_of("D.1048576.csv"));
  EXPECT_LE(peak, 1'048'576);
}

// A capacity above the bound is searched itself: most of its work would be lost at the bound.
TEST(PackingGolden, AnInstanceWithSlackMeetsItsCapacitiesWithLittleWork) {
  const auto items = golden_items("D.1048576.csv");
  const optimized::PackOptions fits_only{0, 0, 2000};
  for (const std::int64_t capacity : {1'048'576, 1'026'048}) {
    optimized::PackGoal goal;
    goal.capacity_bytes = capacity;
    goal.work = 150'000'000;
    const auto run = must(optimized::pack_until(
        items, 1, must(optimized::pack(items, 1, fits_only)), fits_only, goal));
    EXPECT_EQ(run.end, optimized::PackEnd::kMet);
    EXPECT_LE(run.packing.peak_bytes, capacity);
    EXPECT_FALSE(optimized::find_overlap(items, run.packing.offsets_bytes));
  }
}

// 1.03 times the bound; nobody knows the optimum. 1026048 is what other planners reach.
TEST(PackingGolden, AnInstanceWithSlackIsPackedLowerWithLargerBudgets) {
  optimized::PackOptions options;
  options.search_work *= 4;
  EXPECT_LT(peak_of("D.1048576.csv", options), 1'026'048);
}

TEST(PackingGolden, TheInstanceAboveItsBoundIsPackedAtItsOptimum) {
  const auto packing = must(optimized::pack(golden_items("gap7.LB4.OPT5.csv"), 1));
  EXPECT_EQ(packing.peak_bytes, 5);
  EXPECT_EQ(packing.bound_bytes, 5);
  EXPECT_EQ(packing.refuted_bytes, 4);
}

TEST(PackingGolden, TrainingGraphsArePackedNearTheirBound) {
  EXPECT_EQ(peak_of("resnet50.csv"), bound_of("resnet50.csv"));
  const std::int64_t peak = peak_of("pangu_2.6B.csv");
  const std::int64_t bound = bound_of("pangu_2.6B.csv");
  EXPECT_GE(peak, bound);
  EXPECT_LE(peak - bound, bound / 10'000 * 76);  // 0.76 %
}

// A strip of 1024 by 1024 cut into items along straight lines: a packing without a hole exists, and
// fits by size leave a fifth of the strip in holes.
std::vector<optimized::PackItem> cut_strip(std::uint64_t seed, std::size_t count) {
  auto draw = [state = seed](std::int64_t end) mutable {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(end));
  };
  std::vector<optimized::PackItem> items = {{0, 1024, 1024}};
  while (items.size() < count) {
    // Of three items the largest is cut: few slivers.
    std::size_t cut = 0;
    std::int64_t area_max = -1;
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(draw(static_cast<std::int64_t>(items.size())));
      const std::int64_t area = (items[at].upper - items[at].lower) * items[at].size_bytes;
      if (area > area_max) cut = at;
      area_max = std::max(area_max, area);
    }
    optimized::PackItem other = items[cut];
    const std::int64_t duration = other.upper - other.lower;
    if (draw(duration + other.size_bytes) < duration) {
      if (duration < 2) continue;
      other.lower += 1 + draw(duration - 1);
      items[cut].upper = other.lower;
    } else {
      if (other.size_bytes < 2) continue;
      other.size_bytes = 1 + draw(other.size_bytes - 1);
      items[cut].size_bytes -= other.size_bytes;
    }
    items.push_back(other);
  }
  return items;
}

TEST(PackingPlanted, StripsWithoutAHoleArePackedAtTheirBound) {
  for (const std::size_t count : {50U, 100U, 150U, 200U}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto items = cut_strip(seed, count);
      const auto packing = must(optimized::pack(items, 1));
      EXPECT_EQ(packing.peak_bytes, 1024) << count << " items, seed " << seed;
      EXPECT_FALSE(optimized::find_overlap(items, packing.offsets_bytes));
    }
  }
}

}  // namespace
}  // namespace graphgate
