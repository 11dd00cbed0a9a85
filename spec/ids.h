// Strong index types of the graph. An id is an index into the vector that owns the thing, so that
// graphs are plain data which can be copied, compared and printed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace graphgate::spec {

template <class Tag>
struct Id {
  std::uint32_t index = 0;
  // clang-tidy 14 takes the 0 that a defaulted comparison compares with for a null pointer.
  friend auto operator<=>(const Id&, const Id&) = default;  // NOLINT(modernize-use-nullptr)
};

using ValueId = Id<struct ValueTag>;        // into Graph::values
using NodeId = Id<struct NodeTag>;          // into Graph::nodes
using SubgraphId = Id<struct SubgraphTag>;  // into Graph::subgraphs

}  // namespace graphgate::spec

template <class Tag>
struct std::hash<graphgate::spec::Id<Tag>> {
  std::size_t operator()(graphgate::spec::Id<Tag> id) const noexcept { return id.index; }
};
