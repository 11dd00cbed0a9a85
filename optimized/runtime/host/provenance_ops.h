// What an op makes of words, on the optimized side (docs/provenance.md states it).
//
// Kernels that only move elements are bound to words in place of elements; for all others words are
// hashed. Used by the provenance instrument only.
#pragma once

#include <optional>
#include <vector>

#include "optimized/runtime/host/instrument.h"
#include "optimized/runtime/host/provenance_memory.h"

namespace graphgate::optimized {

// A tensor argument with the words that it holds before the launch. `element` counts within its
// argument, where that is a list.
struct WordInput {
  std::size_t argument = 0;
  std::size_t element = 0;
  Tensor tensor;
  std::vector<Word> words;
};

// A tensor that the launch makes or writes: result `result` (lists unpacked), or input `input`
// written without being returned; a result in place has both.
struct WordOutput {
  std::optional<std::size_t> result;
  std::optional<std::size_t> input;
  Tensor tensor;
};

// The outputs of a call, in the order of its results, then of its arguments. None for an op that
// only changes geometry.
[[nodiscard]] std::vector<WordOutput> word_outputs(const BoundCall& call,
                                                   const std::vector<WordInput>& inputs);

// The words of each output, row-major; nothing of an op that only allocates. Runs before the
// launch: what the op reads for its values (indices, masks) is still there.
[[nodiscard]] std::optional<std::vector<std::vector<Word>>> words_of_call(
    const BoundCall& call, const std::vector<WordInput>& inputs,
    const std::vector<WordOutput>& outputs, DerivedWords& derived);

}  // namespace graphgate::optimized
