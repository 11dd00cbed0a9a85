#include "tools/golden/golden_text.h"

#include <charconv>

#include "spec/text_lexer.h"
#include "tools/golden/golden_values.h"

namespace graphgate::tools {
namespace {

constexpr std::string_view kIndent = "  ";

std::string print_value(const GoldenValue& value) {
  std::string line = value.place + ": " + value.type;
  if (!value.digest.empty()) line += "; " + value.digest;
  if (!value.shares.empty()) line += "; shares " + value.shares;
  if (value.type == "none") return line;
  line += value.some_of == 0 ? "; all:" : "; some of " + std::to_string(value.some_of) + ":";
  for (const std::string& element : value.elements) line += " " + element;
  return line;
}

void add_lines(std::string_view title, const std::vector<std::string>& lines, std::string& text) {
  if (lines.empty()) return;
  text += std::string(title) + "\n";
  for (const std::string& line : lines) text += std::string(kIndent) + line + "\n";
}

std::string indented_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    out += std::string(kIndent) + std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

// The lines of a golden file, with their numbers for errors.
class Lines {
 public:
  Lines(std::string_view text, std::string_view source) : text_(text), source_(source) { read(); }

  [[nodiscard]] bool at_end() const { return at_end_; }
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] bool is_inner() const { return !at_end_ && line_.starts_with(kIndent); }
  void next() { read(); }

  [[nodiscard]] Error expected(const std::string& what) const {
    const std::string found = at_end_ ? "the end" : "'" + std::string(line_.substr(0, 60)) + "'";
    return bad_input(source_ + ":" + std::to_string(number_) + ": expected " + what + ", found " +
                     found);
  }

 private:
  void read() {
    ++number_;
    at_end_ = text_.empty();
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
  }

  std::string_view text_;
  std::string source_;
  std::string_view line_;
  std::size_t number_ = 0;
  bool at_end_ = false;
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Up to the first blank, semicolon or the end.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" ;"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// A string in double quotes, quotes included.
std::string_view take_quoted(std::string_view& text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (!text.starts_with('"') || end >= text.size()) return {};
  const std::string_view quoted = text.substr(0, end + 1);
  text.remove_prefix(end + 1);
  return quoted;
}

bool take_string(std::string_view& text, std::string& value) {
  const std::string_view quoted = take_quoted(text);
  if (quoted.empty()) return false;
  auto read = spec::unescape_string(quoted);
  if (!read.ok()) return false;
  value = std::move(read).value();
  return true;
}

bool is_digest(std::string_view word) {
  return word.starts_with("sha256:") && word.size() == std::string_view("sha256:").size() + 16;
}

// `output 0`, `input 3`, `state "w"`.
bool take_place(std::string_view& text, std::string& place) {
  const std::string_view all = text;
  std::size_t index = 0;
  const bool is_numbered = take(text, "output ") || take(text, "input ");
  const bool is_good =
      is_numbered ? take_number(text, index) : take(text, "state ") && !take_quoted(text).empty();
  place = all.substr(0, all.size() - text.size());
  return is_good;
}

Result<void> read_header(Lines& lines, std::string_view key, std::string& value) {
  std::string_view rest = lines.line();
  const bool is_good =
      take(rest, key) && take(rest, " ") && take_string(rest, value) && rest.empty();
  if (!is_good) return lines.expected(std::string(key) + " \"...\"");
  lines.next();
  return {};
}

Result<void> read_word(Lines& lines, std::string_view key, std::string& value) {
  std::string_view rest = lines.line();
  const bool is_there = take(rest, key) && take(rest, " ");
  value = take_word(rest);
  if (!is_there || value.empty() || !rest.empty()) {
    return lines.expected(std::string(key) + " and a word");
  }
  lines.next();
  return {};
}

bool parse_value(std::string_view line, GoldenValue& value) {
  if (!take_place(line, value.place) || !take(line, ": ")) return false;
  const std::size_t end = std::min(line.find("; "), line.size());
  value.type = line.substr(0, end);
  line.remove_prefix(end);
  if (value.type.empty()) return false;
  if (line.starts_with("; sha256:")) {
    (void)take(line, "; ");
    value.digest = take_word(line);
    if (!is_digest(value.digest)) return false;
  }
  if (take(line, "; shares ") && !take_place(line, value.shares)) return false;
  if (value.type == "none") return line.empty();
  if (take(line, "; some of ")) {
    if (!take_number(line, value.some_of) || value.some_of == 0 || !take(line, ":")) return false;
  } else if (!take(line, "; all:")) {
    return false;
  }
  while (take(line, " ")) {
    value.elements.emplace_back(take_word(line));
    if (value.elements.back().empty()) return false;
  }
  return line.empty();
}

Result<void> read_call(Lines& lines, GoldenRecord& record) {
  GoldenCall& call = record.calls.emplace_back();
  std::string_view rest = lines.line();
  bool is_good = take(rest, "call " + std::to_string(record.calls.size() - 1) + " of ") &&
                 take_string(rest, call.program);
  std::size_t plan = 0;
  if (is_good && take(rest, " follows plan ")) {
    is_good = take_number(rest, plan);
    call.plan = plan;
  }
  if (!is_good || !rest.empty()) {
    return lines.expected("call " + std::to_string(record.calls.size() - 1) +
                          " of \"PROGRAM\" [follows plan N]");
  }
  for (lines.next(); lines.is_inner(); lines.next()) {
    if (!parse_value(lines.line().substr(kIndent.size()), call.values.emplace_back())) {
      return lines.expected("PLACE: TYPE; sha256:DIGEST; all: VALUES");
    }
  }
  return {};
}

Result<void> read_plan(Lines& lines, GoldenRecord& record) {
  GoldenPlan& plan = record.plans.emplace_back();
  const std::string number = std::to_string(record.plans.size() - 1);
  const auto wrong = [&] {
    return lines.expected("plan " + number + ": sha256:DIGEST and NAME NUMBER pairs");
  };
  std::string_view rest = lines.line();
  if (!take(rest, "plan " + number + ": ")) return wrong();
  plan.digest = take_word(rest);
  if (!is_digest(plan.digest)) return wrong();
  while (take(rest, " ")) {
    std::string name(take_word(rest));
    std::int64_t figure = 0;
    if (name.empty() || !take(rest, " ") || !take_number(rest, figure)) return wrong();
    plan.figures.emplace_back(std::move(name), figure);
  }
  if (!rest.empty()) return wrong();
  const Lines start = lines;
  for (lines.next(); lines.is_inner(); lines.next()) {
    plan.text += std::string(lines.line().substr(kIndent.size())) + "\n";
  }
  if (!plan.text.empty() && digest_of(plan.text) != plan.digest) {
    return start.expected("plan " + number + ": " + digest_of(plan.text) +
                          " as the plan's text has it");
  }
  return {};
}

void read_lines(Lines& lines, std::vector<std::string>& out) {
  for (lines.next(); lines.is_inner(); lines.next()) {
    out.emplace_back(lines.line().substr(kIndent.size()));
  }
}

Result<void> read_provenance(Lines& lines, GoldenProvenance& provenance) {
  const std::string version = "graphgate-golden " + std::to_string(kGoldenVersion);
  if (lines.line() != version) return lines.expected("'" + version + "'");
  lines.next();
  GRAPHGATE_TRY_VOID(read_header(lines, "program", provenance.program));
  GRAPHGATE_TRY_VOID(read_word(lines, "arithmetic", provenance.arithmetic));
  GRAPHGATE_TRY_VOID(read_word(lines, "sources", provenance.sources));
  GRAPHGATE_TRY_VOID(read_header(lines, "generator", provenance.generator));
  GRAPHGATE_TRY_VOID(read_header(lines, "command", provenance.command));
  return read_header(lines, "reason", provenance.reason);
}

}  // namespace

std::string print_golden(const GoldenRecord& record) {
  const GoldenProvenance& from = record.provenance;
  std::string text =
      "graphgate-golden " + std::to_string(kGoldenVersion) + "\nprogram " +
      spec::quote_string(from.program) + "\narithmetic " + from.arithmetic + "\nsources " +
      from.sources + "\ngenerator " + spec::quote_string(from.generator) + "\ncommand " +
      spec::quote_string(from.command) + "\nreason " + spec::quote_string(from.reason) + "\n";
  for (std::size_t c = 0; c < record.calls.size(); ++c) {
    const GoldenCall& call = record.calls[c];
    text += "call " + std::to_string(c) + " of " + spec::quote_string(call.program);
    if (call.plan) text += " follows plan " + std::to_string(*call.plan);
    text += '\n';
    for (const GoldenValue& value : call.values) {
      text += std::string(kIndent) + print_value(value) + "\n";
    }
  }
  if (!record.end.empty()) text += "end " + spec::quote_string(record.end) + "\n";
  for (std::size_t p = 0; p < record.plans.size(); ++p) {
    const GoldenPlan& plan = record.plans[p];
    text += "plan " + std::to_string(p) + ": " + plan.digest;
    for (const auto& [name, figure] : plan.figures) {
      text += " " + name + " " + std::to_string(figure);
    }
    text += "\n" + indented_text(plan.text);
  }
  add_lines("kernels", record.kernels, text);
  add_lines("effects", record.effects, text);
  add_lines("findings", record.findings, text);
  return text;
}

Result<GoldenRecord> parse_golden(std::string_view text, std::string_view source) {
  GoldenRecord record;
  Lines lines(text, source);
  GRAPHGATE_TRY_VOID(read_provenance(lines, record.provenance));
  while (lines.line().starts_with("call ")) GRAPHGATE_TRY_VOID(read_call(lines, record));
  if (lines.line().starts_with("end ")) {
    GRAPHGATE_TRY_VOID(read_header(lines, "end", record.end));
  }
  while (lines.line().starts_with("plan ")) GRAPHGATE_TRY_VOID(read_plan(lines, record));
  if (lines.line() == "kernels") read_lines(lines, record.kernels);
  if (lines.line() == "effects") read_lines(lines, record.effects);
  if (lines.line() == "findings") read_lines(lines, record.findings);
  if (!lines.at_end()) return lines.expected("the next part, or the end");
  for (const GoldenCall& call : record.calls) {
    if (call.plan && *call.plan >= record.plans.size()) {
      return lines.expected("plan " + std::to_string(*call.plan) + ", which a call follows");
    }
  }
  return record;
}

}  // namespace graphgate::tools
