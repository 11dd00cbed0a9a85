// A device whose launches do nothing: what is left of a run is the runtime's own work.
#pragma once

#include "optimized/runtime/device/device.h"
#include "optimized/runtime/device/far_memory.h"

namespace graphgate::tools {

class IdleDevice final : public optimized::Device {
 public:
  [[nodiscard]] std::string description() const override { return "an idle device"; }
  [[nodiscard]] optimized::DeviceMemory& memory() override { return memory_; }
  std::vector<std::unique_ptr<optimized::DeviceRun>> load(
      const optimized::DeviceProgramText& /*text*/, std::span<const Job> jobs) override {
    std::vector<std::unique_ptr<optimized::DeviceRun>> runs;
    runs.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      runs.push_back(std::make_unique<IdleRun>(launches_));
    }
    return runs;
  }
  void finish() override {}
  // So many so far.
  [[nodiscard]] std::uint64_t launches() const { return launches_; }

 private:
  class IdleRun final : public optimized::DeviceRun {
   public:
    explicit IdleRun(std::uint64_t& launches) : launches_(launches) {}
    void launch() override { ++launches_; }
    std::function<void()> bare_launch() override {
      return [this] { launch(); };
    }

   private:
    std::uint64_t& launches_;
  };

  std::uint64_t launches_ = 0;
  optimized::FarMemory far_;
  optimized::DeviceMemory memory_{far_};
};

}  // namespace graphgate::tools
