// A plan as a Graphviz graph: partitions are clusters, steps are nodes, edges carry values from the
// step that last wrote them to those that read them.
#pragma once

#include <string>

#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::tools {

// Ends in a line end. The plan must pass check_plan.
[[nodiscard]] std::string plan_to_dot(const spec::Plan& plan, const spec::OpTable& ops);

}  // namespace graphgate::tools
