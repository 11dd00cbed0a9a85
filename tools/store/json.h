// The JSON of the command line's files and reports: members in the order in which they are written.
#pragma once

#include <nlohmann/json.hpp>

namespace graphgate::tools {

using Json = nlohmann::ordered_json;

}  // namespace graphgate::tools
