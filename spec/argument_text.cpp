#include "spec/argument_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace graphgate::spec {
namespace {

constexpr int kMaxListDepth = 100;

bool is_number_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_op_word(std::string_view name) {
  return is_word(name) && name.find('.') != std::string_view::npos;
}

struct Printer {
  const Graph& graph;
  std::string& out;

  void operator()(None) const { out += "None"; }
  void operator()(bool value) const { out += value ? "True" : "False"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const { out += print_float(value); }
  void operator()(const ComplexNumber& value) const {
    out += "complex(" + print_float(value.real) + ", " + print_float(value.imag) + ")";
  }
  void operator()(const std::string& value) const { out += quote_string(value); }
  void operator()(DType value) const { out += short_name(value); }
  void operator()(const Device& value) const {
    out += "device(" + quote_string(print_device(value)) + ")";
  }
  void operator()(Layout value) const { out += "layout(" + std::string(layout_name(value)) + ")"; }
  void operator()(MemoryFormat value) const { out += memory_format_name(value); }
  void operator()(ValueId id) const { out += print_sigil_name('%', graph.value(id).name); }
  void operator()(const OpName& op) const {
    out += is_op_word(op.name) ? op.name : "op(" + quote_string(op.name) + ")";
  }
  void operator()(SubgraphId id) const {
    out += print_sigil_name('@', graph.subgraphs.at(id.index).name);
  }
  void operator()(const Argument::List& list) const {
    out += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out += ", ";
      std::visit(*this, list[i].value);
    }
    out += ']';
  }
};

class Reader {
 public:
  Reader(TextReader& reader, const NameScope& scope) : reader_(reader), scope_(scope) {}

  Result<Argument> read(int depth) {
    if (reader_.at("[")) return read_list(depth);
    if (reader_.at("%")) return read_name(scope_.values, "%", "a value");
    if (reader_.at("@")) return read_name(scope_.subgraphs, "@", "a subgraph");
    if (reader_.at("-") || reader_.at(TokenKind::kInteger) || reader_.at(TokenKind::kFloat)) {
      return read_number();
    }
    if (!reader_.at(TokenKind::kWord) && !reader_.at(TokenKind::kString)) {
      return reader_.expected("an argument");
    }
    return read_after(reader_.take());
  }

  Result<Argument> read_after(const Token& first) {
    if (first.kind == TokenKind::kString) {
      auto text = unescape_string(first.text);
      if (!text.ok()) return reader_.error_at(first, text.error().message);
      return Argument{std::move(text).value()};
    }
    if (first.text == "complex") return read_complex();
    if (first.text == "device" || first.text == "layout" || first.text == "op") {
      return read_call(first);
    }
    if (auto constant = find_constant(first.text)) return std::move(*constant);
    if (is_op_word(first.text)) return Argument{OpName{std::string(first.text)}};
    return reader_.error_at(first, "expected an argument, found '" + std::string(first.text) + "'");
  }

 private:
  static std::optional<Argument> find_constant(std::string_view word) {
    if (word == "None") return Argument{None{}};
    if (word == "True" || word == "False") return Argument{word == "True"};
    if (word == "inf") return Argument{std::numeric_limits<double>::infinity()};
    if (word == "nan") return Argument{std::numeric_limits<double>::quiet_NaN()};
    if (const auto dtype = parse_dtype(word)) return Argument{*dtype};
    if (const auto format = parse_memory_format(word)) return Argument{*format};
    return std::nullopt;
  }

  template <class T>
  Result<Argument> read_name(const NameScope::Map<T>& names, std::string_view sigil,
                             std::string_view what) {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::string name, read_sigil_name(reader_, sigil, what));
    const auto found = names.find(name);
    if (found != names.end()) return Argument{found->second};
    return reader_.error_at(start, "expected " + std::string(what) +
                                       " that is defined above, found " +
                                       print_sigil_name(sigil.front(), name));
  }

  Result<Argument> read_list(int depth) {
    if (depth >= kMaxListDepth) {
      return reader_.expected("lists nested at most " + std::to_string(kMaxListDepth) + " deep");
    }
    (void)reader_.take();
    Argument::List list;
    if (reader_.accept("]")) return Argument{std::move(list)};
    do {
      GRAPHGATE_TRY(list.emplace_back(), read(depth + 1));
    } while (reader_.accept(","));
    if (!reader_.accept("]")) return reader_.expected("',' or ']'");
    return Argument{std::move(list)};
  }

  Result<Argument> read_number() {
    const Token start = reader_.peek();
    const std::string sign = reader_.accept("-") ? "-" : "";
    if (sign == "-" && reader_.accept("inf")) {
      return Argument{-std::numeric_limits<double>::infinity()};
    }
    const bool integer = reader_.at(TokenKind::kInteger);
    if (!integer && !reader_.at(TokenKind::kFloat)) return reader_.expected("a number");
    const std::string text = sign + std::string(reader_.take().text);
    return integer ? convert<std::int64_t>(start, text) : convert<double>(start, text);
  }

  // complex(1.0, -2.0), behind the word.
  Result<Argument> read_complex() {
    GRAPHGATE_TRY_VOID(reader_.expect("("));
    GRAPHGATE_TRY(const double real, read_float());
    GRAPHGATE_TRY_VOID(reader_.expect(","));
    GRAPHGATE_TRY(const double imag, read_float());
    GRAPHGATE_TRY_VOID(reader_.expect(")"));
    return Argument{ComplexNumber{real, imag}};
  }

  Result<double> read_float() {
    if (reader_.accept("inf")) return std::numeric_limits<double>::infinity();
    if (reader_.accept("nan")) return std::numeric_limits<double>::quiet_NaN();
    GRAPHGATE_TRY(const Argument number, read_number());
    if (const auto* whole = number.as<std::int64_t>()) return static_cast<double>(*whole);
    return *number.as<double>();
  }

  template <class T>
  Result<Argument> convert(const Token& start, const std::string& text) {
    T value{};
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
      return Argument{value};
    }
    return reader_.error_at(start, "the number " + text + " does not fit in 64 bits");
  }

  // device("cuda:0"), layout(strided), op("...").
  Result<Argument> read_call(const Token& word) {
    GRAPHGATE_TRY_VOID(reader_.expect("("));
    const Token inner = reader_.peek();
    GRAPHGATE_TRY(const std::string name, reader_.take_name("a name"));
    std::optional<Argument> argument;
    if (word.text == "op") {
      argument = Argument{OpName{name}};
    } else if (word.text == "device") {
      if (const auto device = parse_device(name)) argument = Argument{*device};
    } else if (const auto layout = parse_layout(name)) {
      argument = Argument{*layout};
    }
    if (!argument) {
      return reader_.error_at(inner,
                              "expected a " + std::string(word.text) + ", found '" + name + "'");
    }
    GRAPHGATE_TRY_VOID(reader_.expect(")"));
    return std::move(*argument);
  }

  TextReader& reader_;
  const NameScope& scope_;
};

}  // namespace

std::string print_sigil_name(char sigil, std::string_view name) {
  if (is_number_name(name)) return sigil + std::string(name);
  return sigil + print_name(name);
}

Result<std::string> read_sigil_name(TextReader& reader, std::string_view sigil,
                                    std::string_view what) {
  const Token mark = reader.peek();
  if (!reader.accept(sigil)) {
    return reader.expected(std::string(what) + " (" + std::string(sigil) + "name)");
  }
  const bool adjacent = reader.peek().offset == mark.offset + 1;
  if (adjacent && reader.at(TokenKind::kInteger)) return std::string(reader.take().text);
  const bool name = reader.at(TokenKind::kWord) || reader.at(TokenKind::kString);
  if (!adjacent || !name) return reader.expected("a name behind '" + std::string(sigil) + "'");
  return reader.take_name("a name");
}

void print_argument(const Graph& graph, const Argument& argument, std::string& out) {
  std::visit(Printer{graph, out}, argument.value);
}

Result<Argument> read_argument(TextReader& reader, const NameScope& scope) {
  return Reader(reader, scope).read(0);
}

Result<Argument> read_argument_after(TextReader& reader, const Token& first,
                                     const NameScope& scope) {
  return Reader(reader, scope).read_after(first);
}

}  // namespace graphgate::spec
