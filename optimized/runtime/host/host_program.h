// The host backend: follows a plan.
//
// It is given a plan, the op table and kernels, and memory; the graph that the plan came from may
// be gone. Captured partitions are recorded once, when the program is made: every step is bound to
// the addresses that the plan gives, and replay walks the list of launches. Steps of eager
// partitions are bound when they run; those that the plan calls dynamic infer their results then,
// into a heap that lives to the end of the call.
//
// State (parameters, buffers) lies in memory that the caller owns and shares among the plans of one
// program: its addresses and layout are the same in all of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "optimized/kernel.h"
#include "optimized/runtime/host/memory.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// The state pools of a program, by the name of the pool, and which of its buffers any step of any
// plan has been bound to write: (pool, offset).
struct StateMemory {
  std::map<std::string, std::shared_ptr<HostMemory>, std::less<>> pools;
  std::set<std::pair<std::string, std::int64_t>> written;
};

class HostProgram {
 public:
  // Adds pools that `state` lacks, zero-filled; `state` outlives the program. Records the captured
  // partitions.
  HostProgram(spec::Plan plan, const spec::OpTable& ops, StateMemory& state);

  // Runs once. `inputs` are the user inputs that have a value in the plan, in order; their bytes
  // are copied into the input slots. Throws OpError where an op refuses what it reads.
  void run(std::span<const spec::HostTensor* const> inputs);

  // After a run: what a value holds, as it is. Tensors have addresses inside the pools.
  [[nodiscard]] Item read(const spec::Argument& argument) const;
  // The bytes of the storage that a tensor of read() lies in.
  [[nodiscard]] std::span<const std::byte> storage_bytes(const Tensor& tensor) const;
  [[nodiscard]] std::span<std::byte> buffer_bytes(spec::BufferId buffer) const;

  [[nodiscard]] const spec::Plan& plan() const { return plan_; }
  // Whether a step of this or another plan may have written the state buffer.
  [[nodiscard]] bool is_written(spec::BufferId buffer) const;

 private:
  struct Recorded {
    std::uint32_t step = 0;
    Launch launch;
  };
  using Recording = std::vector<Recorded>;
  // What recorded addresses were baked for; replay checks that they still hold.
  struct PoolAddress {
    const std::byte* base = nullptr;
    std::int64_t size_bytes = 0;
  };

  void place_values();
  void note_writes(const spec::OpRow& row, const std::vector<Item>& arguments);
  void record_block(std::size_t block);
  Recording record(const spec::PlanPartition& partition);
  void check_addresses() const;
  template <class Work>
  void with_place(Work&& work);
  void run_block(std::size_t block);
  void replay(const Recording& recording);
  void run_step(const spec::PlanStep& step);
  void run_conditional(const spec::PlanStep& step);
  Launch bind_step(const spec::PlanStep& step, bool has_data);
  void take_results(const spec::PlanStep& step, std::vector<Made>& made);
  void take_result(spec::ValueId id, Made& made);
  [[nodiscard]] std::vector<Item> arguments_of(const spec::PlanStep& step,
                                               const spec::OpRow& row) const;
  [[nodiscard]] const spec::OpRow& row_of(const spec::PlanStep& step) const;
  void allocate(Tensor& tensor);

  spec::Plan plan_;
  const spec::OpTable& ops_;
  StateMemory& state_;
  std::vector<std::shared_ptr<HostMemory>> pools_;
  std::vector<PoolAddress> recorded_at_;
  std::vector<Item> values_;
  std::vector<bool> is_dynamic_;  // by value: its item is set when a step makes it
  std::vector<std::vector<Recording>> recordings_;  // by block and partition
  std::uint32_t running_ = 0;                       // the step that runs, for messages
  std::vector<HostMemory> heap_;                    // of the current call
  std::vector<std::int64_t> heap_bytes_;
};

}  // namespace graphgate::optimized
