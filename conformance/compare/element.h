// The judges' own reading of tensor bytes: decoded from the formats' definitions, shared with no
// executor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/tensor.h"

namespace graphgate::conformance {

// Every element in row-major order, exactly. long double holds every float64 and int64.
[[nodiscard]] std::vector<long double> decode_elements(const spec::HostTensor& tensor);

// An element as a message shows it: every digit of an integer, nine of a number of a floating
// dtype.
[[nodiscard]] std::string shown_element(long double value, spec::DType dtype);

// The smallest magnitude that rounds to infinity in `dtype` (NaN in float8_e4m3fn): the largest
// element plus half its spacing. Infinite for integers.
[[nodiscard]] long double overflow_threshold(spec::DType dtype);

// Half the spacing of the elements of a floating dtype around `value`, subnormals included; 0 for
// integers.
[[nodiscard]] long double half_spacing(long double value, spec::DType dtype);

}  // namespace graphgate::conformance
