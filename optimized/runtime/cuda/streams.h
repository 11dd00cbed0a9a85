// The streams of a device: one of all its work, and side streams that a job's calls fork to.
//
// The code that forks joins again, so that what is launched on the main stream afterwards comes
// behind all. Work of two jobs may thus take the same side streams.
#pragma once

#include <vector>

#include "optimized/runtime/cuda/handles.h"

namespace graphgate::optimized::cuda {

class Streams {
 public:
  // The driver outlives it. Throws DeviceError.
  explicit Streams(const Driver& driver) : driver_(driver) { (void)at(0); }
  [[nodiscard]] CUstream main() const { return streams_.front().get(); }
  // The main one is number 0. Makes those up to it where there are none yet; throws DeviceError.
  [[nodiscard]] CUstream at(std::uint32_t number) {
    while (streams_.size() <= number) {
      CUstream stream = nullptr;
      GRAPHGATE_CUDA(driver_, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
      streams_.emplace_back(stream, driver_.cuStreamDestroy);
    }
    return streams_[number].get();
  }

 private:
  const Driver& driver_;
  std::vector<Stream> streams_;
};

}  // namespace graphgate::optimized::cuda
