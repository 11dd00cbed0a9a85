// What one op makes of words: docs/provenance.md, in code.
//
//   moves      copies, joins, gathers, scatters: the op's own body runs on the words, as int64
//   pointwise  each element hashes the elements that it was made of
//   the rest   each element hashes the op, its place, and all elements of all operands
//
// Used by provenance.cpp only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/provenance_cells.h"
#include "reference/registry.h"
#include "reference/tensor.h"

namespace graphgate::reference {

// What an op makes of words, whatever it is given.
struct WordRule {
  explicit WordRule(const spec::OpRow& row);

  std::string op;                    // its qualified name
  std::uint64_t base = 0;            // its base name, mixed: where keys begin
  const Moves* moves = nullptr;      // null for one that computes
  std::optional<std::size_t> adds;   // the argument with which one that moves computes
  bool is_pointwise = false;         // each element is made of those in its place
  bool leaves_unwritten = false;     // the results hold nothing yet
  bool moves_geometry = false;       // what it writes is a tensor's geometry, and no element
  std::optional<std::size_t> other;  // the argument that leaves integers as they are...
  std::int64_t neutral = 0;          // ...where it is this number

  // Whether the op moves elements: runs on words themselves.
  [[nodiscard]] bool moves_words(const std::vector<Datum>& arguments) const;
};

// A tensor that an op is given: its geometry and its words, before the op ran.
struct WordOperand {
  std::size_t argument = 0;  // of the schema
  TensorRef tensor;
  SharedWords words;
  TensorRef object;                   // the tensor itself, which the op may change
  const std::string* name = nullptr;  // of the value in the graph
};

// A tensor that an op has made or written. `written` is the operand that it was before: its own, or
// none for a new one. `result` counts results, lists unpacked; absent for what is not returned.
struct WordTarget {
  std::optional<std::size_t> result;
  std::optional<std::size_t> written;
  TensorRef tensor;
};

struct WordCall {
  const spec::OpRow& row;
  const WordRule& rule;
  Body body;
  // As before the op ran: tensors that a moving op only reads (indices, masks) hold what it read.
  const std::vector<Datum>& arguments;
  const std::vector<WordOperand>& operands;
  std::uint64_t key = 0;  // key_of the arguments
  std::uint32_t producer = 0;
};

// The op and everything that it is given beside tensors: where hashes begin.
[[nodiscard]] std::uint64_t key_of(const spec::OpRow& row, const WordRule& rule,
                                   const std::vector<Datum>& arguments);

// The words of each target, in row-major order.
[[nodiscard]] std::vector<SharedWords> words_after(const WordCall& call,
                                                   const std::vector<WordTarget>& targets,
                                                   Origins& origins);

}  // namespace graphgate::reference
