// The order in which a job's calls run, where they have streams and events.
//
//   call  0  1  2  3
//   stream 0 1  1  0        1 may run beside 0; 3 is behind 0, and behind 1, whose event it awaits
//              records e    records and waits are the plan's own (docs/streams.md)
//                 waits e
//
// A job's calls stand in an order that is allowed: each behind all that it has to be behind. A job
// begins with all its streams behind what was launched before, and what is launched behind it comes
// behind all of them; nothing among the calls stands for that.
//
// Used by: devices, to launch calls and to judge what they have captured, and the runtime of a
// plan, which makes calls of its steps.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "optimized/codegen/kernels.h"
#include "optimized/runtime/device/capture.h"

namespace graphgate::optimized {

// What one call is behind at once; the rest follows.
struct CallPlace {
  std::optional<std::size_t> ahead;  // on its stream
  std::vector<std::size_t> awaited;  // of each other stream the last whose event it waits for
  // Only such a call may begin while the one ahead of it runs: it waits for that one itself, and
  // for nothing else (fast.cuh). An event is waited for before it begins.
  [[nodiscard]] bool is_behind_one() const { return ahead && awaited.empty(); }
};

// By call. An event that no call before records counts as recorded.
[[nodiscard]] std::vector<CallPlace> places_of(std::span<const DeviceCall> calls);
// The edges that a graph of them has. `overlap`: calls that may begin early do.
[[nodiscard]] std::vector<CapturedEdge> edges_of(std::span<const CallPlace> places, bool overlap);

// Adds a call that comes behind all others, on stream 0.
void add_behind_all(std::vector<DeviceCall>& calls, DeviceCall last);

// What a step of a plan does, and where it stands. What is pointed to is not copied.
struct DeviceStep {
  std::uint32_t step = 0;  // its number in the plan
  const DeviceWorks* works = nullptr;
  std::uint32_t stream = 0;
  std::span<const spec::EventId> waits;
  std::span<const spec::EventId> records;
};
struct StepRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
struct StepCalls {
  std::vector<DeviceCall> calls;
  std::vector<StepRange> steps;  // by call: those of its stream whose works it may have
};

// Returns the calls of steps that are launched together, given in program order. Works of one
// stream are joined (join_works.h) as far as none of its steps waits or records in between. So all
// works of a kernel wait for the same, and are waited for together, and streams are in no other
// order than the plan's. On one stream all are joined.
[[nodiscard]] StepCalls calls_of_steps(DeviceProgramText& text, std::span<const DeviceStep> steps);

}  // namespace graphgate::optimized
