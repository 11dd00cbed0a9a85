// Which rows of what a program makes depend on the same rows of its inputs alone.
//
// A row is what lies at one index of dimension 0. Of a chain of pointwise ops row 7 of the result
// depends on row 7 of each operand; a softmax over the last dimension, or a product with a weight,
// keeps that; a sum over dimension 0 does not. Where it holds from the inputs to the outputs, an
// oracle may run the program on some rows at a time, and knows the same of each element: what it
// knows is computed element by element, or slice by slice of other dimensions, from dtypes and
// numbers of dimensions, whatever the count of rows is (two at least: single elements may be
// promoted otherwise).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/run/script.h"

namespace graphgate::conformance {

struct RowCut {
  std::int64_t rows = 0;
  std::vector<bool> inputs;   // by user input (None and numbers that the program fixes left out)
  std::vector<bool> values;   // by value of the graph
  std::int64_t elements = 0;  // of all inputs and outputs that are cut, at all rows
};

// How a program can be cut that is called with these inputs. kUnsupported, naming the first node
// that takes rows together, or what else is in the way, where it cannot: all outputs are tensors
// that are cut, nothing is written in place, no state changes.
[[nodiscard]] Result<RowCut> find_row_cut(const spec::Program& program, const spec::OpTable& ops,
                                          std::span<const spec::InputValue> inputs);

// Rows [first, first + count) of a tensor with dimensions, over the same storage.
[[nodiscard]] spec::HostTensor rows_of(const spec::HostTensor& tensor, std::int64_t first,
                                       std::int64_t count);

// The program for inputs of `rows` rows. It has the same nodes: none says how many there are.
[[nodiscard]] spec::Program program_of_rows(const spec::Program& program, const RowCut& cut,
                                            std::int64_t rows);

}  // namespace graphgate::conformance
