// The host backend: follows a plan.
//
// It is given a plan, the op table and kernels, and memory; the graph that the plan came from may
// be gone. Captured partitions are recorded once: every step is bound to the addresses that its
// values have, and replay walks the list of launches. Steps of eager partitions are bound when they
// run, once where no call can bind them to anything else; those that the plan calls dynamic infer
// their results then, into a heap that lives to the end of the call.
//
// Memory belongs to others: state to the program, arenas and input slots to a RunPool that several
// plans may share, static inputs to the caller. All of it may move between two runs. Before every
// run addresses are compared with those that were recorded, and what has moved is recorded anew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "optimized/kernel.h"
#include "optimized/runtime/host/copy_in.h"
#include "optimized/runtime/host/host_device.h"
#include "optimized/runtime/host/instrument.h"
#include "optimized/runtime/host/memory.h"
#include "optimized/runtime/host/run_pool.h"
#include "optimized/runtime/host/state_memory.h"
#include "spec/deviation.h"
#include "spec/plan.h"

namespace graphgate::optimized {

struct HostOptions {
  // Which legal order launches of several streams run in; 0: program order (streams.h).
  std::uint64_t interleaving_seed = 0;
  // Arenas are filled with this byte before every run: what reads bytes that the run has not
  // written reads these.
  std::optional<std::byte> poison;
  PadFill pad_fill = PadFill::kKeep;
  spec::DeviationSet deviations;
  std::shared_ptr<Instrument> instrument;  // may be null
  // Runs what it can of the plan; null: the host runs all. Not together with an instrument.
  std::shared_ptr<Device> device;
};

class HostProgram {
 public:
  // Adds pools that `state` lacks, zero-filled; `state` outlives the program. Without a RunPool it
  // gets one of its own. Records the captured partitions.
  HostProgram(spec::Plan plan, const spec::OpTable& ops, StateMemory& state,
              HostOptions options = {}, std::shared_ptr<RunPool> pool = nullptr);
  ~HostProgram();
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  // Runs once. `inputs` are the user inputs that have a value in the plan, in order; their bytes
  // are copied into the input slots, or, by a plan with a padding, into the leading part of them.
  // Throws OpError where an op refuses what it reads.
  void run(std::span<const InputSource> inputs);
  void run(std::span<const spec::HostTensor* const> inputs);
  // The halves of run(). What a device was given may be under way after start(), and more runs may
  // be started behind it; finish() waits, and brings back what callers look at.
  void start(std::span<const InputSource> inputs);
  void finish();

  // After a run: what a value holds, as it is. Tensors have addresses inside the pools.
  [[nodiscard]] Item read(const spec::Argument& argument) const;
  // The same where it lies, until the next run; null for what is no tensor.
  [[nodiscard]] const Tensor* tensor_of(spec::ValueId id) const {
    return values_[id.index].as<Tensor>();
  }
  [[nodiscard]] const Tensor* tensor_of(const spec::Argument& argument) const {
    const auto* id = argument.as<spec::ValueId>();
    return id ? tensor_of(*id) : nullptr;
  }
  // The bytes of the storage that a tensor of read() lies in.
  [[nodiscard]] std::span<const std::byte> storage_bytes(const Tensor& tensor) const;
  [[nodiscard]] std::span<std::byte> buffer_bytes(spec::BufferId buffer) const;
  // What keeps these bytes alive; null for the heap of the last call.
  [[nodiscard]] std::shared_ptr<HostMemory> memory_of(spec::BufferId buffer) const;

  [[nodiscard]] const spec::Plan& plan() const { return plan_; }
  [[nodiscard]] const std::shared_ptr<const spec::Plan>& shared_plan() const { return kept_plan_; }
  [[nodiscard]] const std::shared_ptr<RunPool>& pool() const { return run_pool_; }
  // Whether a step of this or another plan may have written the state buffer.
  [[nodiscard]] bool is_written(spec::BufferId buffer) const;
  // The number in its pool of the last run; 0 before the first.
  [[nodiscard]] std::uint64_t last_run() const { return last_run_; }
  // How many partitions have been recorded so far, those recorded anew included.
  [[nodiscard]] std::uint64_t recordings() const { return recorded_count_; }
  // What runs on the device; null without one.
  [[nodiscard]] const OnDevice* on_device() const { return on_device_.get(); }

 private:
  // A step that is bound. False where nothing is to be done when it runs.
  struct Recorded {
    std::uint32_t step = 0;
    Launch launch;                          // empty where the op only allocates
    std::shared_ptr<const BoundStep> seen;  // what the instrument is told; null without one
    bool hangs_on_data = false;             // bound to what tensors held then
    explicit operator bool() const { return launch || seen; }
  };
  // `memory` and `scratch` keep what the launches point to alive.
  struct Recording {
    std::vector<Recorded> launches;
    std::vector<std::shared_ptr<HostMemory>> memory;
    std::vector<HostMemory> scratch;
  };

  // host_program.cpp: memory and runs.
  [[nodiscard]] std::vector<std::shared_ptr<HostMemory>> current_pools();
  void follow_memory(bool has_caller_moved);
  [[nodiscard]] std::vector<std::byte*> addresses() const;
  [[nodiscard]] StatePlace state_place(spec::BufferId buffer) const;
  [[nodiscard]] bool find_caller_pools(std::span<const InputSource> inputs);
  void copy_in(std::span<const InputSource> inputs);
  [[nodiscard]] RunMemory run_memory(std::span<const InputSource> inputs) const;
  void add_guards(RunMemory& memory) const;
  void add_pads(std::span<const InputSource> inputs, RunMemory& memory) const;
  void place_values();
  void with_place(const std::function<void()>& work);
  void run_block(std::size_t block);
  void replay(const Recording& recording);
  void launch(const Recorded& bound);
  void run_step(std::uint32_t index);
  void run_eager(std::uint32_t index);
  [[nodiscard]] bool may_keep(const Recorded& bound) const;
  void run_conditional(const spec::PlanStep& step);

  // host_recording.cpp: what is recorded, and when it has to be recorded anew.
  void record_all(const std::set<std::uint32_t>& moved_buffers);
  [[nodiscard]] bool must_record(const spec::PlanPartition& partition,
                                 const std::set<std::uint32_t>& moved_buffers) const;
  [[nodiscard]] bool sees_move(std::uint32_t buffer) const;
  Recording record(const spec::PlanPartition& partition);
  [[nodiscard]] std::set<std::uint32_t> buffers_of(const spec::PlanPartition& partition) const;

  // host_binding.cpp: one step.
  void note_writes(const spec::OpRow& row, const std::vector<Item>& arguments);
  Recorded bind_step(const spec::PlanStep& step, bool has_data,
                     const DeviceListener* listener = nullptr);
  Recorded bind_body(const spec::PlanStep& step, const DeviceListener* listener);
  [[nodiscard]] Recorded watched(BoundStep made, Launch launch);
  [[nodiscard]] bool is_planned(const spec::PlanStep& step) const;
  [[nodiscard]] bool is_fixed(const spec::PlanStep& step) const;
  [[nodiscard]] bool allocates_per_call() const;
  void take_results(const spec::PlanStep& step, std::vector<Made>& made, bool has_data);
  void take_result(spec::ValueId id, Made& made, bool has_data);
  [[nodiscard]] std::vector<Item> arguments_of(const spec::PlanStep& step,
                                               const spec::OpRow& row) const;
  [[nodiscard]] const spec::OpRow& row_of(const spec::PlanStep& step) const;
  std::span<std::byte> allocate(std::int64_t size_bytes);
  void allocate(Tensor& tensor);

  // host_device.cpp: what runs on a device.
  void record_on_device();
  void know_memory();
  void protect_state();
  void place_canaries();
  void find_ranges();
  void know_for_now(std::span<std::byte> bytes);
  void know_callers(std::span<std::byte> bytes);
  // Whether the caller's memory has other twins than launches were recorded with: a plan of another
  // size has made more of it known, or has gone with what it had made known.
  [[nodiscard]] bool has_lost_twins() const;
  void add_places(const spec::PlanStep& step, DevicePlaces& places) const;
  void begin_on_device();
  void end_on_device();
  bool run_on_device(OnDevice::Unit& unit);
  void bring_to_host(const DevicePlaces& places);
  void note_host_writes(const DevicePlaces& places);

  // device_calls.cpp: what steps launch there, and what the device says of it.
  [[nodiscard]] std::byte* reserve_on_device(std::int64_t size_bytes);
  [[nodiscard]] DeviceListener device_listener();
  std::optional<StepCalls> calls_of(const StepRange& range, std::span<const Recorded> launches);
  std::optional<StepCalls> eager_calls(std::uint32_t index);
  void finish_device();
  [[nodiscard]] std::string words_of_call(const OnDevice::Unit& unit, std::size_t call) const;
  [[nodiscard]] std::string words_of_bytes(const ByteRange& bytes) const;
  [[nodiscard]] std::vector<std::unique_ptr<DeviceRun>> load_on_device(
      std::span<const Device::Job> jobs, std::span<OnDevice::Unit* const> units) const;

  const std::shared_ptr<const spec::Plan> kept_plan_;  // with whoever looks at it later
  const spec::Plan& plan_;                             // the same
  const spec::OpTable& ops_;
  StateMemory& state_;
  HostOptions options_;
  std::shared_ptr<RunPool> run_pool_;
  std::vector<std::uint32_t> user_inputs_;  // of the plan's inputs: those that a run is given
  std::int64_t run_bytes_ = 0;              // that a run takes of the RunPool
  std::vector<std::shared_ptr<HostMemory>> pools_;
  std::map<std::uint32_t, std::byte*> caller_bytes_;  // by pool
  std::vector<std::byte*> placed_at_;                 // by buffer: where values_ have it
  std::vector<Item> values_;
  std::vector<bool> is_dynamic_;  // by value: its item is set when a step makes it
  std::vector<std::vector<Recording>> recordings_;  // by block and partition
  std::set<std::uint32_t> eager_buffers_;           // those that eager partitions make
  std::unique_ptr<OnDevice> on_device_;
  std::vector<std::optional<Recorded>> kept_;                 // by eager step (may_keep)
  std::vector<std::shared_ptr<const BoundStep>> last_bound_;  // by step, for the instrument
  std::uint32_t running_ = 0;                                 // the step that runs, for messages
  std::uint64_t recorded_count_ = 0;
  std::uint64_t last_run_ = 0;
  bool is_recorded_ = false;
  bool has_run_ = false;  // to the end
  std::uint64_t rebinds_seen_ = 0;
  std::uint64_t growths_seen_ = 0;
  std::vector<HostMemory> heap_;  // of the current call
  std::vector<std::int64_t> heap_bytes_;
};

}  // namespace graphgate::optimized
