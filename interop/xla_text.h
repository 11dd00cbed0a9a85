// Walks over the text of XLA's dumps: what its readers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/hlo.h"

namespace graphgate::interop {

// Returns the text in quotes, as a part of one line, cut where it is long.
std::string in_quotes(std::string_view text);

// Hands out a text line by line, without ends of lines, and knows where it is.
class XlaLines {
 public:
  XlaLines(std::string_view text, std::string_view name) : rest_(text), name_(name) {}
  // Moves to the next line; false behind the last.
  bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::size_t number() const { return number_; }
  // Returns the error with "NAME:LINE:" in front.
  [[nodiscard]] Error at_line(const Error& error) const;
  [[nodiscard]] Error expected(std::string_view what) const;

 private:
  std::string_view rest_;
  std::string name_;
  std::string_view line_;
  std::size_t number_ = 0;
};

// Each takes something off the front of `text` if it is there.
bool take(std::string_view& text, std::string_view word);
std::optional<std::int64_t> take_number(std::string_view& text);  // digits; not beyond 64 bits
std::string_view take_name(std::string_view& text);               // [A-Za-z0-9._-]*, behind a %
// A text in brackets of any kind from its first character on; empty where they do not match.
std::string_view take_balanced(std::string_view& text);
// A ShapeIndex, "{0,1}"; blanks are left out. Empty where there is none.
std::string take_shape_index(std::string_view& text);
// An array's or tuple's shape.
Result<spec::HloShape> take_shape(std::string_view& text);

// The parts between commas that stand in no brackets and no quotes, without blanks around them.
std::vector<std::string_view> split_at_commas(std::string_view text);

// Where each name of a module stands, and where each part of a shape.
using HloNames = std::map<std::string, spec::HloPosition, std::less<>>;
HloNames names_of(const spec::HloModule& module);
std::optional<std::size_t> part_of(const spec::HloShape& shape, std::string_view index);
const spec::HloInstruction& instruction_at(const spec::HloModule& module,
                                           const spec::HloPosition& position);

}  // namespace graphgate::interop
