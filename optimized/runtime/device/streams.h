// The order in which the host backend runs the launches of a captured partition.
//
// A device with several streams promises little: launches of one stream run in order, and a launch
// that waits for an event runs behind the launch that recorded it. Everything else is free, and a
// plan that is right is right for every such order. The host backend has one thread; it shows what
// a device might do by running the launches in other orders than the program's.
//
//   program order   a(s0) b(s1) c(s0, records e) d(s1, waits e)
//   seed 0          a b c d
//   another seed    a c b d   or   b a c d            never d before c, nor c before a
//
// A missing event thus shows up as other results for some seed, and the seed shows it again.
// HostProgram calls this when it records a partition, the emulated device before every launch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/plan.h"

namespace graphgate::optimized {

// One of several launches: its stream, and earlier ones that it waits for.
struct QueuedLaunch {
  std::uint32_t stream = 0;
  std::vector<std::uint32_t> behind;
};

// Launches, as indices into `launches`, in an order that streams and waits allow: see below.
[[nodiscard]] std::vector<std::uint32_t> interleave_launches(std::span<const QueuedLaunch> launches,
                                                             std::uint64_t seed);

// The steps of one captured partition, as indices into `steps`, in an order that streams and events
// allow. Seed 0 is program order; the same seed gives the same order on every machine.
//
// Streams get random priorities: the first that can go on does, so that others fall behind as far
// as events let them. Up to three times, at random places, the stream in front goes to the back.
// Any two steps that nothing orders run in both orders under some priorities.
//
// An event counts as recorded when no step before the waiting one records it: partitions begin and
// end with all streams joined.
[[nodiscard]] std::vector<std::uint32_t> interleave(std::span<const spec::PlanStep> steps,
                                                    std::uint64_t seed);

}  // namespace graphgate::optimized
