#include "optimized/runtime/state_store.h"

#include <algorithm>
#include <utility>

#include "spec/deviation.h"

namespace graphgate::optimized {

Result<void> StateStore::load(const HostProgram& program) {
  if (is_loaded_) return {};
  is_loaded_ = true;
  ++memory_.host_writes;
  const spec::Plan& plan = program.plan();
  for (const spec::PlanInput& input : plan.inputs) {
    if (input.kind == spec::InputKind::kUserInput) continue;
    const spec::BufferId id = *plan.values[input.value.index].buffer;
    const spec::PlanBuffer& buffer = plan.buffers[id.index];
    const spec::PlanPool& pool = plan.pools[buffer.pool.index];
    const auto& bytes = program_.tensors.at(input.target).storage->bytes;
    std::copy(bytes.begin(), bytes.end(), program.buffer_bytes(id).begin());
    places_[input.target] = {
        {pool.name, buffer.offset_bytes}, buffer.size_bytes, pool.alignment_bytes};
  }
  for (const Pending& pending : std::exchange(pending_, {})) {
    GRAPHGATE_TRY_VOID(apply(pending.target, pending.value, pending.rebind));
  }
  return {};
}

Result<void> StateStore::set(std::string_view target, const spec::HostTensor& value, bool rebind) {
  const std::string place = program_.name + ": state '" + std::string(target) + "'";
  const auto known = program_.tensors.find(target);
  if (known == program_.tensors.end()) return bad_input(place + " does not exist");
  const spec::HostTensor& old = known->second;
  if (value.dtype != old.dtype || value.sizes != old.sizes) {
    return bad_input(place + " has dtype " + std::string(spec::torch_name(old.dtype)) +
                     " and sizes " + print_sizes(old.sizes) + ", is given " +
                     std::string(spec::torch_name(value.dtype)) + print_sizes(value.sizes));
  }
  const auto sharing = std::ranges::count_if(
      program_.tensors, [&](const auto& entry) { return entry.second.storage == old.storage; });
  if (rebind && sharing > 1) {
    return unsupported(place + " shares its storage with other state, and cannot be bound anew");
  }
  if (is_loaded_) return apply(target, value, rebind);
  pending_.push_back({std::string(target), value, rebind});
  pending_.back().value.storage = std::make_shared<spec::HostStorage>(*value.storage);
  return {};
}

std::span<std::byte> StateStore::bytes_of(const Place& place) const {
  const auto rebound = memory_.rebound.find(place.place);
  std::byte* const first = rebound != memory_.rebound.end()
                               ? rebound->second->data()
                               : memory_.pools.at(place.place.first)->data() + place.place.second;
  return {first, static_cast<std::size_t>(place.size_bytes)};
}

std::span<const std::byte> StateStore::bytes_of(std::string_view target) const {
  const auto found = places_.find(target);
  return found == places_.end() ? std::span<const std::byte>() : bytes_of(found->second);
}

spec::SleepPart StateStore::part_of(std::string_view target) const {
  return caches_.contains(target) ? spec::SleepPart::kCaches : spec::SleepPart::kWeights;
}

// Whether what this state holds goes with the sleep. Bytes between its elements nobody can give
// anew: a storage that has such is kept.
bool StateStore::loses(std::string_view target, int level,
                       const spec::DeviationSet& deviations) const {
  const spec::HostTensor& tensor = program_.tensors.find(target)->second;
  const std::int64_t bytes =
      spec::element_count(tensor.sizes) * spec::item_size_bytes(tensor.dtype);
  if (bytes != std::ssize(tensor.storage->bytes)) return false;
  if (part_of(target) == spec::SleepPart::kCaches) return true;
  if (level < 2) return false;
  if (deviations.has(spec::Deviation::kSleepLosesBuffers)) return true;
  return std::ranges::any_of(program_.inputs, [&](const spec::ProgramInput& input) {
    return input.kind == spec::InputKind::kParameter && input.target == target;
  });
}

void StateStore::sleep(const spec::SleepRequest& asked, const spec::DeviationSet& deviations) {
  caches_ = {asked.caches.begin(), asked.caches.end()};
  is_given_back_ = is_loaded_;
  if (!is_loaded_) return;
  std::map<StatePlace, Asleep> asleep;  // states that share a place are kept if one of them is
  for (const auto& [target, place] : places_) {
    if (place.size_bytes == 0) continue;
    Asleep& one = asleep[place.place];
    one.place = place;
    if (part_of(target) == spec::SleepPart::kCaches) one.part = spec::SleepPart::kCaches;
    if (loses(target, asked.level, deviations)) continue;
    const std::span<const std::byte> bytes = bytes_of(place);
    one.kept.emplace(bytes.begin(), bytes.end());
  }
  for (auto& [place, one] : asleep) asleep_.push_back(std::move(one));
  memory_.give_back(kAsleepFill);
}

void StateStore::wake(std::optional<spec::SleepPart> part, bool elsewhere,
                      const spec::DeviationSet& deviations, Instrument* watcher) {
  if (std::exchange(is_given_back_, false) && elsewhere) {
    std::vector<std::span<const std::byte>> before;
    before.reserve(asleep_.size());
    for (const Asleep& one : asleep_) before.push_back(bytes_of(one.place));
    const StateMemory old = memory_;  // keeps the memory until its words have moved
    memory_.move(kAsleepFill);
    for (std::size_t i = 0; watcher && i < asleep_.size(); ++i) {
      watcher->move_memory(before[i], bytes_of(asleep_[i].place), false);
    }
  }
  std::erase_if(asleep_, [&](const Asleep& one) {
    if (part && *part != one.part) return false;
    const std::span<std::byte> bytes = bytes_of(one.place);
    if (one.kept && !deviations.has(spec::Deviation::kWakesWithoutContents)) {
      std::copy(one.kept->begin(), one.kept->end(), bytes.begin());
    } else if (watcher) {
      watcher->move_memory(bytes, bytes, true);
    }
    return true;
  });
  ++memory_.host_writes;
}

Result<void> StateStore::apply(std::string_view target, const spec::HostTensor& value,
                               bool rebind) {
  const auto found = places_.find(target);
  if (found == places_.end()) return {};  // no input of the graph: nothing reads it
  const Place& place = found->second;
  // Without bytes it lies where its neighbour does, which is not to move with it.
  if (place.size_bytes == 0) return {};
  if (rebind) {
    memory_.rebind(place.place, bytes_of(place),
                   pool_->allocate(place.size_bytes, place.alignment_bytes));
  }
  const spec::HostTensor& geometry = program_.tensors.find(target)->second;
  const std::int64_t item = spec::item_size_bytes(value.dtype);
  copy_elements(value.storage->bytes.data() + value.storage_offset * item, value.strides,
                bytes_of(place).data() + geometry.storage_offset * item, geometry.strides,
                value.sizes, item);
  memory_.written.insert(place.place);
  ++memory_.host_writes;
  return {};
}

}  // namespace graphgate::optimized
