// Where the values of a plan are: buffers in pools, and what only a call can tell in its heap.
//
// Memory belongs to others: state to the program, arenas and input slots to a RunPool that several
// plans may share, static inputs to the caller. All of it may move between two runs. follow() says
// what has moved, so that whoever has recorded addresses records them anew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "optimized/binding.h"
#include "optimized/runtime/host/host_options.h"
#include "optimized/runtime/host/memory.h"
#include "optimized/runtime/host/run_pool.h"
#include "optimized/runtime/host/state_memory.h"
#include "spec/plan.h"

namespace graphgate::optimized {

class PlanMemory {
 public:
  // Adds pools that `state` lacks, zero-filled. All that is passed outlives it.
  PlanMemory(const spec::Plan& plan, StateMemory& state, RunPool& pool, const HostOptions& options);

  [[nodiscard]] StateMemory& state() const { return state_; }
  // By pool of the plan; null for heaps and what the caller owns.
  [[nodiscard]] const std::vector<std::shared_ptr<HostMemory>>& pools() const { return pools_; }

  // What a value holds. Tensors have addresses.
  [[nodiscard]] const Item& value(spec::ValueId id) const { return values_[id.index]; }
  [[nodiscard]] Item& value(spec::ValueId id) { return values_[id.index]; }
  [[nodiscard]] Lookup values() const {
    return [this](spec::ValueId id) { return values_[id.index]; };
  }
  // Whether the value is set when a step makes it: it has no place in the plan.
  [[nodiscard]] bool is_dynamic(spec::ValueId id) const { return is_dynamic_[id.index]; }

  // Null in heaps, and in the caller's memory before the first run.
  [[nodiscard]] std::byte* address_of(spec::BufferId id) const { return placed_at_[id.index]; }
  [[nodiscard]] std::span<std::byte> bytes_of(spec::BufferId id) const;
  [[nodiscard]] std::vector<std::span<std::byte>> bytes_of(
      const std::set<std::uint32_t>& buffers) const;
  // The bytes of the storage that a tensor lies in. Throws OpError for one of an earlier call.
  [[nodiscard]] std::span<const std::byte> storage_bytes(const Tensor& tensor) const;

  // Whether a step of this or another plan may have written the state buffer.
  [[nodiscard]] bool is_written(spec::BufferId id) const;
  // Notes what a call writes, dynamic views of state included: their storage is the buffer's.
  void note_writes(const spec::OpRow& row, const std::vector<Item>& arguments);

  // Before a run. `inputs` are the user inputs that have a value in the plan, in order.
  // Whether buffers lie elsewhere than before: those of moved().
  [[nodiscard]] bool follow(std::span<const InputSource> inputs);
  [[nodiscard]] const std::set<std::uint32_t>& moved() const { return moved_; }
  // Fills input slots, and arenas with poison.
  void fill(std::span<const InputSource> inputs);
  // For an instrument.
  [[nodiscard]] RunMemory run_memory(std::span<const InputSource> inputs) const;

  // New bytes of the heap, until clear_heap().
  std::span<std::byte> allocate(std::int64_t size_bytes);
  void allocate(Tensor& tensor);
  void clear_heap();
  [[nodiscard]] std::size_t heap_size() const { return heap_.size(); }
  // What `work` allocates, apart from the heap: it lives as long as the result.
  [[nodiscard]] std::vector<HostMemory> allocated_by(const std::function<void()>& work);

 private:
  template <class Visit>
  void for_each_input(std::span<const InputSource> inputs, Visit&& visit) const;
  [[nodiscard]] spec::PoolKind kind_of(spec::BufferId id) const;
  [[nodiscard]] spec::BufferId buffer_of(const spec::PlanInput& input) const;
  [[nodiscard]] StatePlace state_place(spec::BufferId id) const;
  void find_pools();
  [[nodiscard]] bool find_callers(std::span<const InputSource> inputs);
  [[nodiscard]] std::vector<std::byte*> addresses() const;
  void place_values();
  void add_guards(RunMemory& memory) const;

  const spec::Plan& plan_;
  StateMemory& state_;
  RunPool& run_pool_;
  const HostOptions& options_;
  std::vector<std::uint32_t> user_inputs_;  // of the plan's inputs: those that a run is given
  std::vector<std::shared_ptr<HostMemory>> pools_;
  std::map<std::uint32_t, std::byte*> caller_bytes_;  // by pool
  std::vector<std::byte*> placed_at_;                 // by buffer: where values_ have it
  std::set<std::uint32_t> moved_;                     // when addresses changed last
  std::vector<Item> values_;
  std::vector<bool> is_dynamic_;
  std::uint64_t rebinds_seen_ = 0;
  std::uint64_t growths_seen_ = 0;
  std::vector<HostMemory> heap_;
  std::vector<std::int64_t> heap_bytes_;
};

}  // namespace graphgate::optimized
