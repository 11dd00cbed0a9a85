#include "conformance/verify/byte_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace graphgate::verify {
namespace {

spec::HostTensor tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                        std::int64_t offset = 0) {
  spec::HostTensor out;
  out.sizes = std::move(sizes);
  out.strides = std::move(strides);
  out.storage_offset = offset;
  return out;
}

TEST(ByteSet, HasARangeForEveryRunOfAColumnBlock) {
  const ByteSet bytes = bytes_of(tensor({2, 2}, {4, 1}, 1));
  EXPECT_EQ(bytes.ranges, (absl::InlinedVector<ByteRange, 1>{{4, 12}, {20, 28}}));
  EXPECT_TRUE(bytes.exact);
}

TEST(ByteSet, KeepsSiblingColumnsApart) {
  const ByteSet even = bytes_of(tensor({4, 2}, {4, 2}));
  const ByteSet odd = bytes_of(tensor({4, 2}, {4, 2}, 1));
  EXPECT_FALSE(first_common(even, 0, odd, 0).has_value());
  EXPECT_EQ(first_common(even, 4, odd, 0), (ByteRange{4, 8}));
}

TEST(ByteSet, IsEmptyWithoutElementsAndInexactWithTooManyRanges) {
  EXPECT_TRUE(bytes_of(tensor({4, 0}, {1, 1})).empty());
  const ByteSet bytes = bytes_of(tensor({1 << 19}, {2}));
  EXPECT_FALSE(bytes.exact);
  EXPECT_EQ(bytes.ranges.size(), 1U);
}

TEST(SameIndexMap, FoldsDimensionsAndTellsTransposesApart) {
  EXPECT_TRUE(same_index_map(tensor({4, 4}, {4, 1}), tensor({16}, {1})));
  EXPECT_TRUE(same_index_map(tensor({1, 4}, {9, 1}), tensor({4}, {1})));
  EXPECT_FALSE(same_index_map(tensor({4, 4}, {4, 1}), tensor({4, 4}, {1, 4})));
  EXPECT_FALSE(same_index_map(tensor({4}, {1}), tensor({4}, {0})));
}

RC_GTEST_PROP(ByteSet, HoldsExactlyTheBytesOfTheElements, ()) {
  spec::HostTensor shape;
  const auto rank = *rc::gen::inRange<std::size_t>(0, 4);
  for (std::size_t d = 0; d < rank; ++d) {
    shape.sizes.push_back(*rc::gen::inRange<std::int64_t>(0, 5));
    shape.strides.push_back(*rc::gen::inRange<std::int64_t>(0, 9));
  }
  shape.storage_offset = *rc::gen::inRange<std::int64_t>(0, 5);
  std::set<std::int64_t> wanted;
  for (const std::int64_t begin : element_offsets_bytes(shape)) {
    for (std::int64_t i = 0; i < 4; ++i) wanted.insert(begin + i);
  }
  std::set<std::int64_t> found;
  const ByteSet bytes = bytes_of(shape);
  std::int64_t end = -1;
  for (const ByteRange& range : bytes.ranges) {
    RC_ASSERT(range.begin_bytes > end);
    end = range.end_bytes;
    for (std::int64_t i = range.begin_bytes; i < range.end_bytes; ++i) found.insert(i);
  }
  RC_ASSERT(found == wanted);
}

}  // namespace
}  // namespace graphgate::verify
