// What a caller passed, against what the program declares.
#pragma once

#include <span>

#include "spec/executor.h"

namespace graphgate::reference {

// Checks count, kind, dtype, rank and sizes of the user inputs, binds every symbol that is an
// input's size, and checks sizes that are expressions and the symbols' ranges. Errors are kBadInput
// and name the input. `allow_zero_and_one`: see Options.
[[nodiscard]] Result<void> check_inputs(const spec::Program& program,
                                        std::span<const spec::InputValue> inputs,
                                        bool allow_zero_and_one);

}  // namespace graphgate::reference
