// Inputs in the layout that a program declares for them.
//
// Recordings store tensors packed, and drawn ones are packed too. A program that was exported with
// a channels-last or transposed input declares that input's strides, and what its ops return (which
// strides, and whether a view or a copy) depends on them. One that was a part of a larger tensor
// declares a storage offset, from which as_strided counts.
#pragma once

#include <vector>

#include "spec/executor.h"

namespace graphgate::conformance {

// Returns a packed tensor in the layout (strides and storage offset) that `type` declares at these
// symbols. Returns it as it was where the strides cannot be told or do not give every element a
// place of its own.
[[nodiscard]] spec::HostTensor laid_out(const spec::HostTensor& packed,
                                        const spec::TensorType& type,
                                        const spec::SymbolValues& symbols);

// Returns the bytes of its storage up to the tensor's last element: 0 of one without elements.
[[nodiscard]] std::size_t reach_bytes(const spec::HostTensor& tensor);

// Whether another tensor among them lies in the storage of that one.
[[nodiscard]] bool shares_storage(const std::vector<spec::InputValue>& inputs, std::size_t index);

// User inputs that are no constants, in order: what the inputs of a call are parallel to.
[[nodiscard]] std::vector<const spec::ProgramInput*> passed_inputs(const spec::Program& program);

// Symbols that stand alone as a size of a tensor among the inputs, or are one of its numbers, with
// their values. The first mention counts.
[[nodiscard]] spec::SymbolValues symbols_of(const spec::Program& program,
                                            const std::vector<spec::InputValue>& inputs);

// Gives each packed tensor among the user inputs the declared strides and storage offset, where
// they can be told from its sizes and give every element a place of its own. Elements stay what
// they are. Tensors that share a storage, or are not packed, stay as they are.
void lay_out_inputs(const spec::Program& program, std::vector<spec::InputValue>& inputs);

}  // namespace graphgate::conformance
