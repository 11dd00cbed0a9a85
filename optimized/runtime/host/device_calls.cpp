// What steps of a plan launch on a device, and what the device says of it in the plan's words.
#include <algorithm>
#include <map>

#include "optimized/binding.h"
#include "optimized/runtime/device/call_order.h"
#include "optimized/runtime/host/host_program.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

// Whether every tensor of the step lives on devices of this type.
bool lives_on(const spec::Plan& plan, const spec::PlanStep& step, const std::string& type) {
  bool lives = true;
  const auto look_at = [&](spec::ValueId id) {
    const auto& tensor = plan.values[id.index].value.type;
    lives &= !tensor || tensor->device.type == type;
  };
  for_each_operand(step.node, look_at);
  for (const spec::ValueId id : flat_results(step.node)) look_at(id);
  return lives;
}

}  // namespace

// Where a launch for the device may keep what only the device sees.
std::byte* HostProgram::reserve_on_device(std::int64_t size_bytes) {
  on_device_->reserved.push_back(options_.device->memory().reserve(size_bytes));
  return on_device_->reserved.back()->data();
}

// Who wants to know what launches do, in the plan's arithmetic.
DeviceListener HostProgram::device_listener() {
  DeviceListener::Reserve reserve = [this](std::int64_t bytes) { return reserve_on_device(bytes); };
  if (plan_.arithmetic != "fast") return DeviceListener(std::move(reserve));
  // What no step of the plan writes; other plans run before this one, or behind it.
  return DeviceListener(std::move(reserve), [this](const Tensor& tensor) {
    return tensor.storage < plan_.buffers.size() &&
           plan_.pools[plan_.buffers[tensor.storage].pool.index].kind == spec::PoolKind::kState &&
           !is_written({tensor.storage});
  });
}

// The calls of steps in program order, whatever order the host launches them in; nothing where one
// of them does not tell. Steps that launch nothing may wait and record.
std::optional<StepCalls> HostProgram::calls_of(const StepRange& range,
                                               std::span<const Recorded> launches) {
  static const DeviceWorks kNothing;
  std::vector<DeviceStep> steps;
  for (std::uint32_t s = range.first; s <= range.last; ++s) {
    const spec::PlanStep& step = plan_.steps[s];
    steps.push_back({s, &kNothing, step.stream, step.waits, step.records});
  }
  for (const Recorded& recorded : launches) {
    const DeviceWorks* works = works_of(recorded.launch);
    if (works == nullptr) return {};
    steps[recorded.step - range.first].works = works;
  }
  return calls_of_steps(on_device_->text, steps);
}

// One eager step, if it can be bound before it runs.
std::optional<StepCalls> HostProgram::eager_calls(std::uint32_t index) {
  const spec::PlanStep& step = plan_.steps[index];
  const bool is_fit = !spec::is_higher_order(step.node.op) && is_fixed(step) &&
                      lives_on(plan_, step, on_device_->type);
  if (!is_fit) return {};
  try {
    const DeviceListener listener = device_listener();
    const std::array<Recorded, 1> launch = {bind_step(step, false, &listener)};
    return calls_of({index, index}, launch);
  } catch (const NeedsData&) {
    return {};
  } catch (const OpError&) {
    return {};  // it says so when it runs
  }
}

// Says of a broken canary where it stood, in the plan's words.
void HostProgram::finish_device() {
  try {
    options_.device->finish();
  } catch (const BrokenCanary& broken) {
    throw DeviceError("after " + on_device_->jobs.at(static_cast<std::size_t>(broken.job)) +
                      ": byte " + std::to_string(broken.byte) + " of " +
                      on_device_->arenas.at(static_cast<std::size_t>(broken.arena)) +
                      " has been written, where no buffer lies");
  }
}

// "step 3 'mul' of stream 0", "steps 3 'mul' to 5 'add' of stream 1": what a call has works of.
std::string HostProgram::words_of_call(const OnDevice::Unit& unit, std::size_t call) const {
  if (call >= unit.steps.size()) return "the look at canaries";
  const auto named = [&](std::uint32_t step) {
    return std::to_string(step) + " '" + plan_.steps[step].node.name + "'";
  };
  const auto [first, last] = unit.steps[call];
  const std::string steps =
      first == last ? "step " + named(first) : "steps " + named(first) + " to " + named(last);
  return steps + " of stream " + std::to_string(unit.calls[call].stream);
}

// "bytes [64, 96) of pool @arena": addresses of the host's.
std::string HostProgram::words_of_bytes(const ByteRange& bytes) const {
  const auto inside = [&](const std::byte* first, std::int64_t size, const std::string& of) {
    const std::int64_t from = reinterpret_cast<std::intptr_t>(first);  // NOLINT: a number
    if (bytes.begin < from || bytes.begin >= from + size) return std::string();
    return "bytes [" + std::to_string(bytes.begin - from) + ", " +
           std::to_string(bytes.end - from) + ") of " + of;
  };
  std::string words;
  for (std::size_t p = 0; p < pools_.size() && words.empty(); ++p) {
    if (!pools_[p]) continue;
    words = inside(pools_[p]->data(), pools_[p]->size_bytes(), "pool @" + plan_.pools[p].name);
  }
  for (std::uint32_t b = 0; b < plan_.buffers.size() && words.empty(); ++b) {
    if (placed_at_[b] == nullptr) continue;
    words = inside(placed_at_[b], plan_.buffers[b].size_bytes, "buffer $" + plan_.buffers[b].name);
  }
  return words.empty() ? "bytes of a step's scratch" : words;
}

// Makes jobs ready. Says of two calls that a captured graph leaves free which steps they are.
std::vector<std::unique_ptr<DeviceRun>> HostProgram::load_on_device(
    std::span<const Device::Job> jobs, std::span<OnDevice::Unit* const> units) const {
  try {
    return options_.device->load(on_device_->text, jobs);
  } catch (const UnorderedCalls& unordered) {
    const auto job = std::find(on_device_->jobs.begin(), on_device_->jobs.end(), unordered.job);
    if (job == on_device_->jobs.end()) throw;
    const OnDevice::Unit& unit = *units[static_cast<std::size_t>(job - on_device_->jobs.begin())];
    const Disorder& disorder = unordered.disorder;
    throw DeviceError(
        unordered.job + ": the captured graph does not order " +
        words_of_call(unit, disorder.earlier) + " before " + words_of_call(unit, disorder.later) +
        (disorder.bytes ? ", and one of them writes " + words_of_bytes(*disorder.bytes) +
                              ", which the other one touches"
                        : ", one of which does not tell what it touches"));
  }
}

}  // namespace graphgate::optimized
