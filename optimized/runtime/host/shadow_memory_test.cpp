// The parts of shadow memory: tags by range, runs of strided tensors, images of memory.
#include <gtest/gtest.h>

#include "optimized/runtime/host/shadow_image.h"
#include "optimized/runtime/host/shadow_tags.h"

namespace graphgate::optimized {
namespace {

using Runs = std::vector<ShadowRange>;

std::vector<ShadowTag> bytes_of(const ShadowTags& tags, std::int64_t size) {
  std::vector<ShadowTag> out;
  tags.for_each({0, size}, [&](std::int64_t begin, std::int64_t end, ShadowTag tag) {
    EXPECT_EQ(begin, std::ssize(out));
    out.insert(out.end(), static_cast<std::size_t>(end - begin), tag);
  });
  return out;
}

// Against an array of bytes, with many small writes.
TEST(ShadowTags, HoldForEveryByteWhatWasSetLast) {
  ShadowTags tags;
  std::vector<ShadowTag> expected(64, kNoTag);
  std::uint32_t seed = 7;
  const auto draw = [&](std::uint32_t bound) {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<std::int64_t>((seed >> 8U) % bound);
  };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t begin = draw(64);
    const std::int64_t end = std::min<std::int64_t>(64, begin + draw(12));
    const auto tag = static_cast<ShadowTag>(draw(5));
    tags.set({begin, end}, tag);
    std::fill(expected.begin() + begin, expected.begin() + std::max(begin, end), tag);
    ASSERT_EQ(bytes_of(tags, 64), expected) << i;
  }
}

TEST(ShadowTags, JoinNeighboursOfOneWrite) {
  ShadowTags tags;
  for (std::int64_t at = 0; at < 100; ++at) tags.set({at * 4, at * 4 + 4}, 3);
  EXPECT_EQ(tags.range_count(), 1U);
}

Tensor strided(Sizes sizes, Sizes strides, std::int64_t offset = 0) {
  return Tensor{.sizes = std::move(sizes), .strides = std::move(strides), .offset = offset};
}

TEST(ByteRuns, AreOneForWhatLiesTogetherInAnyOrder) {
  EXPECT_EQ(byte_runs(strided({3, 4}, {4, 1})), (Runs{{0, 48}}));
  EXPECT_EQ(byte_runs(strided({4, 3}, {1, 4}, 2)), (Runs{{8, 56}}));
  EXPECT_EQ(byte_runs(strided({5, 4}, {0, 1})), (Runs{{0, 16}})) << "expanded";
  EXPECT_EQ(byte_runs(strided({3, 2}, {1, 1})), (Runs{{0, 16}})) << "windows that overlap";
  EXPECT_EQ(byte_runs(strided({0, 4}, {4, 1})), Runs{});
  EXPECT_EQ(byte_runs(strided({}, {}, 3)), (Runs{{12, 16}}));
}

TEST(ByteRuns, AreOnePerRowOfASlice) {
  EXPECT_EQ(byte_runs(strided({2, 2}, {4, 1}, 1)), (Runs{{4, 12}, {20, 28}}));
  EXPECT_EQ(byte_runs(strided({2, 2}, {4, 2})), (Runs{{0, 4}, {8, 12}, {16, 20}, {24, 28}}));
}

TEST(ShadowImage, TellsWhereMemoryHasChanged) {
  std::vector<std::byte> memory(10000, std::byte{1});
  ShadowImage image;
  image.build({std::span<const std::byte>(memory).subspan(0, 6000),
               std::span<const std::byte>(memory).subspan(4000, 6000)});
  EXPECT_EQ(image.size_bytes(), 10000) << "what overlaps counts once";
  EXPECT_TRUE(image.differences().empty());
  const std::int64_t base = address_of(memory.data());
  memory[5] = std::byte{2};
  memory[8] = std::byte{2};
  memory[9000] = std::byte{2};
  EXPECT_EQ(image.differences(), (Runs{{base + 5, base + 9}, {base + 9000, base + 9001}}));
  EXPECT_TRUE(image.differs({base + 8, base + 9}));
  EXPECT_FALSE(image.differs({base + 9, base + 9000}));
  image.take({base, base + 9});
  EXPECT_EQ(image.differences(), (Runs{{base + 9000, base + 9001}}));
  image.put({base, base + 10000});
  EXPECT_EQ(memory[9000], std::byte{1});
  EXPECT_EQ(*image.at(base + 5), std::byte{2});
  EXPECT_EQ(image.at(base - 1), nullptr);
}

}  // namespace
}  // namespace graphgate::optimized
