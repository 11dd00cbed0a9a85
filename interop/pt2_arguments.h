// Small conventions that the reader and the writer of .pt2 graphs share.
#pragma once

#include <string>

#include "spec/graph.h"

namespace graphgate::interop {

// A result that is None has no name in an archive; this is the one it gets, unless the node's own
// metadata says another.
[[nodiscard]] inline std::string default_none_name(const std::string& node_name,
                                                   std::size_t index) {
  return node_name + "_none_" + std::to_string(index);
}

// The path of a subgraph: "" is the program's own graph.
[[nodiscard]] inline std::string subgraph_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

// Graphs nested deeper than this are refused, by reader and writer alike.
inline constexpr int kMaxGraphDepth = 32;

}  // namespace graphgate::interop
