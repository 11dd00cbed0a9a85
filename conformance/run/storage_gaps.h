// What lies around the elements of recorded inputs, in their storages.
//
// A recording that holds an input packed says nothing of the bytes between its elements and around
// them, which as_strided can reach. They were there when the program ran, and nobody knows what
// they held: an oracle leaves open what is read there.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/executor.h"
#include "spec/op_table.h"

namespace graphgate::conformance {

// Makes the storages of inputs that came packed (`packed`, before lay_out_inputs) as large as the
// program addresses them. What is new holds zeros.
void widen_storages(const spec::Program& program, const spec::OpTable& ops,
                    const std::vector<spec::InputValue>& packed,
                    std::vector<spec::InputValue>& inputs);

// The places of the inputs that came packed and lie in a larger storage now, where some node
// addresses elements by places in a storage.
[[nodiscard]] std::vector<std::size_t> inputs_with_unknown_gaps(
    const spec::Program& program, const std::vector<spec::InputValue>& packed,
    const std::vector<spec::InputValue>& inputs);

}  // namespace graphgate::conformance
