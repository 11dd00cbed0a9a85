// What steps of a plan launch on a device, and what the device says of it in the plan's words.
#include <algorithm>
#include <map>

#include "optimized/binding.h"
#include "optimized/runtime/host/host_device.h"
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

DeviceListener OnDevice::listener() {
  DeviceListener::Reserve reserve = [this](std::int64_t bytes) {
    reserved_.push_back(twins_.reserve(bytes));
    return reserved_.back()->data();
  };
  if (plan_.arithmetic != "fast") return DeviceListener(std::move(reserve));
  // What no step of the plan writes; other plans run before this one, or behind it.
  return DeviceListener(std::move(reserve), [this](const Tensor& tensor) {
    return tensor.storage < plan_.buffers.size() &&
           plan_.pools[plan_.buffers[tensor.storage].pool.index].kind == spec::PoolKind::kState &&
           !memory_.is_written({tensor.storage});
  });
}

// The calls of steps in program order, whatever order the host launches them in; nothing where one
// of them does not tell. Steps that launch nothing may wait and record.
std::optional<StepCalls> OnDevice::calls_of(const StepRange& range,
                                            std::span<const BoundLaunch> launches) {
  static const DeviceWorks kNothing;
  std::vector<DeviceStep> steps;
  for (std::uint32_t s = range.first; s <= range.last; ++s) {
    const spec::PlanStep& step = plan_.steps[s];
    steps.push_back({s, &kNothing, step.stream, step.waits, step.records});
  }
  for (const BoundLaunch& recorded : launches) {
    const DeviceWorks* works = works_of(recorded.launch);
    if (works == nullptr) return {};
    steps[recorded.step - range.first].works = works;
  }
  return calls_of_steps(text_, steps);
}

// One eager step, if it can be bound before it runs.
std::optional<StepCalls> OnDevice::eager_calls(std::uint32_t index) {
  const spec::PlanStep& step = plan_.steps[index];
  const bool is_fit = !spec::is_higher_order(step.node.op) && binder_.is_fixed(step) &&
                      lives_on(plan_, step, type_);
  if (!is_fit) return {};
  try {
    const DeviceListener own = listener();
    const std::array<BoundLaunch, 1> launch = {binder_.bind(index, false, &own)};
    return calls_of({index, index}, launch);
  } catch (const NeedsData&) {
    return {};
  } catch (const OpError&) {
    return {};  // it says so when it runs
  }
}

// Says of a broken canary where it stood, in the plan's words.
void OnDevice::finish() {
  try {
    device_.finish();
  } catch (const BrokenCanary& broken) {
    throw DeviceError("after " + jobs_.at(static_cast<std::size_t>(broken.job)) + ": byte " +
                      std::to_string(broken.byte) + " of " +
                      arenas_.at(static_cast<std::size_t>(broken.arena)) +
                      " has been written, where no buffer lies");
  }
}

// "step 3 'mul' of stream 0", "steps 3 'mul' to 5 'add' of stream 1": what a call has works of.
std::string OnDevice::words_of_call(const Unit& unit, std::size_t call) const {
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
std::string OnDevice::words_of_bytes(const ByteRange& bytes) const {
  const auto inside = [&](const std::byte* first, std::int64_t size, const std::string& of) {
    const std::int64_t from = reinterpret_cast<std::intptr_t>(first);  // NOLINT: a number
    if (bytes.begin < from || bytes.begin >= from + size) return std::string();
    return "bytes [" + std::to_string(bytes.begin - from) + ", " +
           std::to_string(bytes.end - from) + ") of " + of;
  };
  std::string words;
  for (std::size_t p = 0; p < memory_.pools().size() && words.empty(); ++p) {
    if (!memory_.pools()[p]) continue;
    words = inside(memory_.pools()[p]->data(), memory_.pools()[p]->size_bytes(),
                   "pool @" + plan_.pools[p].name);
  }
  for (std::uint32_t b = 0; b < plan_.buffers.size() && words.empty(); ++b) {
    const std::byte* const at = memory_.address_of({b});
    if (at == nullptr) continue;
    words = inside(at, plan_.buffers[b].size_bytes, "buffer $" + plan_.buffers[b].name);
  }
  return words.empty() ? "bytes of a step's scratch" : words;
}

// Says of two calls that a captured graph leaves free which steps they are.
void OnDevice::make_ready(const Jobs& jobs) {
  try {
    auto runs = device_.load(text_, jobs.jobs);
    for (std::size_t u = 0; u < jobs.units.size(); ++u) jobs.units[u]->run = std::move(runs[u]);
  } catch (const UnorderedCalls& unordered) {
    const auto job = std::ranges::find(jobs_, unordered.job);
    if (job == jobs_.end()) throw;
    const Unit& unit = *jobs.units[static_cast<std::size_t>(job - jobs_.begin())];
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
