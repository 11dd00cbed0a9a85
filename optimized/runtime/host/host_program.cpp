#include "optimized/runtime/host/host_program.h"

#include <algorithm>

#include "optimized/binding.h"
#include "optimized/launch.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

using spec::PoolKind;
using spec::ValueId;

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

}  // namespace

HostProgram::HostProgram(spec::Plan plan, const spec::OpTable& ops, StateMemory& state)
    : plan_(std::move(plan)), ops_(ops), state_(state) {
  for (const spec::PlanPool& pool : plan_.pools) {
    if (pool.kind == PoolKind::kHeap) {
      pools_.push_back(nullptr);
      recorded_at_.push_back({});
      continue;
    }
    auto memory = pool.kind == PoolKind::kState ? state.pools[pool.name] : nullptr;
    if (!memory) memory = std::make_shared<HostMemory>(pool.size_bytes, pool.alignment_bytes);
    GRAPHGATE_CHECK(memory->size_bytes() == pool.size_bytes);
    if (pool.kind == PoolKind::kState) state.pools[pool.name] = memory;
    recorded_at_.push_back({memory->data(), pool.size_bytes});
    pools_.push_back(std::move(memory));
  }
  place_values();
  for (std::size_t b = 0; b < plan_.blocks.size(); ++b) record_block(b);
}

void HostProgram::place_values() {
  for (const spec::PlanValue& value : plan_.values) {
    const bool is_tensor = value.value.kind == spec::ValueKind::kTensor;
    const bool is_placed =
        is_tensor &&
        plan_.pools[plan_.buffers[value.buffer->index].pool.index].kind != PoolKind::kHeap;
    is_dynamic_.push_back(!is_placed && value.value.kind != spec::ValueKind::kNone);
    values_.emplace_back();
    if (is_placed) {
      values_.back() = {planned_tensor(*value.value.type, value.buffer->index,
                                       buffer_bytes(*value.buffer).data())};
    }
  }
}

// What a step is bound to write, dynamic views of state included: their storage is the buffer's.
void HostProgram::note_writes(const spec::OpRow& row, const std::vector<Item>& arguments) {
  const std::function<void(const Item&)> note = [&](const Item& item) {
    if (const auto* list = item.as<Item::List>()) {
      for (const Item& element : *list) note(element);
    }
    const auto* tensor = item.as<Tensor>();
    if (!tensor || tensor->storage >= plan_.buffers.size()) return;
    const spec::PlanBuffer& buffer = plan_.buffers[tensor->storage];
    const spec::PlanPool& pool = plan_.pools[buffer.pool.index];
    if (pool.kind == PoolKind::kState) state_.written.emplace(pool.name, buffer.offset_bytes);
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (row.writes(i)) note(arguments[i]);
  }
}

bool HostProgram::is_written(spec::BufferId id) const {
  const spec::PlanBuffer& buffer = plan_.buffers[id.index];
  return state_.written.contains({plan_.pools[buffer.pool.index].name, buffer.offset_bytes});
}

std::span<std::byte> HostProgram::buffer_bytes(spec::BufferId id) const {
  const spec::PlanBuffer& buffer = plan_.buffers[id.index];
  const auto& pool = pools_[buffer.pool.index];
  GRAPHGATE_CHECK(pool != nullptr);
  return {pool->data() + buffer.offset_bytes, static_cast<std::size_t>(buffer.size_bytes)};
}

const spec::OpRow& HostProgram::row_of(const spec::PlanStep& step) const {
  const spec::OpRow* row = ops_.find(step.node.op);
  GRAPHGATE_CHECK(row != nullptr);
  return *row;
}

std::vector<Item> HostProgram::arguments_of(const spec::PlanStep& step,
                                            const spec::OpRow& row) const {
  return bind_arguments(row.schema, step.node.arguments,
                        [this](ValueId id) { return values_[id.index]; });
}

void HostProgram::record_block(std::size_t block) {
  auto& recordings = recordings_.emplace_back();
  for (const spec::PlanPartition& partition : plan_.blocks[block].partitions) {
    recordings.push_back(partition.captured ? record(partition) : Recording());
  }
}

HostProgram::Recording HostProgram::record(const spec::PlanPartition& partition) {
  Recording launches;
  with_place([&] {
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      running_ = s;
      if (Launch launch = bind_step(plan_.steps[s], false)) {
        launches.push_back({s, std::move(launch)});
      }
    }
  });
  return launches;
}

// Recorded launches hold addresses. Were a pool to move, replay would write to where it was.
void HostProgram::check_addresses() const {
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    if (!pools_[p]) continue;
    GRAPHGATE_CHECK(pools_[p]->data() == recorded_at_[p].base);
    GRAPHGATE_CHECK(pools_[p]->size_bytes() == recorded_at_[p].size_bytes);
  }
}

void HostProgram::run(std::span<const spec::HostTensor* const> inputs) {
  heap_.clear();
  heap_bytes_.clear();
  std::size_t next = 0;
  for (const spec::PlanInput& input : plan_.inputs) {
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    const auto slot = buffer_bytes(*plan_.values[input.value.index].buffer);
    const auto& bytes = inputs[next++]->storage->bytes;
    GRAPHGATE_CHECK(bytes.size() == slot.size());
    std::copy(bytes.begin(), bytes.end(), slot.begin());
  }
  check_addresses();
  with_place([&] { run_block(0); });
}

// Puts the node of the step that runs in front of what is thrown.
template <class Work>
void HostProgram::with_place(Work&& work) {
  const auto place = [this] {
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
      replay(recordings_[block][p]);
      continue;
    }
    for (std::uint32_t s = partitions[p].begin_step; s < partitions[p].end_step; ++s) {
      running_ = s;
      run_step(plan_.steps[s]);
    }
  }
}

void HostProgram::replay(const Recording& recording) {
  for (const Recorded& recorded : recording) {
    running_ = recorded.step;
    recorded.launch();
  }
}

void HostProgram::run_step(const spec::PlanStep& step) {
  if (spec::is_higher_order(step.node.op)) {
    run_conditional(step);
  } else if (Launch launch = bind_step(step, true)) {
    launch();
  }
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

// `has_data`: the step runs now, and what it makes may hang on what it reads.
Launch HostProgram::bind_step(const spec::PlanStep& step, bool has_data) {
  const spec::OpRow& row = row_of(step);
  const Kernel* kernel = find_kernel(row);
  GRAPHGATE_CHECK(kernel != nullptr);
  Inference inference = infer_call(*kernel, row, arguments_of(step, row), has_data);
  note_writes(row, inference.arguments());
  take_results(step, inference.results());
  if (!takes_step(*kernel, inference)) return {};
  std::byte* workspace = nullptr;
  if (step.workspace) {
    workspace = buffer_bytes(*step.workspace).data();
  } else if (inference.workspace_bytes() > 0) {
    heap_.emplace_back(inference.workspace_bytes(), kHeapAlignment);
    heap_bytes_.push_back(inference.workspace_bytes());
    workspace = heap_.back().data();
  }
  return bind_call(*kernel, row, std::move(inference.arguments()),
                   flat_tensors(inference.results()), workspace);
}

void HostProgram::take_results(const spec::PlanStep& step, std::vector<Made>& made) {
  for (std::size_t i = 0; i < made.size() && i < step.node.results.size(); ++i) {
    const spec::NodeResult& result = step.node.results[i];
    if (!result.is_list) {
      take_result(result.values.front(), made[i]);
      continue;
    }
    if (made[i].list.size() != result.values.size()) {
      throw OpError("the op returns " + std::to_string(made[i].list.size()) +
                    " tensors, the program says " + std::to_string(result.values.size()));
    }
    for (std::size_t e = 0; e < result.values.size(); ++e) {
      take_result(result.values[e], made[i].list[e]);
    }
  }
}

// Gives a result its place: the planned one, or new bytes for what only this call can tell.
void HostProgram::take_result(ValueId id, Made& made) {
  Item& item = values_[id.index];
  if (made.kind == Made::Kind::kNew) {
    if (is_dynamic_[id.index]) {
      allocate(made.tensor);
    } else {
      const Tensor& planned = std::get<Tensor>(item.value);
      if (planned.sizes != made.tensor.sizes || planned.strides != made.tensor.strides ||
          planned.dtype != made.tensor.dtype) {
        throw OpError("makes " + print_sizes(made.tensor.sizes) + " with strides " +
                      print_sizes(made.tensor.strides) + ", the program states " +
                      print_sizes(planned.sizes) + " with strides " + print_sizes(planned.strides));
      }
      made.tensor = planned;
    }
  }
  if (is_dynamic_[id.index]) {
    item = made.kind == Made::Kind::kNumber ? made.number : Item{made.tensor};
  } else if (const auto* planned = item.as<Tensor>()) {
    // Were it a view of bytes that the plan does not place it over, nobody would write its place.
    GRAPHGATE_CHECK(same_geometry(*planned, made.tensor));
  }
}

void HostProgram::allocate(Tensor& tensor) {
  const std::int64_t bytes = byte_range(tensor).end;
  heap_.emplace_back(bytes, kHeapAlignment);
  heap_bytes_.push_back(bytes);
  tensor.storage = static_cast<StorageIndex>(plan_.buffers.size() + heap_.size() - 1);
  tensor.bytes = heap_.back().data();
}

Item HostProgram::read(const spec::Argument& argument) const {
  return bind_argument(argument, [this](ValueId id) { return values_[id.index]; });
}

std::span<const std::byte> HostProgram::storage_bytes(const Tensor& tensor) const {
  if (tensor.storage < plan_.buffers.size()) return buffer_bytes({tensor.storage});
  const std::size_t at = tensor.storage - plan_.buffers.size();
  return {heap_[at].data(), static_cast<std::size_t>(heap_bytes_[at])};
}

}  // namespace graphgate::optimized
