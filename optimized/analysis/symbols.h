// From the inputs of a call to the values of the program's symbols, with every check on the way.
#pragma once

#include <map>
#include <span>

#include "spec/executor.h"

namespace graphgate::optimized {

// Binds each symbol that is the size of a tensor input, or an integer input, to what is given.
// Fails with kBadInput, naming the input and the dimension. The count of inputs may be another, and
// a number may stand for a tensor or the reverse. A dtype, a rank or a size may differ from what
// the program states, and a geometry may lie outside its storage. Two inputs may give a symbol
// different values, or one outside its range. `allow_zero_and_one`: ranges that start at 2 accept 0
// and 1.
[[nodiscard]] Result<spec::SymbolValues> bind_symbols(const spec::Program& program,
                                                      std::span<const spec::InputValue> inputs,
                                                      bool allow_zero_and_one);

}  // namespace graphgate::optimized
