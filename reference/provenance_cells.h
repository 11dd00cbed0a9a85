// The words of one storage: which element of what history each of its bytes belongs to.
//
// A storage that was written as one array of elements keeps the very array, which rows and operands
// share. One that was written in part before it was ever whole, or that views see as elements of
// several sizes, tells it byte by byte. docs/provenance.md, "Elements and bytes".
//
// Used by provenance.cpp, which keeps one for each storage.
#pragma once

#include <unordered_map>
#include <vector>

#include "reference/tensor.h"
#include "spec/provenance.h"

namespace graphgate::reference {

using Words = std::vector<spec::ProvenanceWord>;
using SharedWords = spec::ProvenanceWords;

// Bytes of one element that a view of another dtype splits, or a cast that another undoes, must
// find back to the word that they came from: what was derived from what.
class Origins {
 public:
  // The word of byte `index` of an element of `size` bytes.
  spec::ProvenanceWord part(spec::ProvenanceWord whole, std::uint8_t size, std::uint8_t index);
  // The word of an element put together from the parts.
  spec::ProvenanceWord join(const Words& parts) const;
  // The word of an element converted to another dtype by the node with this producer.
  spec::ProvenanceWord cast(spec::ProvenanceWord word, spec::DType from, spec::DType to,
                            std::uint32_t producer);

 private:
  struct Origin {
    spec::ProvenanceWord word = 0;
    std::uint8_t size = 0;
    std::uint8_t index = 0;
    spec::DType dtype = spec::DType::kFloat32;
  };
  std::unordered_map<spec::ProvenanceWord, Origin> parts_;
  std::unordered_map<spec::ProvenanceWord, Origin> casts_;
};

class Cells {
 public:
  // The storage has so many bytes by now: new ones are unwritten.
  void resize(std::size_t size_bytes);
  // All elements of `item_bytes`, from the first byte on; the last may reach beyond the end.
  void begin(SharedWords words, std::size_t item_bytes);

  // Row-major words of a tensor that lies in the storage, and the other way.
  [[nodiscard]] SharedWords read(const Tensor& tensor, Origins& origins);
  void write(const Tensor& tensor, const SharedWords& words);

 private:
  // `index` of the `size` bytes of an element with that word. Size 0: unwritten.
  struct ByteWord {
    spec::ProvenanceWord word = 0;
    std::uint8_t size = 0;
    std::uint8_t index = 0;
  };
  // From here on byte by byte.
  void split();
  [[nodiscard]] Words read_bytes(const Tensor& tensor, Origins& origins) const;
  void write_bytes(const Tensor& tensor, const SharedWords& words);

  std::size_t size_bytes_ = 0;
  // Either the storage is `words_`, elements of `item_bytes_`, or that is 0 and it is `bytes_`.
  std::size_t item_bytes_ = 0;
  SharedWords words_;
  std::vector<ByteWord> bytes_;  // empty: nothing is written
};

}  // namespace graphgate::reference
