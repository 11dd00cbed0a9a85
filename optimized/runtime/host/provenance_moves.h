// Ops that move elements: their kernels run on words. Used by provenance_ops.cpp.
#pragma once

#include "optimized/runtime/host/provenance_ops.h"

namespace graphgate::optimized {

// Whether the call's results are made of elements of its operands, and nothing is computed.
[[nodiscard]] bool only_moves(const BoundCall& call);

struct Move {
  const BoundCall& call;  // one that only moves
  const std::vector<WordInput>& inputs;
  const std::vector<Words>& operands;  // parallel to inputs
  const std::vector<WordOutput>& outputs;
  const std::vector<Word>& fillers;  // by output: where the op fills in a number
  std::uint32_t producer = 0;
};
// The words of the outputs. Nothing when the kernel does not take int64, or an index is not at
// hand.
[[nodiscard]] std::optional<std::vector<Words>> move_words(const Move& move, DerivedWords& derived);

}  // namespace graphgate::optimized
