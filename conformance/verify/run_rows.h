// The rows of an instrumented run, by node: geometry and storages as they were.
//
// Only rows that surely belong to one node, and hold for every run, count. Left out are names that
// several subgraphs share, nodes of subgraphs and those that hold them, and nodes that ran more
// than once.
#pragma once

#include <absl/container/inlined_vector.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spec/program.h"
#include "spec/provenance.h"

namespace graphgate::verify {

class RunRows {
 public:
  RunRows() = default;
  // `run` may be null: then there is no row. Points into both, which must outlive it.
  RunRows(const spec::Program& program, const std::vector<spec::ProvenanceRow>* run);

  // The row of the node's `index`-th result, lists unpacked; null if there is none.
  [[nodiscard]] const spec::ProvenanceRow* result(const std::string& node, std::size_t index) const;
  // The same of what it read, and of what it had written: by the number of the operand.
  [[nodiscard]] const spec::ProvenanceRow* operand(const std::string& node,
                                                   std::size_t index) const;
  [[nodiscard]] const spec::ProvenanceRow* written(const std::string& node,
                                                   std::size_t index) const;
  // Where the input lay: as a node of the root graph first read it, or as the call left it.
  [[nodiscard]] const spec::ProvenanceRow* input(const spec::ProgramInput& input,
                                                 const std::string& value_name) const;

 private:
  [[nodiscard]] const spec::ProvenanceRow* find(const std::string& node, std::string_view what,
                                                std::size_t index) const;
  // Rows of nodes that stand there twice, and with them all of their node, are left out.
  void drop_repeated();

  // By node, in order; empty: the end of the call.
  using Rows = absl::InlinedVector<const spec::ProvenanceRow*, 6>;
  std::unordered_map<std::string_view, Rows> by_node_;
  // By value, of those that are inputs.
  std::unordered_map<std::string_view, const spec::ProvenanceRow*> first_operands_;
};

// Whether the run kept words; one that is asked for geometry alone does not.
[[nodiscard]] bool has_words(const std::vector<spec::ProvenanceRow>& run);

}  // namespace graphgate::verify
