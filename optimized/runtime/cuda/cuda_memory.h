// A GPU's memory: arenas of cuMemAlloc, or, to find kernels that touch what is not theirs, each in
// pages of its own with address space around them that is not mapped.
//
//   kGuarded         | not mapped |......[ arena ]| not mapped |   an overrun faults
//   kGuardedFront    | not mapped |[ arena ]......| not mapped |   an underrun faults
//
// Arenas stand at multiples of 16 bytes, so that up to 15 bytes behind one of kGuarded are mapped.
// Pages are those of cuMemGetAllocationGranularity, 2 MiB on an H200. What is read-only is mapped
// so for kernels; a copy to it waits for the stream, makes it writable, and read-only again.
//
// Copies to the host go through pinned memory, so that many wait for the stream once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "optimized/runtime/cuda/driver.h"
#include "optimized/runtime/cuda/kept_memory.h"
#include "optimized/runtime/device/memory.h"

namespace graphgate::optimized::cuda {

class CudaMemory : public RawDeviceMemory {
 public:
  // `kept` outlives it.
  CudaMemory(const Driver& driver, CUstream stream, KeptMemory& kept)
      : driver_(driver), stream_(stream), kept_(kept) {}
  ~CudaMemory() override;
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  std::uint64_t allocate(std::int64_t size_bytes) override;
  // Waits for what may still use it.
  void free(std::uint64_t address) override;
  void to_device(std::uint64_t to, std::span<const std::byte> from) override;
  void to_host(std::span<std::byte> to, std::uint64_t from) override;
  void arrive() override;
  // What is said of the mode beside the GPU's name: "" for kPlain.
  [[nodiscard]] virtual std::string description() const { return ""; }

 protected:
  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] CUstream stream() const { return stream_; }

 private:
  // A copy that was started: to pinned memory, or, where there was no room, right to its place.
  struct Coming {
    std::span<std::byte> to;
    const std::byte* staged = nullptr;
  };

  const Driver& driver_;
  CUstream stream_;
  KeptMemory& kept_;
  std::map<CUdeviceptr, std::size_t> sizes_;  // bytes of what is allocated
  std::byte* pinned_ = nullptr;               // taken at the first copy that it is for
  std::size_t pinned_used_ = 0;
  std::vector<Coming> coming_;
};

// Of the device's memory, with copies in the order of the stream. Throws DeviceError where the
// driver refuses. A driver that maps nothing read-only leaves all writable, and description() says
// so.
[[nodiscard]] std::unique_ptr<CudaMemory> make_cuda_memory(const Driver& driver, CUdevice device,
                                                           CUstream stream, KeptMemory& kept,
                                                           DeviceMemoryMode mode);

}  // namespace graphgate::optimized::cuda
