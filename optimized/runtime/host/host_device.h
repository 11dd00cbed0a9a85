// What HostProgram keeps of a plan that runs on a device, in part or as a whole.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optimized/runtime/device/call_order.h"
#include "optimized/runtime/device/canaries.h"
#include "optimized/runtime/device/device.h"
#include "optimized/runtime/host/memory.h"
#include "spec/graph.h"

namespace graphgate::optimized {

// Buffers that steps name, and those of them that they may write.
struct DevicePlaces {
  std::set<std::uint32_t> touched;
  std::set<std::uint32_t> written;
};

// Made anew whenever partitions are recorded anew. The device outlives it.
struct OnDevice {
  OnDevice(DeviceMemory& device_memory, bool is_fast) : memory(device_memory), text(is_fast) {}
  ~OnDevice() {
    for (const std::byte* host : known) memory.forget(host);
    for (const CallersBytes& callers : of_caller) {
      const bool is_there = callers.is_mine && memory.twin_of(callers.bytes) == callers.twin;
      if (is_there) memory.forget(callers.bytes.data());
    }
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  struct Unit {
    DevicePlaces places;
    DeviceMemory::Ranges touched;  // the bytes of its places
    DeviceMemory::Ranges written;
    std::vector<DeviceCall> calls;  // what it launches, in an order that streams allow
    std::vector<StepRange> steps;   // of the plan, by call; a look at canaries is of none
    bool is_captured = false;
    std::unique_ptr<DeviceRun> run;  // null: runs on the host
  };
  // What the caller owns may be known to plans of several sizes, of which the largest has the twin.
  struct CallersBytes {
    std::span<std::byte> bytes;
    std::uint64_t twin = 0;  // as launches have it
    bool is_mine = false;    // this has made it known
  };
  DeviceMemory& memory;
  std::vector<const std::byte*> known;  // arenas that this alone has made known
  std::vector<CallersBytes> of_caller;
  std::uint64_t generation_seen = 0;  // of the memory, when twins of the caller's were looked at
  std::string type;                   // the device type of the plan's captures
  DeviceProgramText text;
  std::vector<std::shared_ptr<const std::span<std::byte>>> reserved;
  std::vector<HostMemory> scratch;            // of eager steps
  std::vector<std::vector<Unit>> partitions;  // by block and partition; captured ones have places
  std::vector<Unit> steps;                    // by step; those of eager partitions have places
  DeviceMemory::Ranges inputs;                // what every run copies in
  DeviceMemory::Ranges returned;  // what callers look at: inputs, state, outputs that are planned
  std::vector<spec::ValueId> dynamic_outputs;  // whose places only the run knows
  std::uint64_t host_writes_seen = 0;
  std::optional<Canaries> canaries;  // of guarded memory
  std::vector<std::string> arenas;   // that have them, in words
  std::vector<std::string> jobs;     // in words
};

}  // namespace graphgate::optimized
