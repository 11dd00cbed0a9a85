#include "optimized/runtime/host/plan_memory.h"

#include <algorithm>
#include <utility>

namespace graphgate::optimized {
namespace {

using spec::PoolKind;

constexpr std::int64_t kHeapAlignment = 64;

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

}  // namespace

template <class Visit>
void PlanMemory::for_each_input(std::span<const InputSource> inputs, Visit&& visit) const {
  std::size_t next = 0;
  for (const std::uint32_t i : user_inputs_) visit(i, plan_.inputs[i], inputs[next++]);
}

PlanMemory::PlanMemory(const spec::Plan& plan, StateMemory& state, RunPool& pool,
                       const HostOptions& options)
    : plan_(plan), state_(state), run_pool_(pool), options_(options), values_(plan.values.size()) {
  for (const spec::PlanValue& value : plan_.values) {
    const bool is_placed = value.value.kind == spec::ValueKind::kTensor && value.buffer &&
                           kind_of(*value.buffer) != PoolKind::kHeap;
    is_dynamic_.push_back(!is_placed && value.value.kind != spec::ValueKind::kNone);
  }
  for (std::uint32_t i = 0; i < plan_.inputs.size(); ++i) {
    const spec::PlanInput& input = plan_.inputs[i];
    if (input.kind == spec::InputKind::kUserInput && !input.constant) user_inputs_.push_back(i);
  }
  find_pools();
  place_values();
}

PoolKind PlanMemory::kind_of(spec::BufferId id) const {
  return plan_.pools[plan_.buffers[id.index].pool.index].kind;
}

spec::BufferId PlanMemory::buffer_of(const spec::PlanInput& input) const {
  return *plan_.values[input.value.index].buffer;
}

StatePlace PlanMemory::state_place(spec::BufferId id) const {
  const spec::PlanBuffer& buffer = plan_.buffers[id.index];
  return {plan_.pools[buffer.pool.index].name, buffer.offset_bytes};
}

// The memory that each pool of the plan has now.
void PlanMemory::find_pools() {
  pools_.clear();
  rebinds_seen_ = state_.rebinds;
  for (const spec::PlanPool& pool : plan_.pools) {
    auto& memory = pools_.emplace_back();
    if (pool.kind == PoolKind::kHeap || pool.kind == PoolKind::kCaller) continue;
    if (pool.kind != PoolKind::kState) {
      memory = run_pool_.reserve(pool, options_.instrument != nullptr);
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
  growths_seen_ = run_pool_.growths();
}

std::vector<std::byte*> PlanMemory::addresses() const {
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

void PlanMemory::place_values() {
  placed_at_ = addresses();
  for (std::size_t v = 0; v < plan_.values.size(); ++v) {
    const spec::PlanValue& value = plan_.values[v];
    if (is_dynamic_[v] || value.value.kind == spec::ValueKind::kNone) continue;
    const std::uint32_t buffer = value.buffer->index;
    values_[v] = {planned_tensor(*value.value.type, buffer, placed_at_[buffer])};
  }
}

bool PlanMemory::follow(std::span<const InputSource> inputs) {
  const bool has_caller_moved = find_callers(inputs);
  const bool is_same = growths_seen_ == run_pool_.growths() && rebinds_seen_ == state_.rebinds;
  if (is_same && !has_caller_moved) return false;
  find_pools();
  const std::vector<std::byte*> before = placed_at_;
  if (addresses() == before) return false;
  place_values();
  moved_.clear();
  for (std::uint32_t b = 0; b < before.size(); ++b) {
    if (placed_at_[b] != before[b]) moved_.insert(b);
  }
  return true;
}

// Whether any is elsewhere than in the last run.
bool PlanMemory::find_callers(std::span<const InputSource> inputs) {
  bool has_moved = false;
  for_each_input(inputs, [&](std::uint32_t, const spec::PlanInput& input, const InputSource& from) {
    if (kind_of(buffer_of(input)) != PoolKind::kCaller) return;
    // The plan does not write what the caller owns (plan_facts.h). Nothing has an address, too.
    static std::byte nothing{};
    auto* const bytes = const_cast<std::byte*>(from.bytes.data());  // NOLINT
    std::byte*& known = caller_bytes_[plan_.buffers[buffer_of(input).index].pool.index];
    std::byte* const now = bytes ? bytes : &nothing;
    has_moved |= std::exchange(known, now) != now;
  });
  return has_moved;
}

void PlanMemory::fill(std::span<const InputSource> inputs) {
  for_each_input(inputs, [&](std::uint32_t i, const spec::PlanInput& input, const auto& from) {
    if (kind_of(buffer_of(input)) == PoolKind::kCaller) return;
    const auto dim = plan_.padding ? plan_.padding->input_dims[i] : std::nullopt;
    if (dim) {
      copy_padded(from, *value(input.value).as<Tensor>(), *dim, options_.pad_fill,
                  options_.deviations);
    } else {
      copy_storage(from, bytes_of(buffer_of(input)));
    }
  });
  for (std::size_t p = 0; options_.poison && p < pools_.size(); ++p) {
    if (plan_.pools[p].kind != PoolKind::kArena) continue;
    std::fill_n(pools_[p]->data(), plan_.pools[p].size_bytes, *options_.poison);
  }
}

RunMemory PlanMemory::run_memory(std::span<const InputSource> inputs) const {
  RunMemory memory;
  memory.plan = &plan_;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const auto size = static_cast<std::size_t>(plan_.pools[p].size_bytes);
    memory.pools.push_back(pools_[p] ? std::span(pools_[p]->data(), size) : std::span<std::byte>());
  }
  for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    memory.buffers.push_back(placed_at_[b] != nullptr ? bytes_of(spec::BufferId{b})
                                                      : std::span<std::byte>());
  }
  add_guards(memory);
  for_each_input(inputs, [&](std::uint32_t i, const spec::PlanInput& input, const auto& from) {
    const auto dim = plan_.padding ? plan_.padding->input_dims[i] : std::nullopt;
    if (!dim) return;
    memory.true_size = from.tensor->sizes[*dim];
    memory.pads.push_back(
        {rows_from(*value(input.value).template as<Tensor>(), *dim, memory.true_size), *dim});
  });
  return memory;
}

void PlanMemory::add_guards(RunMemory& memory) const {
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

std::span<std::byte> PlanMemory::bytes_of(spec::BufferId id) const {
  GRAPHGATE_CHECK(placed_at_[id.index] != nullptr);
  return {placed_at_[id.index], static_cast<std::size_t>(plan_.buffers[id.index].size_bytes)};
}

std::vector<std::span<std::byte>> PlanMemory::bytes_of(
    const std::set<std::uint32_t>& buffers) const {
  std::vector<std::span<std::byte>> out;
  out.reserve(buffers.size());
  for (const std::uint32_t b : buffers) out.push_back(bytes_of(spec::BufferId{b}));
  return out;
}

std::span<const std::byte> PlanMemory::storage_bytes(const Tensor& tensor) const {
  if (tensor.storage < plan_.buffers.size()) return bytes_of(spec::BufferId{tensor.storage});
  const std::size_t at = tensor.storage - plan_.buffers.size();
  // What a capture has allocated belongs to the recording, and not to this call.
  if (at >= heap_bytes_.size()) throw OpError("what is read lies in no memory of this call");
  return {heap_[at].data(), static_cast<std::size_t>(heap_bytes_[at])};
}

bool PlanMemory::is_written(spec::BufferId id) const {
  return state_.written.contains(state_place(id));
}

void PlanMemory::note_writes(const spec::OpRow& row, const std::vector<Item>& arguments) {
  const std::function<void(const Item&)> note = [&](const Item& item) {
    if (const auto* list = item.as<Item::List>()) {
      for (const Item& element : *list) note(element);
    }
    const auto* tensor = item.as<Tensor>();
    if (!tensor || tensor->storage >= plan_.buffers.size()) return;
    const spec::BufferId buffer{tensor->storage};
    if (kind_of(buffer) == PoolKind::kState) state_.written.insert(state_place(buffer));
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (row.writes(i)) note(arguments[i]);
  }
}

std::span<std::byte> PlanMemory::allocate(std::int64_t size_bytes) {
  heap_.emplace_back(size_bytes, kHeapAlignment, options_.instrument != nullptr);
  heap_bytes_.push_back(size_bytes);
  const std::span bytes(heap_.back().data(), static_cast<std::size_t>(size_bytes));
  if (options_.instrument) options_.instrument->allocate(bytes);
  return bytes;
}

void PlanMemory::allocate(Tensor& tensor) {
  (void)allocate(byte_range(tensor).end);
  tensor.storage = static_cast<StorageIndex>(plan_.buffers.size() + heap_.size() - 1);
  tensor.bytes = heap_.back().data();
}

void PlanMemory::clear_heap() {
  heap_.clear();
  heap_bytes_.clear();
}

std::vector<HostMemory> PlanMemory::allocated_by(const std::function<void()>& work) {
  std::vector<HostMemory> heap_of_call = std::exchange(heap_, {});
  std::vector<std::int64_t> bytes_of_call = std::exchange(heap_bytes_, {});
  work();
  heap_bytes_ = std::move(bytes_of_call);
  return std::exchange(heap_, std::move(heap_of_call));
}

}  // namespace graphgate::optimized
