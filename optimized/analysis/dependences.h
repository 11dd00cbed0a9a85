// Which nodes of a block must run after which: edges by byte range of storages, by the elements
// inside those ranges where strides tell them apart, and by tokens and hidden states.
//
//   n0: y = relu(x)          n1 -> n0  reads what it wrote         kReadAfterWrite
//   n1: z = neg(y)           n2 -> n1  writes what it read         kWriteAfterRead  (weak)
//   n2: y.add_(1)            n2 -> n0  writes what it wrote        kWriteAfterWrite
//   n3: attn(layer="0")      n4 -> n3  share a token or a state    kOrder
//   n4: attn(layer="0")
//
// schedule/ asks here before it moves a node, whether to another place or to another stream. Fused
// nodes and conditionals count as what their bodies and arms do (accesses.h).
//
// The order is complete, its edges are not: of two nodes that share a byte, the later one can be
// reached from the earlier one, be it over others. A read that a write has covered meanwhile is
// reached through that write, and where one access has very many neighbours it stands for them all.
// So the whole is near-linear in the nodes, whatever they read.
#pragma once

#include "optimized/analysis/accesses.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// Bits of Dependence::kinds.
enum class DependenceKind : std::uint8_t {
  kReadAfterWrite = 1,   // data flows
  kWriteAfterRead = 2,   // weak: order alone
  kWriteAfterWrite = 4,  // order alone, but the later one may keep bytes of the earlier
  kOrder = 8,            // a token, or hidden state
};

struct Dependence {
  std::uint32_t node = 0;  // the earlier one, by its place in the block
  std::uint8_t kinds = 0;  // at least one
  [[nodiscard]] bool has(DependenceKind kind) const {
    return (kinds & static_cast<std::uint8_t>(kind)) != 0;
  }
  // The later node gets no data from the earlier one: it only must not come before.
  [[nodiscard]] bool is_weak() const {
    return kinds == static_cast<std::uint8_t>(DependenceKind::kWriteAfterRead);
  }
  friend bool operator==(const Dependence&, const Dependence&) = default;
};

// By node of the block: those that it must follow, ascending, each once.
using Dependences = std::vector<std::vector<Dependence>>;

// Edges within one block. Nodes of other blocks count through the conditional that holds them.
[[nodiscard]] Dependences analyze_dependences(const SizedGraph& graph, std::size_t block,
                                              const spec::DeviationSet& deviations = {});

// Returns whether the elements of two tensors over one storage can be shown to share no byte.
// Either their byte ranges do not meet, or they stay in different places of a common pitch (columns
// of a matrix). False says nothing.
[[nodiscard]] bool provably_disjoint(const Tensor& a, const Tensor& b);

}  // namespace graphgate::optimized
