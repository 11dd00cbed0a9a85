// Words beside memory: for every byte that a run has seen, which element of which history it is.
//
// Keyed by address, so that a place that two storages take after one another keeps what the last
// write left, as the bytes do. Pages come into being when something is written to them.
//
// Owned by the provenance instrument (provenance.h).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "optimized/tensor.h"
#include "spec/provenance.h"

namespace graphgate::optimized {

using Word = spec::ProvenanceWord;
using Address = std::uintptr_t;

// Words that were derived from one other word, and can be led back to it: the bytes of an element
// under a view of another dtype, and integers cast to wider ones.
class DerivedWords {
 public:
  Word byte_of(Word element, std::uint32_t size, std::uint32_t index);
  Word joined(std::span<const Word> bytes) const;
  // An element converted by a node with that producer; the word itself when nothing is converted.
  Word converted(Word word, spec::DType from, spec::DType to, std::uint32_t producer);

 private:
  struct Slice {
    Word element;
    std::uint32_t size, index;
  };
  std::unordered_map<Word, Slice> slices_;
  std::unordered_map<Word, std::pair<Word, spec::DType>> narrower_;
};

class WordMemory {
 public:
  // The words of `tensor` in row-major order; `first` is where its element at offset 0 lies.
  std::vector<Word> load(const Tensor& tensor, Address first);
  void store(const Tensor& tensor, Address first, std::span<const Word> words);

  // Whole elements of `size` bytes, from `first` on.
  void store_elements(Address first, std::uint32_t size, std::span<const Word> words);
  // Bytes that nothing has written.
  void forget(Address first, std::size_t count);
  void forget(const Tensor& tensor, Address first);

  // What lies there, for putting it back.
  struct Saved {
    Address first = 0;
    std::vector<Word> words;
    std::vector<std::uint8_t> marks;
  };
  [[nodiscard]] Saved save(Address first, std::size_t count) const;
  void restore(const Saved& saved);

  DerivedWords derived;

 private:
  static constexpr std::size_t kPageBytes = 4096;
  // `marks`: 16 * size + index of the byte in its element; 0: unwritten.
  struct Page {
    std::array<Word, kPageBytes> words;
    std::array<std::uint8_t, kPageBytes> marks{};
  };
  [[nodiscard]] Page* find(Address address) const;
  Page& at(Address address);
  [[nodiscard]] Word load_bytes(Address address, std::uint32_t size);
  void store_byte(Address address, Word word, std::uint8_t mark);

  std::unordered_map<Address, std::unique_ptr<Page>> pages_;
  mutable Address last_ = static_cast<Address>(-1);
  mutable Page* last_page_ = nullptr;
};

}  // namespace graphgate::optimized
