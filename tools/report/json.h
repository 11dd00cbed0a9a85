// The JSON of the command line's files and reports: members in the order in which they are written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"

namespace graphgate::tools {

using Json = nlohmann::ordered_json;

// What a child process hands back (base/child_processes.h), as one line of ASCII; bytes that are no
// UTF-8 are replaced.
template <class AnyJson>
[[nodiscard]] std::string child_text(const AnyJson& json) {
  return json.dump(-1, ' ', true, AnyJson::error_handler_t::replace);
}

// The same of what went wrong there, and what was read of it again: nothing where all went well.
[[nodiscard]] inline std::string child_text(const Error& error) {
  return child_text(Json{{"error", error.message}, {"kind", static_cast<int>(error.kind)}});
}
[[nodiscard]] inline std::optional<Error> child_error(const nlohmann::json& answer) {
  if (!answer.contains("error")) return std::nullopt;
  return Error{static_cast<ErrorKind>(answer["kind"].get<int>()),
               answer["error"].get<std::string>()};
}

}  // namespace graphgate::tools
