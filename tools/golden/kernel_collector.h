// A device that takes the kernels it is given, and runs none: every job goes back to the host.
//
// So what a GPU would be given can be looked at on a machine without one. Golden records keep the
// names of kernels, golden/kernels some texts; tests compile them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/run/executor_source.h"
#include "optimized/runtime/device/device.h"
#include "optimized/runtime/device/far_memory.h"

namespace graphgate::tools {

class KernelCollector : public optimized::Device {
 public:
  [[nodiscard]] std::string description() const override { return "a collector of kernels"; }
  [[nodiscard]] optimized::DeviceMemory& memory() override { return memory_; }
  std::vector<std::unique_ptr<optimized::DeviceRun>> load(const optimized::DeviceProgramText& text,
                                                          std::span<const Job> jobs) override;
  void finish() override {}

  // The texts of all programs, in the order of their loading.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }
  // How often each kernel stands in the jobs of all programs, by its name.
  [[nodiscard]] const std::map<std::string, std::size_t>& launches() const { return launches_; }

 private:
  std::vector<std::string> sources_;
  std::map<std::string, std::size_t> launches_;
  optimized::FarMemory far_;
  optimized::DeviceMemory memory_{far_};
};

// The optimized executor before this device.
class CollectingSource final : public conformance::ExecutorSource {
 public:
  explicit CollectingSource(std::shared_ptr<KernelCollector> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string_view name() const override { return "optimized"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable& ops) const override;

 private:
  std::shared_ptr<KernelCollector> device_;
};

}  // namespace graphgate::tools
