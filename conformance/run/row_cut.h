// Which rows of what a program makes depend on the same rows of its inputs alone.
//
// A row is what lies at one index of one dimension. Of a chain of pointwise ops row 7 of the result
// depends on row 7 of each operand, whatever the dimension is. A softmax over the last dimension,
// or a product with a weight, keeps that for the other dimensions. A sum over dimension 0 keeps it
// for dimension 1. A view may move rows to another dimension, or make ten of one. Where it holds
// from the inputs to the outputs, an oracle may run the program on some rows at a time, and knows
// the same of each element. What it knows is computed element by element, or slice by slice of
// other dimensions, from dtypes and numbers of dimensions. The count of rows does not matter, but
// it is two at least: single elements may be promoted otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conformance/run/script.h"

namespace graphgate::conformance {

// Where a tensor has its rows.
struct RowPlace {
  std::int64_t dim = 0;
  // So many indices of `dim` for so many rows of the cut.
  std::int64_t times = 1;
  std::int64_t over = 1;

  [[nodiscard]] std::int64_t size(std::int64_t rows) const { return rows * times / over; }
  friend bool operator==(const RowPlace&, const RowPlace&) = default;
};

// An entry of a list argument that says how many rows there are.
struct RowSize {
  std::size_t node = 0;
  std::size_t argument = 0;  // by place among those that are given
  std::size_t entry = 0;
  RowPlace place;
};

struct RowCut {
  std::int64_t rows = 0;     // of the largest input
  std::int64_t granule = 1;  // a part has a multiple of so many rows, and two of them at least
  std::vector<std::optional<RowPlace>> inputs;  // by user input (None and numbers that the program
                                                // fixes left out); nothing: the same for all rows
  std::vector<std::optional<RowPlace>> values;  // by value of the graph
  std::vector<RowPlace> outputs;                // by output
  std::vector<RowSize> sizes;
  std::int64_t elements = 0;  // of all inputs and outputs that are cut, at all rows

  [[nodiscard]] std::int64_t parts() const { return rows / (2 * granule); }
};

// How a program can be cut that is called with these inputs: along the first dimension of the
// largest input that gives `parts` parts, else along the one that gives most. kUnsupported, naming
// the first node that takes rows together, or what else is in the way, where it cannot: all outputs
// are tensors that are cut, nothing is written in place, no state changes.
[[nodiscard]] Result<RowCut> find_row_cut(const spec::Program& program, const spec::OpTable& ops,
                                          std::span<const spec::InputValue> inputs,
                                          std::int64_t parts = 2);

// Rows [first, first + count) of the cut of a tensor, over the same storage.
[[nodiscard]] spec::HostTensor rows_of(const spec::HostTensor& tensor, const RowPlace& place,
                                       std::int64_t first, std::int64_t count);

// The program for inputs of `rows` rows. It has the same nodes.
[[nodiscard]] spec::Program program_of_rows(const spec::Program& program, const RowCut& cut,
                                            std::int64_t rows);

}  // namespace graphgate::conformance
