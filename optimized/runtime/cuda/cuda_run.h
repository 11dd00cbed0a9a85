// Calls on a GPU, ready to run: one after the other on a stream, or as one graph.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optimized/device/device.h"
#include "optimized/runtime/cuda/handles.h"

namespace graphgate::optimized::cuda {

// One kernel launch with its addresses.
struct BoundCall {
  std::string name;
  CUfunction function = nullptr;
  unsigned blocks = 0;
  unsigned shared_bytes = 0;  // dynamic
  unsigned cluster = 1;       // blocks of one
  std::vector<CUdeviceptr> arguments;
};

class CudaRun final : public DeviceRun {
 public:
  // `module` has the kernels of the job; `fault` is the address of the program's DeviceFault.
  // With `overlaps` a kernel may begin before the one ahead of it in the job has ended: it waits
  // for it itself. With `waits` launch() returns when all is done. Throws DeviceError: "making
  // partition 0 of @main ready: cuGraphUpload: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"; the
  // stream then captures nothing, and nothing of the job is left on the device.
  CudaRun(const Driver& driver, CUstream stream, const DeviceMemory& memory,
          std::shared_ptr<const Module> module, const Device::Job& job, CUdeviceptr fault,
          bool overlaps, bool waits);
  void launch() override;
  [[nodiscard]] DeviceCapture captured() const override { return captured_; }
  std::function<void()> bare_launch() override;
  std::optional<GraphCost> measure_graph(int most) override;  // graph_cost.cpp

 private:
  void bind(const Device::Job& job, CUdeviceptr fault);
  void record();
  void launch_calls() const;
  [[nodiscard]] Graph capture() const;
  [[nodiscard]] GraphExec instantiate(CUgraph graph) const;
  void check_captured() const;
  void check_addresses();
  void start();

  const Driver& driver_;
  CUstream stream_;
  const DeviceMemory& memory_;
  std::shared_ptr<const Module> module_;
  const bool overlaps_;
  const bool waits_;
  const std::string what_;
  std::vector<BoundCall> calls_;
  std::vector<std::pair<const std::byte*, CUdeviceptr>> addresses_;  // each once
  std::uint64_t generation_ = 0;  // of the memory, when addresses were compared last
  GraphExec graph_;
  DeviceCapture captured_;
};

// The kernels of a graph of these calls. Throws DeviceError for a node that is no kernel, or no
// kernel of theirs.
[[nodiscard]] DeviceCapture read_graph(const Driver& driver, CUgraph graph,
                                       std::span<const BoundCall> calls);

}  // namespace graphgate::optimized::cuda
