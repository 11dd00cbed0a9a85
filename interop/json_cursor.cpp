#include "interop/json_cursor.h"

#include <cmath>
#include <limits>

#include "base/one_line.h"

namespace graphgate::interop {

// Keys and words are a file's, and a message is one line.
constexpr std::size_t kShownKeyBytes = 200;

std::string_view describe_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "a number";
    default:
      return "nothing";
  }
}

std::string JsonCursor::place() const {
  if (parent_ == nullptr) return path_.empty() ? file_ : file_ + ": " + path_;
  std::string text = parent_->place();
  const bool after_file = parent_->parent_ == nullptr && parent_->path_.empty();
  if (after_file) text += ": ";
  if (index_) return text + "[" + std::to_string(*index_) + "]";
  if (!after_file) text += '.';
  return text.append(one_line(key_, kShownKeyBytes));
}

Error JsonCursor::error(std::string_view message) const {
  return bad_input(one_line(message)).at(place());
}

Error JsonCursor::unsupported_here(std::string_view message) const {
  return unsupported(one_line(message) + " is not supported").at(place());
}

Error JsonCursor::expected(std::string_view what) const {
  return error("expected " + std::string(what) + ", found " + std::string(describe_kind(*value_)));
}

Result<std::optional<JsonCursor>> JsonCursor::find_member(std::string_view key) const& {
  if (!value_->is_object()) return expected("an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::optional<JsonCursor>();
  return std::optional<JsonCursor>(JsonCursor(*found, *this, key));
}

Result<JsonCursor> JsonCursor::member(std::string_view key) const& {
  if (!value_->is_object()) return expected("an object");
  const auto found = value_->find(key);
  if (found == value_->end()) return error("has no \"" + std::string(key) + "\"");
  return JsonCursor(*found, *this, key);
}

Result<std::vector<JsonCursor>> JsonCursor::elements() const& {
  if (!value_->is_array()) return expected("an array");
  std::vector<JsonCursor> cursors;
  cursors.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    cursors.push_back(JsonCursor((*value_)[i], *this, i));
  }
  return cursors;
}

Result<std::vector<std::pair<std::string_view, JsonCursor>>> JsonCursor::members() const& {
  if (!value_->is_object()) return expected("an object");
  std::vector<std::pair<std::string_view, JsonCursor>> cursors;
  cursors.reserve(value_->size());
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    cursors.emplace_back(key, JsonCursor(value, *this, std::string_view(key)));
  }
  return cursors;
}

Result<std::pair<std::string_view, JsonCursor>> JsonCursor::only_member() const& {
  if (!value_->is_object()) return expected("an object");
  if (value_->size() != 1) {
    return error("expected an object with one member, found " + std::to_string(value_->size()));
  }
  const auto& [key, value] = *value_->get_ref<const Json::object_t&>().begin();
  return std::pair(std::string_view(key), JsonCursor(value, *this, std::string_view(key)));
}

Result<std::int64_t> JsonCursor::as_int() const {
  if (!value_->is_number_integer()) return expected("an integer");
  if (value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return error("the integer " + value_->dump() + " does not fit 64 bits");
  }
  return value_->get<std::int64_t>();
}

Result<double> JsonCursor::as_double() const {
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) {
    const auto& text = value_->get_ref<const std::string&>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  return expected("a number");
}

Result<bool> JsonCursor::as_bool() const {
  if (!value_->is_boolean()) return expected("a boolean");
  return value_->get<bool>();
}

Result<std::string> JsonCursor::as_string() const {
  if (!value_->is_string()) return expected("a string");
  return value_->get<std::string>();
}

Result<std::vector<std::int64_t>> JsonCursor::as_ints() const {
  GRAPHGATE_TRY(const auto cursors, elements());
  std::vector<std::int64_t> ints;
  ints.reserve(cursors.size());
  for (const JsonCursor& cursor : cursors) {
    GRAPHGATE_TRY(ints.emplace_back(), cursor.as_int());
  }
  return ints;
}

}  // namespace graphgate::interop
