#include "optimized/runtime/cuda/cuda_device.h"

#include <algorithm>
#include <mutex>

#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/cuda_memory.h"
#include "optimized/runtime/cuda/cuda_run.h"
#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/cuda/nvrtc.h"
#include "optimized/runtime/cuda/streams.h"

namespace graphgate::optimized::cuda {
namespace {

// Modules that were loaded last, by their cubins: plans of the same program load the same.
class LoadedModules {
 public:
  std::shared_ptr<const Module> load(const Driver& driver,
                                     const std::shared_ptr<const std::string>& cubin) {
    const std::lock_guard lock(mutex_);
    const auto known =
        std::ranges::find_if(loaded_, [&](const Loaded& one) { return one.cubin == cubin; });
    if (known != loaded_.end()) {
      std::rotate(known, known + 1, loaded_.end());
      return loaded_.back().module;
    }
    CUmodule module = nullptr;
    GRAPHGATE_CUDA(driver, cuModuleLoadData, &module, cubin->data());
    if (loaded_.size() == kMost) loaded_.erase(loaded_.begin());
    loaded_.push_back({cubin, std::make_shared<const Module>(module, driver.cuModuleUnload)});
    return loaded_.back().module;
  }

 private:
  static constexpr std::size_t kMost = 64;
  struct Loaded {
    std::shared_ptr<const std::string> cubin;  // the process has one of the same (cubins.h)
    std::shared_ptr<const Module> module;
  };
  std::mutex mutex_;
  std::vector<Loaded> loaded_;  // the last that was asked for comes last
};

// The primary context of GPU 0, and what of it is kept for the next device: retained for as long as
// the process lives: making one takes longer than most runs.
class Context {
 public:
  explicit Context(const Driver& driver) : driver_(driver), memory_(driver) {
    GRAPHGATE_CUDA(driver, cuDeviceGet, &device_, 0);
    GRAPHGATE_CUDA(driver, cuDevicePrimaryCtxRetain, &context_, device_);
    make_current();
  }

  // For the calling thread.
  void make_current() const { GRAPHGATE_CUDA(driver_, cuCtxSetCurrent, context_); }
  void try_make_current() const { (void)driver_.cuCtxSetCurrent(context_); }
  [[nodiscard]] CUdevice device() const { return device_; }
  [[nodiscard]] KeptMemory& memory() { return memory_; }
  [[nodiscard]] LoadedModules& modules() { return modules_; }

 private:
  const Driver& driver_;
  KeptMemory memory_;
  LoadedModules modules_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

// Never destroyed: at the end of a process the driver may be gone first.
Context& the_context(const Driver& driver) {
  static Context& context = *new Context(driver);  // NOLINT(cppcoreguidelines-owning-memory)
  context.make_current();
  return context;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, GpuFacts facts, DeviceMemoryMode mode,
             std::filesystem::path cubins)
      : driver_(driver),
        facts_(std::move(facts)),
        cubins_(std::move(cubins)),
        context_(the_context(driver)),
        streams_(driver),
        raw_(make_cuda_memory(driver, context_.device(), streams_.main(), context_.memory(), mode)),
        memory_(*raw_),
        waits_(mode != DeviceMemoryMode::kPlain),
        fault_(raw_->allocate(sizeof(DeviceFault))) {
    clear_fault();
  }
  ~CudaDevice() override {
    context_.try_make_current();  // after a kernel's fault every call fails
    (void)driver_.cuStreamSynchronize(streams_.main());
    raw_->free(fault_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] std::string description() const override {
    const std::string memory = raw_->description();
    return describe(facts_) + (memory.empty() ? "" : ", " + memory);
  }
  [[nodiscard]] DeviceMemory& memory() override { return memory_; }

  [[nodiscard]] std::vector<DeviceArena> arenas() override {
    auto arenas = memory_.arenas();
    arenas.push_back({fault_, sizeof(DeviceFault)});
    return arenas;
  }

  std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    context_.make_current();
    auto module = std::make_shared<const Module>();
    if (!text.empty()) {
      const std::string obstacle = text.is_fast() ? fast_obstacle(facts_) : "";
      if (!obstacle.empty()) throw DeviceError(obstacle);
      const auto cubin = cubin_of(text, architecture_of(facts_), cubins_);
      if (!cubin.ok()) throw DeviceError(cubin.error().message);
      module = context_.modules().load(driver_, cubin.value());
    }
    std::vector<std::unique_ptr<DeviceRun>> runs;
    for (const Job& job : jobs) {
      runs.push_back(std::make_unique<CudaRun>(driver_, streams_, memory_, module, job, fault_,
                                               text.is_fast(), waits_));
    }
    return runs;
  }

  void finish() override {
    context_.make_current();
    DeviceFault fault;
    raw_->to_host(std::as_writable_bytes(std::span(&fault, 1)), fault_);
    raw_->arrive();
    if (fault.kind != 0) clear_fault();
    throw_fault(fault);
  }

 private:
  void clear_fault() {
    const DeviceFault none;
    raw_->to_device(fault_, std::as_bytes(std::span(&none, 1)));
  }

  const Driver& driver_;
  GpuFacts facts_;
  std::filesystem::path cubins_;
  Context& context_;
  Streams streams_;
  std::unique_ptr<CudaMemory> raw_;
  DeviceMemory memory_;
  const bool waits_;
  std::uint64_t fault_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_cuda_device(DeviceMemoryMode mode,
                                                 const std::filesystem::path& cubins) {
  GRAPHGATE_TRY(const Driver* const driver, load_driver());
  return make_cuda_device_over(*driver, mode, cubins);
}

Result<std::shared_ptr<Device>> make_cuda_device_over(const Driver& driver, DeviceMemoryMode mode,
                                                      const std::filesystem::path& cubins) {
  GRAPHGATE_TRY_VOID([]() -> Result<void> {
    const auto nvrtc = load_nvrtc();
    return nvrtc.ok() ? Result<void>() : nvrtc.error();
  }());
  CudaFacts facts = cuda_facts();
  if (facts.gpus.empty()) return infrastructure(facts.gpu_obstacle);
  try {
    return std::shared_ptr<Device>(
        std::make_shared<CudaDevice>(driver, std::move(facts.gpus.front()), mode, cubins));
  } catch (const DeviceError& error) {
    return infrastructure(error.what());
  }
}

}  // namespace graphgate::optimized::cuda
