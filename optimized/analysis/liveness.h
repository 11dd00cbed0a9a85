// When storages are needed, on one line of time that runs through the arms of conditionals.
//
//   main:  n0   n1   cond                         n5          times: n0=0 n1=1 cond=2
//   then:                 n2   n3                             n2=3 n3=4
//   else:                           n4                        n4=5 n5=6
//
// The two arms stand one after the other though only one of them runs: what is used in one arm is
// not needed in the other, and may share bytes with it. The blocks of a loop stand there once; what
// the loop is given is needed until one step behind them.
#pragma once

#include "optimized/sized_graph.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// Half-open: from the node that makes the storage to behind the last that uses it. `begin == end`:
// nothing uses it.
struct Lifetime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Liveness {
  std::vector<std::vector<std::int64_t>> times;  // of nodes: by block, then by place in the block
  std::int64_t end = 0;                          // one behind the last node
  // By storage. State and inputs begin at 0; what the program returns lives to `end`.
  std::vector<Lifetime> storages;
  // By block and node: when bytes that the node alone uses are free again. Empty: right behind the
  // node; streams may move it back (schedule/stream_lifetimes.h).
  std::vector<std::vector<std::int64_t>> node_ends;

  [[nodiscard]] std::int64_t node_end(std::size_t block, std::size_t node) const {
    return node_ends.empty() ? times[block][node] + 1 : node_ends[block][node];
  }
};

// What fused nodes keep to themselves has no lifetime; their operands and results count at the
// node.
[[nodiscard]] Liveness analyze_liveness(const SizedGraph& graph,
                                        const spec::DeviationSet& deviations = {});

}  // namespace graphgate::optimized
