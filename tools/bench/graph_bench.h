// What `graphgate bench replay` measures on a device: what this runtime adds to the launch of a
// graph, and what graphs cost to make.
//
// Work is timed by the processor time of the thread that launches it; what was launched is waited
// for outside of that. A run is one of the whole plan, up to HostProgram::finish(); a bare launch
// is the driver's (cuGraphLaunch) of the very same graph, on the same stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimized/runtime/device/device.h"
#include "tools/bench/stopwatch.h"

namespace graphgate::tools {

// ---- launches ----

// A program whose every step runs on the device, and whose inputs are buffers, so that a run
// copies nothing.
struct LaunchSubject {
  std::string name;
  // A chain of `partitions` captured partitions, each with so many kernels; ...
  std::size_t partitions = 0;
  std::size_t kernels = 0;
  // ... or a small decoder of so many layers, whose attention is cut out and runs eagerly.
  std::int64_t layers = 0;
};

struct LaunchTimes {
  std::size_t graphs = 0;          // launches of graphs in a run
  std::size_t eager_launches = 0;  // beside them; the same on both sides
  std::size_t kernels = 0;         // in all
  std::int64_t copied_bytes = 0;   // in all timed runs, to the device and back
  // Seconds of one run: its launches one by one (DeviceRun::launch), or the whole of it
  // (HostProgram::start), by bare launches.
  Comparison launch_by_bare;
  Comparison run_by_bare;

  // What a whole run takes beside the bare launches, for each launch.
  [[nodiscard]] double own_seconds() const {
    return (run_by_bare.ratio - 1) * run_by_bare.second_seconds /
           static_cast<double>(graphs + eager_launches);
  }
};

struct LaunchMeasure {
  LaunchSubject subject;
  std::shared_ptr<optimized::Device> device;  // not null
  int rounds = 51;                            // the median counts
  // A round is as many runs as make so many launches, or so many kernels, but at least one.
  std::size_t launches = 100;
  std::size_t launched_kernels = 2000;
};
// kInfrastructure where the device refuses; kInternal where a step runs on the host.
[[nodiscard]] Result<LaunchTimes> measure_launches(const LaunchMeasure& measure);

// ---- boundaries ----

// A chain of kernels as `partitions` graphs, launched one behind the other, and as one. Measured is
// the wall's time until the device is done. So it holds what the graphs' own boundaries take, and
// nothing of what launching costs, as long as that is less.
struct BoundaryTimes {
  std::size_t kernels = 0;  // in all
  std::size_t graphs = 0;   // of the first side
  Comparison cut_by_whole;

  [[nodiscard]] double seconds_per_boundary() const {
    return (cut_by_whole.ratio - 1) * cut_by_whole.second_seconds / static_cast<double>(graphs - 1);
  }
};
// Of LaunchSubjects partitions and kernels count, both at least 2. Errors as above.
[[nodiscard]] Result<BoundaryTimes> measure_boundaries(const LaunchMeasure& measure);

// ---- graphs ----

// A graph of `kernels` kernels, made `most` times at most. Nothing where the device has no graphs.
[[nodiscard]] Result<std::optional<optimized::GraphCost>> measure_graphs(optimized::Device& device,
                                                                         std::size_t kernels,
                                                                         int most);

}  // namespace graphgate::tools
