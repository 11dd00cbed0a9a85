// Which node makes what a judge found off.
#pragma once

#include <string>

#include "spec/program.h"

namespace graphgate::conformance {

// The node that makes the output, or the new contents of the state or input, that `where` names
// ("output 0", "final input 1", "state 'cache'"). "" where the program writes in place, and for
// anything else.
[[nodiscard]] std::string producer_of(const spec::Program& program, const std::string& where);

// Whether the program returns new contents of what it mutates.
[[nodiscard]] bool is_functionalized(const spec::Program& program);

}  // namespace graphgate::conformance
