#include "optimized/upstream/json_rows.h"

#include <algorithm>

namespace graphgate::optimized {

using Json = nlohmann::json;

namespace {

// How deep a file nests at most: no file of this form comes near it.
constexpr int kDeepest = 256;
struct TooDeep {};

bool keep_shallow(int depth, Json::parse_event_t event, Json& /*value*/) {
  const bool opens =
      event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
  if (opens && depth >= kDeepest) throw TooDeep();
  return true;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view source_name) {
  try {
    return Json::parse(text, keep_shallow);
  } catch (const TooDeep&) {
    return bad_input(std::string(source_name) + ": nested deeper than " + std::to_string(kDeepest) +
                     " levels");
  } catch (const Json::parse_error& error) {
    return bad_input(std::string(source_name) + ": no JSON at byte " + std::to_string(error.byte));
  } catch (const Json::out_of_range&) {
    return bad_input(std::string(source_name) + ": a number is larger than a double can be");
  }
}

Result<JsonRow> JsonRow::of(const Json& value, std::string place) {
  if (!value.is_object()) return bad_input(place + ": expected an object");
  return JsonRow(value, std::move(place));
}

Error JsonRow::error(const std::string& message) const {
  return bad_input(place_ + ": " + message);
}

bool JsonRow::has(std::string_view key) const {
  const auto found = value_->find(key);
  return found != value_->end() && !found->is_null();
}

const Json* JsonRow::find(std::string_view key) {
  read_.emplace_back(key);
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

Result<std::string> JsonRow::text(std::string_view key) {
  const Json* found = find(key);
  if (!found || !found->is_string() || found->get_ref<const std::string&>().empty()) {
    return error("expected a text '" + std::string(key) + "'");
  }
  return found->get<std::string>();
}

Result<std::string> JsonRow::text_or_empty(std::string_view key) {
  if (has(key)) return text(key);
  (void)find(key);
  return std::string();
}

Result<std::optional<Version>> JsonRow::version(std::string_view key) {
  GRAPHGATE_TRY(const std::string written, text_or_empty(key));
  if (written.empty()) return std::optional<Version>();
  const auto parsed = parse_version(written);
  if (!parsed.ok()) return error(std::string(key) + ": " + parsed.error().message);
  return std::optional(parsed.value());
}

Result<std::vector<std::string>> JsonRow::texts(std::string_view key) {
  const Json* found = find(key);
  std::vector<std::string> out;
  if (!found) return out;
  const bool good =
      found->is_array() && std::ranges::all_of(*found, [](const Json& e) { return e.is_string(); });
  if (!good) return error("expected a list of texts '" + std::string(key) + "'");
  for (const Json& element : *found) out.push_back(element.get<std::string>());
  return out;
}

Result<bool> JsonRow::flag(std::string_view key, bool otherwise) {
  const Json* found = find(key);
  if (!found) return otherwise;
  if (!found->is_boolean()) return error("expected true or false as '" + std::string(key) + "'");
  return found->get<bool>();
}

Result<std::vector<JsonRow>> JsonRow::rows(std::string_view key) {
  const Json* found = find(key);
  if (!found || !found->is_array()) return error("expected a list '" + std::string(key) + "'");
  std::vector<JsonRow> out;
  for (std::size_t i = 0; i < found->size(); ++i) {
    GRAPHGATE_TRY(JsonRow row, of((*found)[i], place_ + ": " + std::string(key) + "[" +
                                                   std::to_string(i) + "]"));
    out.push_back(std::move(row));
  }
  return out;
}

Result<std::vector<std::pair<std::string, JsonRow>>> JsonRow::named_rows(std::string_view key) {
  const Json* found = find(key);
  if (!found || !found->is_object()) return error("expected an object '" + std::string(key) + "'");
  std::vector<std::pair<std::string, JsonRow>> out;
  for (const auto& [name, value] : found->items()) {
    GRAPHGATE_TRY(JsonRow row, of(value, place_ + ": " + std::string(key) + "." + name));
    out.emplace_back(name, std::move(row));
  }
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> JsonRow::named_texts(
    std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  const Json* found = find(key);
  if (!found) return out;
  if (!found->is_object()) return error("expected an object '" + std::string(key) + "'");
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) return error("expected a text '" + std::string(key) + "." + name + "'");
    out.emplace_back(name, value.get<std::string>());
  }
  return out;
}

Result<void> JsonRow::finish() const {
  for (const auto& [name, value] : value_->items()) {
    if (std::ranges::find(read_, name) == read_.end()) {
      return error("unknown member '" + name + "'");
    }
  }
  return {};
}

Result<spec::Deviation> deviation_of(const JsonRow& row, const std::string& name) {
  const auto found = spec::find_deviation(name);
  if (!found) return row.error("no deviation is called '" + name + "'");
  return *found;
}

}  // namespace graphgate::optimized
