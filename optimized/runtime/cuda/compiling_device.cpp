#include "optimized/runtime/cuda/compiling_device.h"

#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/nvrtc.h"
#include "optimized/runtime/device/far_memory.h"

namespace graphgate::optimized::cuda {
namespace {

class CompilingDevice final : public Device {
 public:
  CompilingDevice(std::string architecture, std::filesystem::path cubins)
      : architecture_(std::move(architecture)), cubins_(std::move(cubins)) {}

  [[nodiscard]] std::string description() const override {
    return "a compiler for " + architecture_;
  }
  [[nodiscard]] DeviceMemory& memory() override { return memory_; }
  std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    if (!text.empty()) {
      const auto cubin = cubin_of(text, architecture_, cubins_);
      if (!cubin.ok()) throw DeviceError(cubin.error().message);
    }
    return std::vector<std::unique_ptr<DeviceRun>>(jobs.size());
  }
  void finish() override {}

 private:
  const std::string architecture_;
  const std::filesystem::path cubins_;
  FarMemory far_;
  DeviceMemory memory_{far_};
};

}  // namespace

Result<std::shared_ptr<Device>> make_compiling_device(const std::string& architecture,
                                                      const std::filesystem::path& cubins) {
  GRAPHGATE_TRY_VOID(load_nvrtc());
  return std::shared_ptr<Device>(std::make_shared<CompilingDevice>(architecture, cubins));
}

}  // namespace graphgate::optimized::cuda
