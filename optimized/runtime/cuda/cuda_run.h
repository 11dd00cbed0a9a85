// Calls on a GPU, ready to run: on their streams, or as one graph.
//
//   main   fork ── 0 ────────── 3 ── join        3 waits for the event that is recorded behind 1
//            │                  │     │
//   side     └──── 1 ── event ──┘── 2 ┘
//
// Launched and captured alike: side streams fork from the main one at the beginning and join it at
// the end, by events; what waits for calls of other streams waits for events behind them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optimized/runtime/cuda/handles.h"
#include "optimized/runtime/cuda/streams.h"
#include "optimized/runtime/device/device.h"
#include "optimized/runtime/device/recorded_twins.h"

namespace graphgate::optimized::cuda {

// One kernel launch with its addresses.
struct BoundCall {
  std::string name;
  CUfunction function = nullptr;
  unsigned blocks = 0;
  unsigned shared_bytes = 0;  // dynamic
  unsigned cluster = 1;       // blocks of one
  std::vector<CUdeviceptr> arguments;
  CUstream stream = nullptr;
  std::vector<CUevent> waits;  // before it
  CUevent done = nullptr;      // recorded behind it, where somebody waits for it
  bool overlaps = false;       // may begin before the one ahead of it on its stream has ended
};

class CudaRun final : public DeviceRun {
 public:
  // `module` has the kernels of the job; `fault` is the address of the program's DeviceFault.
  // With `overlaps` a kernel may begin before the one ahead of it on its stream has ended, where it
  // is behind nothing else: it waits for it itself. With `waits` launch() returns when all is done.
  // `streams` outlive it. Throws DeviceError: "making partition 0 of @main ready: cuGraphUpload:
  // CUDA_ERROR_OUT_OF_MEMORY (out of memory)"; the stream then captures nothing, and nothing of the
  // job is left on the device. UnorderedCalls for a graph that leaves calls free that have to stay
  // in order.
  CudaRun(const Driver& driver, Streams& streams, const DeviceMemory& memory,
          std::shared_ptr<const Module> module, const Device::Job& job, CUdeviceptr fault,
          bool overlaps, bool waits);
  void launch() override;
  [[nodiscard]] DeviceCapture captured() const override { return captured_; }
  std::function<void()> bare_launch() override;
  std::optional<GraphCost> measure_graph(int most) override;  // graph_cost.cpp

 private:
  // A stream that calls are on besides the main one.
  struct Side {
    CUstream stream = nullptr;
    CUevent done = nullptr;  // recorded behind all its work
  };
  void bind(const Device::Job& job, CUdeviceptr fault);
  void record(std::span<const DeviceCall> calls);
  void bind_streams(std::span<const DeviceCall> calls, Streams& streams);
  [[nodiscard]] CUevent make_event();
  void launch_calls() const;
  void launch(const BoundCall& call) const;
  [[nodiscard]] Graph capture() const;
  [[nodiscard]] GraphExec instantiate(CUgraph graph) const;
  [[nodiscard]] std::vector<CapturedKernel> expected_kernels() const;
  [[nodiscard]] DeviceCapture checked(const DeviceCapture& captured,
                                      std::span<const DeviceCall> calls) const;
  void start();

  const Driver& driver_;
  CUstream stream_;
  RecordedTwins twins_;
  std::shared_ptr<const Module> module_;
  const bool overlaps_;
  const bool waits_;
  const std::string what_;
  std::vector<BoundCall> calls_;
  std::vector<Event> events_;
  std::vector<Side> sides_;
  CUevent begun_ = nullptr;  // recorded before all calls, where there are sides
  GraphExec graph_;
  DeviceCapture captured_;
};

// The kernels of a graph of these calls, in an order that its edges allow. Throws DeviceError for a
// node that is no kernel, or no kernel of theirs, and for edges that say less than a stream does.
[[nodiscard]] DeviceCapture read_graph(const Driver& driver, CUgraph graph,
                                       std::span<const BoundCall> calls);

}  // namespace graphgate::optimized::cuda
