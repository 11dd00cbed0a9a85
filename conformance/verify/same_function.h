// Whether two ops of ATen may be one function of the same operands.
//
// Ops have names that mean the same: absolute is abs. Some differ for NaN alone: fmax is maximum
// else. Some leave values of a range as they are: relu and abs of what is positive. A plan that has
// one of such ops where the program has the other may compute what it should.
#pragma once

#include <string_view>

namespace graphgate::verify {

// Returns whether there are floats of which both make the same, but for NaN.
// Names are those of families ("add" for aten.add_.Tensor), of pointwise ops and of reductions.
[[nodiscard]] bool may_be_one_function(std::string_view family, std::string_view other);

}  // namespace graphgate::verify
