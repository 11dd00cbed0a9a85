// The CUDA backend's captures of whole plans, over a driver of the tests' own: no kernel is
// compiled or run, and every step goes back to the host.
#pragma once

#include "optimized/device/device.h"
#include "optimized/device/far_memory.h"
#include "optimized/runtime/cuda/cuda_run.h"
#include "optimized/runtime/cuda/fake_driver_test.h"

namespace graphgate::optimized::cuda {

class FakeCuda final : public Device {
 public:
  struct Kept {
    DeviceCapture capture;
    std::vector<DeviceCall> calls;
    std::vector<DeviceArena> arenas;
  };
  // One at a time looks at graphs. `reverses_edges`: the driver names edges in another order.
  explicit FakeCuda(bool reverses_edges = false) : reverses_edges_(reverses_edges) {}

  [[nodiscard]] std::string description() const override { return "captures alone"; }
  [[nodiscard]] DeviceMemory& memory() override { return memory_; }
  [[nodiscard]] std::vector<DeviceArena> arenas() override {
    auto arenas = memory_.arenas();
    arenas.push_back({kFault, sizeof(DeviceFault)});
    return arenas;
  }
  std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    const Driver driver = FakeDriver::make();
    FakeDriver& fake = FakeDriver::instance();
    fake.reverses_edges = reverses_edges_;
    for (const Job& job : jobs) {
      for (const DeviceCall& call : job.calls) {
        fake.functions[call.name] = call.pointers.size() + (call.reports_faults ? 1U : 0U);
      }
    }
    Streams streams(driver);
    const auto module = std::make_shared<const Module>();
    for (const Job& job : jobs) {
      const CudaRun run(driver, streams, memory_, module, job, kFault, text.is_fast(), false);
      if (job.is_captured) kept_.push_back({run.captured(), job.calls, arenas()});
    }
    return std::vector<std::unique_ptr<DeviceRun>>(jobs.size());
  }
  void finish() override {}
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }

 private:
  static constexpr CUdeviceptr kFault = 0xfa00;
  const bool reverses_edges_;
  FarMemory far_;
  DeviceMemory memory_{far_};
  std::vector<Kept> kept_;
};

}  // namespace graphgate::optimized::cuda
