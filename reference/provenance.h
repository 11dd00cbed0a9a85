// Provenance: beside the bytes of every storage, words that say where each byte comes from.
//
// A run with Mode::kProvenance computes as an eager run does, and keeps a Provenance that every
// node's operands and results go through. It writes a ProvenanceRow for each tensor that a node
// read, made or wrote, which judges compare with another executor's rows, and from which the plan
// verifier takes its facts. docs/provenance.md states what ops make of words; this side keeps
// them by storage, byte by byte.
//
// Used by interpreter.cpp (operations) and executor.cpp (calls). Invariant: a storage without cells
// holds bytes that nothing has written.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "reference/array.h"
#include "reference/registry.h"
#include "reference/tensor.h"
#include "spec/provenance.h"

namespace graphgate::reference {

using Words = std::vector<spec::ProvenanceWord>;
using SharedWords = spec::ProvenanceWords;

// One byte: `index` of the `size` bytes of an element with that word. Size 0: unwritten.
struct ByteWord {
  spec::ProvenanceWord word = 0;
  std::uint8_t size = 0;
  std::uint8_t index = 0;
};

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

class Provenance {
 public:
  // Without words it only writes rows.
  explicit Provenance(bool keeps_words) : keeps_words_(keeps_words) {}

  // Row-major words of a tensor, and the other way.
  [[nodiscard]] Words read(const Tensor& tensor);
  void write(const Tensor& tensor, const Words& words);

  // All bytes of the tensor's storage become initial words.
  void begin(const Tensor& tensor, std::string_view kind, std::string_view name,
             std::uint64_t times);
  // `copy` is a new storage with the bytes of `original`.
  void duplicate(const Storage& original, const std::shared_ptr<Storage>& copy);
  // `source` has been written into `target`, broadcast and converted.
  void assign(const Tensor& target, const Tensor& source);

  // One op of a node: `run` runs it on the arguments and returns its results. Writes rows.
  std::vector<Datum> operate(const spec::OpRow& row, Body body, std::vector<Datum> arguments,
                             const spec::Node& node, const spec::Graph& graph,
                             const std::function<std::vector<Datum>(std::vector<Datum>)>& run);

  // The end of a call: a row for what it leaves behind.
  void note_end(std::string port, const Tensor& tensor);
  // The rows since the last time; storages that are gone are forgotten.
  [[nodiscard]] std::vector<spec::ProvenanceRow> take_rows();

 private:
  struct Cells {
    std::weak_ptr<Storage> storage;
    std::vector<ByteWord> bytes;
  };
  Cells& cells_of(const std::shared_ptr<Storage>& storage);
  spec::ProvenanceRow row_for(const Tensor& tensor, std::string port, std::string value);

  const bool keeps_words_;
  std::unordered_map<const Storage*, Cells> cells_;
  std::unordered_map<const Storage*, std::uint32_t> numbers_;  // of storages, in this call
  std::vector<std::shared_ptr<Storage>> numbered_;             // keeps their addresses
  std::vector<spec::ProvenanceRow> rows_;
  Origins origins_;
};

}  // namespace graphgate::reference
