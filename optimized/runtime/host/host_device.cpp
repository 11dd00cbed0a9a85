// What of a plan runs on a device: captured partitions whose every step tells what it does, and
// eager steps that do. All else runs on the host, on bytes that are brought there first.
#include "optimized/runtime/host/host_device.h"

#include <algorithm>

#include "optimized/binding.h"
#include "optimized/codegen/fused_works.h"
#include "optimized/runtime/host/host_program.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

// The device type of most tensors: what captures run on. One that is not the CPU wins a tie.
std::string main_device(const spec::Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const spec::PlanValue& value : plan.values) {
    if (value.value.type) ++counts[value.value.type->device.type];
  }
  std::string best = "cpu";
  for (const auto& [type, count] : counts) {
    const bool is_better = counts[best] < count || (counts[best] == count && best == "cpu");
    if (is_better) best = type;
  }
  return best;
}

}  // namespace

// The buffers that a step names, and those of them that it may write.
void HostProgram::add_places(const spec::PlanStep& step, DevicePlaces& places) const {
  const auto buffers = [&](const Item& item, std::set<std::uint32_t>& out) {
    const std::function<void(const Item&)> visit = [&](const Item& one) {
      if (const auto* list = one.as<Item::List>()) std::for_each(list->begin(), list->end(), visit);
      const auto* tensor = one.as<Tensor>();
      if (tensor && tensor->storage < plan_.buffers.size() && placed_at_[tensor->storage]) {
        out.insert(tensor->storage);
      }
    };
    visit(item);
  };
  for_each_operand(step.node,
                   [&](spec::ValueId id) { buffers(values_[id.index], places.touched); });
  const auto results = [&](const spec::Node& node) {
    for (const spec::ValueId id : flat_results(node)) {
      const auto& buffer = plan_.values[id.index].buffer;
      if (!buffer || placed_at_[buffer->index] == nullptr) continue;
      places.touched.insert(buffer->index);
      places.written.insert(buffer->index);
    }
  };
  const auto written = [&](const spec::Node& node) {
    const spec::OpRow* row = ops_.find(node.op);
    if (row == nullptr) return;
    const std::vector<Item> arguments =
        bind_arguments(row->schema, node.arguments, [&](spec::ValueId id) {
          return plan_.values[id.index].buffer ? values_[id.index] : Item{spec::None{}};
        });
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (row->writes(i)) buffers(arguments[i], places.written);
    }
  };
  results(step.node);
  if (step.body.empty() && !spec::is_higher_order(step.node.op)) written(step.node);
  for (const spec::Node& node : step.body) {
    results(node);
    written(node);
  }
  if (step.workspace) {
    places.touched.insert(step.workspace->index);
    places.written.insert(step.workspace->index);
  }
}

void HostProgram::know_memory() {
  DeviceMemory& memory = options_.device->memory();
  const auto know = [&](const std::shared_ptr<HostMemory>& host) {
    if (!host) return;
    memory.know({host->data(), static_cast<std::size_t>(host->size_bytes())}, host);
  };
  for (const auto& pool : pools_) know(pool);
  for (const auto& [place, host] : state_.rebound) know(host);
  for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    const spec::PlanPool& pool = plan_.pools[plan_.buffers[b].pool.index];
    if (pool.kind == spec::PoolKind::kCaller) know_callers(buffer_bytes({b}));
  }
}

void HostProgram::know_callers(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  DeviceMemory& memory = options_.device->memory();
  const bool is_mine = !memory.twin_of(bytes).has_value();
  memory.know(bytes, nullptr);
  on_device_->of_caller.push_back({bytes, memory.twin_of(bytes.data()), is_mine});
}

bool HostProgram::has_lost_twins() const {
  if (!on_device_ || on_device_->of_caller.empty()) return false;
  const std::uint64_t generation = on_device_->memory.generation();
  if (std::exchange(on_device_->generation_seen, generation) == generation) return false;
  return std::any_of(on_device_->of_caller.begin(), on_device_->of_caller.end(),
                     [&](const OnDevice::CallersBytes& callers) {
                       return on_device_->memory.twin_of(callers.bytes) != callers.twin;
                     });
}

// State that no step of any plan writes, where a pool holds nothing else. What a caller has bound
// to memory of its own counts as written.
void HostProgram::protect_state() {
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const spec::PlanPool& pool = plan_.pools[p];
    if (pool.kind != spec::PoolKind::kState || pool.size_bytes == 0) continue;
    const bool is_written =
        std::any_of(state_.written.begin(), state_.written.end(),
                    [&](const StatePlace& place) { return place.first == pool.name; });
    options_.device->memory().set_read_only(pools_[p]->data(), !is_written);
  }
}

// In guarded memory: what no buffer of the plan covers, and what is around the pools.
void HostProgram::place_canaries() {
  DeviceMemory& memory = options_.device->memory();
  if (!memory.is_guarded()) return;
  std::vector<CanaryArena> arenas;
  for (std::uint32_t p = 0; p < pools_.size(); ++p) {
    if (!pools_[p] || pools_[p]->size_bytes() == 0) continue;
    std::vector<CanaryRange> buffers;
    for (const spec::PlanBuffer& buffer : plan_.buffers) {
      if (buffer.pool.index != p) continue;
      buffers.push_back({buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes});
    }
    const std::int64_t size = pools_[p]->size_bytes();
    arenas.push_back({{pools_[p]->data(), static_cast<std::size_t>(size)},
                      gaps_between(std::move(buffers), size)});
    on_device_->arenas.push_back("pool @" + plan_.pools[p].name);
  }
  std::size_t jobs = plan_.steps.size();
  for (const spec::PlanBlock& block : plan_.blocks) jobs += block.partitions.size();
  on_device_->canaries.emplace(memory, std::move(arenas), jobs);
}

// Bytes that live as long as the recordings do.
void HostProgram::know_for_now(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  options_.device->memory().know(bytes, nullptr);
  on_device_->known.push_back(bytes.data());
}

// Everything anew: what can run on the device is compiled and loaded together.
void HostProgram::record_on_device() {
  on_device_->type = main_device(plan_);
  know_memory();
  place_canaries();
  std::vector<Device::Job> jobs;
  std::vector<OnDevice::Unit*> units;
  std::vector<HostMemory> heap_of_call = std::exchange(heap_, {});
  const auto add = [&](OnDevice::Unit& unit, std::optional<StepCalls> of_steps, bool is_captured,
                       std::string what) {
    if (!of_steps) return;
    auto& [calls, steps] = *of_steps;
    if (on_device_->canaries && !calls.empty()) {
      const DeviceWorks check = {on_device_->canaries->check(jobs.size())};
      for (DeviceCall& last : on_device_->text.add(check)) add_behind_all(calls, std::move(last));
    }
    on_device_->jobs.push_back(what);
    unit.calls = calls;
    unit.steps = std::move(steps);
    unit.is_captured = is_captured;
    jobs.push_back({std::move(calls), is_captured, std::move(what), options_.interleaving_seed});
    units.push_back(&unit);
  };
  on_device_->partitions.resize(plan_.blocks.size());
  on_device_->steps.resize(plan_.steps.size());
  for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
    on_device_->partitions[b].resize(plan_.blocks[b].partitions.size());
    for (std::size_t p = 0; p < plan_.blocks[b].partitions.size(); ++p) {
      const spec::PlanPartition& partition = plan_.blocks[b].partitions[p];
      OnDevice::Unit& whole = on_device_->partitions[b][p];
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        if (partition.captured) {
          add_places(plan_.steps[s], whole.places);
          continue;
        }
        OnDevice::Unit& unit = on_device_->steps[s];
        add_places(plan_.steps[s], unit.places);
        running_ = s;
        add(unit, eager_calls(s), false, "step " + std::to_string(s));
      }
      if (!partition.captured) continue;
      for (const HostMemory& scratch : recordings_[b][p].scratch) {
        know_for_now({scratch.data(), static_cast<std::size_t>(scratch.size_bytes())});
      }
      if (partition.begin_step == partition.end_step) continue;
      add(whole,
          calls_of({partition.begin_step, partition.end_step - 1}, recordings_[b][p].launches),
          true, "partition " + std::to_string(p) + " of @" + plan_.blocks[b].name);
    }
  }
  for (const HostMemory& scratch : heap_) {
    know_for_now({scratch.data(), static_cast<std::size_t>(scratch.size_bytes())});
  }
  on_device_->scratch = std::exchange(heap_, std::move(heap_of_call));
  heap_bytes_.resize(heap_.size());
  auto runs = load_on_device(jobs, units);
  for (std::size_t u = 0; u < units.size(); ++u) units[u]->run = std::move(runs[u]);
  protect_state();
  find_ranges();
}

// The bytes of what every run touches, writes, copies in and gives back.
void HostProgram::find_ranges() {
  const auto ranges_of = [&](const auto& buffers) {
    std::vector<std::span<std::byte>> bytes;
    bytes.reserve(buffers.size());
    for (const std::uint32_t b : buffers) bytes.push_back(buffer_bytes({b}));
    return DeviceMemory::Ranges(std::move(bytes));
  };
  const auto find = [&](OnDevice::Unit& unit) {
    unit.touched = ranges_of(unit.places.touched);
    unit.written = ranges_of(unit.places.written);
  };
  for (auto& block : on_device_->partitions) std::for_each(block.begin(), block.end(), find);
  std::for_each(on_device_->steps.begin(), on_device_->steps.end(), find);
  std::set<std::uint32_t> inputs;
  std::set<std::uint32_t> returned;
  for (const spec::PlanInput& input : plan_.inputs) {
    if (input.constant) continue;
    const std::uint32_t buffer = plan_.values[input.value.index].buffer->index;
    returned.insert(buffer);
    if (input.kind == spec::InputKind::kUserInput) inputs.insert(buffer);
  }
  for (const spec::Argument& output : plan_.outputs) {
    spec::for_each_value(output, [&](spec::ValueId id) {
      const auto* tensor = values_[id.index].as<Tensor>();
      if (is_dynamic_[id.index]) {
        on_device_->dynamic_outputs.push_back(id);
      } else if (tensor != nullptr) {
        returned.insert(tensor->storage);
      }
    });
  }
  on_device_->inputs = ranges_of(inputs);
  on_device_->returned = ranges_of(returned);
}

// Before steps of the host: their bytes are there. Afterwards: they are newer there.
void HostProgram::bring_to_host(const DevicePlaces& places) {
  for (const std::uint32_t b : places.touched) {
    on_device_->memory.start_to_host(buffer_bytes({b}));
  }
  on_device_->memory.arrive();
}
void HostProgram::note_host_writes(const DevicePlaces& places) {
  for (const std::uint32_t b : places.written) on_device_->memory.host_wrote(buffer_bytes({b}));
}

// Runs a unit on the device, if it is there.
bool HostProgram::run_on_device(OnDevice::Unit& unit) {
  if (!unit.run) return false;
  on_device_->memory.bring_to_device(unit.touched);
  unit.run->launch();
  on_device_->memory.device_wrote(unit.written);
  return true;
}

// What the host has written since the last run: state, if anybody did, and inputs.
void HostProgram::begin_on_device() {
  DeviceMemory& memory = on_device_->memory;
  const bool is_state_new = state_.host_writes != on_device_->host_writes_seen;
  on_device_->host_writes_seen = state_.host_writes;
  for (std::size_t p = 0; (is_state_new || options_.poison) && p < pools_.size(); ++p) {
    const spec::PoolKind kind = plan_.pools[p].kind;
    if (!pools_[p]) continue;
    const auto size = static_cast<std::size_t>(plan_.pools[p].size_bytes);
    const bool is_fresh = (kind == spec::PoolKind::kArena && options_.poison) ||
                          (kind == spec::PoolKind::kState && is_state_new);
    if (is_fresh) memory.host_wrote({pools_[p]->data(), size});
  }
  if (is_state_new) {
    for (const auto& [place, host] : state_.rebound) {
      memory.host_wrote({host->data(), static_cast<std::size_t>(host->size_bytes())});
    }
  }
  memory.host_wrote(on_device_->inputs);
  if (on_device_->canaries) on_device_->canaries->fill();
}

// What callers look at: outputs, inputs, state. One wait for them and for the end of all work.
void HostProgram::end_on_device() {
  DeviceMemory& memory = on_device_->memory;
  memory.start_to_host(on_device_->returned);
  for (const spec::ValueId id : on_device_->dynamic_outputs) {
    const auto* tensor = values_[id.index].as<Tensor>();
    if (!tensor || tensor->storage >= plan_.buffers.size()) continue;
    memory.start_to_host(buffer_bytes({tensor->storage}));
  }
  finish_device();
}

}  // namespace graphgate::optimized
