#include "conformance/verify/packing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/split_mix.h"

namespace graphgate::verify {
namespace {

std::vector<PackedBuffer> drawn_buffers(SplitMix64& random, std::size_t count) {
  const auto draw = [&](std::uint64_t end) {
    return static_cast<std::int64_t>(random.next() % end);
  };
  std::vector<PackedBuffer> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t lower = draw(20);
    buffers.push_back({std::to_string(i), lower, lower + draw(6), draw(5), draw(40)});
  }
  return buffers;
}

// How many pairs share a byte at some time, without a sweep.
std::size_t pairs_that_meet(const std::vector<PackedBuffer>& buffers) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const PackedBuffer& a = buffers[i];
      const PackedBuffer& b = buffers[k];
      pairs += a.lower < b.upper && b.lower < a.upper &&
                       a.offset_bytes < b.offset_bytes + b.size_bytes &&
                       b.offset_bytes < a.offset_bytes + a.size_bytes
                   ? 1
                   : 0;
    }
  }
  return pairs;
}

TEST(VerifyPacking, NamesEveryPairThatMeets) {
  SplitMix64 random(3);
  std::size_t right = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto buffers = drawn_buffers(random, 2 + random.next() % 9);
    const std::size_t pairs = pairs_that_meet(buffers);
    EXPECT_EQ(verify_packing(buffers, 100).size(), pairs) << round;
    right += pairs == 0 ? 1 : 0;
  }
  EXPECT_GT(right, 100U) << "packings without a fault were among them";
}

}  // namespace
}  // namespace graphgate::verify
