// The captured partitions of a plan as lists of launches on the addresses that values have, and
// which of them have to be recorded anew when memory moves.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "optimized/runtime/host/step_binder.h"

namespace graphgate::optimized {

// `memory` and `scratch` keep what the launches point to alive.
struct Recording {
  std::vector<BoundLaunch> launches;
  std::vector<std::shared_ptr<HostMemory>> memory;
  std::vector<HostMemory> scratch;
};

class Recordings {
 public:
  // All that is passed outlives it.
  Recordings(const spec::Plan& plan, PlanMemory& memory, StepBinder& binder,
             const HostOptions& options);

  // Every captured partition, or those that see one of the buffers move: none says all. Throws
  // OpError and Unsupported; then what is there does not count as recorded.
  void record(const std::set<std::uint32_t>& moved_buffers, const DeviceListener* listener);
  // Drops all recordings: nothing is replayed until they are made anew.
  void drop();
  [[nodiscard]] const Recording& of(std::size_t block, std::size_t partition) const {
    return recordings_[block][partition];
  }
  // How many have been made so far, those made anew included.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  [[nodiscard]] bool must_record(const spec::PlanPartition& partition,
                                 const std::set<std::uint32_t>& moved_buffers) const;
  [[nodiscard]] bool sees_move(std::uint32_t buffer) const;
  [[nodiscard]] Recording recorded(const spec::PlanPartition& partition,
                                   const DeviceListener* listener);
  [[nodiscard]] std::set<std::uint32_t> buffers_of(const spec::PlanPartition& partition) const;

  const spec::Plan& plan_;
  PlanMemory& memory_;
  StepBinder& binder_;
  const HostOptions& options_;
  std::set<std::uint32_t> eager_buffers_;           // those that eager partitions make
  std::vector<std::vector<Recording>> recordings_;  // by block and partition
  std::uint64_t count_ = 0;
};

}  // namespace graphgate::optimized
