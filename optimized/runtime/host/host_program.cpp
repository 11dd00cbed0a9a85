#include "optimized/runtime/host/host_program.h"

#include <algorithm>

#include "optimized/binding.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

using spec::PoolKind;
using spec::ValueId;

std::int64_t constant_of(const spec::SymExpr& expr) {
  GRAPHGATE_CHECK(expr.is_constant());
  return expr.constant();
}

// The tensor that a planned value is, at `bytes`.
Tensor planned_tensor(const spec::TensorType& type, StorageIndex storage, std::byte* bytes) {
  Tensor tensor;
  tensor.dtype = type.dtype;
  for (const spec::SymExpr& size : type.sizes) tensor.sizes.push_back(constant_of(size));
  for (const spec::SymExpr& stride : type.strides) tensor.strides.push_back(constant_of(stride));
  tensor.offset = constant_of(type.storage_offset);
  tensor.device = type.device;
  tensor.storage = storage;
  tensor.bytes = bytes;
  return tensor;
}

bool truth_of(const Item& item) {
  if (const auto* b = item.as<bool>()) return *b;
  if (const auto* i = item.as<std::int64_t>()) return *i != 0;
  if (const auto* x = item.as<double>()) return *x != 0;
  const auto* tensor = item.as<Tensor>();
  if (!tensor || tensor->count() != 1) {
    throw OpError("a condition must be a number or a tensor of one element");
  }
  const std::byte* first = tensor->data();
  return std::any_of(first, first + tensor->item_bytes(),
                     [](std::byte byte) { return byte != std::byte{0}; });
}

// What a run of the plan takes of its RunPool.
std::int64_t run_bytes(const spec::Plan& plan) {
  std::int64_t bytes = 0;
  for (const spec::PlanPool& pool : plan.pools) {
    if (pool.kind == PoolKind::kArena || pool.kind == PoolKind::kInput) bytes += pool.size_bytes;
  }
  return bytes;
}

}  // namespace

HostProgram::HostProgram(spec::Plan plan, const spec::OpTable& ops, StateMemory& state,
                         HostOptions options, std::shared_ptr<RunPool> pool)
    : kept_plan_(std::make_shared<const spec::Plan>(std::move(plan))),
      plan_(*kept_plan_),
      ops_(ops),
      state_(state),
      options_(std::move(options)),
      run_pool_(pool ? std::move(pool) : std::make_shared<RunPool>(options_.deviations)) {
  for (const spec::PlanValue& value : plan_.values) {
    const bool is_placed =
        value.value.kind == spec::ValueKind::kTensor && value.buffer &&
        plan_.pools[plan_.buffers[value.buffer->index].pool.index].kind != PoolKind::kHeap;
    is_dynamic_.push_back(!is_placed && value.value.kind != spec::ValueKind::kNone);
  }
  for (std::uint32_t i = 0; i < plan_.inputs.size(); ++i) {
    const spec::PlanInput& input = plan_.inputs[i];
    if (input.kind == spec::InputKind::kUserInput && !input.constant) user_inputs_.push_back(i);
  }
  kept_.resize(plan_.steps.size());
  run_bytes_ = run_bytes(plan_);
  pools_ = current_pools();
  place_values();
  const bool waits_for_caller =
      std::any_of(plan_.pools.begin(), plan_.pools.end(),
                  [](const spec::PlanPool& p) { return p.kind == PoolKind::kCaller; });
  if (!waits_for_caller) record_all({});
  run_pool_->add_user(this);
}

HostProgram::~HostProgram() { run_pool_->remove_user(this); }

// The memory that each pool of the plan has now; null for heaps and what the caller owns.
std::vector<std::shared_ptr<HostMemory>> HostProgram::current_pools() {
  std::vector<std::shared_ptr<HostMemory>> pools;
  rebinds_seen_ = state_.rebinds;
  for (const spec::PlanPool& pool : plan_.pools) {
    auto& memory = pools.emplace_back();
    if (pool.kind == PoolKind::kHeap || pool.kind == PoolKind::kCaller) continue;
    if (pool.kind != PoolKind::kState) {
      memory = run_pool_->reserve(pool, options_.instrument != nullptr);
      continue;
    }
    auto& state = state_.pools[pool.name];
    if (!state) {
      state = std::make_shared<HostMemory>(pool.size_bytes, pool.alignment_bytes,
                                           options_.instrument != nullptr);
    }
    GRAPHGATE_CHECK(state->size_bytes() == pool.size_bytes);
    memory = state;
  }
  growths_seen_ = run_pool_->growths();
  return pools;
}

StatePlace HostProgram::state_place(spec::BufferId id) const {
  const spec::PlanBuffer& buffer = plan_.buffers[id.index];
  return {plan_.pools[buffer.pool.index].name, buffer.offset_bytes};
}

// Null in heaps.
std::vector<std::byte*> HostProgram::addresses() const {
  std::vector<std::byte*> out;
  for (const spec::PlanBuffer& buffer : plan_.buffers) {
    const spec::PlanPool& pool = plan_.pools[buffer.pool.index];
    if (pool.kind == PoolKind::kHeap) {
      out.push_back(nullptr);
    } else if (pool.kind == PoolKind::kCaller) {
      const auto found = caller_bytes_.find(buffer.pool.index);
      out.push_back(found == caller_bytes_.end() ? nullptr : found->second);
    } else {
      const auto found = pool.kind == PoolKind::kState && !state_.rebound.empty()
                             ? state_.rebound.find({pool.name, buffer.offset_bytes})
                             : state_.rebound.end();
      out.push_back(found == state_.rebound.end()
                        ? pools_[buffer.pool.index]->data() + buffer.offset_bytes
                        : found->second->data());
    }
  }
  return out;
}

void HostProgram::place_values() {
  placed_at_ = addresses();
  values_.resize(plan_.values.size());
  for (std::size_t v = 0; v < plan_.values.size(); ++v) {
    const spec::PlanValue& value = plan_.values[v];
    if (is_dynamic_[v] || value.value.kind == spec::ValueKind::kNone) continue;
    const std::uint32_t buffer = value.buffer->index;
    values_[v] = {planned_tensor(*value.value.type, buffer, placed_at_[buffer])};
  }
}

// Recorded launches hold addresses. Where a pool, a state tensor or a static input has moved since,
// replay would read and write where it was; so what touches it is recorded anew.
void HostProgram::follow_memory(bool has_caller_moved) {
  const bool is_same = growths_seen_ == run_pool_->growths() && rebinds_seen_ == state_.rebinds;
  if (is_same && !has_caller_moved) return;
  pools_ = current_pools();
  const std::vector<std::byte*> before = placed_at_;
  if (addresses() == before) return;
  place_values();
  kept_.assign(plan_.steps.size(), std::nullopt);
  std::set<std::uint32_t> moved;
  for (std::uint32_t b = 0; b < before.size(); ++b) {
    if (placed_at_[b] != before[b]) moved.insert(b);
  }
  if (is_recorded_) record_all(moved);
}

bool HostProgram::is_written(spec::BufferId id) const {
  return state_.written.contains(state_place(id));
}

std::span<std::byte> HostProgram::buffer_bytes(spec::BufferId id) const {
  GRAPHGATE_CHECK(placed_at_[id.index] != nullptr);
  return {placed_at_[id.index], static_cast<std::size_t>(plan_.buffers[id.index].size_bytes)};
}

std::shared_ptr<HostMemory> HostProgram::memory_of(spec::BufferId id) const {
  return pools_[plan_.buffers[id.index].pool.index];
}

void HostProgram::run(std::span<const spec::HostTensor* const> inputs) {
  std::vector<InputSource> sources;
  for (const spec::HostTensor* input : inputs) sources.push_back({input, input->storage->bytes});
  run(sources);
}

void HostProgram::run(std::span<const InputSource> inputs) {
  start(inputs);
  finish();
}

void HostProgram::start(std::span<const InputSource> inputs) {
  heap_.clear();
  heap_bytes_.clear();
  follow_memory(find_caller_pools(inputs));
  if (!is_recorded_ || has_lost_twins()) record_all({});
  last_run_ = run_pool_->begin_run(plan_.name, run_bytes_);
  copy_in(inputs);
  for (std::size_t p = 0; options_.poison && p < pools_.size(); ++p) {
    if (plan_.pools[p].kind != PoolKind::kArena) continue;
    std::fill_n(pools_[p]->data(), plan_.pools[p].size_bytes, *options_.poison);
  }
  if (on_device_) begin_on_device();
  if (options_.instrument) options_.instrument->begin_run(run_memory(inputs));
  with_place([&] { run_block(0); });
}

void HostProgram::finish() {
  if (on_device_) end_on_device();
  if (options_.instrument) options_.instrument->end_run();
  has_run_ = true;
}

RunMemory HostProgram::run_memory(std::span<const InputSource> inputs) const {
  RunMemory memory;
  memory.plan = &plan_;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const auto size = static_cast<std::size_t>(plan_.pools[p].size_bytes);
    memory.pools.push_back(pools_[p] ? std::span(pools_[p]->data(), size) : std::span<std::byte>());
  }
  for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    memory.buffers.push_back(placed_at_[b] != nullptr ? buffer_bytes({b}) : std::span<std::byte>());
  }
  add_guards(memory);
  add_pads(inputs, memory);
  return memory;
}

void HostProgram::add_guards(RunMemory& memory) const {
  const auto add = [&](std::byte* first, std::int64_t size_bytes) {
    memory.guards.emplace_back(first, static_cast<std::size_t>(size_bytes));
  };
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    if (!pools_[p]) continue;
    const std::int64_t size = plan_.pools[p].size_bytes;
    add(pools_[p]->data() + size, pools_[p]->size_bytes() - size);
    if (!pools_[p]->is_guarded()) continue;
    add(pools_[p]->data() - kGuardBytes, kGuardBytes);
    add(pools_[p]->data() + pools_[p]->size_bytes(), kGuardBytes);
  }
}

void HostProgram::add_pads(std::span<const InputSource> inputs, RunMemory& memory) const {
  std::size_t next = 0;
  for (const std::uint32_t i : user_inputs_) {
    const spec::PlanInput& input = plan_.inputs[i];
    const InputSource& from = inputs[next++];
    const auto dim = plan_.padding ? plan_.padding->input_dims[i] : std::nullopt;
    if (!dim) continue;
    memory.true_size = from.tensor->sizes[*dim];
    memory.pads.push_back(
        {rows_from(*values_[input.value.index].as<Tensor>(), *dim, memory.true_size), *dim});
  }
}

// Whether any is elsewhere than in the last run.
bool HostProgram::find_caller_pools(std::span<const InputSource> inputs) {
  bool has_moved = false;
  std::size_t next = 0;
  for (const std::uint32_t i : user_inputs_) {
    const spec::PlanInput& input = plan_.inputs[i];
    const InputSource& from = inputs[next++];
    const spec::PoolId pool = plan_.buffers[plan_.values[input.value.index].buffer->index].pool;
    if (plan_.pools[pool.index].kind != PoolKind::kCaller) continue;
    // The plan does not write what the caller owns (plan_facts.h). Nothing has an address, too.
    static std::byte nothing{};
    auto* const bytes = const_cast<std::byte*>(from.bytes.data());  // NOLINT
    std::byte*& known = caller_bytes_[pool.index];
    std::byte* const now = bytes ? bytes : &nothing;
    has_moved |= std::exchange(known, now) != now;
  }
  return has_moved;
}

void HostProgram::copy_in(std::span<const InputSource> inputs) {
  std::size_t next = 0;
  for (const std::uint32_t i : user_inputs_) {
    const spec::PlanInput& input = plan_.inputs[i];
    const InputSource& from = inputs[next++];
    const spec::PlanValue& value = plan_.values[input.value.index];
    const spec::PlanBuffer& buffer = plan_.buffers[value.buffer->index];
    if (plan_.pools[buffer.pool.index].kind == PoolKind::kCaller) continue;
    const auto dim = plan_.padding ? plan_.padding->input_dims[i] : std::nullopt;
    if (dim) {
      copy_padded(from, *values_[input.value.index].as<Tensor>(), *dim, options_.pad_fill,
                  options_.deviations);
    } else {
      copy_storage(from, buffer_bytes(*value.buffer));
    }
  }
}

// Puts the node of the step that runs in front of what is thrown.
void HostProgram::with_place(const std::function<void()>& work) {
  const auto place = [this] {
    if (plan_.steps.empty()) return std::string();
    const spec::Node& node = plan_.steps[running_].node;
    return "node '" + node.name + "' (" + node.op + "): ";
  };
  try {
    work();
  } catch (const OpError& error) {
    throw OpError(place() + error.what());
  } catch (const Unsupported& error) {
    throw Unsupported(place() + error.what());
  }
}

void HostProgram::run_block(std::size_t block) {
  const auto& partitions = plan_.blocks[block].partitions;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    if (partitions[p].captured) {
      OnDevice::Unit* unit = on_device_ ? &on_device_->partitions[block][p] : nullptr;
      if (unit && run_on_device(*unit)) continue;
      if (unit) bring_to_host(unit->places);
      replay(recordings_[block][p]);
      if (unit) note_host_writes(unit->places);
      continue;
    }
    for (std::uint32_t s = partitions[p].begin_step; s < partitions[p].end_step; ++s) run_step(s);
  }
}

void HostProgram::replay(const Recording& recording) {
  for (const Recorded& recorded : recording.launches) {
    running_ = recorded.step;
    launch(recorded);
  }
}

void HostProgram::launch(const Recorded& bound) {
  if (!bound.seen) {
    if (bound.launch.run) bound.launch.run();
    return;
  }
  options_.instrument->before_launch(*bound.seen);
  options_.instrument->launch(*bound.seen, bound.launch);
  options_.instrument->after_launch(*bound.seen);
}

void HostProgram::run_step(std::uint32_t index) {
  running_ = index;
  const spec::PlanStep& step = plan_.steps[index];
  DevicePlaces places;
  if (on_device_) {
    if (run_on_device(on_device_->steps[index])) return;
    add_places(step, places);  // anew: only now are the places of dynamic views known
    bring_to_host(places);
  }
  if (spec::is_higher_order(step.node.op)) {
    run_conditional(step);
    return;
  }
  run_eager(index);
  if (on_device_) note_host_writes(places);
}

// An eager step is bound when it runs: anew in every call, or once, as recorded ones are, until
// memory moves.
void HostProgram::run_eager(std::uint32_t index) {
  if (kept_[index]) return launch(*kept_[index]);
  const std::size_t heap_before = heap_.size();
  Recorded bound = bind_step(plan_.steps[index], true);
  launch(bound);
  if (heap_.size() == heap_before && may_keep(bound)) kept_[index] = std::move(bound);
}

// Whether the step would be bound to the same in the next call.
bool HostProgram::may_keep(const Recorded& bound) const {
  const spec::PlanStep& step = plan_.steps[bound.step];
  if (options_.deviations.has(spec::Deviation::kPlansOnlyInWarmUp)) return is_planned(step);
  return !allocates_per_call() && !bound.hangs_on_data && is_fixed(step);
}

void HostProgram::run_conditional(const spec::PlanStep& step) {
  const Lookup lookup = [this](ValueId id) { return values_[id.index]; };
  const bool taken = truth_of(bind_argument(step.node.arguments[0].argument, lookup));
  const auto* arm = step.node.arguments[taken ? 1 : 2].argument.as<spec::SubgraphId>();
  run_block(arm->index);
  const auto results = flat_results(step.node);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_dynamic_[results[i].index]) continue;  // the arm has copied into its place
    values_[results[i].index] = bind_argument(plan_.blocks[arm->index].outputs[i], lookup);
  }
}

Item HostProgram::read(const spec::Argument& argument) const {
  return bind_argument(argument, [this](ValueId id) { return values_[id.index]; });
}

std::span<const std::byte> HostProgram::storage_bytes(const Tensor& tensor) const {
  if (tensor.storage < plan_.buffers.size()) return buffer_bytes({tensor.storage});
  const std::size_t at = tensor.storage - plan_.buffers.size();
  // What a capture has allocated belongs to the recording, and not to this call.
  if (at >= heap_bytes_.size()) throw OpError("what is read lies in no memory of this call");
  return {heap_[at].data(), static_cast<std::size_t>(heap_bytes_[at])};
}

}  // namespace graphgate::optimized
