// What `graphgate bench decode` measures: a decoder's step on a GPU, in fast arithmetic.
//
// The program is compiled like any other, its plan verified, its logits compared with the host's.
// Then the step's launches are repeated over memory that stays where it is; nothing is copied. The
// floor is a kernel that reads the weights and caches once, timed in the same run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimized/runtime/device/device.h"
#include "tools/bench/decode_program.h"
#include "tools/executors/process.h"

namespace graphgate::tools {

// One kernel of the step: how often it runs, and the time of those launches behind each other, as a
// graph of their own.
struct KernelTime {
  std::string name;
  std::size_t count = 0;
  double seconds = 0;  // of all of them
};

struct DecodeTimes {
  std::size_t nodes = 0;     // of the program
  std::size_t findings = 0;  // of the plan verifier
  std::string first_finding;
  std::size_t graphs = 0;         // launches of graphs in a step
  std::size_t eager_kernels = 0;  // launches beside them
  std::size_t kernels = 0;        // in all
  double prepare_seconds = 0;     // from the program to the end of the first call
  double step_seconds = 0;        // median of rounds
  double launch_seconds = 0;      // of the processor, for a step
  double floor_seconds = 0;       // reading weights and caches once
  double error = -1;              // |logits - host's| / |host's|, of norms; -1: not compared
  std::vector<KernelTime> by_kernel;
};

struct DecodeMeasure {
  DecodeShape shape;
  bool is_piecewise = false;  // attention is a split op
  bool compares = false;      // with the host
  bool by_kernel = false;
  int rounds = 9;                             // the median counts
  int replays = 20;                           // of a round
  std::shared_ptr<optimized::Device> device;  // null: the first GPU
};

// The same step through PyTorch, as a command tells (tools/bench/decode_torch.py), by its modes.
struct TorchTime {
  std::string mode;
  double step_seconds = 0;
  std::string version;
  std::string error;  // why there is no time; else empty
};
// kInfrastructure where the command ends, or answers what is no answer.
[[nodiscard]] Result<std::vector<TorchTime>> measure_torch(ExternalProcess& process,
                                                           const DecodeShape& shape);

// kInfrastructure without a GPU. kInternal where a step of the program does not run on the device.
[[nodiscard]] Result<DecodeTimes> measure_decode(const DecodeMeasure& measure);

}  // namespace graphgate::tools
