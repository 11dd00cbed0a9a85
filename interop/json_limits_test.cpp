#include "interop/json_limits.h"

#include "base/result_test.h"

namespace graphgate::interop {
namespace {

std::string refused(std::string_view text, const JsonLimits& limits) {
  return message_of(check_json_limits(text, limits));
}

TEST(JsonLimits, CountLevels) {
  EXPECT_EQ(refused("[[1], {\"a\": [2]}]", {3, 0}), "");
  EXPECT_EQ(refused("[[1], {\"a\": [2]}]", {2, 0}), "nested deeper than 2 levels");
  EXPECT_EQ(refused("[[],[],[],[]]", {2, 0}), "");
  EXPECT_EQ(refused(std::string(1'000'000, '['), {}), "nested deeper than 256 levels");
  EXPECT_EQ(refused(std::string(1'000'000, ']'), {}), "");
}

TEST(JsonLimits, CountValues) {
  EXPECT_EQ(refused("[1, 2, {\"a\": 3}]", {9, 5}), "");
  EXPECT_EQ(refused("[1, 2, {\"a\": 3}]", {9, 4}), "more than 4 values");
  EXPECT_EQ(refused("7", {9, 1}), "");
}

TEST(JsonLimits, LookIntoNoText) {
  EXPECT_EQ(refused(R"(["[[[,,,\"[[[", "\\"])", {1, 3}), "");
  EXPECT_EQ(refused(R"(["\\", [[]]])", {2, 0}), "nested deeper than 2 levels");
  EXPECT_EQ(refused("\"unended [[[\\", {1, 1}), "");
}

}  // namespace
}  // namespace graphgate::interop
