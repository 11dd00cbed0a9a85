// A device that compiles what it is given, and runs nothing.
#pragma once

#include <algorithm>

#include "base/result_test.h"
#include "optimized/runtime/cuda/cubins.h"
#include "tools/golden/kernel_collector.h"

namespace graphgate::tools {

class CompilingDevice final : public KernelCollector {
 public:
  std::vector<std::unique_ptr<optimized::DeviceRun>> load(const optimized::DeviceProgramText& text,
                                                          std::span<const Job> jobs) override {
    kernels += text.kernel_count();
    is_fast = text.is_fast();
    if (!text.empty() && compiles) {
      must(optimized::cuda::cubin_of(text, architecture));
    }
    for (const Job& job : jobs) {
      if (!job.calls.empty()) ++(job.is_captured ? captured : eager);
      for (const optimized::DeviceCall& call : job.calls) {
        shared_bytes = std::max(shared_bytes, call.shared_bytes);
        for (const std::byte* pointer : call.pointers) {
          // Null stands for a tensor without elements.
          EXPECT_TRUE(pointer == nullptr || memory().twin_of(pointer) != 0U) << call.what;
        }
      }
    }
    return KernelCollector::load(text, jobs);
  }

  std::string architecture = "sm_90a";
  bool compiles = true;
  bool is_fast = false;      // the last program
  std::size_t kernels = 0;   // of all programs
  std::size_t captured = 0;  // jobs
  std::size_t eager = 0;
  std::int64_t shared_bytes = 0;  // dynamic, of a block, at most
};

}  // namespace graphgate::tools
