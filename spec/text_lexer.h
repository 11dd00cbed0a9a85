// The tokens of graph text, scenarios and case files, with their places.
//
// Every reader of a native text form takes a TextReader: it looks one token ahead, and builds the
// one-line errors of all of them: "tiny.case:3:14: expected ',' or ')', found '='". Lines and
// columns count from 1, columns in bytes.
//
// Tokens: words (`s0`, `aten.add_.Tensor`), integers, floats (`1.0`, `2e-05`), strings in double
// quotes, marks (`(`, `->`, `//`, `==`...) and line ends. A line end inside ( ) or [ ] is a blank,
// so that long lists may be wrapped. `#` starts a comment that runs to the end of the line. Signs
// are marks: `-1` is two tokens.
//
// Ops that the op table lacks are noted here, too (missing_op.h): the one error that does not end
// the reading.
//
// Invariant: reading never fails by itself. What is no token becomes kBad, which no reader expects,
// so that the error names what was wanted there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate::spec {

enum class TokenKind : std::uint8_t {
  kWord,
  kInteger,
  kFloat,
  kString,  // `text` still has its quotes and escapes; see unescape_string
  kMark,
  kLineEnd,
  kEnd,
  kBad,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;   // into the source
  std::size_t offset = 0;  // in bytes from the start of the source
  std::size_t line = 1;
  std::size_t column = 1;
};

// The text in double quotes with \" \\ \n \t \r and \xNN for other control characters; bytes from
// 0x80 up stand as they are.
[[nodiscard]] std::string quote_string(std::string_view bytes);
// The inverse, for the text of a kString token.
[[nodiscard]] Result<std::string> unescape_string(std::string_view token_text);

// Whether `text` is one kWord token: [A-Za-z_] then letters, digits, `_`, and dots between them.
[[nodiscard]] bool is_word(std::string_view text);

// The shortest decimal that reads back to the same double, told from an integer by its point or
// exponent: "1.0", "1e-05"; "inf", "-inf", "nan".
[[nodiscard]] std::string print_float(double value);

class TextReader {
 public:
  // Errors start with "SOURCE:LINE:COLUMN: "; with an empty source_name with "column N: ", for
  // texts of one line. `text` must outlive the reader and its tokens.
  TextReader(std::string_view text, std::string_view source_name);

  [[nodiscard]] const Token& peek() const { return current_; }
  Token take();  // the current token; moves on

  [[nodiscard]] bool at(std::string_view mark_or_word) const;
  [[nodiscard]] bool at(TokenKind kind) const { return current_.kind == kind; }
  // Takes the token if it is this mark or word.
  bool accept(std::string_view mark_or_word);
  // Takes it or fails: "expected '=', found ...".
  Result<void> expect(std::string_view mark);
  // Takes a token of this kind or fails: "expected WHAT, found ...".
  Result<Token> expect(TokenKind kind, std::string_view what);
  // The end of a line or of the text, or an error; skips the empty lines that follow.
  Result<void> expect_line_end();
  void skip_line_ends();

  // A quoted string, unescaped.
  Result<std::string> take_string(std::string_view what);
  // A word whose parts are joined by `-` without blanks: "feed-back", "captured".
  Result<std::string> take_dashed_word(std::string_view what);
  // [-]digits, in 64 bits.
  Result<std::int64_t> take_integer(std::string_view what);
  // Digits, in 64 bits without a sign: a seed.
  Result<std::uint64_t> take_seed();
  // Takes digits with a point or an exponent: 12.5, 1e-3. Refuses what is no finite float64: 1e999.
  Result<double> take_float(std::string_view what);
  // A word, or a string in quotes where the name is no word.
  Result<std::string> take_name(std::string_view what);
  // The raw text up to the end of the line, which must start at the current token; the next token
  // is the line end.
  std::string_view take_rest_of_line();

  // An op without a schema, whose arguments have the names that the text gives, or none: it is told
  // of when all has been read, since what is no text at all comes first.
  void note_missing_op(const Token& place, std::string_view op);
  // kUnsupported at the first of them, naming all.
  [[nodiscard]] Result<void> check_missing_ops() const;

  // "expected WHAT, found <the current token>" at the current token.
  [[nodiscard]] Error expected(std::string_view what) const;
  // Any message at a token's place.
  [[nodiscard]] Error error_at(const Token& token, std::string_view message) const;

 private:
  void advance();
  void skip_blanks();
  Token scan();
  std::size_t scan_word(std::size_t end) const;
  std::size_t scan_number(std::size_t end, TokenKind& kind) const;
  std::size_t scan_string(std::size_t end, TokenKind& kind) const;
  std::size_t scan_mark(std::size_t end) const;
  void count_brackets(const Token& token);

  std::string_view text_;
  std::string source_name_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  std::size_t open_brackets_ = 0;  // ( and [ that enclose the position
  Token current_;
  Token first_missing_;
  std::vector<std::string> missing_ops_;
};

// `name` as take_name reads it: bare if it is a word, else in quotes.
[[nodiscard]] std::string print_name(std::string_view name);

}  // namespace graphgate::spec
