#include "optimized/runtime/host/host_program.h"

#include <algorithm>
#include <utility>

#include "spec/graph_text.h"
#include "spec/loops.h"

namespace graphgate::optimized {
namespace {

using spec::PoolKind;

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
      options_(std::move(options)),
      run_bytes_(run_bytes(plan_)),
      run_pool_(pool ? std::move(pool) : std::make_shared<RunPool>(options_.deviations)),
      memory_(plan_, state, *run_pool_, options_),
      binder_(plan_, ops_, memory_, options_),
      recordings_(plan_, memory_, binder_, options_),
      kept_(plan_.steps.size()) {
  const bool waits_for_caller = std::ranges::any_of(
      plan_.pools, [](const spec::PlanPool& p) { return p.kind == PoolKind::kCaller; });
  if (!waits_for_caller) record({});
  run_pool_->add_user(this);
}

HostProgram::~HostProgram() { run_pool_->remove_user(this); }

// Of nothing moved: every captured partition. Where that fails nothing counts as recorded, and the
// next run does it anew.
void HostProgram::record(const std::set<std::uint32_t>& moved_buffers) {
  is_recorded_ = false;
  if (options_.device) {
    on_device_ = nullptr;
    on_device_ =
        std::make_unique<OnDevice>(plan_, ops_, memory_, binder_, *options_.device, options_);
    const DeviceListener listener = on_device_->listener();
    recordings_.record({}, &listener);
    on_device_->load(recordings_);
  } else {
    recordings_.record(moved_buffers, nullptr);
  }
  is_recorded_ = true;
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
  memory_.clear_heap();
  const bool keeps_old = keeps_old_addresses();
  // Recorded launches hold addresses. Where a pool, a state tensor or a static input has moved
  // since, replay would read and write where it was; so what touches it is recorded anew.
  if (memory_.follow(inputs)) {
    kept_.assign(plan_.steps.size(), std::nullopt);
    if (is_recorded_ && !keeps_old) record(memory_.moved());
  }
  if (!is_recorded_ || (on_device_ && on_device_->has_lost_twins())) record({});
  last_run_ = run_pool_->begin_run(plan_.name, run_bytes_);
  memory_.fill(inputs);
  if (on_device_) on_device_->begin_run();
  if (options_.instrument) options_.instrument->begin_run(memory_.run_memory(inputs));
  with_place(plan_, running_, [&] { run_block(0); });
}

void HostProgram::finish() {
  if (on_device_) on_device_->end_run();
  if (options_.instrument) options_.instrument->end_run();
  binder_.note_run();
}

void HostProgram::sleep(bool drops_recordings) {
  run_pool_->sleep();
  if (!drops_recordings && !options_.device) return;
  on_device_ = nullptr;
  recordings_.drop();
  is_recorded_ = is_recorded_ && options_.deviations.has(spec::Deviation::kReplaysDroppedGraphs);
}

void HostProgram::wake(bool elsewhere) {
  run_pool_->wake(elsewhere);
  woke_elsewhere_ |= elsewhere;
}

// Whether graphs are taken to lie where they lay before a sleep.
bool HostProgram::keeps_old_addresses() {
  return std::exchange(woke_elsewhere_, false) &&
         options_.deviations.has(spec::Deviation::kReplaysWhereItSlept);
}

void HostProgram::run_block(std::size_t block) {
  const auto& partitions = plan_.blocks[block].partitions;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    if (partitions[p].captured) {
      OnDevice::Unit* unit = on_device_ ? &on_device_->partition(block, p) : nullptr;
      if (unit && on_device_->run(*unit)) continue;
      if (unit) on_device_->bring_to_host(unit->places);
      replay(recordings_.of(block, p));
      if (unit) on_device_->note_host_writes(unit->places);
      continue;
    }
    for (std::uint32_t s = partitions[p].begin_step; s < partitions[p].end_step; ++s) {
      if (!on_device_ || !on_device_->run(on_device_->step(s))) run_step(s);
    }
  }
}

void HostProgram::replay(const Recording& recording) {
  for (const BoundLaunch& recorded : recording.launches) {
    running_ = recorded.step;
    launch(recorded);
  }
}

void HostProgram::launch(const BoundLaunch& bound) {
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
    on_device_->add_places(step, places);  // anew: only now are those of dynamic views known
    on_device_->bring_to_host(places);
  }
  if (spec::is_loop(step.node.op)) return run_loop(index);
  if (spec::is_higher_order(step.node.op)) return run_conditional(step);
  run_eager(index);
  if (on_device_) on_device_->note_host_writes(places);
}

// An eager step is bound when it runs: anew in every call, or once, as recorded ones are, until
// memory moves.
void HostProgram::run_eager(std::uint32_t index) {
  if (kept_[index]) return launch(*kept_[index]);
  const std::size_t heap_before = memory_.heap_size();
  BoundLaunch bound = binder_.bind(index, true);
  launch(bound);
  if (memory_.heap_size() == heap_before && binder_.may_keep(bound))
    kept_[index] = std::move(bound);
}

void HostProgram::run_conditional(const spec::PlanStep& step) {
  const Lookup lookup = memory_.values();
  const bool taken = truth_of(bind_argument(step.node.arguments[0].argument, lookup));
  const auto* arm = step.node.arguments[taken ? 1 : 2].argument.as<spec::SubgraphId>();
  run_block(arm->index);
  const auto results = flat_results(step.node);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!memory_.is_dynamic(results[i])) continue;  // the arm has copied into its place
    memory_.value(results[i]) = bind_argument(plan_.blocks[arm->index].outputs[i], lookup);
  }
}

// Runs the blocks of a loop: a condition and a body, or a body so many times.
void HostProgram::run_loop(std::uint32_t index) {
  const auto& arguments = plan_.steps[index].node.arguments;
  const std::uint32_t body = arguments[1].argument.as<spec::SubgraphId>()->index;
  if (const auto* condition = arguments[0].argument.as<spec::SubgraphId>()) {
    for (std::int64_t done = 0;; ++done) {
      run_block(condition->index);
      running_ = index;
      if (!asks_for_more(condition->index)) return;
      if (done == spec::kMostIterations) {
        throw OpError("the loop is not over after " + std::to_string(done) + " iterations");
      }
      run_block(body);
    }
  }
  const std::int64_t count = *arguments[0].argument.as<std::int64_t>();
  for (std::int64_t done = 0; done < count; ++done) run_block(body);
}

// The result of a condition that has run.
bool HostProgram::asks_for_more(std::uint32_t block) {
  const spec::Argument& asked = plan_.blocks[block].outputs.front();
  if (on_device_) {
    spec::PlanStep reader;
    reader.node.arguments.push_back({"", asked});
    DevicePlaces places;
    on_device_->add_places(reader, places);
    on_device_->bring_to_host(places);
  }
  return truth_of(bind_argument(asked, memory_.values()));
}

}  // namespace graphgate::optimized
