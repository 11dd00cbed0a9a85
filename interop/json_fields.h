// Reading the members of our own JSON objects: optional ones, lists, and words out of a set.
//
// The reader of plans uses it. Every error names the place through the cursor. `key` must outlive
// the cursors that are handed on, as in json_cursor.h.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "interop/json_cursor.h"

namespace graphgate::interop {

// Refuses an object that has members of other names: a misspelt one is never ignored.
[[nodiscard]] Result<void> expect_members(const JsonCursor& object,
                                          std::initializer_list<std::string_view> known);

[[nodiscard]] Result<std::string> read_string(const JsonCursor& object, std::string_view key);

// An integer in [0, 2^32).
[[nodiscard]] Result<std::uint32_t> as_count(const JsonCursor& cursor);

// Reads a member that may be missing or null: then `value` stays as it is.
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         std::string& value);
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         bool& value);
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         std::int64_t& value);
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         std::uint32_t& value);

// Calls `read(cursor)`, a Result<void>, for every element of the list at `key`, which may be
// missing.
template <class Read>
[[nodiscard]] Result<void> read_list(const JsonCursor& object, std::string_view key, Read read) {
  GRAPHGATE_TRY(const auto list, object.find_member(key));
  if (!list) return {};
  GRAPHGATE_TRY(const auto elements, list->elements());
  for (const JsonCursor& element : elements) GRAPHGATE_TRY_VOID(read(element));
  return {};
}

// A string that `parse` turns into its meaning, an optional; nullopt is an error that says what
// was expected.
template <class Parse>
[[nodiscard]] auto read_word(const JsonCursor& cursor, std::string_view what, Parse parse)
    -> Result<typename decltype(parse(std::string_view()))::value_type> {
  GRAPHGATE_TRY(const std::string text, cursor.as_string());
  const auto found = parse(text);
  if (found) return *found;
  return cursor.error("expected " + std::string(what) + ", found \"" + text + "\"");
}

}  // namespace graphgate::interop
