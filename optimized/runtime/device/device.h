// A device: memory of its own, and kernels that it runs there.
//
// Used by: the runtime, for the partitions and steps that it can describe (work.h). The memory
// of a device is a twin of host memory, arena by arena, at the same offsets (memory.h); what is
// handed over here are the host's addresses. runtime/cuda has the one that is real.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "optimized/codegen/kernels.h"
#include "optimized/runtime/device/capture.h"
#include "optimized/runtime/device/happens_before.h"
#include "optimized/runtime/device/memory.h"

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
  BrokenCanary(std::int64_t in_arena, std::int64_t at_byte, std::int64_t after_job)
      : DeviceError("after job " + std::to_string(after_job) + ": byte " + std::to_string(at_byte) +
                    " of arena " + std::to_string(in_arena) +
                    " has been written, which is nobody's"),
        arena(in_arena),
        byte(at_byte),
        job(after_job) {}
  const std::int64_t arena;
  const std::int64_t byte;
  const std::int64_t job;
};

// A captured graph leaves two calls free that have to stay in order (happens_before.h).
class UnorderedCalls : public DeviceError {
 public:
  UnorderedCalls(std::string of_job, std::span<const DeviceCall> calls, const Disorder& found)
      : DeviceError(of_job + ": as captured, nothing orders call " +
                    words_of(calls, found.earlier) + " before call " +
                    words_of(calls, found.later)),
        job(std::move(of_job)),
        disorder(found) {}
  const std::string job;  // in words
  const Disorder disorder;

 private:
  static std::string words_of(std::span<const DeviceCall> calls, std::size_t call) {
    const std::string& what = calls[call].what.empty() ? calls[call].name : calls[call].what;
    return std::to_string(call) + " (" + what + ")";
  }
};

// What a program has found wrong, as the device writes it: a value that the host refuses, too
// (value_errors.h), or a broken canary (canaries.h). Zero while nothing is; the first one stays.
struct DeviceFault {
  static constexpr std::int32_t kIndexOutOfRange = 1;
  static constexpr std::int32_t kBrokenCanary = 2;
  static constexpr std::int32_t kDivisionByZero = 3;
  static constexpr std::int32_t kIndexOutsidePlane = 4;
  static constexpr std::int32_t kGroupsDoNotAscend = 5;
  static constexpr std::int32_t kSourceTooShort = 6;
  static constexpr std::int32_t kSorterOutOfRange = 7;
  static constexpr std::int32_t kElementsNotFinite = 8;
  static constexpr std::int32_t kBinsNotFinite = 9;
  std::int32_t kind = 0;
  std::int32_t unused = 0;
  std::int64_t index = 0;  // of a canary: the byte of its arena
  std::int64_t dim = 0;    // the arena
  std::int64_t size = 0;   // the job
};

// Where there is one: throws OpError with the words that the host has for it, or BrokenCanary.
void throw_fault(const DeviceFault& fault);

// What it takes to make a graph of some calls: medians over several that were made.
struct GraphCost {
  int copies = 0;                      // that were made, and kept together
  double capture_seconds = 0;          // from nothing to a graph
  double instantiate_seconds = 0;      // from there to one that can be launched
  double upload_seconds = 0;           // until it is on the device
  std::optional<double> device_bytes;  // of one; nothing where free memory did not tell
};

// Bytes of one of many like things, from the device's free bytes before the first and after each:
// memory goes in steps, and what lies between the first step and the last is whole. Nothing where
// fewer than two steps are seen, or where memory came back in between.
[[nodiscard]] std::optional<double> bytes_of_each(std::span<const std::int64_t> free_bytes);

// Calls that are launched together, ready to run.
class DeviceRun {
 public:
  virtual ~DeviceRun() = default;
  // Starts them, behind everything that was started before. Throws DeviceError.
  virtual void launch() = 0;
  // What launch() replays, as the device has it. No kernels where it replays nothing.
  [[nodiscard]] virtual DeviceCapture captured() const { return {}; }

  // For benchmarks. bare_launch() returns the same start with nothing of this runtime around it;
  // that function does not outlive this object. measure_graph() makes graphs of the same calls
  // beside its own, until free memory tells what one takes, but `most` at most (at least 1). They
  // return null, and nothing, where launch() starts no graph. Both throw DeviceError.
  [[nodiscard]] virtual std::function<void()> bare_launch() { return {}; }
  [[nodiscard]] virtual std::optional<GraphCost> measure_graph(int /*most*/) { return {}; }
};

class Device {
 public:
  struct Job {
    std::vector<DeviceCall> calls;
    bool is_captured = false;  // into one graph, which launch() replays
    std::string what = {};     // in words, for messages; may be empty
    std::uint64_t seed = 0;    // of orders that streams leave free, where a device chooses them
  };

  virtual ~Device() = default;
  // One line: "NVIDIA H200, compute capability 9.0, ...".
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual DeviceMemory& memory() = 0;
  // All that kernels may have pointers into: the memory's, in the order in which they came, and
  // what the device has of its own.
  [[nodiscard]] virtual std::vector<DeviceArena> arenas() { return memory().arenas(); }
  // Compiles the text and makes the jobs ready, in order. Pointers must be known to memory().
  // Throws DeviceError. A job's calls run as their streams and events say (call_order.h).
  [[nodiscard]] virtual std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                                                     std::span<const Job> jobs) = 0;
  // Waits for all that was started, copies of memory() to the host too. Throws what a kernel has
  // found wrong (throw_fault), once, and DeviceError for what the device did.
  virtual void finish() = 0;
};

}  // namespace graphgate::optimized
