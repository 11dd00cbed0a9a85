#include "interop/json_fields.h"

#include <algorithm>
#include <limits>

namespace graphgate::interop {

Result<void> expect_members(const JsonCursor& object,
                            std::initializer_list<std::string_view> known) {
  GRAPHGATE_TRY(const auto members, object.members());
  for (const auto& [key, member] : members) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known) names.append(names.empty() ? "" : ", ").append(name);
    return member.error("expected one of the members " + names);
  }
  return {};
}

Result<std::uint32_t> as_count(const JsonCursor& cursor) {
  GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
  if (number >= 0 && number <= std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(number);
  }
  return cursor.error("expected an integer in [0, 2^32), found " + std::to_string(number));
}

Result<std::string> read_string(const JsonCursor& object, std::string_view key) {
  return read_member(object, key, &JsonCursor::as_string);
}
Result<bool> read_bool(const JsonCursor& object, std::string_view key) {
  return read_member(object, key, &JsonCursor::as_bool);
}
Result<std::int64_t> read_int(const JsonCursor& object, std::string_view key) {
  return read_member(object, key, &JsonCursor::as_int);
}
Result<std::vector<std::int64_t>> read_ints(const JsonCursor& object, std::string_view key) {
  return read_member(object, key, &JsonCursor::as_ints);
}

Result<double> read_float(const JsonCursor& cursor) {
  if (cursor.json().is_number()) return cursor.as_double();
  return read_word(cursor, "a number, inf, -inf or nan",
                   [](std::string_view text) -> std::optional<double> {
                     constexpr double kInfinity = std::numeric_limits<double>::infinity();
                     if (text == "inf") return kInfinity;
                     if (text == "-inf") return -kInfinity;
                     if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
                     return std::nullopt;
                   });
}

Result<spec::ComplexNumber> read_complex(const JsonCursor& cursor) {
  const auto read_part = [](const JsonCursor& part) -> Result<double> {
    if (!part.json().is_object()) return read_float(part);
    return read_member(part, "float", read_float);
  };
  GRAPHGATE_TRY(const auto parts, read_elements(cursor, read_part));
  if (parts.size() == 2) return spec::ComplexNumber{parts[0], parts[1]};
  return cursor.error("expected a real and an imaginary part, found a list of " +
                      std::to_string(parts.size()));
}

Result<void> read_optional(const JsonCursor& object, std::string_view key, std::string& value) {
  return read_optional(object, key, value, &JsonCursor::as_string);
}
Result<void> read_optional(const JsonCursor& object, std::string_view key, bool& value) {
  return read_optional(object, key, value, &JsonCursor::as_bool);
}
Result<void> read_optional(const JsonCursor& object, std::string_view key, std::int64_t& value) {
  return read_optional(object, key, value, &JsonCursor::as_int);
}
Result<void> read_optional(const JsonCursor& object, std::string_view key, std::uint32_t& value) {
  return read_optional(object, key, value, as_count);
}

}  // namespace graphgate::interop
