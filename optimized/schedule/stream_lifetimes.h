// Lifetimes for graphs on several streams.
//
// Liveness counts in program order. With streams that order does not hold: a node may still run
// when nodes behind it have begun. Bytes may be given on only when everything that touches them has
// happened before, by streams and events, whoever touches them next:
//
//   program order   a(s0)   b(s1)   c(s0)   d(s0, waits for b)
//   a's bytes            ]                                        c and d come after a on s0
//   b's bytes                                    ]                only d comes after b
//
// A node's bytes are needed until behind the last node that does not come after it. Then all nodes
// of later times come after it, and a packing of intervals is safe: what begins at or after the end
// of a lifetime happens after everything in it.
#pragma once

#include "optimized/analysis/liveness.h"
#include "optimized/partition/partition.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// Returns `liveness` with the ends of storages moved back as far as streams demand, and `node_ends`
// filled. Where a storage's end moves, it moves one time further than packing needs. So no node
// takes its bytes in place while another stream may read them: in place wants a storage that ends
// right behind the node. Partitions join their streams, so ends stay within their partition, but
// for that one time. Called between streams and memory; signatures want program order.
//
// Deviations: FreesOnMainStream.
[[nodiscard]] Liveness widen_lifetimes(const SizedGraph& graph, const Partitions& partitions,
                                       Liveness liveness, const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
