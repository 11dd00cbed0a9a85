#include "base/join_words.h"

#include <gtest/gtest.h>

namespace graphgate {
namespace {

TEST(JoinWords, PutsTheTextBetweenWordsAlone) {
  EXPECT_EQ(join_words({}, ", "), "");
  EXPECT_EQ(join_words({"a"}, ", "), "a");
  EXPECT_EQ(join_words({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join_words({"a", ""}, ","), "a,");
}

}  // namespace
}  // namespace graphgate
