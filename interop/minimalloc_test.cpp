#include "interop/minimalloc.h"

#include "base/result_test.h"

namespace graphgate::interop {
namespace {

// "" when the text is accepted.
std::string message_of(const std::string& text) {
  return message_of(parse_minimalloc(text, "x.csv"));
}

TEST(Minimalloc, ReadsBuffersWithTheirLifetimesAndSizes) {
  const auto parsed = must(parse_minimalloc("id,lower,upper,size\nb1,0,3,4\nb2,-3,9,0", "x.csv"));
  const std::vector<MinimallocBuffer> expected = {{"b1", 0, 3, 4}, {"b2", -3, 9, 0}};
  EXPECT_EQ(parsed, expected);
}

TEST(Minimalloc, TakesColumnsByNameAndLinesOfWindows) {
  const auto parsed = must(parse_minimalloc("size,id,upper,lower\r\n4,b1,3,0\r\n", "x.csv"));
  const std::vector<MinimallocBuffer> expected = {{"b1", 0, 3, 4}};
  EXPECT_EQ(parsed, expected);
}

TEST(Minimalloc, AcceptsAnInstanceWithoutBuffers) {
  EXPECT_EQ(message_of("id,lower,upper,size\n"), "");
}

TEST(Minimalloc, SaysWhichLineIsWrongAndWhatWasExpected) {
  EXPECT_EQ(message_of(""), "x.csv:1: unknown column '', expected id, lower, upper and size");
  EXPECT_EQ(message_of("id,lower,upper\n"), "x.csv:1: expected a column 'size'");
  EXPECT_EQ(message_of("id,lower,upper,size,id\n"), "x.csv:1: column 'id' stands twice");
  const std::string header = "id,lower,upper,size\n";
  EXPECT_EQ(message_of(header + "a,0,1,4\nb,0,1\n"), "x.csv:3: expected 4 fields, found 3");
  EXPECT_EQ(message_of(header + "a,0,1,4\n\n"), "x.csv:3: expected 4 fields, found 1");
  EXPECT_EQ(message_of(header + "a,0,1x,4\n"),
            "x.csv:2: expected a 64-bit integer as upper, found '1x'");
  EXPECT_EQ(message_of(header + "a,0,1,9223372036854775808\n"),
            "x.csv:2: expected a 64-bit integer as size, found '9223372036854775808'");
  EXPECT_EQ(message_of(header + "a,1,1,4\n"), "x.csv:2: expected an upper that is above lower");
  EXPECT_EQ(message_of(header + "a,0,1,-4\n"), "x.csv:2: expected a size that is not negative");
  EXPECT_EQ(message_of(header + "a,0,1,4\na,1,2,4\n"), "x.csv:3: id 'a' stands twice");
}

TEST(Minimalloc, DoesNotPretendToKnowFurtherConstraints) {
  const Error parsed = failure_of(parse_minimalloc("id,lower,upper,size,alignment\n", "x.csv"));
  EXPECT_EQ(parsed.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(parsed.message, "x.csv:1: column 'alignment'");
}

TEST(Minimalloc, ReadsFilesAndNamesTheOnesItCannotOpen) {
  const std::string folder = std::string(GRAPHGATE_GOLDEN_DIR) + "/memplan/";
  const auto read = must(read_minimalloc(folder + "gap7.LB4.OPT5.csv"));
  ASSERT_EQ(read.size(), 7U);
  EXPECT_EQ(read[1], (MinimallocBuffer{"b", 4, 8, 2}));
  EXPECT_TRUE(contains(failure_of(read_minimalloc(folder + "missing.csv")).message, "missing.csv"));
}

}  // namespace
}  // namespace graphgate::interop
