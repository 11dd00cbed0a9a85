#include "optimized/runtime/cuda/cuda_device.h"

#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/cuda_memory.h"
#include "optimized/runtime/cuda/cuda_run.h"
#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/cuda/nvrtc.h"
#include "optimized/runtime/cuda/streams.h"

namespace graphgate::optimized::cuda {
namespace {

// The primary context of GPU 0, retained for as long as the process lives: making one takes longer
// than most runs.
class Context {
 public:
  explicit Context(const Driver& driver) : driver_(driver) {
    GRAPHGATE_CUDA(driver, cuDeviceGet, &device_, 0);
    GRAPHGATE_CUDA(driver, cuDevicePrimaryCtxRetain, &context_, device_);
    make_current();
  }

  // For the calling thread.
  void make_current() const { GRAPHGATE_CUDA(driver_, cuCtxSetCurrent, context_); }
  void try_make_current() const { (void)driver_.cuCtxSetCurrent(context_); }
  [[nodiscard]] CUdevice device() const { return device_; }

 private:
  const Driver& driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

const Context& the_context(const Driver& driver) {
  static const Context kContext(driver);
  kContext.make_current();
  return kContext;
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
        raw_(make_cuda_memory(driver, context_.device(), streams_.main(), mode)),
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
    auto module = std::make_shared<Module>();
    if (!text.empty()) {
      const auto cubin = cubin_of(text, architecture_of(facts_), cubins_);
      if (!cubin.ok()) throw DeviceError(cubin.error().message);
      CUmodule loaded = nullptr;
      GRAPHGATE_CUDA(driver_, cuModuleLoadData, &loaded, cubin.value()->data());
      *module = Module(loaded, driver_.cuModuleUnload);
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
  const Context& context_;
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
  GRAPHGATE_TRY_VOID([]() -> Result<void> {
    const auto nvrtc = load_nvrtc();
    return nvrtc.ok() ? Result<void>() : nvrtc.error();
  }());
  CudaFacts facts = cuda_facts();
  if (facts.gpus.empty()) return infrastructure(facts.gpu_obstacle);
  try {
    return std::shared_ptr<Device>(
        std::make_shared<CudaDevice>(*driver, std::move(facts.gpus.front()), mode, cubins));
  } catch (const DeviceError& error) {
    return infrastructure(error.what());
  }
}

}  // namespace graphgate::optimized::cuda
