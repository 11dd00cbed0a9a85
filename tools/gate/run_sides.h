// The corpus on all sides of a gate, case by case in turns.
//
//   worker 0:  case 0 on the baseline, case 0 on the candidate, case 1 on the baseline, ...
//   worker 1:  case 8 on the baseline, ...
//
// A look is a case on a side. Each has a process of its own, but for executors that are processes
// themselves: one of ours has them run several cases. What fails is looked at again, alone, and so
// is what takes much longer on another side, on both in turns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/gate/look.h"

namespace graphgate::tools {

// What a worker is at.
struct LookInWork {
  std::size_t input = 0;
  std::size_t side = 0;
  double seconds = 0;  // so far
};

// A look that has just ended.
struct LookDone {
  std::size_t input = 0;
  std::size_t side = 0;
  std::size_t worker = 0;  // from 0, below `jobs`: one look at a time
  double seconds = 0;
  const GateCase* came_to = nullptr;
};

struct SideOptions {
  LookOptions look;
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;  // for each look
  int reruns = 2;                       // further looks at a case that fails
  // The share by which answers of another side than the first may take longer before both are
  // looked at again (seems_slower), as long as that stays so, kTimeLooks times. Without `reruns`
  // nothing is.
  double time_threshold = 1;
  // Asked again and again. Once it is true, no look is begun, and none awaited.
  std::function<bool()> should_stop = {};
  // Told again and again what is in work.
  std::function<void(const std::vector<LookInWork>&)> tick = {};
  // Told of each look, in the order in which they end; may be empty.
  std::function<void(const LookDone&)> looked = {};
  // Told where a process had to be killed, which leaves things behind.
  std::function<void()> killed = {};
};

// Told what a case came to on all sides, in their order, once all looks at it have ended.
using CaseDone = std::function<Result<void>(const GateInput& input, std::vector<GateCase> sides)>;

// Runs the inputs on all sides. kBadInput, with the file, for what the reference refuses too;
// kInfrastructure where no process can be made. A process that cannot be started for a case is that
// case's outcome, INFRA. Of a run that was stopped, cases that have looks left are not told of.
[[nodiscard]] Result<void> run_sides(const std::vector<SideExecutor>& sides,
                                     const std::vector<GateInput>& inputs,
                                     const SideOptions& options, const CaseDone& done);

}  // namespace graphgate::tools
