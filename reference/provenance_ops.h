// What one op makes of words: docs/provenance.md, in code.
//
//   moves      copies, joins, gathers, scatters: the op's own body runs on the words, as int64
//   pointwise  each element hashes the elements that it was made of
//   the rest   each element hashes the op, its place, and all elements of all operands
//
// Used by provenance.cpp only.
#pragma once

#include "reference/provenance.h"

namespace graphgate::reference {

// A tensor that an op is given: its geometry and its words, before the op ran.
struct WordOperand {
  std::size_t argument = 0;  // of the schema
  Tensor tensor;
  SharedWords words;
};

// A tensor that an op has made or written. `written` is the operand that it was before: its own, or
// none for a new one. `result` counts results, lists unpacked; absent for what is not returned.
struct WordTarget {
  std::optional<std::size_t> result;
  std::optional<std::size_t> written;
  Tensor tensor;
};

// The arguments of an op whose elements move into its results; null for one that computes. What
// else it takes (indices, masks) is read for what it is.
struct Moves {
  std::string_view base_name;
  std::string_view first;
  std::string_view second = {};

  [[nodiscard]] bool has(std::string_view argument) const {
    return argument == first || argument == second;
  }
};
[[nodiscard]] const Moves* find_moves(const spec::OpRow& row);

// "aten.add" for add, add_ and add.out.
[[nodiscard]] std::string base_of(const spec::OpRow& row);

// Whether the op moves elements: runs on words themselves.
[[nodiscard]] bool moves_words(const spec::OpRow& row, const std::vector<Datum>& arguments);
// Whether the op's results hold nothing yet.
[[nodiscard]] bool leaves_unwritten(const spec::OpRow& row);

struct WordCall {
  const spec::OpRow& row;
  Body body;
  // As before the op ran: tensors that a moving op only reads (indices, masks) hold what it read.
  const std::vector<Datum>& arguments;
  const std::vector<WordOperand>& operands;
  std::uint32_t producer = 0;
};

// The words of each target, in row-major order.
[[nodiscard]] std::vector<Words> words_after(const WordCall& call,
                                             const std::vector<WordTarget>& targets,
                                             Origins& origins);

}  // namespace graphgate::reference
