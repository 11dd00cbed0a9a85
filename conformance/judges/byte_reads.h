// Whether anything in a program depends on the bytes of an input, or on its sizes and dtype alone.
//
// judge_vacuity asks for inputs whose contents no result depends on. zeros_like and type_as read no
// byte of their argument, so such an input matters all the same. One that a product with 0 hides
// does not, with these data.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/judges/judge.h"

namespace graphgate::conformance {

// Returns whether a node that has the input or state called `target` as an operand depends on its
// bytes. For each such node the reference runs the program up to it, in the script's first call.
// The input holds ones and then others, and all other floating inputs hold drawn numbers. True as
// soon as the node's own result differs, and where that cannot be found out.
[[nodiscard]] Result<bool> reads_bytes(Runs& runs, std::size_t program, const std::string& target,
                                       std::uint64_t seed);

}  // namespace graphgate::conformance
