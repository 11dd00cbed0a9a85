// Words of elements in row-major order, shared by memory, rows and operands, and words that were
// derived from others.
//
// An array never changes. So what is computed of all its words is kept with it: its digest, the
// same words in the order of a view, and converted to another dtype. Weights, which nobody writes,
// are gathered and hashed once.
//
// Used by the provenance instrument (provenance.h).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "optimized/tensor.h"
#include "spec/provenance.h"

namespace graphgate::optimized {

using Word = spec::ProvenanceWord;

// Stands for an element that nothing has written, in arrays that have such; no history is 0.
inline constexpr Word kNoWord = 0;

class WordArray;
using Words = std::shared_ptr<const WordArray>;  // never null

class WordArray {
 public:
  explicit WordArray(std::vector<Word> words, bool has_holes = false)
      : words_(std::move(words)), has_holes_(has_holes) {}

  [[nodiscard]] std::size_t size() const { return words_.size(); }
  [[nodiscard]] Word operator[](std::size_t i) const { return words_[i]; }
  [[nodiscard]] const Word* data() const { return words_.data(); }
  [[nodiscard]] const std::vector<Word>& all() const { return words_; }
  [[nodiscard]] bool has_holes() const { return has_holes_; }

  // Of all words in their order (docs/provenance.md).
  [[nodiscard]] std::uint64_t digest() const;
  // Row-major words of the elements that the tensor's geometry meets, where its first one is
  // element `at`. Holes are unwritten words.
  [[nodiscard]] Words view(std::size_t at, const Tensor& tensor) const;

 private:
  friend class DerivedWords;
  struct View {
    std::size_t at;
    Sizes sizes, strides;
    Words words;
  };
  struct Converted {
    spec::DType from, to;
    std::uint32_t producer;
    Words words;
  };
  std::vector<Word> words_;
  bool has_holes_;
  mutable std::optional<std::uint64_t> digest_;
  mutable std::vector<View> views_;           // the latest, few
  mutable std::vector<Converted> converted_;  // the same
};

[[nodiscard]] inline Words make_words(std::vector<Word> words) {
  return std::make_shared<const WordArray>(std::move(words));
}
// For a row.
[[nodiscard]] inline spec::ProvenanceWords shared_words(const Words& words) {
  return spec::ProvenanceWords(std::shared_ptr<const std::vector<Word>>(words, &words->all()));
}

// Words that were derived from one other word, and can be led back to it: the bytes of an element
// under a view of another dtype, and integers cast to wider ones.
class DerivedWords {
 public:
  Word byte_of(Word element, std::uint32_t size, std::uint32_t index);
  Word joined(std::span<const Word> bytes) const;
  // Elements converted by a node with that producer; themselves when nothing is converted.
  Words converted(const Words& words, spec::DType from, spec::DType to, std::uint32_t producer);

 private:
  struct Slice {
    Word element;
    std::uint32_t size, index;
  };
  // Integers of one dtype that were cast to wider ones: arrays of before and after. Looked up
  // element by element, once something is cast to that dtype.
  struct Widened {
    std::vector<std::pair<Words, Words>> arrays;
    std::unordered_map<Word, Word> before;
  };
  [[nodiscard]] const std::unordered_map<Word, Word>* narrower(spec::DType dtype);

  std::unordered_map<Word, Slice> slices_;
  std::map<spec::DType, Widened> widened_;
};

}  // namespace graphgate::optimized
