// A device: memory of its own, and kernels that it runs there.
//
// Who uses it: the runtime, for the partitions and steps that it can describe (work.h). The memory
// of a device is a twin of host memory, arena by arena, at the same offsets (memory.h); what is
// handed over here are the host's addresses. runtime/cuda has the one that is real.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "optimized/device/capture.h"
#include "optimized/device/kernels.h"
#include "optimized/device/memory.h"

namespace graphgate::optimized {

// What the device or its driver refused: infrastructure, not a wrong program.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A byte that nobody may write holds something else than its canary (canaries.h). Which kernel
// wrote it is not known: one of the job, or one that ran since the check before it.
class BrokenCanary : public DeviceError {
 public:
  BrokenCanary(std::int64_t arena, std::int64_t byte, std::int64_t job)
      : DeviceError("after job " + std::to_string(job) + ": byte " + std::to_string(byte) +
                    " of arena " + std::to_string(arena) + " has been written, which is nobody's"),
        arena(arena),
        byte(byte),
        job(job) {}
  const std::int64_t arena;
  const std::int64_t byte;
  const std::int64_t job;
};

// Calls that are launched together, ready to run.
class DeviceRun {
 public:
  virtual ~DeviceRun() = default;
  // Starts them, behind everything that was started before. Throws DeviceError.
  virtual void launch() = 0;
  // What launch() replays, as the device has it. No kernels where it replays nothing.
  [[nodiscard]] virtual DeviceCapture captured() const { return {}; }
};

class Device {
 public:
  struct Job {
    std::vector<DeviceCall> calls;
    bool is_captured = false;  // into one graph, which launch() replays
    std::string what = {};     // in words, for messages; may be empty
  };

  virtual ~Device() = default;
  // One line: "NVIDIA H200, compute capability 9.0, ...".
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual DeviceMemory& memory() = 0;
  // All that kernels may have pointers into: the memory's, in the order in which they came, and
  // what the device has of its own.
  [[nodiscard]] virtual std::vector<DeviceArena> arenas() { return memory().arenas(); }
  // Compiles the text and makes the jobs ready, in order. Pointers must be known to memory().
  // Throws DeviceError.
  [[nodiscard]] virtual std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                                                     std::span<const Job> jobs) = 0;
  // Waits for all that was started. Throws what a kernel has found wrong (throw_fault), once, and
  // DeviceError for what the device did.
  virtual void finish() = 0;
};

}  // namespace graphgate::optimized
