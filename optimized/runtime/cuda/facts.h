// What this machine has of CUDA: driver, GPUs, run-time compiler; and why not.
//
// Used by: `graphgate doctor`, and whoever is asked to run on a GPU. Nothing here creates a
// context, so that asking costs no device memory and disturbs nobody. The build links no CUDA
// library: the driver (libcuda) and the compiler (NVRTC) are opened when they are asked for, and
// one binary starts on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphgate::optimized::cuda {

struct GpuFacts {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
};

// Versions as CUDA writes them, "13.0"; "" where there is none. An obstacle is one line that says
// why not, "" where nothing stands in the way.
struct CudaFacts {
  std::string toolkit;  // whose headers this was built with; "" for a build without CUDA
  std::string driver;   // the newest CUDA that the driver knows
  std::vector<GpuFacts> gpus;
  std::string gpu_obstacle;
  std::string nvrtc;
  std::string nvrtc_obstacle;
};

// Asks anew at every call. Throws as ask_for_nvrtc() does.
[[nodiscard]] CudaFacts cuda_facts();

// "NVIDIA H200, compute capability 9.0, 139 GiB, 132 multiprocessors".
[[nodiscard]] std::string describe(const GpuFacts& gpu);
// What programs for it are compiled for: "sm_90a", with all that this very GPU has; "sm_86" where
// there is nothing beyond.
[[nodiscard]] std::string architecture_of(const GpuFacts& gpu);
// Why it runs nothing in fast arithmetic, in one line; "" where it does.
[[nodiscard]] std::string fast_obstacle(const GpuFacts& gpu);

}  // namespace graphgate::optimized::cuda
