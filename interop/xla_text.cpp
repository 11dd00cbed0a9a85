#include "interop/xla_text.h"

#include <algorithm>
#include <charconv>

#include "base/one_line.h"

namespace graphgate::interop {
namespace {

using spec::HloPart;
using spec::HloShape;

constexpr std::size_t kXlaShownBytes = 60;
constexpr std::size_t kTupleDepthMax = 32;
constexpr std::int64_t kPointerBytes = 8;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// Blanks, and comments such as /*index=5*/.
void skip_blanks(std::string_view& text) {
  for (;;) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!text.starts_with("/*")) return;
    const std::size_t end = text.find("*/");
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 2);
  }
}

std::optional<std::int64_t> bits_of(std::string_view dtype) {
  static const std::map<std::string_view, std::int64_t> kBits = {
      {"pred", 8}, {"s1", 8},   {"u1", 8},     {"s2", 8},    {"u2", 8},     {"s4", 8},
      {"u4", 8},   {"s8", 8},   {"u8", 8},     {"s16", 16},  {"u16", 16},   {"s32", 32},
      {"u32", 32}, {"s64", 64}, {"u64", 64},   {"f16", 16},  {"bf16", 16},  {"f32", 32},
      {"f64", 64}, {"c64", 64}, {"c128", 128}, {"token", 0}, {"opaque", 0},
  };
  if (dtype.starts_with("f8e")) return 8;
  const auto found = kBits.find(dtype);
  return found == kBits.end() ? std::nullopt : std::optional(found->second);
}

Result<void> take_dims(std::string_view& text, HloPart& part) {
  if (!take(text, "[")) return bad_input("expected [ behind '" + part.dtype + "'");
  while (!take(text, "]")) {
    skip_blanks(text);
    if (text.starts_with("<=") || text.starts_with("?")) {
      return unsupported("a shape whose sizes change from call to call");
    }
    const auto size = take_number(text);
    if (!size) return bad_input("expected a size, found '" + one_line(text, kXlaShownBytes) + "'");
    part.dims.push_back(*size);
    if (!take(text, ",") && !text.starts_with("]")) {
      return bad_input("expected ] behind the sizes of '" + part.dtype + "'");
    }
  }
  return {};
}

// "{1,0}", or with the bits of packed elements "{1,0:E(4)}".
Result<void> take_layout(std::string_view& text, HloPart& part) {
  if (!text.starts_with("{")) return {};
  part.layout = take_balanced(text);
  if (part.layout.empty()) return bad_input("expected } behind the layout");
  const std::size_t colon = part.layout.find(':');
  if (colon == std::string::npos) return {};
  std::string_view rest = std::string_view(part.layout).substr(colon + 1);
  const auto bits = take(rest, "E(") ? take_number(rest) : std::nullopt;
  if (!bits || *bits < 1 || *bits > part.element_bits || rest != ")}") {
    return unsupported("the layout " + one_line(part.layout, kXlaShownBytes));
  }
  part.element_bits = *bits;
  return {};
}

Result<void> measure(HloPart& part) {
  std::int64_t bits = part.element_bits;
  for (const std::int64_t size : part.dims) {
    if (__builtin_mul_overflow(bits, size, &bits)) {
      return bad_input("expected a shape of fewer than 2^63 bits");
    }
  }
  part.size_bytes = bits / 8 + (bits % 8 == 0 ? 0 : 1);
  return {};
}

Result<void> take_part(std::string_view& text, const std::string& path, std::size_t depth,
                       std::vector<HloPart>& parts) {
  skip_blanks(text);
  const std::size_t at = parts.size();
  parts.emplace_back();
  parts.back().index = "{" + path + "}";
  if (!take(text, "(")) {
    HloPart& part = parts.back();
    part.dtype = take_name(text);
    const auto bits = bits_of(part.dtype);
    if (!bits) {
      return bad_input("expected a shape, found '" + one_line(part.dtype, kXlaShownBytes) +
                       one_line(text, kXlaShownBytes) + "'");
    }
    part.element_bits = *bits;
    GRAPHGATE_TRY_VOID(take_dims(text, part));
    GRAPHGATE_TRY_VOID(take_layout(text, part));
    return measure(part);
  }
  if (depth == kTupleDepthMax) return bad_input("expected tuples less deep");
  std::int64_t elements = 0;
  for (skip_blanks(text); !take(text, ")"); skip_blanks(text)) {
    if (elements != 0 && !take(text, ",")) return bad_input("expected ) behind a tuple's shapes");
    const std::string inner = (path.empty() ? "" : path + ",") + std::to_string(elements++);
    GRAPHGATE_TRY_VOID(take_part(text, inner, depth + 1, parts));
  }
  parts[at].is_tuple = true;
  parts[at].size_bytes = elements * kPointerBytes;
  parts[at].subtree_parts = parts.size() - at;
  return {};
}

// The place of the quote that ends what begins at `begin`, or the end of the text.
std::size_t end_of_quote(std::string_view text, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i, text.size());
}

}  // namespace

std::string in_quotes(std::string_view text) { return "'" + one_line(text, kXlaShownBytes) + "'"; }

bool XlaLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

Error XlaLines::at_line(const Error& error) const {
  return error.at(name_ + ":" + std::to_string(number_));
}

Error XlaLines::expected(std::string_view what) const {
  return at_line(bad_input("expected " + std::string(what) + ", found '" +
                           one_line(line_, kXlaShownBytes) + "'"));
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string_view take_name(std::string_view& text) {
  take(text, "%");
  std::size_t end = 0;
  while (end < text.size() && is_name(text[end])) ++end;
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

std::string_view take_balanced(std::string_view& text) {
  std::string closing;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_quote(text, i);
      continue;
    }
    if (c == '(') closing += ')';
    if (c == '{') closing += '}';
    if (c == '[') closing += ']';
    if (c == ')' || c == '}' || c == ']') {
      if (closing.empty() || closing.back() != c) return {};
      closing.pop_back();
    }
    if (closing.empty()) {
      const std::string_view taken = text.substr(0, i + 1);
      text.remove_prefix(i + 1);
      return taken;
    }
  }
  return {};
}

std::string take_shape_index(std::string_view& text) {
  std::string_view rest = text;
  if (!take(rest, "{")) return {};
  std::string index = "{";
  while (!take(rest, "}")) {
    skip_blanks(rest);
    const auto element = take_number(rest);
    if (!element) return {};
    index += (index.size() == 1 ? "" : ",") + std::to_string(*element);
    if (!take(rest, ",") && !rest.starts_with("}")) return {};
  }
  text = rest;
  return index + "}";
}

Result<HloShape> take_shape(std::string_view& text) {
  HloShape shape;
  GRAPHGATE_TRY_VOID(take_part(text, "", 0, shape.parts));
  return shape;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  const auto keep = [&](std::string_view part) {
    skip_blanks(part);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
  };
  std::size_t begin = 0;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_quote(text, i);
      continue;
    }
    if (c == '(' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '}' || c == ']') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      keep(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (begin < text.size() || !parts.empty()) keep(text.substr(begin));
  return parts;
}

HloNames names_of(const spec::HloModule& module) {
  HloNames names;
  for (std::size_t c = 0; c < module.computations.size(); ++c) {
    const auto& instructions = module.computations[c].instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) names[instructions[i].name] = {c, i, 0};
  }
  return names;
}

std::optional<std::size_t> part_of(const HloShape& shape, std::string_view index) {
  for (std::size_t part = 0; part < shape.parts.size(); ++part) {
    if (shape.parts[part].index == index) return part;
  }
  return std::nullopt;
}

const spec::HloInstruction& instruction_at(const spec::HloModule& module,
                                           const spec::HloPosition& position) {
  return module.computations[position.computation].instructions[position.instruction];
}

}  // namespace graphgate::interop
