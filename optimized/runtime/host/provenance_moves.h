// Ops that move elements: their kernels run on words. Used by provenance_ops.cpp.
#pragma once

#include "optimized/runtime/host/provenance_ops.h"

namespace graphgate::optimized {

// Whether the call's results are made of elements of its operands, and nothing is computed.
[[nodiscard]] bool only_moves(const BoundCall& call);

// The words of the outputs; 0 where the op fills in a number. Nothing when the kernel does not take
// int64, or an index is not at hand. The call must be one that only moves.
[[nodiscard]] std::optional<std::vector<std::vector<Word>>> move_words(
    const BoundCall& call, const std::vector<WordInput>& inputs,
    const std::vector<WordOutput>& outputs, std::uint32_t producer, DerivedWords& derived);

}  // namespace graphgate::optimized
