// The judges' own reading of tensor bytes: decoded from the formats' definitions, shared with no
// executor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spec/tensor.h"

namespace graphgate::conformance {

// The numbers that one element is made of: 2 of a complex dtype, the real and then the imaginary
// part; else 1. They lie one behind the other, each of spec::component_dtype().
[[nodiscard]] std::size_t parts_of(spec::DType dtype);

// Every element in row-major order, exactly: parts_of() numbers an element, as in spec::Spread.
// long double holds every float64 and int64.
[[nodiscard]] std::vector<long double> decode_elements(const spec::HostTensor& tensor);

// The numbers from number `first` on of a row-major tensor, in the order of decode_elements(); it
// has so many.
void decode_row_major(const spec::HostTensor& tensor, std::size_t first,
                      std::span<long double> numbers);

// Whether two tensors have the same dtype, sizes and bytes of elements, strides aside.
[[nodiscard]] bool same_elements(const spec::HostTensor& a, const spec::HostTensor& b);

// An element as a message shows it, from its parts: every digit of an integer, nine of a number of
// a floating dtype; "complex(1, -2)".
[[nodiscard]] std::string shown_element(std::span<const long double> parts, spec::DType dtype);

// The place of an element of a row-major tensor of these sizes, as a message shows it: "[1, 3]".
[[nodiscard]] std::string print_index(std::int64_t element, const std::vector<std::int64_t>& sizes);

// What a message says before the element's name where part number `part` of it is meant: "the
// imaginary part of ", "" of a dtype whose elements are one number.
[[nodiscard]] std::string shown_part(std::size_t part, spec::DType dtype);

// The dtypes below are those of numbers: of complex ones, of their parts.
// The smallest magnitude that rounds to infinity in `dtype` (NaN in float8_e4m3fn): the largest
// element plus half its spacing. Infinite for integers.
[[nodiscard]] long double overflow_threshold(spec::DType dtype);

// Half the spacing of the elements of a floating dtype around `value`, subnormals included; 0 for
// integers.
[[nodiscard]] long double half_spacing(long double value, spec::DType dtype);

}  // namespace graphgate::conformance
