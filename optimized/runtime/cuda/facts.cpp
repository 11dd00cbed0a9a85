#include "optimized/runtime/cuda/facts.h"

#include "optimized/runtime/cuda/driver.h"
#include "optimized/runtime/cuda/nvrtc.h"

namespace graphgate::optimized::cuda {
namespace {

// CUDA counts 1000 for a major version and 10 for a minor one.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int attribute(const Driver& driver, CUdevice_attribute name, CUdevice device) {
  int value = 0;
  GRAPHGATE_CUDA(driver, cuDeviceGetAttribute, &value, name, device);
  return value;
}

GpuFacts gpu_facts(const Driver& driver, int index) {
  CUdevice device = 0;
  GRAPHGATE_CUDA(driver, cuDeviceGet, &device, index);
  GpuFacts gpu;
  char name[256] = {};
  GRAPHGATE_CUDA(driver, cuDeviceGetName, name, static_cast<int>(sizeof name), device);
  gpu.name = name;
  gpu.major = attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  gpu.minor = attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  gpu.multiprocessors = attribute(driver, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  std::size_t bytes = 0;
  GRAPHGATE_CUDA(driver, cuDeviceTotalMem, &bytes, device);
  gpu.memory_bytes = static_cast<std::int64_t>(bytes);
  return gpu;
}

void ask_driver(const Driver& driver, CudaFacts& facts) {
  int version = 0;
  GRAPHGATE_CUDA(driver, cuDriverGetVersion, &version);
  facts.driver = version_text(version);
  int count = 0;
  GRAPHGATE_CUDA(driver, cuDeviceGetCount, &count);
  for (int i = 0; i < count; ++i) facts.gpus.push_back(gpu_facts(driver, i));
  if (facts.gpus.empty()) facts.gpu_obstacle = "a CUDA driver, but no GPU";
}

}  // namespace

CudaFacts cuda_facts() {
  CudaFacts facts;
  facts.toolkit = version_text(CUDA_VERSION);
  // Before the driver, which may start threads.
  const auto nvrtc = ask_for_nvrtc();
  const auto driver = load_driver();
  if (driver.ok()) {
    try {
      ask_driver(*driver.value(), facts);
    } catch (const DeviceError& error) {
      facts.gpu_obstacle = error.what();
    }
  } else {
    facts.gpu_obstacle = driver.error().message;
  }
  if (nvrtc.ok()) {
    facts.nvrtc = nvrtc.value();
  } else {
    facts.nvrtc_obstacle = nvrtc.error().message;
  }
  return facts;
}

}  // namespace graphgate::optimized::cuda
