#include "spec/text_lexer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace graphgate::spec {
namespace {

TEST(TextReader, SplitsWordsNumbersStringsAndMarks) {
  TextReader reader("aten.add_.Tensor(%x, -1.5e-3, \"a\\\"b\") // 12 == # comment", "t");
  const std::vector<std::pair<TokenKind, std::string_view>> wanted = {
      {TokenKind::kWord, "aten.add_.Tensor"},
      {TokenKind::kMark, "("},
      {TokenKind::kMark, "%"},
      {TokenKind::kWord, "x"},
      {TokenKind::kMark, ","},
      {TokenKind::kMark, "-"},
      {TokenKind::kFloat, "1.5e-3"},
      {TokenKind::kMark, ","},
      {TokenKind::kString, "\"a\\\"b\""},
      {TokenKind::kMark, ")"},
      {TokenKind::kMark, "//"},
      {TokenKind::kInteger, "12"},
      {TokenKind::kMark, "=="},
      {TokenKind::kEnd, ""}};
  for (const auto& [kind, text] : wanted) {
    EXPECT_EQ(reader.peek().kind, kind) << text;
    EXPECT_EQ(reader.take().text, text);
  }
}

TEST(TextReader, CountsLinesAndColumnsFromOne) {
  TextReader reader("a\n  b (\n c)\nd", "t");
  const auto place = [&] {
    const Token token = reader.take();
    return std::pair(token.line, token.column);
  };
  EXPECT_EQ(place(), std::pair(std::size_t{1}, std::size_t{1}));  // a
  EXPECT_EQ(place(), std::pair(std::size_t{1}, std::size_t{2}));  // line end
  EXPECT_EQ(place(), std::pair(std::size_t{2}, std::size_t{3}));  // b
  EXPECT_EQ(place(), std::pair(std::size_t{2}, std::size_t{5}));  // (
  EXPECT_EQ(place(), std::pair(std::size_t{3}, std::size_t{2}));  // c, no line end inside ( )
  EXPECT_EQ(place(), std::pair(std::size_t{3}, std::size_t{3}));  // )
  EXPECT_EQ(reader.take().kind, TokenKind::kLineEnd);
  EXPECT_EQ(place(), std::pair(std::size_t{4}, std::size_t{1}));  // d
}

TEST(TextReader, SaysWhatItFound) {
  const auto error = [](std::string_view text) {
    TextReader reader(text, "f.case");
    return reader.expect("=").error().message;
  };
  EXPECT_EQ(error("word"), "f.case:1:1: expected '=', found 'word'");
  EXPECT_EQ(error(""), "f.case:1:1: expected '=', found the end of the text");
  EXPECT_EQ(error("\n"), "f.case:1:1: expected '=', found the end of the line");
  EXPECT_EQ(error("12ab"), "f.case:1:1: expected '=', found '12ab'");
  EXPECT_EQ(error("\x01"), "f.case:1:1: expected '=', found '\\x01'");
  EXPECT_EQ(error("\"ab\n"),
            "f.case:1:1: expected '=', found a string without its closing quote: \"ab");
}

TEST(TextReader, RefusesAnIntegerOfMoreThan64Bits) {
  EXPECT_EQ(TextReader("-9223372036854775808", "t").take_integer("x").value(), INT64_MIN);
  EXPECT_EQ(TextReader("9223372036854775808", "t").take_integer("x").error().message,
            "t:1:1: the integer 9223372036854775808 does not fit in 64 bits");
}

TEST(TextReader, RefusesANumberThatIsNoFiniteFloat64) {
  EXPECT_EQ(TextReader("1.5e-3", "t").take_float("x").value(), 1.5e-3);
  EXPECT_EQ(TextReader("1e999", "t").take_float("x").error().message,
            "t:1:1: the number 1e999 does not fit in 64 bits");
  EXPECT_EQ(TextReader("inf", "t").take_float("a score").error().message,
            "t:1:1: expected a score, found 'inf'");
}

TEST(TextReader, JoinsDashedWordsOnlyWithoutBlanks) {
  EXPECT_EQ(TextReader("feed-back x", "t").take_dashed_word("w").value(), "feed-back");
  EXPECT_EQ(TextReader("feed - back", "t").take_dashed_word("w").value(), "feed");
  EXPECT_FALSE(TextReader("feed-3", "t").take_dashed_word("w").ok());
}

TEST(TextReader, TakesTheRestOfALineRaw) {
  TextReader reader("op a::b(Tensor(a!) x) -> ()  \nnext", "t");
  (void)reader.take();
  EXPECT_EQ(reader.take_rest_of_line(), "a::b(Tensor(a!) x) -> ()");
  EXPECT_EQ(reader.take().kind, TokenKind::kLineEnd);
  EXPECT_EQ(reader.peek().text, "next");
  EXPECT_EQ(reader.peek().line, 2U);
}

TEST(QuotedString, RefusesAnUnknownEscape) {
  EXPECT_FALSE(unescape_string("\"\\q\"").ok());
  EXPECT_FALSE(unescape_string("\"\\x1\"").ok());
  EXPECT_EQ(unescape_string("\"\\x07\\n\"").value(), "\a\n");
}

TEST(QuotedString, SteersNoTerminal) {
  EXPECT_EQ(quote_string("\xc3\xa9\xff\xc2\x9b"
                         "2J\xe2\x80\xae\x1b"),
            "\"\xc3\xa9\\xff\\xc2\\x9b2J\\xe2\\x80\\xae\\x1b\"");
}

RC_GTEST_PROP(QuotedString, ComesBackAsItWas, (std::string bytes)) {
  const std::string quoted = quote_string(bytes);
  TextReader reader(quoted, "t");
  RC_ASSERT(reader.take_string("s").value() == bytes);
  RC_ASSERT(reader.at(TokenKind::kEnd));
}

RC_GTEST_PROP(PrintFloat, ReadsBackToTheSameBits, (std::uint64_t bits)) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  RC_PRE(std::isfinite(value));
  const std::string text = print_float(value);
  RC_ASSERT(std::strtod(text.c_str(), nullptr) == value);
  RC_ASSERT(text.find_first_of(".e") != std::string::npos);
}

}  // namespace
}  // namespace graphgate::spec
