// Provenance: beside the bytes of every storage, words that say where each byte comes from.
//
// A run with Mode::kProvenance computes as an eager run does, and keeps a Provenance that every
// node's operands and results go through. It writes a ProvenanceRow for each tensor that a node
// read, made or wrote, which judges compare with another executor's rows, and from which the plan
// verifier takes its facts. docs/provenance.md states what ops make of words; this side keeps
// them by storage (provenance_cells.h).
//
// Used by interpreter.cpp (operations) and executor.cpp (calls). Invariant: a storage without cells
// holds bytes that nothing has written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reference/provenance_cells.h"
#include "reference/provenance_ops.h"
#include "reference/registry.h"
#include "reference/tensor.h"
#include "spec/provenance.h"

namespace graphgate::reference {

// The kinds of places that rows of nodes stand in: "operand 0", "result 1", "written 0".
enum class Port : std::uint8_t { kOperand, kResult, kWritten };

class Provenance {
 public:
  // Without words it only writes rows. `rows`: about as many as a call will have.
  Provenance(bool keeps_words, std::size_t rows) : keeps_words_(keeps_words) {
    rows_.reserve(rows);
  }

  // Row-major words of a tensor, and the other way.
  [[nodiscard]] SharedWords read(const Tensor& tensor);
  void write(const Tensor& tensor, const SharedWords& words);

  // All bytes of the tensor's storage become initial words.
  void begin(const Tensor& tensor, std::string_view kind, std::string_view name,
             std::uint64_t times);
  // `copy` is a new storage with the bytes of `original`.
  void duplicate(const Storage& original, const std::shared_ptr<Storage>& copy);
  // `source` has been written into `target`, broadcast and converted.
  void assign(const Tensor& target, const Tensor& source);

  // One op of a node: what it is given, before it runs on the arguments, and what it has made.
  // Both write rows.
  struct Operation {
    const spec::OpRow& row;
    const WordRule& rule;
    std::uint64_t key = 0;  // key_of the arguments
    const Body body;
    const spec::Node& node;
    const spec::Graph& graph;
    const std::vector<Datum>& arguments;
    std::vector<Datum> copies;  // of the arguments, where the op may overwrite what it reads
    std::vector<WordOperand> operands;
  };
  [[nodiscard]] Operation before_op(const spec::OpRow& row, Body body,
                                    const std::vector<Datum>& arguments, const spec::Node& node,
                                    const spec::Graph& graph);
  void after_op(const Operation& operation, const std::vector<Datum>& results);

  // The end of a call: a row for what it leaves behind.
  void note_end(std::string_view port, const Tensor& tensor);
  // The rows since the last time, or none of them; storages that are gone are forgotten.
  [[nodiscard]] std::vector<spec::ProvenanceRow> take_rows();
  void forget_rows();

 private:
  // Kept until the call ends, so that no other storage gets the address.
  struct Known {
    std::shared_ptr<Storage> storage;
    std::optional<std::uint32_t> number;  // in the rows of this call
    Cells cells;
  };
  Known& known(const std::shared_ptr<Storage>& storage);
  Cells& cells_of(const std::shared_ptr<Storage>& storage);
  const WordRule& rule_of(const spec::OpRow& row);
  // What stays of a node over the calls of its program.
  struct KnownNode {
    const spec::OpRow* row = nullptr;  // that ran last
    const WordRule* rule = nullptr;
    std::optional<std::uint64_t> key;  // absent where it may be another in the next call
  };
  const KnownNode& known_node(const spec::OpRow& row, const spec::Node& node,
                              const spec::Graph& graph, const std::vector<Datum>& arguments);
  // A row at the end of rows_.
  spec::ProvenanceRow& add_row(const Tensor& tensor, std::string_view port);
  void add_row_of(const Operation& operation, const Tensor& tensor, Port port, std::size_t number,
                  const std::string& value, SharedWords words);

  const bool keeps_words_;
  std::unordered_map<const Storage*, Known> storages_;
  Known* last_known_ = nullptr;  // a row follows upon its words
  std::uint32_t next_number_ = 0;
  std::unordered_map<const spec::OpRow*, WordRule> rules_;  // of ops that ran
  std::unordered_map<const spec::Node*, KnownNode> nodes_;  // that ran
  std::vector<spec::ProvenanceRow> rows_;
  Origins origins_;
};

}  // namespace graphgate::reference
