// Plans for graphs of an executor's own making: what Inductor makes of a program, say.
//
// A compiler that rewrites a program before it plans has no plan of the program. It may show what
// it planned for instead, and the plan of that; the verifier then judges the two
// (docs/executors.md, "own_plans").
#pragma once

#include <vector>

#include "interop/json_fields.h"
#include "spec/finding.h"

namespace graphgate::tools {

// Verifies what the message's member "own_plans" lists, if there is one, and adds what is found,
// and a V0.own-plan for each plan. kBadInput, with the place, for what cannot be read.
[[nodiscard]] Result<void> verify_own_plans(const interop::JsonCursor& message,
                                            std::vector<spec::Finding>& findings);

}  // namespace graphgate::tools
