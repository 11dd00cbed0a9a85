// Reading the members of JSON objects: optional ones, lists, and words out of a set.
//
// Every error names the place through the cursor. `key` must outlive the cursors that are handed
// on, as in json_cursor.h. `read` is a function of a cursor, or a method of it, to a Result; what
// it returns does not point into the cursor.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "interop/json_cursor.h"
#include "spec/graph.h"

namespace graphgate::interop {

// Refuses an object that has members of other names: a misspelt one is never ignored.
[[nodiscard]] Result<void> expect_members(const JsonCursor& object,
                                          std::initializer_list<std::string_view> known);

// An integer in [0, 2^32).
[[nodiscard]] Result<std::uint32_t> as_count(const JsonCursor& cursor);

// Reads the member `key`.
template <class Read>
[[nodiscard]] auto read_member(const JsonCursor& object, std::string_view key, const Read& read)
    -> std::invoke_result_t<const Read&, const JsonCursor&> {
  GRAPHGATE_TRY(const JsonCursor member, object.member(key));
  return std::invoke(read, member);
}
[[nodiscard]] Result<std::string> read_string(const JsonCursor& object, std::string_view key);
[[nodiscard]] Result<bool> read_bool(const JsonCursor& object, std::string_view key);
[[nodiscard]] Result<std::int64_t> read_int(const JsonCursor& object, std::string_view key);
[[nodiscard]] Result<std::vector<std::int64_t>> read_ints(const JsonCursor& object,
                                                          std::string_view key);

// Reads a member that may be missing or null: then `value` stays as it is.
template <class Value, class Read>
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         Value& value, const Read& read) {
  GRAPHGATE_TRY(const auto member, object.find_member(key));
  if (member) {
    GRAPHGATE_TRY(value, std::invoke(read, *member));
  }
  return {};
}
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         std::string& value);
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         bool& value);
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         std::int64_t& value);
[[nodiscard]] Result<void> read_optional(const JsonCursor& object, std::string_view key,
                                         std::uint32_t& value);

// Reads every element of a list.
template <class Read>
using Elements = std::vector<
    std::decay_t<decltype(std::declval<std::invoke_result_t<const Read&, JsonCursor>>().value())>>;
template <class Read>
[[nodiscard]] Result<Elements<Read>> read_elements(const JsonCursor& list, const Read& read) {
  GRAPHGATE_TRY(const auto cursors, list.elements());
  Elements<Read> elements;
  elements.reserve(cursors.size());
  for (const JsonCursor& cursor : cursors) {
    GRAPHGATE_TRY(elements.emplace_back(), std::invoke(read, cursor));
  }
  return elements;
}

// A float: a number, or "inf", "-inf" or "nan".
[[nodiscard]] Result<double> read_float(const JsonCursor& cursor);
// A complex number: the real and the imaginary part, each a number or {"float": "inf"}.
[[nodiscard]] Result<spec::ComplexNumber> read_complex(const JsonCursor& cursor);

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
// Appends every element of such a list.
template <class Element, class Read>
[[nodiscard]] Result<void> read_list(const JsonCursor& object, std::string_view key,
                                     std::vector<Element>& elements, const Read& read) {
  return read_list(object, key, [&](const JsonCursor& cursor) -> Result<void> {
    GRAPHGATE_TRY(elements.emplace_back(), std::invoke(read, cursor));
    return {};
  });
}

// Puts every member of an object into a map.
template <class Map, class Read>
[[nodiscard]] Result<void> read_members(const JsonCursor& object, Map& map, const Read& read) {
  GRAPHGATE_TRY(const auto members, object.members());
  for (const auto& [name, member] : members) {
    GRAPHGATE_TRY(map[std::string(name)], std::invoke(read, member));
  }
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
// The same of the member `key`.
template <class Parse>
[[nodiscard]] auto read_word(const JsonCursor& object, std::string_view key, std::string_view what,
                             Parse parse) {
  return read_member(object, key,
                     [&](const JsonCursor& member) { return read_word(member, what, parse); });
}

}  // namespace graphgate::interop
