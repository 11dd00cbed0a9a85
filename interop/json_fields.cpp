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

Result<std::string> read_string(const JsonCursor& object, std::string_view key) {
  GRAPHGATE_TRY(const JsonCursor cursor, object.member(key));
  return cursor.as_string();
}

Result<void> read_optional(const JsonCursor& object, std::string_view key, std::string& value) {
  GRAPHGATE_TRY(const auto cursor, object.find_member(key));
  if (!cursor) return {};
  GRAPHGATE_TRY(value, cursor->as_string());
  return {};
}

Result<void> read_optional(const JsonCursor& object, std::string_view key, bool& value) {
  GRAPHGATE_TRY(const auto cursor, object.find_member(key));
  if (!cursor) return {};
  GRAPHGATE_TRY(value, cursor->as_bool());
  return {};
}

Result<void> read_optional(const JsonCursor& object, std::string_view key, std::int64_t& value) {
  GRAPHGATE_TRY(const auto cursor, object.find_member(key));
  if (!cursor) return {};
  GRAPHGATE_TRY(value, cursor->as_int());
  return {};
}

Result<std::uint32_t> as_count(const JsonCursor& cursor) {
  GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
  if (number >= 0 && number <= std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(number);
  }
  return cursor.error("expected an integer in [0, 2^32), found " + std::to_string(number));
}

Result<void> read_optional(const JsonCursor& object, std::string_view key, std::uint32_t& value) {
  GRAPHGATE_TRY(const auto cursor, object.find_member(key));
  if (!cursor) return {};
  GRAPHGATE_TRY(value, as_count(*cursor));
  return {};
}

}  // namespace graphgate::interop
