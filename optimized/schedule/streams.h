// Streams: which nodes of a captured partition may run beside each other, and the events that keep
// the others apart.
//
// Captured partitions only; everything else runs on stream 0. A partition begins with all its
// streams behind what came before it on stream 0, and ends with stream 0 behind all of them. So
// events are needed inside partitions only, and no event crosses the edge of one.
//
//   x ─ a ─ b ─┐              stream 0   a   b   (wait e0) d
//     └─── c ──┴─ d           stream 1   c (record e0)
//
// Nodes are taken in program order. Each goes to the stream where it can begin first, if moving
// bytes and launching took time and nothing else did; on a tie it stays where what it waits for
// ran. Between streams every dependence (read after write, write after read, write after write,
// token; by bytes, not by names) has an event in its way, unless other events imply it already.
//
// What runs beside each other needs bytes of its own, though one comes after the other in program
// order: see stream_lifetimes.h.
#pragma once

#include "base/result.h"
#include "optimized/partition/partition.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

inline constexpr std::uint32_t kMostStreams = 64;

struct StreamOptions {
  std::uint32_t count = 1;  // at most so many streams, in [1, kMostStreams]; 1: no events
};

// kBadInput for a count out of range.
[[nodiscard]] Result<void> validate(const StreamOptions& options);

// The same graph with the stream, waits and records of its nodes, and event_count. Partitions are
// those of the graph. A partition that holds a conditional stays on stream 0.
//
// Deviations: ForksWithoutAliasTest.
[[nodiscard]] SizedGraph assign_streams(SizedGraph graph, const Partitions& partitions,
                                        const StreamOptions& options,
                                        const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
