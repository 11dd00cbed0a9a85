// The release of PyTorch whose ops' semantics the kernels have, where releases differ. Kernels ask
// as they infer and bind; who makes executors sets it around their loading and their calls
// (optimized_executor.h in tools/executors/).
#pragma once

#include "spec/torch_release.h"

namespace graphgate::optimized {

// Of the running thread.
[[nodiscard]] inline spec::TorchRelease& torch_release() {
  thread_local spec::TorchRelease release = spec::kNewestTorchRelease;
  return release;
}

// Sets it as long as it lives.
class TorchReleaseScope {
 public:
  explicit TorchReleaseScope(spec::TorchRelease release) : before_(torch_release()) {
    torch_release() = release;
  }
  TorchReleaseScope(const TorchReleaseScope&) = delete;
  TorchReleaseScope& operator=(const TorchReleaseScope&) = delete;
  ~TorchReleaseScope() { torch_release() = before_; }

 private:
  spec::TorchRelease before_;
};

}  // namespace graphgate::optimized
