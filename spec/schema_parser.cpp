// Recursive descent, one function for each rule of the grammar:
//
//   schema   := IDENT '::' IDENT ['.' IDENT] '(' [args] ')' '->' returns
//   args     := arg {',' arg}              where one of them may be a bare '*'
//   arg      := type IDENT ['=' default]
//   returns  := '(' [return {',' return}] ')' | return
//   return   := type [IDENT]
//   type     := BASE [alias] ['?'] {'[' [INT] ']'} [alias] ['?']
//   alias    := '(' sets ['!'] ['->' sets] ')'
//   sets     := set {'|' set}              set := IDENT | '*'
//   default  := '[' [default {',' default}] ']' | STRING | NUMBER | IDENT
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "spec/schema.h"

namespace graphgate::spec {
namespace {

// Deeper lists are no default of any argument; the limit keeps the recursion off the stack's end.
constexpr int kMaxDefaultDepth = 4;
// Types of TorchScript that no graph of tensor ops carries.
constexpr std::array<std::string_view, 12> kTorchScriptTypes = {
    "t",    "t1",    "t2",    "tVal",        "Dict",  "Future",
    "RRef", "Await", "Union", "AnyEnumType", "Tuple", "__torch__"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_ident_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_ident_part(char c) { return is_ident_start(c) || is_decimal(c); }

bool fits_element(const SchemaType& type, const SchemaValue& value) {
  const bool is_int = std::holds_alternative<std::int64_t>(value.data);
  const bool is_float = std::holds_alternative<double>(value.data);
  const bool is_bool = std::holds_alternative<bool>(value.data);
  const bool is_string = std::holds_alternative<std::string>(value.data);
  const bool is_word = std::holds_alternative<EnumName>(value.data);
  switch (type.base) {
    case BaseType::kInt:
    case BaseType::kSymInt:
      return is_int || is_word;  // int reduction=Mean
    case BaseType::kFloat:
    case BaseType::kSymFloat:
    case BaseType::kComplex:
      return is_int || is_float;
    case BaseType::kBool:
    case BaseType::kSymBool:
      return is_bool;
    case BaseType::kScalar:
      return is_int || is_float || is_bool;
    case BaseType::kString:
    case BaseType::kDimname:
      return is_string;
    case BaseType::kDevice:
      return is_string || is_word || is_int;
    case BaseType::kScalarType:
    case BaseType::kLayout:
    case BaseType::kMemoryFormat:
    case BaseType::kQScheme:
      return is_int || is_word;
    case BaseType::kAny:
      return true;
    case BaseType::kTensor:
    case BaseType::kGenerator:
    case BaseType::kStorage:
    case BaseType::kStream:
      return false;  // only None, and only when optional
  }
  return false;
}

bool fits(const SchemaType& type, const SchemaValue& value) {
  if (value.is_none()) return type.optional || type.base == BaseType::kAny;
  const auto* elements = std::get_if<std::vector<SchemaValue>>(&value.data);
  if (!type.is_list()) return elements == nullptr && fits_element(type, value);
  // A list of fixed size takes one element, to be repeated: int[2] stride=1.
  if (elements == nullptr) return type.list_sizes.back().has_value() && fits_element(type, value);
  SchemaType element = type;
  element.list_sizes.pop_back();
  element.optional = type.optional_element;
  return std::all_of(elements->begin(), elements->end(),
                     [&](const SchemaValue& item) { return fits(element, item); });
}

// True when the return shares a set with an argument, or may share with anything.
bool alias_has_source(const AliasInfo& alias, const std::vector<SchemaArgument>& arguments) {
  if (!alias.present() || alias.is_before_wildcard()) return true;
  const auto names_set = [&](const AliasInfo& other) {
    return std::find_first_of(alias.before.begin(), alias.before.end(), other.before.begin(),
                              other.before.end()) != alias.before.end();
  };
  return std::any_of(arguments.begin(), arguments.end(), [&](const SchemaArgument& argument) {
    return names_set(argument.type.alias) || names_set(argument.type.list_alias);
  });
}

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  Result<OpSchema> parse() {
    OpSchema schema;
    GRAPHGATE_TRY_VOID(parse_name(schema));
    GRAPHGATE_TRY_VOID(parse_arguments(schema));
    if (!accept("->")) return expected("'->' and the returns");
    GRAPHGATE_TRY_VOID(parse_returns(schema));
    skip_blanks();
    if (position_ < text_.size()) return expected("the end of the schema");
    return schema;
  }

 private:
  // --- scanning -------------------------------------------------------------------------------
  void skip_blanks() {
    while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
  }
  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  // Takes `token`, blanks before it included, if it comes next.
  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }
  // An identifier at exactly this place, or "".
  std::string_view take_identifier() {
    const std::size_t begin = position_;
    if (is_ident_start(peek())) {
      while (is_ident_part(peek())) ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }
  static Error error_at(std::size_t position, const std::string& message) {
    return bad_input("column " + std::to_string(position + 1) + ": " + message);
  }
  Error expected(std::string_view what) {
    skip_blanks();
    const std::size_t at = position_;
    const std::string_view word = take_identifier();
    position_ = at;
    std::string found = "the end";
    if (!word.empty()) {
      found = "'" + std::string(word) + "'";
    } else if (at < text_.size()) {
      const bool is_printable = text_[at] > ' ' && text_[at] <= '~';
      found = is_printable ? "'" + std::string(1, text_[at]) + "'"
                           : "byte " + std::to_string(static_cast<unsigned char>(text_[at]));
    }
    return error_at(at, "expected " + std::string(what) + ", found " + found);
  }
  Result<std::string> parse_identifier(std::string_view what) {
    skip_blanks();
    const std::string_view word = take_identifier();
    if (word.empty()) return expected(what);
    return std::string(word);
  }

  // --- the schema -----------------------------------------------------------------------------
  Result<void> parse_name(OpSchema& schema) {
    GRAPHGATE_TRY(schema.ns, parse_identifier("a namespace such as 'aten'"));
    if (!accept("::")) return expected("'::' after the namespace");
    GRAPHGATE_TRY(schema.name, parse_identifier("the name of the op"));
    if (!accept(".")) return {};
    const std::size_t at = position_;
    GRAPHGATE_TRY(schema.overload, parse_identifier("the name of the overload"));
    if (schema.overload == "default") {
      return error_at(at, "the overload name 'default' is reserved for an op without one");
    }
    return {};
  }

  Result<void> parse_arguments(OpSchema& schema) {
    if (!accept("(")) return expected("'(' and the arguments");
    if (accept(")")) return {};
    // A place for each, as far as commas tell: those of lists count too, and few ops have more.
    constexpr std::ptrdiff_t kMost = 16;
    const auto commas = std::ranges::count(text_.substr(position_), ',');
    schema.arguments.reserve(static_cast<std::size_t>(std::min(commas, kMost)) + 1);
    bool in_kwargs = false;
    do {
      if (accept("*")) {
        if (in_kwargs) return error_at(position_ - 1, "a second '*'");
        in_kwargs = true;
        if (!accept(",")) return expected("',' and an argument after '*'");
      }
      GRAPHGATE_TRY_VOID(parse_argument(schema, in_kwargs));
    } while (accept(","));
    if (!accept(")")) return expected("',' or ')' after an argument");
    return {};
  }

  Result<void> parse_argument(OpSchema& schema, bool kwarg_only) {
    SchemaArgument argument;
    argument.kwarg_only = kwarg_only;
    GRAPHGATE_TRY(argument.type, parse_type());
    skip_blanks();
    const std::size_t name_at = position_;
    GRAPHGATE_TRY(argument.name, parse_identifier("the name of the argument"));
    if (schema.find_argument(argument.name)) {
      return error_at(name_at, "a second argument named '" + argument.name + "'");
    }
    if (accept("=")) {
      GRAPHGATE_TRY(argument.default_value, parse_default(argument.type));
    }
    const bool after_default = !schema.arguments.empty() && !kwarg_only &&
                               schema.arguments.back().default_value.has_value();
    if (after_default && !argument.default_value && !argument.type.is_list()) {
      return error_at(name_at, "argument '" + argument.name +
                                   "' has no default but follows an argument that has one");
    }
    schema.arguments.push_back(std::move(argument));
    return {};
  }

  Result<void> parse_returns(OpSchema& schema) {
    if (!accept("(")) return parse_return(schema);
    if (accept(")")) return {};
    do {
      GRAPHGATE_TRY_VOID(parse_return(schema));
    } while (accept(","));
    if (!accept(")")) return expected("',' or ')' after a return");
    return {};
  }

  Result<void> parse_return(OpSchema& schema) {
    SchemaReturn result;
    skip_blanks();
    const std::size_t type_at = position_;
    GRAPHGATE_TRY(result.type, parse_type());
    if (!alias_has_source(result.type.alias, schema.arguments) ||
        !alias_has_source(result.type.list_alias, schema.arguments)) {
      return error_at(type_at, "the return's alias set is on no argument");
    }
    skip_blanks();
    const std::size_t name_at = position_;
    result.name = std::string(take_identifier());
    const bool is_taken =
        !result.name.empty() &&
        std::any_of(schema.returns.begin(), schema.returns.end(),
                    [&](const SchemaReturn& other) { return other.name == result.name; });
    if (is_taken) return error_at(name_at, "a second return named '" + result.name + "'");
    schema.returns.push_back(std::move(result));
    return {};
  }

  // --- types ----------------------------------------------------------------------------------
  Result<SchemaType> parse_type() {
    SchemaType type;
    GRAPHGATE_TRY(type.base, parse_base_type());
    GRAPHGATE_TRY_VOID(parse_alias(type.alias));
    const bool optional = accept("?");
    while (accept("[")) GRAPHGATE_TRY_VOID(parse_list_size(type));
    if (!type.is_list()) {
      type.optional = optional;
      return type;
    }
    type.optional_element = optional;
    GRAPHGATE_TRY_VOID(parse_alias(type.list_alias));
    type.optional = accept("?");
    return type;
  }

  Result<BaseType> parse_base_type() {
    skip_blanks();
    const std::size_t at = position_;
    if (peek() == '(' || text_.substr(at).starts_with("...")) {
      const std::string what = peek() == '(' ? "a tuple type" : "variadic '...'";
      return unsupported(
          error_at(at, what + " is TorchScript only, not for ops on tensors").message);
    }
    GRAPHGATE_TRY(const std::string name, parse_identifier("a type"));
    if (const std::optional<BaseType> base = find_base_type(name)) return *base;
    const bool is_torch_script = std::find(kTorchScriptTypes.begin(), kTorchScriptTypes.end(),
                                           name) != kTorchScriptTypes.end();
    if (!is_torch_script) return error_at(at, "unknown type '" + name + "'");
    return unsupported(
        error_at(at, "type '" + name + "' is TorchScript only, not for ops on tensors").message);
  }

  // After '['.
  Result<void> parse_list_size(SchemaType& type) {
    if (accept("]")) {
      type.list_sizes.emplace_back(std::nullopt);
      return {};
    }
    skip_blanks();
    std::int64_t size = 0;
    const char* begin = text_.data() + position_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (end == begin || code != std::errc() || size < 1) {
      return expected("']' or a list size of at least 1");
    }
    position_ += static_cast<std::size_t>(end - begin);
    if (!accept("]")) return expected("']' after the list size");
    type.list_sizes.emplace_back(size);
    return {};
  }

  // An annotation, if one comes next.
  Result<void> parse_alias(AliasInfo& alias) {
    if (!accept("(")) return {};
    GRAPHGATE_TRY(alias.before, parse_alias_sets());
    alias.writes = accept("!");
    alias.after = alias.before;
    if (accept("->")) {
      GRAPHGATE_TRY(alias.after, parse_alias_sets());
    }
    if (!accept(")")) return expected("')' after the alias annotation");
    return {};
  }

  Result<std::vector<std::string>> parse_alias_sets() {
    std::vector<std::string> sets;
    do {
      if (accept("*")) {
        sets.emplace_back("*");
        continue;
      }
      GRAPHGATE_TRY(sets.emplace_back(), parse_identifier("an alias set such as 'a' or '*'"));
    } while (accept("|"));
    return sets;
  }

  // --- defaults -------------------------------------------------------------------------------
  Result<std::optional<SchemaDefault>> parse_default(const SchemaType& type) {
    skip_blanks();
    const std::size_t begin = position_;
    SchemaDefault result;
    GRAPHGATE_TRY(result.value, parse_value(0));
    result.text = std::string(text_.substr(begin, position_ - begin));
    if (!fits(type, result.value)) {
      return error_at(begin, "default " + result.text + " does not fit type " + print_type(type));
    }
    return std::optional<SchemaDefault>(std::move(result));
  }

  Result<SchemaValue> parse_value(int depth) {
    skip_blanks();
    const char first = peek();
    if (first == '[') return parse_list_value(depth);
    if (first == '"' || first == '\'') return parse_string_value();
    if (is_decimal(first) || first == '-' || first == '+' || first == '.') return parse_number();
    if (!is_ident_start(first)) return expected("a default");
    const std::string_view word = take_identifier();
    if (word == "None") return SchemaValue{};
    if (word == "True") return SchemaValue{true};
    if (word == "False") return SchemaValue{false};
    if (word == "inf") return SchemaValue{std::numeric_limits<double>::infinity()};
    if (word == "nan") return SchemaValue{std::numeric_limits<double>::quiet_NaN()};
    return SchemaValue{EnumName{std::string(word)}};
  }

  Result<SchemaValue> parse_list_value(int depth) {
    if (depth >= kMaxDefaultDepth) return error_at(position_, "lists are nested too deeply");
    ++position_;  // '['
    std::vector<SchemaValue> items;
    if (accept("]")) return SchemaValue{std::move(items)};
    do {
      GRAPHGATE_TRY(items.emplace_back(), parse_value(depth + 1));
    } while (accept(","));
    if (!accept("]")) return expected("',' or ']' in the list");
    return SchemaValue{std::move(items)};
  }

  // An int without '.' or exponent, a float otherwise; '1.' and '.5' are floats, '-inf' too.
  Result<SchemaValue> parse_number() {
    const std::size_t begin = position_;
    const bool negative = peek() == '-';
    if (peek() == '-' || peek() == '+') ++position_;
    if (text_.substr(position_).starts_with("inf")) {
      position_ += 3;
      const double infinity = std::numeric_limits<double>::infinity();
      return SchemaValue{negative ? -infinity : infinity};
    }
    const std::size_t digits = position_;
    bool is_float = false;
    while (is_decimal(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
           ((peek() == '-' || peek() == '+') && (text_[position_ - 1] | 0x20) == 'e')) {
      is_float = is_float || !is_decimal(peek());
      ++position_;
    }
    // from_chars reads '-' but not '+'.
    const std::string_view number = negative ? text_.substr(begin, position_ - begin)
                                             : text_.substr(digits, position_ - digits);
    const auto read = [&](auto& value) {
      const char* end = number.data() + number.size();
      const auto [stop, code] = std::from_chars(number.data(), end, value);
      return stop == end && code == std::errc();
    };
    std::int64_t integer = 0;
    double real = 0;
    if (is_float ? !read(real) : !read(integer)) {
      return error_at(begin, "'" + std::string(text_.substr(begin, position_ - begin)) +
                                 "' is not a number that fits 64 bits");
    }
    return is_float ? SchemaValue{real} : SchemaValue{integer};
  }

  Result<SchemaValue> parse_string_value() {
    const std::size_t begin = position_;
    const char quote = text_[position_++];
    std::string value;
    while (position_ < text_.size() && text_[position_] != quote) {
      const char c = text_[position_++];
      if (c != '\\') {
        value += c;
        continue;
      }
      if (position_ == text_.size()) break;
      GRAPHGATE_TRY(const char escaped, unescape(text_[position_]));
      value += escaped;
      ++position_;
    }
    if (position_ == text_.size()) return error_at(begin, "the string is not closed");
    ++position_;
    return SchemaValue{std::move(value)};
  }

  Result<char> unescape(char c) const {
    constexpr std::string_view kLetters = "abfnrtv0\\'\"";
    constexpr std::string_view kMeanings("\a\b\f\n\r\t\v\0\\'\"", 11);
    const std::size_t index = kLetters.find(c);
    if (index != std::string_view::npos) return kMeanings[index];
    return error_at(position_ - 1, "unknown escape '\\" + std::string(1, c) + "'");
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Result<OpSchema> parse_schema(std::string_view text) { return SchemaParser(text).parse(); }

}  // namespace graphgate::spec
