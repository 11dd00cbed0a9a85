// What a list of capture sizes costs: the part `sizes` of `graphgate bench replay`.
//
// A program with a symbolic leading size is loaded as a user has it, with capture sizes and one
// arena for all of them, and called once at each size, the largest first. Graphs of the same calls
// are then made beside its own (DeviceRun::measure_graph). Last, the smallest call that each size
// serves is made again: it launches the graphs of that size and records nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimized/compile.h"
#include "optimized/runtime/device/device.h"
#include "spec/program.h"

namespace graphgate::tools {

// One size. Seconds are on the wall.
struct SizeCost {
  std::int64_t size = 0;
  std::int64_t least = 0;    // the smallest call that runs in its graphs
  std::size_t graphs = 0;    // of a call
  std::size_t kernels = 0;   // in them
  double ready_seconds = 0;  // of its first call: planned, compiled, recorded, run
  double load_seconds = 0;   // of that in the device: compiled and recorded
  // own_bytes: its plan's arenas and input slots, were they its own. added_bytes: what the device
  // has more than before it, beside state. That is what arenas had to grow, and scratch of its
  // launches, which no other has.
  std::int64_t own_bytes = 0;
  std::int64_t added_bytes = 0;
  // Of all its graphs, as if each were made alone. Nothing where the device has none.
  std::optional<optimized::GraphCost> made;
};

struct SizeCosts {
  std::string refusal;                 // why no call is padded; empty where calls are
  std::int64_t state_bytes = 0;        // which all sizes share
  std::vector<SizeCost> sizes;         // in the order of their recording
  [[nodiscard]] SizeCost all() const;  // sums
};

struct SizeMeasure {
  spec::Program program;
  std::shared_ptr<optimized::Device> device;  // not null
  std::vector<std::int64_t> sizes;            // ascending
  optimized::CompileOptions compile;
  int most = 256;  // copies of a graph
};
// Powers of two up to 512, as far as the program's leading size may have them.
[[nodiscard]] std::vector<std::int64_t> usual_sizes(const spec::Program& program);

// kBadInput for no sizes, a program without a symbolic size, and sizes that it may not have.
// kInfrastructure where the device refuses.
[[nodiscard]] Result<SizeCosts> measure_sizes(const SizeMeasure& measure);

}  // namespace graphgate::tools
