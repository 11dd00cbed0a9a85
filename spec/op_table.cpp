#include "spec/op_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace graphgate::spec {
namespace {

constexpr std::string_view kBlanks = " \t\r";

struct Field {
  std::string_view key;
  std::vector<std::string> OpRow::*names;
};
constexpr Field kFields[] = {
    {"tags", &OpRow::tags},
    {"hidden_reads", &OpRow::hidden_state_reads},
    {"hidden_writes", &OpRow::hidden_state_writes},
    {"undeclared_writes", &OpRow::undeclared_writes},
    {"undeclared_aliases", &OpRow::undeclared_aliases},
    {"orders", &OpRow::orders},
};

Error at_column(std::size_t offset, const std::string& message) {
  return bad_input("column " + std::to_string(offset + 1) + ": " + message);
}

// The rows that a thread asked for lately, in a list of names that never ends: a name's place is
// told by a few of its letters, where the list's own hash reads them all.
class RecentNames {
 public:
  struct Slot {
    const void* list = nullptr;
    std::string_view name;  // of the list
    const OpRow* row = nullptr;
  };
  // Returns the place for a name: what was kept there last, of this name or of another.
  [[nodiscard]] Slot& slot_of(std::string_view name) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    constexpr std::size_t kNamespace = 5;  // "aten."
    const std::uint64_t bits = word_at(name, kNamespace) * kGolden ^
                               word_at(name, name.size() - std::min(name.size(), sizeof(bits))) ^
                               name.size();
    return slots_[(bits * kGolden) >> (64 - kBits)];
  }

 private:
  // Up to eight letters from there on.
  static std::uint64_t word_at(std::string_view name, std::size_t begin) {
    std::uint64_t word = 0;
    if (begin >= name.size()) return word;
    std::memcpy(&word, name.data() + begin, std::min(sizeof(word), name.size() - begin));
    return word;
  }

  static constexpr int kBits = 10;
  std::array<Slot, std::size_t{1} << kBits> slots_;
};

// The offset of the first ';' at or after `begin` that is not inside a string of a default.
std::size_t find_separator(std::string_view line, std::size_t begin) {
  char quote = '\0';
  for (std::size_t at = begin; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0') {
      if (c == '\\') ++at;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ';') {
      return at;
    }
  }
  return line.size();
}

// Narrows the half-open range [begin, end) of `line` to leave out blanks at both ends.
void trim(std::string_view line, std::size_t& begin, std::size_t& end) {
  while (begin < end && kBlanks.find(line[begin]) != std::string_view::npos) ++begin;
  while (begin < end && kBlanks.find(line[end - 1]) != std::string_view::npos) --end;
}

// Reads the names in [begin, end) of `line`, separated by commas.
Result<std::vector<std::string>> parse_names(std::string_view line, std::size_t begin,
                                             std::size_t end) {
  std::vector<std::string> names;
  while (true) {
    std::size_t first = begin;
    const std::size_t comma = std::min(line.find(',', begin), end);
    std::size_t last = comma;
    trim(line, first, last);
    const std::string name(line.substr(first, last - first));
    if (name.empty()) return at_column(first, "expected a name");
    if (name.find_first_of(" \t=") != std::string::npos) {
      return at_column(first, "expected one name, found '" + name + "'");
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return at_column(first, "'" + name + "' stands twice in one list");
    }
    names.push_back(name);
    if (comma == end) return names;
    begin = comma + 1;
  }
}

// Reads `KEY=NAME,NAME` in [begin, end) of `line` into the row.
Result<void> parse_field(std::string_view line, std::size_t begin, std::size_t end, OpRow& row) {
  trim(line, begin, end);
  const std::size_t equals = std::min(line.find('=', begin), end);
  const std::string_view key = line.substr(begin, equals - begin);
  const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const Field& known) { return known.key == key; });
  if (field == std::end(kFields)) {
    std::string known;
    for (const Field& other : kFields) known += " " + std::string(other.key) + "=";
    const std::string found(line.substr(begin, end - begin));
    return at_column(begin, "expected one of" + known + ", found '" + found + "'");
  }
  if (equals == end) return at_column(end, "expected '=' after " + std::string(key));
  if (!(row.*(field->names)).empty()) {
    return at_column(begin, "a second " + std::string(key) + "=");
  }
  GRAPHGATE_TRY(row.*(field->names), parse_names(line, equals + 1, end));
  return {};
}

bool is_declared_alias(const Effects& effects, std::size_t argument) {
  return std::any_of(effects.returns.begin(), effects.returns.end(), [&](const ReturnEffect& r) {
    return std::find(r.aliases.begin(), r.aliases.end(), argument) != r.aliases.end();
  });
}

// What a row adds must be about tensor arguments, and must not be in the schema already.
Result<void> check_undeclared(const OpRow& row, const Field& field) {
  const bool is_write = field.names == &OpRow::undeclared_writes;
  for (const std::string& name : row.*(field.names)) {
    const std::optional<std::size_t> argument = row.schema.find_argument(name);
    if (!argument || !row.schema.arguments[*argument].type.holds_tensors()) {
      return bad_input(std::string(field.key) + ": " + row.schema.qualified_name() +
                       " has no tensor argument '" + name + "'");
    }
    const bool is_declared =
        is_write ? row.effects.mutates(*argument) : is_declared_alias(row.effects, *argument);
    if (is_declared) {
      return bad_input(std::string(field.key) + ": the schema declares that of '" + name +
                       "' already");
    }
  }
  return {};
}

Result<OpRow> parse_row(std::string_view line) {
  OpRow row;
  std::size_t separator = find_separator(line, 0);
  GRAPHGATE_TRY(row.schema, parse_schema(line.substr(0, separator)));
  row.effects = derive_effects(row.schema);
  while (separator < line.size()) {
    const std::size_t begin = separator + 1;
    separator = find_separator(line, begin);
    GRAPHGATE_TRY_VOID(parse_field(line, begin, separator, row));
  }
  for (const Field& field : kFields) {
    const bool adds_to_schema =
        field.names == &OpRow::undeclared_writes || field.names == &OpRow::undeclared_aliases;
    if (adds_to_schema) GRAPHGATE_TRY_VOID(check_undeclared(row, field));
  }
  return row;
}

bool is_skipped(std::string_view line) {
  const std::size_t first = line.find_first_not_of(kBlanks);
  return first == std::string_view::npos || line[first] == '#';
}

// Whether another version of what registers the op may register it with another schema: the ops of
// spec/ops/custom.txt, and none of PyTorch's own.
bool is_custom(std::string_view name) {
  constexpr std::string_view kNamespaces[] = {"_C.", "transformers.", "vllm.", "vllm_ir."};
  return std::ranges::any_of(kNamespaces,
                             [&](std::string_view ns) { return name.starts_with(ns); });
}

// The qualified name of the op of a line, as OpSchema::qualified_name() says it: "aten::add.out("
// is "aten.add.out". Lines that are no schema get some name, or an empty one.
std::string name_of_line(std::string_view line) {
  std::size_t begin = 0;
  std::size_t end = std::min(line.find('('), line.size());
  trim(line, begin, end);
  const std::string_view whole = line.substr(begin, end - begin);
  const std::size_t colons = whole.find("::");
  if (colons == std::string_view::npos) return {};
  const std::string_view ns = whole.substr(0, colons);
  const std::string_view function = whole.substr(colons + 2);
  std::string name(ns);
  (name += '.') += function;
  if (function.find('.') == std::string_view::npos && !is_python_namespace(ns)) name += ".default";
  return name;
}

// Takes the first line, without its end, off a text that is not empty.
std::string_view take_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

std::string place_of(std::string_view source_name, std::size_t line_number) {
  return std::string(source_name) + ":" + std::to_string(line_number);
}

}  // namespace

bool OpRow::has_tag(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool OpRow::writes(std::size_t argument) const {
  GRAPHGATE_CHECK(argument < schema.arguments.size());
  if (effects.mutates(argument)) return true;
  if (undeclared_writes.empty()) return false;  // as nearly all ops
  const std::string& name = schema.arguments[argument].name;
  return std::find(undeclared_writes.begin(), undeclared_writes.end(), name) !=
         undeclared_writes.end();
}

std::optional<std::size_t> OpRow::state_argument(std::string_view state) const {
  const std::optional<std::size_t> argument = schema.find_argument(state);
  if (!argument || schema.arguments[*argument].type.base != BaseType::kString) return std::nullopt;
  return argument;
}

Result<void> OpTable::add_text(std::string_view text, std::string_view source_name) {
  Rows added;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++line_number;
    if (is_skipped(line)) continue;
    Result<OpRow> row = parse_row(line);
    if (!row.ok()) return row.error().at(place_of(source_name, line_number));
    const std::string name = row.value().schema.qualified_name();
    auto shared = std::make_shared<const OpRow>(std::move(row).value());
    const bool is_there = is_custom(name) ? added_.contains(name) : find(name) != nullptr;
    const std::size_t before = added.size();
    added.emplace_hint(added.end(), name, std::move(shared));  // most texts are in order
    if (is_there || added.size() == before) {
      return bad_input("column 1: " + name + " is in the table already")
          .at(place_of(source_name, line_number));
    }
  }
  added_.merge(added);
  return {};
}

const std::shared_ptr<const OpRow>& OpTable::Line::row(std::string_view name) const {
  std::call_once(read_, [&] {
    Result<OpRow> row = parse_row(text_);
    if (!row.ok()) {
      const Error error = row.error().at(place_of(source_name_, number_));
      std::fprintf(stderr, "%s\n", error.message.c_str());
    }
    GRAPHGATE_CHECK(row.ok());
    GRAPHGATE_CHECK(row.value().schema.qualified_name() == name);
    row_ = std::make_shared<const OpRow>(std::move(row).value());
  });
  return row_;
}

std::shared_ptr<const OpTable::Shared> OpTable::builtin_lines() {
  auto shared = std::make_shared<Shared>();
  for (std::size_t index = 0; index < kBuiltinOpTextsCount; ++index) {
    std::string_view text = kBuiltinOpTexts[index];
    const std::string_view source_name = kBuiltinOpTextsNames[index];
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::string_view line = take_line(text);
      if (is_skipped(line)) continue;
      const std::size_t before = shared->lines.size();
      const auto added = shared->lines.try_emplace(shared->lines.end(), name_of_line(line), line,
                                                   source_name, number);
      if (shared->lines.size() == before) {
        std::fprintf(stderr, "%s: %s is in the table already\n",
                     place_of(source_name, number).c_str(), added->first.c_str());
      }
      GRAPHGATE_CHECK(shared->lines.size() > before);
    }
  }
  shared->by_name.reserve(shared->lines.size());
  for (const auto& [name, line] : shared->lines) shared->by_name.emplace(name, &line);
  return shared;
}

OpTable::Rows OpTable::rows() const {
  Rows all = added_;
  if (!shared_) return all;
  for (const auto& [name, line] : shared_->lines) {
    if (!added_.contains(name)) all.emplace_hint(all.end(), name, line.row(name));
  }
  return all;
}

std::size_t OpTable::size() const {
  if (!shared_) return added_.size();
  const auto is_new = [&](const auto& row) { return !shared_->lines.contains(row.first); };
  return shared_->lines.size() + static_cast<std::size_t>(std::ranges::count_if(added_, is_new));
}

const OpRow* OpTable::find(std::string_view qualified_name) const {
  const auto own = added_.find(qualified_name);
  if (own != added_.end()) return own->second.get();
  if (!shared_) return nullptr;
  thread_local RecentNames recent;
  auto& slot = recent.slot_of(qualified_name);
  if (slot.list == shared_.get() && slot.name == qualified_name) return slot.row;
  const auto found = shared_->by_name.find(qualified_name);
  if (found == shared_->by_name.end()) return nullptr;
  slot = {shared_.get(), found->first, found->second->row(found->first).get()};
  return slot.row;
}

// In name order.
std::vector<const OpRow*> OpTable::find_from(std::string_view prefix) const {
  std::map<std::string_view, const OpRow*> found;
  const auto visit = [&](const auto& rows, const auto& row_of) {
    for (auto row = rows.lower_bound(prefix); row != rows.end() && row->first.starts_with(prefix);
         ++row) {
      if (!found.contains(row->first)) found.emplace(row->first, row_of(*row));
    }
  };
  visit(added_, [](const auto& row) { return row.second.get(); });  // the first of a name stays
  if (shared_) {
    visit(shared_->lines, [](const auto& line) { return line.second.row(line.first).get(); });
  }
  std::vector<const OpRow*> out;
  out.reserve(found.size());
  for (const auto& [name, row] : found) out.push_back(row);
  return out;
}

std::vector<const OpRow*> OpTable::find_by_base_name(std::string_view base) const {
  // All names of the family start with `base`; longer names of other families may stand between.
  std::vector<const OpRow*> family = find_from(base);
  std::erase_if(family, [&](const OpRow* row) {
    return row->schema.ns + "." + row->schema.base_name() != base;
  });
  return family;
}

std::vector<const OpRow*> OpTable::find_overloads(std::string_view name) const {
  return find_from(std::string(name) + ".");
}

std::string print_row(const OpRow& row) {
  std::string line = print_schema(row.schema);
  for (const Field& field : kFields) {
    std::string names;
    for (const std::string& name : row.*(field.names)) names += (names.empty() ? "" : ",") + name;
    if (!names.empty()) line += " ; " + std::string(field.key) + "=" + names;
  }
  return line;
}

const OpTable& builtin_op_table() {
  // Never destroyed: every process that looks an op up would give back what the rows hold, string
  // by string, before it ends.
  static const OpTable* const kTable = [] {
    auto table = std::make_unique<OpTable>();
    table->shared_ = OpTable::builtin_lines();
    return table.release();
  }();
  return *kTable;
}

}  // namespace graphgate::spec
