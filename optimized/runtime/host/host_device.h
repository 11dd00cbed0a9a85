// What of a plan runs on a device: captured partitions whose every step tells what it does, and
// eager steps that do. All else runs on the host, on bytes that are brought there first.
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
#include "optimized/runtime/host/plan_memory.h"
#include "optimized/runtime/host/recordings.h"
#include "optimized/runtime/host/step_binder.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// Buffers that steps name, and those of them that they may write.
struct DevicePlaces {
  std::set<std::uint32_t> touched;
  std::set<std::uint32_t> written;
};

// Made anew whenever partitions are recorded anew.
class OnDevice {
 public:
  // All that is passed outlives it.
  OnDevice(const spec::Plan& plan, const spec::OpTable& ops, PlanMemory& memory, StepBinder& binder,
           Device& device, const HostOptions& options);
  ~OnDevice();
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
  // By block and partition; captured ones have places.
  [[nodiscard]] const std::vector<std::vector<Unit>>& partitions() const { return partitions_; }
  // By step; those of eager partitions have places.
  [[nodiscard]] const std::vector<Unit>& steps() const { return steps_; }
  [[nodiscard]] const DeviceProgramText& text() const { return text_; }

  // The listener that wants to know what launches do, in the plan's arithmetic.
  [[nodiscard]] DeviceListener listener();
  // Compiles and loads together what can run on the device. Throws DeviceError.
  void load(const Recordings& recordings);
  // Whether the caller's memory has other twins than launches were recorded with: a plan of another
  // size has made more of it known, or has gone with what it had made known.
  [[nodiscard]] bool has_lost_twins();

  // Before the first step of a run, with inputs in their slots, and behind its last one: waits for
  // all runs that were started, and brings back what callers look at.
  void begin_run();
  void end_run();
  [[nodiscard]] Unit& partition(std::size_t block, std::size_t p) { return partitions_[block][p]; }
  [[nodiscard]] Unit& step(std::uint32_t index) { return steps_[index]; }
  // Runs one of them, if it is on the device.
  bool run(Unit& unit);
  // Before steps of the host: their bytes are there. Afterwards: they are newer there.
  void bring_to_host(const DevicePlaces& places);
  void note_host_writes(const DevicePlaces& places);
  // Adds the buffers that a step names, and those of them that it may write.
  void add_places(const spec::PlanStep& step, DevicePlaces& places) const;

 private:
  // What the caller owns may be known to plans of several sizes, of which the largest has the twin.
  struct CallersBytes {
    std::span<std::byte> bytes;
    std::uint64_t twin = 0;  // as launches have it
    bool is_mine = false;    // this has made it known
  };
  // What is loaded together.
  struct Jobs {
    std::vector<Device::Job> jobs;
    std::vector<Unit*> units;
  };

  // host_device.cpp
  void know_memory();
  void know_callers(std::span<std::byte> bytes);
  void know_for_now(const HostMemory& scratch);
  void place_canaries();
  void protect_state();
  void find_ranges();
  void add_partition(std::size_t block, std::size_t partition, const Recording& recording,
                     Jobs& jobs);
  void add(Unit& unit, std::optional<StepCalls> of_steps, bool is_captured, std::string what,
           Jobs& jobs);

  // device_calls.cpp: what steps launch, and what the device says of it.
  std::optional<StepCalls> calls_of(const StepRange& range, std::span<const BoundLaunch> launches);
  std::optional<StepCalls> eager_calls(std::uint32_t index);
  void make_ready(const Jobs& jobs);
  void finish();
  [[nodiscard]] std::string words_of_call(const Unit& unit, std::size_t call) const;
  [[nodiscard]] std::string words_of_bytes(const ByteRange& bytes) const;

  const spec::Plan& plan_;
  const spec::OpTable& ops_;
  PlanMemory& memory_;
  StepBinder& binder_;
  Device& device_;
  const HostOptions& options_;
  DeviceMemory& twins_;                  // of the device
  std::vector<const std::byte*> known_;  // arenas that this alone has made known
  std::vector<CallersBytes> of_caller_;
  std::uint64_t generation_seen_ = 0;  // of the twins, when those of the caller's were looked at
  std::string type_;                   // the device type of the plan's captures
  DeviceProgramText text_;
  std::vector<std::shared_ptr<const std::span<std::byte>>> reserved_;
  std::vector<HostMemory> scratch_;  // of eager steps
  std::vector<std::vector<Unit>> partitions_;
  std::vector<Unit> steps_;
  DeviceMemory::Ranges inputs_;                 // what every run copies in
  DeviceMemory::Ranges returned_;               // inputs, state, outputs that are planned
  std::vector<spec::ValueId> dynamic_outputs_;  // whose places only the run knows
  std::uint64_t host_writes_seen_ = 0;
  std::optional<Canaries> canaries_;  // of guarded memory
  std::vector<std::string> arenas_;   // that have them, in words
  std::vector<std::string> jobs_;     // in words
};

}  // namespace graphgate::optimized
