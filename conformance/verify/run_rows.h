// The rows of an instrumented run, by node: geometry and storages as they were.
//
// Only rows that surely belong to one node, and hold for every run, count: names that several
// subgraphs share, nodes of subgraphs and those that hold them, and nodes that ran more than once,
// are left out.
#pragma once

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

  // The geometry of a row, without bytes.
  [[nodiscard]] static spec::HostTensor geometry_of(const spec::ProvenanceRow& row);

 private:
  [[nodiscard]] const spec::ProvenanceRow* find(const std::string& node, const char* what,
                                                std::size_t index) const;

  struct Place {
    std::string_view node;  // empty: the end of the call
    std::string_view port;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      const std::hash<std::string_view> hash;
      return hash(place.node) * 31 + hash(place.port);
    }
  };
  std::unordered_map<Place, const spec::ProvenanceRow*, PlaceHash> by_port_;
  std::unordered_map<std::string_view, const spec::ProvenanceRow*> first_operands_;  // by value
};

// Whether the run kept words; one that is asked for geometry alone does not.
[[nodiscard]] bool has_words(const std::vector<spec::ProvenanceRow>& run);

}  // namespace graphgate::verify
