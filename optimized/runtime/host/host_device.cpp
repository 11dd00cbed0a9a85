#include "optimized/runtime/host/host_device.h"

#include <algorithm>
#include <map>

#include "optimized/binding.h"
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

OnDevice::OnDevice(const spec::Plan& plan, const spec::OpTable& ops, PlanMemory& memory,
                   StepBinder& binder, Device& device, const HostOptions& options)
    : plan_(plan),
      ops_(ops),
      memory_(memory),
      binder_(binder),
      device_(device),
      options_(options),
      twins_(device.memory()),
      type_(main_device(plan)),
      text_(plan.arithmetic == "fast"),
      steps_(plan.steps.size()) {
  for (const spec::PlanBlock& block : plan.blocks) {
    partitions_.emplace_back(block.partitions.size());
  }
}

OnDevice::~OnDevice() {
  for (const std::byte* host : known_) twins_.forget(host);
  for (const CallersBytes& callers : of_caller_) {
    const bool is_there = callers.is_mine && twins_.twin_of(callers.bytes) == callers.twin;
    if (is_there) twins_.forget(callers.bytes.data());
  }
}

void OnDevice::add_places(const spec::PlanStep& step, DevicePlaces& places) const {
  const auto buffers = [&](const Item& item, std::set<std::uint32_t>& out) {
    const std::function<void(const Item&)> visit = [&](const Item& one) {
      if (const auto* list = one.as<Item::List>()) std::ranges::for_each(*list, visit);
      const auto* tensor = one.as<Tensor>();
      if (tensor && tensor->storage < plan_.buffers.size() &&
          memory_.address_of({tensor->storage})) {
        out.insert(tensor->storage);
      }
    };
    visit(item);
  };
  for_each_operand(step.node,
                   [&](spec::ValueId id) { buffers(memory_.value(id), places.touched); });
  const auto results = [&](const spec::Node& node) {
    for (const spec::ValueId id : flat_results(node)) {
      const auto& buffer = plan_.values[id.index].buffer;
      if (!buffer || memory_.address_of(*buffer) == nullptr) continue;
      places.touched.insert(buffer->index);
      places.written.insert(buffer->index);
    }
  };
  const auto written = [&](const spec::Node& node) {
    const spec::OpRow* row = ops_.find(node.op);
    if (row == nullptr) return;
    const std::vector<Item> arguments =
        bind_arguments(row->schema, node.arguments, [&](spec::ValueId id) {
          return plan_.values[id.index].buffer ? memory_.value(id) : Item{spec::None{}};
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

void OnDevice::know_memory() {
  const auto know = [&](const std::shared_ptr<HostMemory>& host) {
    if (!host) return;
    twins_.know({host->data(), static_cast<std::size_t>(host->size_bytes())}, host);
  };
  for (const auto& pool : memory_.pools()) know(pool);
  for (const auto& [place, host] : memory_.state().rebound) know(host);
  for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    const spec::PlanPool& pool = plan_.pools[plan_.buffers[b].pool.index];
    if (pool.kind == spec::PoolKind::kCaller) know_callers(memory_.bytes_of(spec::BufferId{b}));
  }
}

void OnDevice::know_callers(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  const bool is_mine = !twins_.twin_of(bytes).has_value();
  twins_.know(bytes, nullptr);
  of_caller_.push_back({bytes, twins_.twin_of(bytes.data()), is_mine});
}

bool OnDevice::has_lost_twins() {
  if (of_caller_.empty()) return false;
  const std::uint64_t generation = twins_.generation();
  if (std::exchange(generation_seen_, generation) == generation) return false;
  return std::ranges::any_of(of_caller_, [&](const CallersBytes& callers) {
    return twins_.twin_of(callers.bytes) != callers.twin;
  });
}

// State that no step of any plan writes, where a pool holds nothing else. What a caller has bound
// to memory of its own counts as written.
void OnDevice::protect_state() {
  for (std::size_t p = 0; p < memory_.pools().size(); ++p) {
    const spec::PlanPool& pool = plan_.pools[p];
    if (pool.kind != spec::PoolKind::kState || pool.size_bytes == 0) continue;
    const bool is_written = std::ranges::any_of(
        memory_.state().written, [&](const StatePlace& place) { return place.first == pool.name; });
    twins_.set_read_only(memory_.pools()[p]->data(), !is_written);
  }
}

// In guarded memory: what no buffer of the plan covers, and what is around the pools.
void OnDevice::place_canaries() {
  if (!twins_.is_guarded()) return;
  std::vector<CanaryArena> arenas;
  for (std::uint32_t p = 0; p < memory_.pools().size(); ++p) {
    if (!memory_.pools()[p] || memory_.pools()[p]->size_bytes() == 0) continue;
    std::vector<CanaryRange> buffers;
    for (const spec::PlanBuffer& buffer : plan_.buffers) {
      if (buffer.pool.index != p) continue;
      buffers.push_back({buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes});
    }
    const std::int64_t size = memory_.pools()[p]->size_bytes();
    arenas.push_back({{memory_.pools()[p]->data(), static_cast<std::size_t>(size)},
                      gaps_between(std::move(buffers), size)});
    arenas_.push_back("pool @" + plan_.pools[p].name);
  }
  std::size_t jobs = plan_.steps.size();
  for (const spec::PlanBlock& block : plan_.blocks) jobs += block.partitions.size();
  canaries_.emplace(twins_, std::move(arenas), jobs);
}

// Bytes that live as long as the recordings do.
void OnDevice::know_for_now(const HostMemory& scratch) {
  if (scratch.size_bytes() == 0) return;
  twins_.know({scratch.data(), static_cast<std::size_t>(scratch.size_bytes())}, nullptr);
  known_.push_back(scratch.data());
}

void OnDevice::load(const Recordings& recordings) {
  know_memory();
  place_canaries();
  Jobs jobs;
  scratch_ = memory_.allocated_by([&] {
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      for (std::size_t p = 0; p < plan_.blocks[b].partitions.size(); ++p) {
        add_partition(b, p, recordings.of(b, p), jobs);
      }
    }
  });
  for (const HostMemory& scratch : scratch_) know_for_now(scratch);
  make_ready(jobs);
  protect_state();
  find_ranges();
}

void OnDevice::add_partition(std::size_t block, std::size_t p, const Recording& recording,
                             Jobs& jobs) {
  const spec::PlanPartition& partition = plan_.blocks[block].partitions[p];
  Unit& whole = partitions_[block][p];
  for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
    if (partition.captured) {
      add_places(plan_.steps[s], whole.places);
      continue;
    }
    add_places(plan_.steps[s], steps_[s].places);
    add(steps_[s], eager_calls(s), false, "step " + std::to_string(s), jobs);
  }
  if (!partition.captured) return;
  for (const HostMemory& scratch : recording.scratch) know_for_now(scratch);
  if (partition.begin_step == partition.end_step) return;
  add(whole, calls_of({partition.begin_step, partition.end_step - 1}, recording.launches), true,
      "partition " + std::to_string(p) + " of @" + plan_.blocks[block].name, jobs);
}

void OnDevice::add(Unit& unit, std::optional<StepCalls> of_steps, bool is_captured,
                   std::string what, Jobs& jobs) {
  if (!of_steps) return;
  auto& [calls, steps] = *of_steps;
  if (canaries_ && !calls.empty()) {
    const DeviceWorks check = {canaries_->check(jobs.jobs.size())};
    for (DeviceCall& last : text_.add(check)) add_behind_all(calls, std::move(last));
  }
  jobs_.push_back(what);
  unit.calls = calls;
  unit.steps = std::move(steps);
  unit.is_captured = is_captured;
  jobs.jobs.push_back({std::move(calls), is_captured, std::move(what), options_.interleaving_seed});
  jobs.units.push_back(&unit);
}

// The bytes of what every run touches, writes, copies in and gives back.
void OnDevice::find_ranges() {
  const auto ranges_of = [&](const std::set<std::uint32_t>& buffers) {
    return DeviceMemory::Ranges(memory_.bytes_of(buffers));
  };
  const auto find = [&](Unit& unit) {
    unit.touched = ranges_of(unit.places.touched);
    unit.written = ranges_of(unit.places.written);
  };
  for (auto& block : partitions_) std::ranges::for_each(block, find);
  std::ranges::for_each(steps_, find);
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
      const auto* tensor = memory_.value(id).as<Tensor>();
      if (memory_.is_dynamic(id)) {
        dynamic_outputs_.push_back(id);
      } else if (tensor != nullptr) {
        returned.insert(tensor->storage);
      }
    });
  }
  inputs_ = ranges_of(inputs);
  returned_ = ranges_of(returned);
}

void OnDevice::bring_to_host(const DevicePlaces& places) {
  for (const auto& bytes : memory_.bytes_of(places.touched)) twins_.start_to_host(bytes);
  twins_.arrive();
}
void OnDevice::note_host_writes(const DevicePlaces& places) {
  for (const auto& bytes : memory_.bytes_of(places.written)) twins_.host_wrote(bytes);
}

bool OnDevice::run(Unit& unit) {
  if (!unit.run) return false;
  twins_.bring_to_device(unit.touched);
  unit.run->launch();
  twins_.device_wrote(unit.written);
  return true;
}

// What the host has written since the last run: state, if anybody did, and inputs.
void OnDevice::begin_run() {
  const bool is_state_new = memory_.state().host_writes != host_writes_seen_;
  host_writes_seen_ = memory_.state().host_writes;
  for (std::size_t p = 0; (is_state_new || options_.poison) && p < memory_.pools().size(); ++p) {
    const spec::PoolKind kind = plan_.pools[p].kind;
    if (!memory_.pools()[p]) continue;
    const auto size = static_cast<std::size_t>(plan_.pools[p].size_bytes);
    const bool is_fresh = (kind == spec::PoolKind::kArena && options_.poison) ||
                          (kind == spec::PoolKind::kState && is_state_new);
    if (is_fresh) twins_.host_wrote({memory_.pools()[p]->data(), size});
  }
  if (is_state_new) {
    for (const auto& [place, host] : memory_.state().rebound) {
      twins_.host_wrote({host->data(), static_cast<std::size_t>(host->size_bytes())});
    }
  }
  twins_.host_wrote(inputs_);
  if (canaries_) canaries_->fill();
}

// What callers look at: outputs, inputs, state. One wait for them and for the end of all work.
void OnDevice::end_run() {
  twins_.start_to_host(returned_);
  for (const spec::ValueId id : dynamic_outputs_) {
    const auto* tensor = memory_.value(id).as<Tensor>();
    if (!tensor || tensor->storage >= plan_.buffers.size()) continue;
    twins_.start_to_host(memory_.bytes_of(spec::BufferId{tensor->storage}));
  }
  finish();
}

}  // namespace graphgate::optimized
