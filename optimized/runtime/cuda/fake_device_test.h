// The CUDA backend's captures of whole plans, over a driver of the tests' own: no kernel is
// compiled or run, and every step goes back to the host.
#pragma once

#include "optimized/runtime/cuda/cuda_run.h"
#include "optimized/runtime/cuda/fake_driver_test.h"
#include "optimized/runtime/device/device.h"
#include "optimized/runtime/device/far_memory.h"

namespace graphgate::optimized::cuda {

// With room for canaries around arenas, if it is guarded; nothing faults.
class MaybeGuardedMemory final : public FarMemory {
 public:
  explicit MaybeGuardedMemory(bool is_guarded) : is_guarded_(is_guarded) {}
  std::uint64_t allocate(std::int64_t size_bytes) override {
    return FarMemory::allocate(size_bytes + 2 * kAround) + kAround;
  }
  void free(std::uint64_t address) override { FarMemory::free(address - kAround); }
  [[nodiscard]] bool is_guarded() const override { return is_guarded_; }
  [[nodiscard]] DeviceSurroundings surroundings(std::uint64_t /*address*/) const override {
    return {kAround, kAround};
  }

 private:
  static constexpr std::int64_t kAround = 64;
  const bool is_guarded_;
};

class FakeCuda final : public Device {
 public:
  struct Kept {
    DeviceCapture capture;
    std::vector<DeviceCall> calls;
    std::vector<DeviceArena> arenas;
  };
  // `reverses_edges`: the driver names edges in another order.
  explicit FakeCuda(bool reverses_edges = false, bool is_guarded = false)
      : reverses_edges_(reverses_edges), far_(is_guarded) {}

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
  MaybeGuardedMemory far_;
  DeviceMemory memory_{far_};
  std::vector<Kept> kept_;
};

}  // namespace graphgate::optimized::cuda
