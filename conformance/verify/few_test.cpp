#include "conformance/verify/few.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace graphgate::verify {
namespace {

using Words = Few<std::string, 2>;

std::vector<std::string> all_of(const Words& words) { return {words.begin(), words.end()}; }

RC_GTEST_PROP(Few, HoldsWhatAVectorHolds, (const std::vector<std::string>& texts)) {
  Words words;
  for (const std::string& text : texts) words.push_back(text);
  RC_ASSERT(all_of(words) == texts);
  RC_ASSERT(words.size() == texts.size());
  RC_ASSERT(words.empty() == texts.empty());
}

RC_GTEST_PROP(Few, IsCopiedAndMovedWhole,
              (const std::vector<std::string>& from, const std::vector<std::string>& over)) {
  Words words;
  for (const std::string& text : from) words.push_back(text);
  Words target;
  for (const std::string& text : over) target.push_back(text);
  target = words;
  RC_ASSERT(target == words);
  RC_ASSERT(all_of(words) == from);
  Words moved = std::move(target);
  RC_ASSERT(all_of(moved) == from);
  Words again;
  for (const std::string& text : over) again.push_back(text);
  again = std::move(moved);
  RC_ASSERT(all_of(again) == from);
}

TEST(Few, IsEmptyAndOfUseAfterAMove) {
  Words words = {"a", "b", "c"};
  const Words taken = std::move(words);
  EXPECT_EQ(all_of(taken), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(words.empty());  // NOLINT(bugprone-use-after-move): that is the promise
  words.push_back("d");
  EXPECT_EQ(all_of(words), (std::vector<std::string>{"d"}));
}

TEST(Few, KeepsItsFirstWhenItShrinks) {
  Words words = {"a", "b", "c"};
  words.shrink(1);
  EXPECT_EQ(all_of(words), (std::vector<std::string>{"a"}));
  EXPECT_EQ(words.back(), "a");
  EXPECT_EQ(words, (Words{"a"}));
  EXPECT_FALSE(words == (Words{"a", "b"}));
}

}  // namespace
}  // namespace graphgate::verify
