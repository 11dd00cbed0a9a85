// Inputs in the layout that a program declares for them.
//
// Recordings store tensors packed, and drawn ones are packed too. A program that was exported with
// a channels-last or transposed input declares that input's strides, and what its ops return (which
// strides, and whether a view or a copy) hangs on them.
#pragma once

#include <vector>

#include "spec/executor.h"

namespace graphgate::conformance {

// Gives each packed tensor among the user inputs the declared strides, where they can be told from
// its sizes and give every element a place of its own. Elements stay what they are. Tensors that
// share a storage, or are not packed, stay as they are.
void lay_out_inputs(const spec::Program& program, std::vector<spec::InputValue>& inputs);

}  // namespace graphgate::conformance
