// Nodes whose writes show in more than one place that the node sees.
//
// Copying the operands of a node one by one parts what shares bytes. A write into one copy does not
// show in the others, nor, where a view holds an element twice, in the same one. What such a node
// makes of copies says nothing of what it makes of the operands.
#pragma once

#include <span>
#include <vector>

#include "spec/executor.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::conformance {

// Returns for each node of the graph whether it writes a tensor that may share bytes with another
// of its operands or with itself. A tensor shares bytes with itself after expand, unfold or
// as_strided, or as the caller passed it. A write into a copy of such a tensor that keeps its
// strides counts too (slice_scatter and its kin). `inputs` are the user inputs of the call, in
// order. "May": views that lie apart count too, but where the program states constant geometries
// that say so.
[[nodiscard]] std::vector<bool> written_together(const spec::Program& program,
                                                 std::span<const spec::InputValue> inputs,
                                                 const spec::OpTable& ops);

}  // namespace graphgate::conformance
