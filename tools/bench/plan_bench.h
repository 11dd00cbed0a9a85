// What `graphgate bench plan` measures of the optimized executor. Each function runs one
// measurement and returns its numbers; bench.cpp prints them.
//
// Times of one machine say little about another: what counts is ratios of times that were taken in
// one run, in turns, on stated work (stopwatch.h). Planning and replay compute on one thread, and
// are timed by the processor; starts read and write files, and are timed by the wall.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/bench/stopwatch.h"

namespace graphgate::tools {

// ---- planning ----

// From a program in memory to a checked plan, stage by stage, for make_reusing_chain(nodes).
struct PlanTime {
  std::size_t nodes = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> stages;  // in order; of the fastest run
};
[[nodiscard]] Result<PlanTime> measure_planning(std::size_t nodes);

// ---- fusion ----

// Replays of make_straight_chain(ops, elements): with the fused compiler, with a kernel for every
// op, and a memcpy of the same tensor (which moves as many bytes as the fused chain must).
struct FusionTimes {
  std::size_t ops = 0;
  std::int64_t tensor_bytes = 0;
  std::int64_t cache_bytes = 0;  // of the largest cache, 0 where the system does not say
  std::size_t fused_launches = 0;
  Comparison unfused_by_fused;
  Comparison fused_by_memcpy;
};
[[nodiscard]] Result<FusionTimes> measure_fusion(std::size_t ops, std::int64_t tensor_bytes);

// ---- replay ----

// Replays of a chain of `partitions` captured partitions of `kernels` kernels, each of which takes
// about as long as was asked for, against a loop over the very same launches.
struct ReplayTimes {
  std::size_t partitions = 0;
  std::size_t kernels = 0;    // in each partition
  std::int64_t elements = 0;  // of the tensors
  Comparison replay_by_direct;

  [[nodiscard]] double kernel_seconds() const {
    return replay_by_direct.second_seconds / static_cast<double>(partitions * kernels);
  }
  [[nodiscard]] double overhead_seconds_per_partition() const {
    return (replay_by_direct.ratio - 1) * replay_by_direct.second_seconds /
           static_cast<double>(partitions);
  }
};
[[nodiscard]] Result<ReplayTimes> measure_replay(std::size_t kernels, double kernel_seconds);

// ---- start ----

// From a program in memory to plans for some sizes of its inputs, with an empty cache folder and
// with the one that the cold start left; and the same with all captures made, ready to be called.
struct StartTimes {
  std::string program;
  std::size_t nodes = 0;
  std::size_t plans = 0;
  Comparison plans_cold_by_warm;
  Comparison ready_cold_by_warm;
};
[[nodiscard]] Result<StartTimes> measure_start(const std::string& path);

}  // namespace graphgate::tools
