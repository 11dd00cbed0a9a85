// Typed access to parsed JSON that knows where it is.
//
// Every reader of this folder walks its JSON with cursors. A cursor is a value and the way to it;
// the way is only spelled out when something is wrong:
//   model.json: graph_module.graph.nodes[12].inputs[0].arg: expected an object, found a number
//
// A cursor points into its parent: the parent and the parsed JSON must outlive it, which is why
// children of a temporary cursor do not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace graphgate::interop {

using Json = nlohmann::json;

// "an object", "a number", "null": for messages.
[[nodiscard]] std::string_view describe_kind(const Json& value);

class JsonCursor {
 public:
  // Errors start with `file` and, where `value` is not the whole of it, the way to it: "model.json"
  // and "graph_module.graph.nodes[12]".
  JsonCursor(const Json& value, std::string file, std::string path = {})
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] bool is_null() const { return value_->is_null(); }

  // The member `key` of an object. find_member: nullopt when it is missing or null. `key` must
  // outlive the cursor.
  [[nodiscard]] Result<JsonCursor> member(std::string_view key) const&;
  [[nodiscard]] Result<std::optional<JsonCursor>> find_member(std::string_view key) const&;
  Result<JsonCursor> member(std::string_view key) && = delete;
  Result<std::optional<JsonCursor>> find_member(std::string_view key) && = delete;

  // The elements of an array, in order.
  [[nodiscard]] Result<std::vector<JsonCursor>> elements() const&;
  Result<std::vector<JsonCursor>> elements() && = delete;
  // The members of an object, in the order of their names.
  [[nodiscard]] Result<std::vector<std::pair<std::string_view, JsonCursor>>> members() const&;
  Result<std::vector<std::pair<std::string_view, JsonCursor>>> members() && = delete;
  // A union in the export schema: an object with one member, whose name says which kind it is.
  [[nodiscard]] Result<std::pair<std::string_view, JsonCursor>> only_member() const&;
  Result<std::pair<std::string_view, JsonCursor>> only_member() && = delete;

  // Numbers: integers must fit 64 bits; as_double also takes "Infinity", "-Infinity" and "NaN",
  // which is how the export schema writes what JSON lacks.
  [[nodiscard]] Result<std::int64_t> as_int() const;
  [[nodiscard]] Result<double> as_double() const;
  [[nodiscard]] Result<bool> as_bool() const;
  [[nodiscard]] Result<std::string> as_string() const;
  [[nodiscard]] Result<std::vector<std::int64_t>> as_ints() const;

  // Where this is, and an error that says so.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] Error error(std::string_view message) const;
  [[nodiscard]] Error unsupported_here(std::string_view message) const;

 private:
  JsonCursor(const Json& value, const JsonCursor& parent, std::string_view key)
      : value_(&value), parent_(&parent), key_(key) {}
  JsonCursor(const Json& value, const JsonCursor& parent, std::size_t index)
      : value_(&value), parent_(&parent), index_(index) {}
  [[nodiscard]] Error expected(std::string_view what) const;

  const Json* value_;
  const JsonCursor* parent_ = nullptr;
  std::string file_;                  // when there is no parent
  std::string path_;                  // the same
  std::string_view key_;              // when the parent is an object
  std::optional<std::size_t> index_;  // when the parent is an array
};

}  // namespace graphgate::interop
