// What an op makes of words, on the optimized side (docs/provenance.md states it).
//
// Kernels that only move elements are bound to words in place of elements; for all others words are
// hashed. Used by the provenance instrument only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimized/runtime/host/instrument.h"
#include "optimized/runtime/host/word_array.h"

namespace graphgate::optimized {

// A tensor argument, in the call. `element` counts within its argument, where that is a list.
struct WordInput {
  std::size_t argument = 0;
  std::size_t element = 0;
  const Tensor* tensor = nullptr;
};

// A tensor that the launch makes or writes: result `result` (lists unpacked), or input `input`
// written without being returned; a result in place has both.
struct WordOutput {
  std::optional<std::size_t> result;
  std::optional<std::size_t> input;
  const Tensor* tensor = nullptr;  // in the call
};

class StagedMove;

// What one call makes of words, as far as the call itself tells: found out once for a launch that
// runs many times. The call outlives the rule, and stays where it is.
class WordRule {
 public:
  explicit WordRule(const BoundCall& call);

  [[nodiscard]] const std::vector<WordInput>& inputs() const { return inputs_; }
  // In the order of the results, then of the arguments. None for an op that only changes geometry.
  [[nodiscard]] const std::vector<WordOutput>& outputs() const { return outputs_; }

  // The words of each output, of those of each input; nothing of an op that only allocates. Runs
  // before the launch: what the op reads for its values (indices, masks) is still there.
  [[nodiscard]] std::optional<std::vector<Words>> apply(const std::vector<Words>& operands,
                                                        DerivedWords& derived) const;

 private:
  enum class Hashing : std::uint8_t { kKept, kByElement, kByDigest };

  void find_outputs();
  void find_key(const std::string& family);
  [[nodiscard]] Hashing hashing_of(const WordOutput& output, const std::string& family) const;
  [[nodiscard]] std::uint64_t with_output(std::uint64_t hash, const WordOutput& output) const;
  [[nodiscard]] Words by_element(std::size_t output, const std::vector<Words>& operands) const;
  [[nodiscard]] std::uint64_t digest_of(const std::vector<Words>& operands) const;

  const BoundCall& call_;
  bool allocates_ = false;        // and no more
  const Moves* moves_ = nullptr;  // null for an op that computes
  mutable std::shared_ptr<StagedMove> staged_;
  std::uint32_t producer_ = 0;
  std::uint64_t key_ = 0;
  std::vector<WordInput> inputs_;
  std::vector<bool> counts_;  // by input: what it holds is read
  std::vector<WordOutput> outputs_;
  std::vector<Hashing> hashing_;             // by output, as the next two
  std::vector<std::uint64_t> element_keys_;  // key, then what tells the output from others
  std::vector<Word> fillers_;
};

}  // namespace graphgate::optimized
