#include "base/one_line.h"

#include <gtest/gtest.h>

namespace graphgate {
namespace {

TEST(OneLine, SteersNoTerminal) {
  EXPECT_EQ(one_line("no\nPASS a: \x1b[2J\x07 all\tgood\r\n", 100), "no PASS a: ?[2J? all good  ");
  EXPECT_EQ(plain_lines("a\n\x1b[2Jb\r\n", 100), "a\n?[2Jb \n");
  EXPECT_EQ(one_line(std::string_view("a\0b\x7f", 4), 100), "a?b?");
}

TEST(OneLine, KeepsWhatIsUtf8AndNothingElse) {
  const std::string words = "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(one_line(words, 100), words);
  // A control character of two bytes, half a character, an overlong one, a surrogate.
  EXPECT_EQ(one_line("\xc2\x9b|\xe2\x82|\xc0\xaf|\xed\xa0\x80", 100), "??|??|??|???");
  EXPECT_EQ(one_line("\xc3", 100), "?");
  // Ends of lines, directions of writing, no characters; and their neighbours.
  EXPECT_EQ(one_line("\xe2\x80\xa8|\xe2\x80\xae|\xe2\x81\xa6|\xef\xbf\xbe|\xef\xbf\xbf"),
            "???|???|???|???|???");
  EXPECT_EQ(one_line("\xe2\x80\xa7\xe2\x80\xaf\xef\xbf\xbd"),
            "\xe2\x80\xa7\xe2\x80\xaf\xef\xbf\xbd");
}

TEST(OneLine, IsCut) {
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("abc", 3), "abc");
  EXPECT_EQ(one_line("a\xc3\xa9z", 2), "a\xc3\xa9...");
}

}  // namespace
}  // namespace graphgate
