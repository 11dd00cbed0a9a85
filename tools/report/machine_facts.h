// Facts of this build and this machine, for `graphgate doctor` and for whoever must know what a
// report was made with.
#pragma once

#include <nlohmann/json.hpp>

namespace graphgate::tools {

// One object, a line of text or a number for each fact.
[[nodiscard]] nlohmann::ordered_json machine_facts();

}  // namespace graphgate::tools
