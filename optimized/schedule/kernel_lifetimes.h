// Lifetimes for kernels that a device makes of several steps.
//
//   y = x @ w       one kernel: who has an element of y goes on with z, and with u, while others
//   z = y + r       still read x
//   u = cat(z, s)
//
//   x     [----]           in program order z might take the bytes of x
//   x     [--------------] kept: it may not, nor may u
//
// Steps become kernels when a plan is recorded (codegen/join_works.h), and what they touch lies
// fixed by then. So what a step touches is kept while the first step runs that reads what it makes,
// and the first one that reads what that makes, too. That takes memory, so it is for fast
// arithmetic alone.
#pragma once

#include "optimized/analysis/liveness.h"
#include "optimized/partition/partition.h"

namespace graphgate::optimized {

// `liveness` with the ends of storages moved back that far, within captured partitions. Called
// between streams and memory; signatures want program order.
[[nodiscard]] Liveness keep_for_readers(const SizedGraph& graph, const Partitions& partitions,
                                        Liveness liveness);

}  // namespace graphgate::optimized
