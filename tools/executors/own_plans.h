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
// and a V0.own-plan for each plan. What cannot be read, or is not shown (the member "not_shown", a
// list of reasons), costs the plan of one graph: it becomes a V0.not-shown with the place.
void verify_own_plans(const interop::JsonCursor& message, std::vector<spec::Finding>& findings);

// Adds a V0.not-shown, in these words.
void add_not_shown(std::string why, std::vector<spec::Finding>& findings);

}  // namespace graphgate::tools
