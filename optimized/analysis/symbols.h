// From the inputs of a call to the values of the program's symbols, with every check on the way.
#pragma once

#include <map>
#include <span>

#include "spec/executor.h"

namespace graphgate::optimized {

// Binds each symbol that is the size of a tensor input, or an integer input, to what is given.
// kBadInput, naming the input and the dimension, for: another count of inputs, a number for a
// tensor or the reverse, another dtype or rank, a geometry outside its storage, a size that differs
// from what the program states, a symbol that two inputs give different values, and one outside its
// range. `allow_zero_and_one`: ranges that start at 2 accept 0 and 1.
[[nodiscard]] Result<spec::SymbolValues> bind_symbols(const spec::Program& program,
                                                      std::span<const spec::InputValue> inputs,
                                                      bool allow_zero_and_one);

}  // namespace graphgate::optimized
