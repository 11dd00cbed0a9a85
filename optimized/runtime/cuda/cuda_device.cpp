#include "optimized/runtime/cuda/cuda_device.h"

#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/cuda_run.h"
#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/cuda/nvrtc.h"

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

class CudaMemory final : public RawDeviceMemory {
 public:
  CudaMemory(const Driver& driver, CUstream stream) : driver_(driver), stream_(stream) {}

  std::uint64_t allocate(std::int64_t size_bytes) override {
    CUdeviceptr address = 0;
    GRAPHGATE_CUDA(driver_, cuMemAlloc, &address, static_cast<std::size_t>(size_bytes));
    return address;
  }
  // Waits for what may still use it.
  void free(std::uint64_t address) override { (void)driver_.cuMemFree(address); }
  void to_device(std::uint64_t to, std::span<const std::byte> from) override {
    GRAPHGATE_CUDA(driver_, cuMemcpyHtoDAsync, to, from.data(), from.size(), stream_);
  }
  void to_host(std::span<std::byte> to, std::uint64_t from) override {
    GRAPHGATE_CUDA(driver_, cuMemcpyDtoHAsync, to.data(), from, to.size(), stream_);
    GRAPHGATE_CUDA(driver_, cuStreamSynchronize, stream_);
  }

 private:
  const Driver& driver_;
  CUstream stream_;
};

Stream make_stream(const Driver& driver) {
  CUstream stream = nullptr;
  GRAPHGATE_CUDA(driver, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  return {stream, driver.cuStreamDestroy};
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, GpuFacts facts)
      : driver_(driver),
        facts_(std::move(facts)),
        context_(the_context(driver)),
        stream_(make_stream(driver)),
        raw_(driver, stream_.get()),
        memory_(raw_),
        fault_(raw_.allocate(sizeof(DeviceFault))) {
    clear_fault();
  }
  ~CudaDevice() override {
    context_.make_current();
    (void)driver_.cuStreamSynchronize(stream_.get());
    raw_.free(fault_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] std::string description() const override { return describe(facts_); }
  [[nodiscard]] DeviceMemory& memory() override { return memory_; }

  std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    context_.make_current();
    auto module = std::make_shared<Module>();
    if (!text.empty()) {
      const auto cubin = cubin_of(text, architecture_of(facts_));
      if (!cubin.ok()) throw DeviceError(cubin.error().message);
      CUmodule loaded = nullptr;
      GRAPHGATE_CUDA(driver_, cuModuleLoadData, &loaded, cubin.value()->data());
      *module = Module(loaded, driver_.cuModuleUnload);
    }
    std::vector<std::unique_ptr<DeviceRun>> runs;
    for (const Job& job : jobs) {
      runs.push_back(std::make_unique<CudaRun>(driver_, stream_.get(), memory_, module, job, fault_,
                                               text.is_fast()));
    }
    return runs;
  }

  void finish() override {
    context_.make_current();
    DeviceFault fault;
    raw_.to_host(std::as_writable_bytes(std::span(&fault, 1)), fault_);
    if (fault.is_set != 0) clear_fault();
    throw_fault(fault);
  }

 private:
  void clear_fault() {
    const DeviceFault none;
    raw_.to_device(fault_, std::as_bytes(std::span(&none, 1)));
  }

  const Driver& driver_;
  GpuFacts facts_;
  const Context& context_;
  Stream stream_;
  CudaMemory raw_;
  DeviceMemory memory_;
  std::uint64_t fault_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_cuda_device() {
  GRAPHGATE_TRY(const Driver* const driver, load_driver());
  GRAPHGATE_TRY_VOID([]() -> Result<void> {
    const auto nvrtc = load_nvrtc();
    return nvrtc.ok() ? Result<void>() : nvrtc.error();
  }());
  CudaFacts facts = cuda_facts();
  if (facts.gpus.empty()) return infrastructure(facts.gpu_obstacle);
  try {
    return std::shared_ptr<Device>(
        std::make_shared<CudaDevice>(*driver, std::move(facts.gpus.front())));
  } catch (const DeviceError& error) {
    return infrastructure(error.what());
  }
}

}  // namespace graphgate::optimized::cuda
