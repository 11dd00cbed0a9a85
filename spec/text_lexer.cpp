#include "spec/text_lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/one_line.h"
#include "base/utf8.h"
#include "spec/missing_op.h"

namespace graphgate::spec {
namespace {

constexpr std::size_t kShownBytes = 40;  // how much of a token an error shows

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_word(char c) { return starts_word(c) || is_digit(c); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string hex_escape(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

// One escape of a quoted string, from the character after the backslash; moves `at` past it.
Result<char> read_escape(std::string_view text, std::size_t& at) {
  const char letter = at < text.size() ? text[at++] : '\0';
  if (letter == '"' || letter == '\\') return letter;
  if (letter == 'n') return '\n';
  if (letter == 't') return '\t';
  if (letter == 'r') return '\r';
  unsigned byte = 0;
  if (letter == 'x' && at + 2 <= text.size()) {
    const auto [end, code] = std::from_chars(&text[at], text.data() + at + 2, byte, 16);
    if (code == std::errc() && end == text.data() + at + 2) {
      at += 2;
      return static_cast<char>(byte);
    }
  }
  return bad_input("expected an escape \\\" \\\\ \\n \\t \\r or \\xNN in a string");
}

// A token as an error shows it: no control characters, not too long.
std::string show(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  if (token.kind == TokenKind::kLineEnd) return "the end of the line";
  std::string shown;
  for (const char c : token.text.substr(0, kShownBytes)) {
    const bool plain = !is_control(c) && static_cast<unsigned char>(c) < 0x80;
    shown += plain ? std::string(1, c) : hex_escape(c);
  }
  if (token.text.size() > kShownBytes) shown += "...";
  if (token.kind == TokenKind::kBad && token.text.starts_with('"')) {
    return "a string without its closing quote: " + shown;
  }
  return token.kind == TokenKind::kString ? shown : "'" + shown + "'";
}

}  // namespace

std::string quote_string(std::string_view bytes) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view character =
        bytes.substr(at, std::max<std::size_t>(utf8_length(bytes, at), 1));
    const char c = character.front();
    at += character.size();
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (one_line(character) == character) {
      quoted += character;
    } else {
      for (const char byte : character) quoted += hex_escape(byte);
    }
  }
  return quoted + "\"";
}

Result<std::string> unescape_string(std::string_view token_text) {
  GRAPHGATE_CHECK(token_text.size() >= 2);
  const std::string_view inner = token_text.substr(1, token_text.size() - 2);
  std::string bytes;
  for (std::size_t at = 0; at < inner.size();) {
    const char c = inner[at++];
    if (c != '\\') {
      bytes += c;
      continue;
    }
    GRAPHGATE_TRY(const char escaped, read_escape(inner, at));
    bytes += escaped;
  }
  return bytes;
}

bool is_word(std::string_view text) {
  if (text.empty() || !starts_word(text.front()) || text.back() == '.') return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool dot = text[i] == '.' && text[i - 1] != '.';
    if (!dot && !continues_word(text[i])) return false;
  }
  return true;
}

std::string print_name(std::string_view name) {
  return is_word(name) ? std::string(name) : quote_string(name);
}

std::string print_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

TextReader::TextReader(std::string_view text, std::string_view source_name)
    : text_(text), source_name_(source_name) {
  advance();
}

Token TextReader::take() {
  const Token taken = current_;
  advance();
  return taken;
}

bool TextReader::at(std::string_view mark_or_word) const {
  return (current_.kind == TokenKind::kMark || current_.kind == TokenKind::kWord) &&
         current_.text == mark_or_word;
}

bool TextReader::accept(std::string_view mark_or_word) {
  if (!at(mark_or_word)) return false;
  advance();
  return true;
}

Result<void> TextReader::expect(std::string_view mark) {
  if (accept(mark)) return {};
  return expected("'" + std::string(mark) + "'");
}

Result<Token> TextReader::expect(TokenKind kind, std::string_view what) {
  if (current_.kind != kind) return expected(what);
  return take();
}

Result<void> TextReader::expect_line_end() {
  if (!at(TokenKind::kLineEnd) && !at(TokenKind::kEnd)) return expected("the end of the line");
  skip_line_ends();
  return {};
}

void TextReader::skip_line_ends() {
  while (at(TokenKind::kLineEnd)) advance();
}

Result<std::string> TextReader::take_string(std::string_view what) {
  GRAPHGATE_TRY(const Token token, expect(TokenKind::kString, what));
  auto bytes = unescape_string(token.text);
  if (!bytes.ok()) return error_at(token, bytes.error().message);
  return bytes;
}

Result<std::string> TextReader::take_dashed_word(std::string_view what) {
  GRAPHGATE_TRY(const Token first, expect(TokenKind::kWord, what));
  std::string word(first.text);
  std::size_t end = first.offset + first.text.size();
  while (at("-") && current_.offset == end) {
    advance();
    if (!at(TokenKind::kWord) || current_.offset != end + 1) return expected(what);
    word += "-" + std::string(current_.text);
    end += 1 + current_.text.size();
    advance();
  }
  return word;
}

Result<std::int64_t> TextReader::take_integer(std::string_view what) {
  const Token first = current_;
  const bool negative = accept("-");
  GRAPHGATE_TRY(const Token digits, expect(TokenKind::kInteger, what));
  const std::string text = (negative ? "-" : "") + std::string(digits.text);
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    return error_at(first, "the integer " + text + " does not fit in 64 bits");
  }
  return value;
}

Result<std::uint64_t> TextReader::take_seed() {
  GRAPHGATE_TRY(const Token digits, expect(TokenKind::kInteger, "a seed"));
  std::uint64_t value = 0;
  const char* end = digits.text.data() + digits.text.size();
  if (std::from_chars(digits.text.data(), end, value).ec == std::errc()) return value;
  return error_at(digits, "the seed " + std::string(digits.text) + " does not fit in 64 bits");
}

Result<double> TextReader::take_float(std::string_view what) {
  GRAPHGATE_TRY(const Token digits, expect(TokenKind::kFloat, what));
  double value = 0;
  const char* end = digits.text.data() + digits.text.size();
  if (std::from_chars(digits.text.data(), end, value).ec == std::errc()) return value;
  return error_at(digits, "the number " + std::string(digits.text) + " does not fit in 64 bits");
}

Result<std::string> TextReader::take_name(std::string_view what) {
  if (at(TokenKind::kString)) return take_string(what);
  GRAPHGATE_TRY(const Token word, expect(TokenKind::kWord, what));
  return std::string(word.text);
}

std::string_view TextReader::take_rest_of_line() {
  const std::size_t start = current_.offset;
  if (at(TokenKind::kLineEnd) || at(TokenKind::kEnd)) return {};
  position_ = std::min(text_.find('\n', start), text_.size());
  open_brackets_ = 0;
  std::string_view rest = text_.substr(start, position_ - start);
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t' || rest.back() == '\r')) {
    rest.remove_suffix(1);
  }
  line_ = current_.line;
  line_start_ = current_.offset - (current_.column - 1);
  advance();
  return rest;
}

Error TextReader::expected(std::string_view what) const {
  return error_at(current_, "expected " + std::string(what) + ", found " + show(current_));
}

void TextReader::note_missing_op(const Token& place, std::string_view op) {
  if (missing_ops_.empty()) first_missing_ = place;
  missing_ops_.emplace_back(op);
}

Result<void> TextReader::check_missing_ops() const {
  if (missing_ops_.empty()) return {};
  MissingOps missing;
  for (const std::string& op : missing_ops_) missing.add("", op);
  Error error = error_at(first_missing_, missing.error(kNoSchema).message);
  error.kind = ErrorKind::kUnsupported;
  return error;
}

Error TextReader::error_at(const Token& token, std::string_view message) const {
  const std::string column = std::to_string(token.column);
  if (source_name_.empty()) return bad_input("column " + column + ": " + std::string(message));
  return bad_input(source_name_ + ":" + std::to_string(token.line) + ":" + column + ": " +
                   std::string(message));
}

void TextReader::advance() {
  skip_blanks();
  current_ = scan();
  count_brackets(current_);
  position_ = current_.offset + current_.text.size();
  if (current_.kind == TokenKind::kLineEnd) {
    ++line_;
    line_start_ = position_;
  }
}

void TextReader::skip_blanks() {
  for (; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size()) - 1;
    } else if (c == '\n' && open_brackets_ > 0) {
      ++line_;
      line_start_ = position_ + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

Token TextReader::scan() {
  Token token{TokenKind::kEnd, {}, position_, line_, position_ - line_start_ + 1};
  if (position_ >= text_.size()) return token;
  const char c = text_[position_];
  std::size_t end = 0;
  if (c == '\n') {
    token.kind = TokenKind::kLineEnd;
    end = position_ + 1;
  } else if (starts_word(c)) {
    token.kind = TokenKind::kWord;
    end = scan_word(position_);
  } else if (is_digit(c)) {
    end = scan_number(position_, token.kind);
  } else if (c == '"') {
    end = scan_string(position_, token.kind);
  } else {
    end = scan_mark(position_);
    token.kind = end > position_ ? TokenKind::kMark : TokenKind::kBad;
    if (end == position_) ++end;
  }
  token.text = text_.substr(position_, end - position_);
  return token;
}

std::size_t TextReader::scan_word(std::size_t end) const {
  while (end < text_.size()) {
    const bool dot = text_[end] == '.' && end + 1 < text_.size() && continues_word(text_[end + 1]);
    if (!dot && !continues_word(text_[end])) break;
    ++end;
  }
  return end;
}

std::size_t TextReader::scan_number(std::size_t end, TokenKind& kind) const {
  const auto digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  kind = TokenKind::kInteger;
  digits();
  if (end < text_.size() && text_[end] == '.') {
    kind = TokenKind::kFloat;
    ++end;
    digits();
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    kind = TokenKind::kFloat;
    ++end;
    if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    if (end >= text_.size() || !is_digit(text_[end])) kind = TokenKind::kBad;
    digits();
  }
  if (end < text_.size() && (continues_word(text_[end]) || text_[end] == '.')) {
    kind = TokenKind::kBad;
    while (end < text_.size() && (continues_word(text_[end]) || text_[end] == '.')) ++end;
  }
  return end;
}

std::size_t TextReader::scan_string(std::size_t end, TokenKind& kind) const {
  kind = TokenKind::kBad;
  for (++end; end < text_.size() && text_[end] != '\n'; ++end) {
    if (text_[end] == '"') {
      kind = TokenKind::kString;
      return end + 1;
    }
    if (text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n') ++end;
  }
  return end;
}

std::size_t TextReader::scan_mark(std::size_t end) const {
  constexpr std::array<std::string_view, 8> kPairs = {
      "->", "//", "**", "==", "!=", "<=", ">=", "::"};
  for (const std::string_view pair : kPairs) {
    if (text_.substr(end, 2) == pair) return end + 2;
  }
  constexpr std::string_view kMarks = "()[]{}<>,;:=+-*/%@$.";
  return kMarks.find(text_[end]) == std::string_view::npos ? end : end + 1;
}

void TextReader::count_brackets(const Token& token) {
  if (token.kind != TokenKind::kMark) return;
  if (token.text == "(" || token.text == "[") ++open_brackets_;
  if ((token.text == ")" || token.text == "]") && open_brackets_ > 0) --open_brackets_;
}

}  // namespace graphgate::spec
