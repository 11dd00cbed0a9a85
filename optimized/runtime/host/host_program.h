// The host backend: follows a plan.
//
// It is given a plan, the op table and kernels, and memory; the graph that the plan came from may
// be gone. Captured partitions are recorded once: every step is bound to the addresses that its
// values have, and replay walks the list of launches. Steps of eager partitions are bound when they
// run, once where no call can bind them to anything else. Those that the plan calls dynamic infer
// their results then, into a heap that lives to the end of the call.
//
// Memory belongs to others, and may move between two runs (plan_memory.h). Before every run
// addresses are compared with those that were recorded, and what has moved is recorded anew.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optimized/runtime/host/host_device.h"
#include "optimized/runtime/host/recordings.h"

namespace graphgate::optimized {

class HostProgram {
 public:
  // Adds pools that `state` lacks, zero-filled; `state` outlives the program. Without a RunPool it
  // gets one of its own. Records the captured partitions.
  HostProgram(spec::Plan plan, const spec::OpTable& ops, StateMemory& state,
              HostOptions options = {}, std::shared_ptr<RunPool> pool = nullptr);
  ~HostProgram();
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  // Runs once. `inputs` are the user inputs that have a value in the plan, in order. Their bytes
  // are copied into the input slots, or, by a plan with a padding, into the leading part of them.
  // Throws OpError where an op refuses what it reads.
  void run(std::span<const InputSource> inputs);
  void run(std::span<const spec::HostTensor* const> inputs);
  // The halves of run(). What a device was given may be under way after start(), and more runs may
  // be started behind it; finish() waits, and brings back what callers look at.
  void start(std::span<const InputSource> inputs);
  void finish();

  // Between runs: gives the memory back that runs take, and drops what is recorded, if asked to. On
  // a device recordings hold memory of their own, and always go.
  void sleep(bool drops_recordings);
  void wake(bool elsewhere);

  // After a run: what a value holds, as it is. Tensors have addresses inside the pools.
  [[nodiscard]] Item read(const spec::Argument& argument) const {
    return bind_argument(argument, memory_.values());
  }
  // The same where it lies, until the next run; null for what is no tensor.
  [[nodiscard]] const Tensor* tensor_of(spec::ValueId id) const {
    return memory_.value(id).as<Tensor>();
  }
  [[nodiscard]] const Tensor* tensor_of(const spec::Argument& argument) const {
    const auto* id = argument.as<spec::ValueId>();
    return id ? tensor_of(*id) : nullptr;
  }
  // The bytes of the storage that a tensor of read() lies in.
  [[nodiscard]] std::span<const std::byte> storage_bytes(const Tensor& tensor) const {
    return memory_.storage_bytes(tensor);
  }
  [[nodiscard]] std::span<std::byte> buffer_bytes(spec::BufferId buffer) const {
    return memory_.bytes_of(buffer);
  }
  // What keeps these bytes alive; null for the heap of the last call.
  [[nodiscard]] std::shared_ptr<HostMemory> memory_of(spec::BufferId buffer) const {
    return memory_.pools()[plan_.buffers[buffer.index].pool.index];
  }

  [[nodiscard]] const spec::Plan& plan() const { return plan_; }
  [[nodiscard]] const std::shared_ptr<const spec::Plan>& shared_plan() const { return kept_plan_; }
  [[nodiscard]] const std::shared_ptr<RunPool>& pool() const { return run_pool_; }
  // Whether a step of this or another plan may have written the state buffer.
  [[nodiscard]] bool is_written(spec::BufferId buffer) const { return memory_.is_written(buffer); }
  // The number in its pool of the last run; 0 before the first.
  [[nodiscard]] std::uint64_t last_run() const { return last_run_; }
  // How many partitions have been recorded so far, those recorded anew included.
  [[nodiscard]] std::uint64_t recordings() const { return recordings_.count(); }
  // What runs on the device; null without one.
  [[nodiscard]] const OnDevice* on_device() const { return on_device_.get(); }

 private:
  void record(const std::set<std::uint32_t>& moved_buffers);
  void run_block(std::size_t block);
  void replay(const Recording& recording);
  void launch(const BoundLaunch& bound);
  void run_step(std::uint32_t index);
  void run_eager(std::uint32_t index);
  void run_conditional(const spec::PlanStep& step);
  void run_loop(std::uint32_t index);
  bool asks_for_more(std::uint32_t block);
  [[nodiscard]] bool keeps_old_addresses();

  const std::shared_ptr<const spec::Plan> kept_plan_;  // with whoever looks at it later
  const spec::Plan& plan_;                             // the same
  const spec::OpTable& ops_;
  const HostOptions options_;
  const std::int64_t run_bytes_;  // that a run takes of the RunPool
  const std::shared_ptr<RunPool> run_pool_;
  PlanMemory memory_;
  StepBinder binder_;
  Recordings recordings_;
  std::unique_ptr<OnDevice> on_device_;
  std::vector<std::optional<BoundLaunch>> kept_;  // by eager step (StepBinder::may_keep)
  std::uint32_t running_ = 0;                     // the step that runs, for messages
  std::uint64_t last_run_ = 0;
  bool is_recorded_ = false;
  bool woke_elsewhere_ = false;  // since the last run
};

}  // namespace graphgate::optimized
