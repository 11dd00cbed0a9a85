#include "conformance/verify/content_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

namespace graphgate::verify {
namespace {

TEST(ContentMap, TellsWhoWroteEachByteLast) {
  ContentMap map;
  map.write(bytes_of(0, 64), 1);
  map.write(bytes_of(16, 32), 2);
  EXPECT_EQ(map.read(bytes_of(8, 72)), (Contents{{{8, 16}, {1}, false},
                                                 {{16, 32}, {2}, false},
                                                 {{32, 64}, {1}, false},
                                                 {{64, 72}, {}, false}}));
}

TEST(ContentMap, KeepsBothWritersWhereOneMayHaveWritten) {
  ContentMap map;
  map.write(bytes_of(0, 8), 1);
  map.may_write(bytes_of(0, 4), 2);
  EXPECT_EQ(map.read(bytes_of(0, 8)), (Contents{{{0, 4}, {1, 2}, true}, {{4, 8}, {1}, false}}));
}

TEST(ContentMap, HasTheWritersOfBothPathsBehindAMerge) {
  ContentMap a;
  a.write(bytes_of(0, 8), 1);
  ContentMap b = a;
  b.write(bytes_of(4, 8), 2);
  a.merge(b);
  EXPECT_EQ(a.read(bytes_of(0, 8)), (Contents{{{0, 4}, {1}, false}, {{4, 8}, {1, 2}, false}}));
}

TEST(ContentMap, TakesRangesOverSeveralContents) {
  ContentMap map;
  map.write(bytes_of(0, 12), 1);
  map.write(bytes_of(16, 24), 2);
  map.write({{{4, 8}, {10, 18}, {20, 22}}, true}, 3);
  EXPECT_EQ(map.read(bytes_of(0, 28)), (Contents{{{0, 4}, {1}, false},
                                                 {{4, 8}, {3}, false},
                                                 {{8, 10}, {1}, false},
                                                 {{10, 18}, {3}, false},
                                                 {{18, 20}, {2}, false},
                                                 {{20, 22}, {3}, false},
                                                 {{22, 24}, {2}, false},
                                                 {{24, 28}, {}, false}}));
}

TEST(ContentMap, BeginsWithEachThatBringsBytes) {
  ContentMap map;
  map.begin_with(bytes_of(0, 8), 1);
  map.begin_with(bytes_of(4, 12), 2);
  EXPECT_EQ(map.read(bytes_of(0, 12)),
            (Contents{{{0, 4}, {1}, false}, {{4, 8}, {1, 2}, true}, {{8, 12}, {2}, false}}));
}

TEST(ContentMap, ChangesWritersOfARangeAlone) {
  ContentMap map;
  map.write(bytes_of(0, 8), 1);
  map.may_write(bytes_of(4, 8), 2);
  map.change({2, 6}, [](Writer writer) { return writer + 10; });
  EXPECT_EQ(map.read(bytes_of(0, 8)), (Contents{{{0, 2}, {1}, false},
                                                {{2, 4}, {11}, false},
                                                {{4, 6}, {11, 12}, true},
                                                {{6, 8}, {1, 2}, true}}));
}

RC_GTEST_PROP(ContentMap, AgreesWithAnArrayOfBytes, ()) {
  ContentMap map;
  std::array<std::set<Writer>, 16> bytes;
  const auto writes = *rc::gen::inRange<Writer>(0, 12);
  for (Writer writer = 0; writer < writes; ++writer) {
    const auto begin = *rc::gen::inRange<std::int64_t>(0, 16);
    const auto end = *rc::gen::inRange<std::int64_t>(0, 17);
    const bool may = *rc::gen::arbitrary<bool>();
    if (may) {
      map.may_write(bytes_of(begin, end), writer);
    } else {
      map.write(bytes_of(begin, end), writer);
    }
    for (std::int64_t i = begin; i < end; ++i) {
      auto& byte = bytes[static_cast<std::size_t>(i)];
      if (!may) byte.clear();
      byte.insert(writer);
    }
  }
  std::size_t at = 0;
  for (const Content& content : map.read(bytes_of(0, 16))) {
    for (std::int64_t i = content.range.begin_bytes; i < content.range.end_bytes; ++i, ++at) {
      RC_ASSERT(std::set<Writer>(content.writers.begin(), content.writers.end()) == bytes[at]);
    }
  }
  RC_ASSERT(at == bytes.size());
}

}  // namespace
}  // namespace graphgate::verify
