// What torch.testing.assert_close would say: a view for comparison with other tools, never a
// judge.
//
// `graphgate mutants` shows beside its own judges what a usual test would have caught. The
// tolerances are torch's defaults by dtype (torch.testing.assert_close, documented with it):
// |actual - expected| <= atol + rtol |expected|, NaN equal to NaN.
#pragma once

#include <string>

#include "spec/executor.h"

namespace graphgate::conformance {

// Whether the outputs are close, elements of the same dtype and sizes alike; strides, sharing,
// final inputs and states are not looked at. What differs first in words, or "".
[[nodiscard]] std::string torch_difference(const spec::CallResult& actual,
                                           const spec::CallResult& expected);

}  // namespace graphgate::conformance
