// The packer on published instances: what it reaches today must not be lost. The budgets count
// operations, so these results do not depend on the machine.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interop/minimalloc.h"
#include "optimized/memory/pack.h"

namespace graphgate {
namespace {

std::vector<optimized::PackItem> golden_items(const std::string& name) {
  const auto buffers =
      interop::read_minimalloc(std::string(GRAPHGATE_GOLDEN_DIR) + "/memplan/" + name);
  EXPECT_TRUE(buffers.ok()) << buffers.error().message;
  std::vector<optimized::PackItem> items;
  if (!buffers.ok()) return items;
  for (const auto& buffer : buffers.value()) {
    items.push_back({buffer.lower, buffer.upper, buffer.size_bytes});
  }
  return items;
}

// The peak of a packing that was swept for overlaps; -1 when there is none.
std::int64_t peak_of(const std::string& name) {
  const auto items = golden_items(name);
  const auto packing = optimized::pack(items, 1);
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

TEST(PackingGolden, TheInstanceAboveItsBoundIsPackedAtItsOptimum) {
  const auto packing = optimized::pack(golden_items("gap7.LB4.OPT5.csv"), 1);
  ASSERT_TRUE(packing.ok());
  EXPECT_EQ(packing.value().peak_bytes, 5);
  EXPECT_EQ(packing.value().bound_bytes, 5);
}

TEST(PackingGolden, TrainingGraphsArePackedNearTheirBound) {
  EXPECT_EQ(peak_of("resnet50.csv"), bound_of("resnet50.csv"));
  const std::int64_t peak = peak_of("pangu_2.6B.csv");
  const std::int64_t bound = bound_of("pangu_2.6B.csv");
  EXPECT_GE(peak, bound);
  EXPECT_LE(peak - bound, bound / 10'000 * 76);  // 0.76 %
}

}  // namespace
}  // namespace graphgate
