// The JSON of the command line's files and reports: members in the order in which they are written.
#pragma once

#include <nlohmann/json.hpp>

namespace graphgate::tools {

using Json = nlohmann::ordered_json;

// What a child process hands back (base/child_processes.h), as one line of ASCII; bytes that are no
// UTF-8 are replaced.
template <class AnyJson>
[[nodiscard]] std::string child_text(const AnyJson& json) {
  return json.dump(-1, ' ', true, AnyJson::error_handler_t::replace);
}

}  // namespace graphgate::tools
