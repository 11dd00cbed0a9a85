// Facts in words: the part that needs no CUDA headers.
#include "optimized/runtime/cuda/facts.h"

namespace graphgate::optimized::cuda {

std::string describe(const GpuFacts& gpu) {
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
  return gpu.name + ", compute capability " + std::to_string(gpu.major) + "." +
         std::to_string(gpu.minor) + ", " + std::to_string(gpu.memory_bytes / kGibibyte) +
         " GiB, " + std::to_string(gpu.multiprocessors) + " multiprocessors";
}

std::string architecture_of(const GpuFacts& gpu) {
  const bool has_more = gpu.major == 9 && gpu.minor == 0;
  return "sm_" + std::to_string(gpu.major) + std::to_string(gpu.minor) + (has_more ? "a" : "");
}

std::string fast_obstacle(const GpuFacts& gpu) {
  if (gpu.major >= 9) return "";
  return "--arithmetic fast takes a GPU of compute capability 9.0 or more, which has clusters of "
         "blocks and launches that overlap; here is " +
         describe(gpu);
}

}  // namespace graphgate::optimized::cuda
