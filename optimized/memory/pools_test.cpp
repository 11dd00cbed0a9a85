#include "optimized/memory/pools.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "optimized/memory/memory_test.h"
#include "optimized/memory/split_tree.h"

namespace graphgate::optimized {
namespace {

PoolPlan good_pools(const std::vector<PoolBlock>& blocks, PoolRule rule) {
  return must(plan_pools(blocks, rule));
}

PoolBlock block(std::int64_t begin, std::int64_t end, std::int64_t bytes, bool is_output = false) {
  return {{begin, end}, bytes, bytes, is_output};
}

TEST(Pools, PutWhatNeverMeetsInOnePlace) {
  const PoolPlan plan = good_pools({block(0, 2, 512), block(2, 4, 512)}, PoolRule::kIntermediates);
  EXPECT_EQ(plan.sizes_bytes, std::vector<std::int64_t>{512});
  EXPECT_EQ(plan.places[1].offset_bytes, 0);
}

TEST(Pools, PutASmallBlockIntoTheGapBesideAnother) {
  // c and d live beside each other where a was.
  const PoolPlan plan =
      good_pools({block(0, 2, 1024), block(2, 5, 512), block(3, 6, 512)}, PoolRule::kIntermediates);
  EXPECT_EQ(plan.sizes_bytes, std::vector<std::int64_t>{1024});
  EXPECT_NE(plan.places[1].offset_bytes, plan.places[2].offset_bytes);
}

TEST(Pools, GrowBehindEverything) {
  const PoolPlan plan =
      good_pools({block(0, 4, 1024), block(0, 4, 512), block(1, 2, 256)}, PoolRule::kCombined);
  EXPECT_EQ(plan.sizes_bytes, std::vector<std::int64_t>{1792});
}

TEST(Pools, NeverGrowWithoutPooling) {
  const PoolPlan plan = good_pools({block(0, 4, 1024), block(0, 4, 512)}, PoolRule::kNone);
  EXPECT_EQ(plan.sizes_bytes, (std::vector<std::int64_t>{1024, 512}));
}

TEST(Pools, KeepOutputsApartAsTheRuleSays) {
  const std::vector<PoolBlock> blocks = {block(5, 9, 512, true), block(6, 9, 256, true),
                                         block(0, 2, 512), block(1, 3, 512)};
  // Ascending: the output of 256 first. An intermediate that is gone before may lie there.
  EXPECT_EQ(good_pools(blocks, PoolRule::kIntermediates).sizes_bytes,
            (std::vector<std::int64_t>{256, 512, 512}));
  EXPECT_EQ(good_pools(blocks, PoolRule::kOutputs).sizes_bytes,
            (std::vector<std::int64_t>{768, 1024}));
  EXPECT_EQ(good_pools(blocks, PoolRule::kCombined).sizes_bytes, (std::vector<std::int64_t>{1024}));
}

TEST(Pools, DecideOnHintsAndPlaceByTrueSizes) {
  std::vector<PoolBlock> blocks = {block(0, 4, 512), block(0, 4, 256), block(4, 6, 512)};
  blocks[0].bytes = 4096;
  blocks[1].bytes = 8192;
  blocks[2].bytes = 2048;
  const PoolPlan plan = good_pools(blocks, PoolRule::kIntermediates);
  EXPECT_EQ(plan.places[1].offset_bytes, 4096);
  EXPECT_EQ(plan.sizes_bytes, std::vector<std::int64_t>{4096 + 8192});
}

TEST(Pools, RefuseWhatLeaves64Bits) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_FALSE(plan_pools({block(0, 2, huge), block(0, 2, huge)}, PoolRule::kCombined).ok());
}

// Hints and true sizes are independent of each other here.
RC_GTEST_PROP(Pools, NeverPutTwoLiveBlocksOnOneByte, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 60);
  const auto rule = *rc::gen::element(PoolRule::kNone, PoolRule::kIntermediates, PoolRule::kOutputs,
                                      PoolRule::kCombined);
  std::vector<PoolBlock> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = *rc::gen::inRange<std::int64_t>(0, 30);
    const bool is_output = *rc::gen::inRange(0, 5) == 0;
    const auto end = is_output ? 40 : begin + *rc::gen::inRange<std::int64_t>(1, 12);
    blocks.push_back({{begin, end},
                      *rc::gen::inRange<std::int64_t>(1, 20) * 64,
                      *rc::gen::inRange<std::int64_t>(1, 20) * 64,
                      is_output});
  }
  const PoolPlan plan = good_pools(blocks, rule);
  for (std::size_t pool = 0; pool < plan.sizes_bytes.size(); ++pool) {
    std::vector<PackItem> items;
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i < count; ++i) {
      if (plan.places[i].pool != pool) continue;
      items.push_back({blocks[i].lifetime.begin, blocks[i].lifetime.end, blocks[i].bytes});
      offsets.push_back(plan.places[i].offset_bytes);
      RC_ASSERT(offsets.back() >= 0);
      RC_ASSERT(offsets.back() + blocks[i].bytes <= plan.sizes_bytes[pool]);
    }
    RC_ASSERT(!find_overlap(items, offsets).has_value());
  }
}

TEST(OffsetsFromHints, OverlapAtLargerSizesThanTraced) {
  for (const auto strategy : {MemoryStrategy::kPack, MemoryStrategy::kPools}) {
    CompileOptions options = with_strategy(strategy);
    options.memory.alignment_bytes = 64;
    const spec::Program program = program_of(programs::kSymbolicProducts);
    EXPECT_EQ(shared_in(good_plan_of(program, {counting({16, 16})}, options)), "");
    options.deviations.add(spec::Deviation::kOffsetsFromHints);
    EXPECT_EQ(shared_in(good_plan_of(program, {counting({4, 4})}, options)), "");
    EXPECT_NE(shared_in(good_plan_of(program, {counting({16, 16})}, options)), "");
  }
}

}  // namespace
}  // namespace graphgate::optimized
