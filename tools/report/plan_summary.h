// A plan as a page for a person: partitions with reasons and signatures, then memory.
#pragma once

#include <string>

#include "spec/plan.h"

namespace graphgate::tools {

// Ends in a line end. The plan must pass check_plan.
[[nodiscard]] std::string summarize_plan(const spec::Plan& plan);

}  // namespace graphgate::tools
