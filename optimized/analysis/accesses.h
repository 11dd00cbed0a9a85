// What nodes do to memory: which byte ranges of which storages they read and write, and which
// tokens and hidden states order them.
//
// Facts come from the op's schema and what its row adds. Everything that may happen counts. A
// conditional reads and writes what the nodes of its arms do, a fused node what those of its body
// do to storages that are not inner ones.
#pragma once

#include <set>
#include <string>

#include "optimized/sized_graph.h"

namespace graphgate::optimized {

struct Access {
  StorageIndex storage = kNoStorage;
  ByteRange bytes;                 // a dynamic tensor: all bytes of the storage
  const Tensor* tensor = nullptr;  // the geometry, in SizedGraph::values; null where dynamic
};

struct Accesses {
  std::vector<Access> reads;
  std::vector<Access> writes;
  std::set<std::string> ordered_by;  // tokens, and hidden states read or written
};

[[nodiscard]] Accesses accesses_of(const SizedGraph& graph, const SizedNode& node);

// By block and node, for stages that ask several times. As long as neither nodes nor values change.
using NodeAccesses = std::vector<std::vector<Accesses>>;
[[nodiscard]] NodeAccesses accesses_of(const SizedGraph& graph);

// Per storage that no node makes: whether any node of the program writes it.
[[nodiscard]] std::vector<bool> written_states(const SizedGraph& graph);

}  // namespace graphgate::optimized
