#include "optimized/small_vector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace graphgate::optimized {
namespace {

using Small = SmallVector<std::int64_t, 3>;
using Plain = std::vector<std::int64_t>;

// The same steps on both; what a step says is drawn.
void step(Small& small, Plain& plain) {
  const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, plain.size() + 1));
  const auto value = *rc::gen::arbitrary<std::int64_t>();
  const auto count = *rc::gen::inRange<std::size_t>(0, 5);
  const Plain list = *rc::gen::container<Plain>(count, rc::gen::arbitrary<std::int64_t>());
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      small.push_back(value);
      plain.push_back(value);
      break;
    case 1:
      EXPECT_EQ(*small.insert(small.begin() + at, value), value);
      plain.insert(plain.begin() + at, value);
      break;
    case 2:
      small.insert(small.begin() + at, list.begin(), list.end());
      plain.insert(plain.begin() + at, list.begin(), list.end());
      break;
    case 3:
      small.erase(small.begin(), small.begin() + at);
      plain.erase(plain.begin(), plain.begin() + at);
      break;
    case 4:
      small.resize(count, value);
      plain.resize(count, value);
      break;
    case 5:
      small.assign(count, value);
      plain.assign(count, value);
      break;
    case 6:
      small = Small(small);
      break;
    default: {
      Small other(list);
      std::swap(small, other);
      small = other;
      break;
    }
  }
}

RC_GTEST_PROP(SmallVector, HoldsWhatAVectorHolds, ()) {
  Small small;
  Plain plain;
  const int steps = *rc::gen::inRange(1, 20);
  for (int i = 0; i < steps; ++i) {
    step(small, plain);
    RC_ASSERT(Plain(small) == plain);
    RC_ASSERT(small == Small(plain));
    RC_ASSERT(Plain(small.rbegin(), small.rend()) == Plain(plain.rbegin(), plain.rend()));
  }
}

TEST(SmallVector, LeavesNothingBehindWhenItIsMoved) {
  for (const std::size_t count : {2U, 5U}) {
    Small from(count, 7);
    const Small to = std::move(from);
    EXPECT_EQ(to, Small(count, 7));
    EXPECT_TRUE(from.empty());  // NOLINT: that is what is asked
    from.clear();
    from.push_back(1);
    EXPECT_EQ(from, Small{1});
    EXPECT_EQ(to, Small(count, 7));
  }
}

TEST(SmallVector, TellsListsApart) {
  EXPECT_NE((Small{1, 2}), (Small{1}));
  EXPECT_NE((Small{1, 2}), (Small{1, 3}));
  EXPECT_THROW((void)(Small{1, 2}.at(2)), std::out_of_range);
}

}  // namespace
}  // namespace graphgate::optimized
