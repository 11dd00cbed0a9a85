// Reading the JSON of this folder: objects whose members are known, with errors that name the
// place.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/upstream/version.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// One object, and where it stands: "overrides.json: overrides[3]". What is read is remembered;
// finish() refuses members that nobody asked for.
class JsonRow {
 public:
  // kBadInput when the value is no object.
  static Result<JsonRow> of(const nlohmann::json& value, std::string place);

  [[nodiscard]] bool has(std::string_view key) const;  // and is not null
  [[nodiscard]] Result<std::string> text(std::string_view key);
  [[nodiscard]] Result<std::string> text_or_empty(std::string_view key);
  [[nodiscard]] Result<std::optional<Version>> version(std::string_view key);
  [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view key);  // empty if missing
  [[nodiscard]] Result<bool> flag(std::string_view key, bool otherwise);
  // The rows of a list of objects; of an object, by name.
  [[nodiscard]] Result<std::vector<JsonRow>> rows(std::string_view key);
  [[nodiscard]] Result<std::vector<std::pair<std::string, JsonRow>>> named_rows(
      std::string_view key);
  [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> named_texts(
      std::string_view key);
  [[nodiscard]] Result<void> finish() const;

  [[nodiscard]] Error error(const std::string& message) const;

 private:
  JsonRow(const nlohmann::json& value, std::string place)
      : value_(&value), place_(std::move(place)) {}
  const nlohmann::json* find(std::string_view key);

  const nlohmann::json* value_;
  std::string place_;
  std::vector<std::string> read_;
};

// The whole text. kBadInput with the parser's place in it, and for one that nests too deep.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text,
                                                std::string_view source_name);

[[nodiscard]] Result<spec::Deviation> deviation_of(const JsonRow& row, const std::string& name);

}  // namespace graphgate::optimized
