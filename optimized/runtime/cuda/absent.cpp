// A build without CUDA's headers: there is no backend, and this says so.
#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/cuda/nvrtc.h"

namespace graphgate::optimized::cuda {

CudaFacts cuda_facts() {
  CudaFacts facts;
  facts.gpu_obstacle = "this build has no CUDA backend: it was made without cuda.h and nvrtc.h";
  facts.nvrtc_obstacle = facts.gpu_obstacle;
  return facts;
}

Result<std::shared_ptr<Device>> make_cuda_device(DeviceMemoryMode /*mode*/,
                                                 const std::filesystem::path& /*cubins*/) {
  return infrastructure(cuda_facts().gpu_obstacle);
}

Result<const Nvrtc*> load_nvrtc() { return infrastructure(cuda_facts().nvrtc_obstacle); }

Result<std::shared_ptr<const std::string>> cubin_of(const DeviceProgramText& /*text*/,
                                                    const std::string& /*architecture*/,
                                                    const std::filesystem::path& /*folder*/) {
  return infrastructure(cuda_facts().nvrtc_obstacle);
}
void keep_cubins_in(const std::filesystem::path& /*folder*/) {}
Result<std::string> cubin_key(const DeviceProgramText& /*text*/,
                              const std::string& /*architecture*/) {
  return infrastructure(cuda_facts().nvrtc_obstacle);
}

}  // namespace graphgate::optimized::cuda
