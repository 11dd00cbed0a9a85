#include "interop/minimalloc.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/file_io.h"

namespace graphgate::interop {

namespace {

enum class Column : std::uint8_t { kId, kLower, kUpper, kSize };
constexpr std::array<std::string_view, 4> kColumnNames = {"id", "lower", "upper", "size"};
constexpr std::array<std::string_view, 4> kForeignColumns = {"alignment", "gaps", "hint", "offset"};

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

Result<Column> read_column(std::string_view field) {
  for (std::size_t i = 0; i < kColumnNames.size(); ++i) {
    if (kColumnNames[i] == field) return static_cast<Column>(i);
  }
  const std::string quoted = "column '" + std::string(field) + "'";
  for (const std::string_view foreign : kForeignColumns) {
    if (foreign == field) return unsupported(quoted);
  }
  return bad_input("unknown " + quoted + ", expected id, lower, upper and size");
}

Result<std::vector<Column>> read_header(std::string_view line) {
  std::vector<Column> columns;
  std::array<bool, kColumnNames.size()> seen{};
  for (const std::string_view field : split_fields(line)) {
    GRAPHGATE_TRY(const Column column, read_column(field));
    if (std::exchange(seen[static_cast<std::size_t>(column)], true)) {
      return bad_input("column '" + std::string(field) + "' stands twice");
    }
    columns.push_back(column);
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) return bad_input("expected a column '" + std::string(kColumnNames[i]) + "'");
  }
  return columns;
}

Result<std::int64_t> read_integer(std::string_view field, std::string_view what) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (code != std::errc{} || end != field.data() + field.size()) {
    return bad_input("expected a 64-bit integer as " + std::string(what) + ", found '" +
                     std::string(field) + "'");
  }
  return number;
}

Result<MinimallocBuffer> read_buffer(std::string_view line, std::span<const Column> columns) {
  const std::vector<std::string_view> fields = split_fields(line);
  if (fields.size() != columns.size()) {
    return bad_input("expected " + std::to_string(columns.size()) + " fields, found " +
                     std::to_string(fields.size()));
  }
  MinimallocBuffer buffer;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (columns[i] == Column::kId) {
      buffer.id = fields[i];
      continue;
    }
    GRAPHGATE_TRY(const std::int64_t number,
                  read_integer(fields[i], kColumnNames[static_cast<std::size_t>(columns[i])]));
    if (columns[i] == Column::kLower) buffer.lower = number;
    if (columns[i] == Column::kUpper) buffer.upper = number;
    if (columns[i] == Column::kSize) buffer.size_bytes = number;
  }
  if (buffer.lower >= buffer.upper) return bad_input("expected an upper that is above lower");
  if (buffer.size_bytes < 0) return bad_input("expected a size that is not negative");
  return buffer;
}

// The next line without its end; `text` loses it.
std::string_view take_line(std::string_view& text) {
  const std::size_t newline = text.find('\n');
  std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<std::vector<MinimallocBuffer>> parse_minimalloc(std::string_view text,
                                                       std::string_view name) {
  std::size_t line = 1;
  const auto place = [&] { return std::string(name) + ":" + std::to_string(line); };
  const auto columns = read_header(take_line(text));
  if (!columns.ok()) return columns.error().at(place());
  std::vector<MinimallocBuffer> buffers;
  std::unordered_set<std::string> ids;
  while (!text.empty()) {
    ++line;
    auto buffer = read_buffer(take_line(text), columns.value());
    if (!buffer.ok()) return buffer.error().at(place());
    if (!ids.insert(buffer.value().id).second) {
      return bad_input("id '" + buffer.value().id + "' stands twice").at(place());
    }
    buffers.push_back(std::move(buffer).value());
  }
  return buffers;
}

Result<std::vector<PlacedMinimallocBuffer>> parse_placed_minimalloc(std::string_view text,
                                                                    std::string_view name) {
  std::string rest;  // the text without the column of offsets
  std::vector<std::string_view> offsets;
  std::optional<std::size_t> column;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::vector<std::string_view> fields = split_fields(take_line(text));
    if (!column) {
      const auto found = std::find(fields.begin(), fields.end(), "offset");
      column = static_cast<std::size_t>(found - fields.begin());
    }
    if (*column >= fields.size()) {
      const std::string place = std::string(name) + ":" + std::to_string(line);
      return bad_input(line == 1 ? "expected a column 'offset'" : "expected an offset").at(place);
    }
    offsets.push_back(fields[*column]);
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(*column));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      rest += std::string(i == 0 ? "" : ",") + std::string(fields[i]);
    }
    rest += '\n';
  }
  GRAPHGATE_TRY(const auto buffers, parse_minimalloc(rest, name));
  std::vector<PlacedMinimallocBuffer> placed;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto offset = read_integer(offsets[i + 1], "offset");
    if (!offset.ok()) return offset.error().at(std::string(name) + ":" + std::to_string(i + 2));
    placed.push_back({buffers[i], offset.value()});
  }
  return placed;
}

Result<std::vector<MinimallocBuffer>> read_minimalloc(const std::string& path) {
  GRAPHGATE_TRY(const std::string text, read_whole(path));
  return parse_minimalloc(text, base_name(path));
}

}  // namespace graphgate::interop
