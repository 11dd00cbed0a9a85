#include "optimized/runtime/host/run_pool.h"

#include <algorithm>
#include <utility>

namespace graphgate::optimized {

std::shared_ptr<HostMemory> RunPool::reserve(const spec::PlanPool& pool, bool is_guarded) {
  auto& memory = memory_[{pool.kind, pool.name + " on " + spec::print_device(pool.device)}];
  if (memory && memory->size_bytes() >= pool.size_bytes &&
      memory->alignment_bytes() >= pool.alignment_bytes) {
    return memory;
  }
  const std::int64_t size = std::max(memory ? memory->size_bytes() : 0, pool.size_bytes);
  const std::int64_t alignment =
      std::max(memory ? memory->alignment_bytes() : 1, pool.alignment_bytes);
  memory = std::make_shared<HostMemory>(size, alignment, is_guarded);
  ++growths_;
  return memory;
}

std::uint64_t RunPool::begin_run(const std::string& who, std::int64_t size_bytes) {
  std::erase_if(held_, [&](const Held& held) {
    const auto output = held.output.lock();
    if (!output) return true;
    // A smaller run is taken to leave alone what a larger one has made.
    const bool is_spared =
        size_bytes < held.run_bytes && deviations_.has(spec::Deviation::kFreesBlocksOfLiveGraphs);
    if (!is_spared) output->copy_out();
    return !is_spared;
  });
  who_ = who;
  run_bytes_ = size_bytes;
  return ++runs_;
}

void RunPool::sleep() {
  if (std::exchange(is_asleep_, true)) return;
  const bool looks_at_held = !deviations_.has(spec::Deviation::kSleepsOverHeldOutputs);
  for (const Held& held : held_) {
    const auto output = looks_at_held ? held.output.lock() : nullptr;
    if (output) output->copy_out();
  }
  for (const auto& [key, memory] : memory_) memory->fill(kAsleepFill);
  who_.clear();
  ++runs_;
}

void RunPool::wake(bool elsewhere) {
  if (!std::exchange(is_asleep_, false) || !elsewhere) return;
  for (auto& [key, memory] : memory_) memory = memory->moved(kAsleepFill);
  ++growths_;
}

std::string RunPool::last_run() const {
  if (who_.empty()) return "run " + std::to_string(runs_) + ", a sleep";
  return "run " + std::to_string(runs_) + ", of '" + who_ + "'";
}

void RunPool::add_user(const void* program) {
  if (!first_user_) first_user_ = program;
}

void RunPool::remove_user(const void* program) {
  if (program != first_user_) return;
  first_user_ = nullptr;
  if (!deviations_.has(spec::Deviation::kWorkspaceOfFirstCapturer)) return;
  // The memory goes with its first user, though others have recorded its addresses.
  for (const auto& [key, memory] : memory_) given_back_.push_back(memory);
}

std::shared_ptr<HostMemory> RunPool::allocate(std::int64_t size_bytes,
                                              std::int64_t alignment_bytes) {
  for (auto at = given_back_.begin(); at != given_back_.end(); ++at) {
    if ((*at)->size_bytes() < size_bytes || (*at)->alignment_bytes() < alignment_bytes) continue;
    auto memory = *at;
    given_back_.erase(at);
    return memory;
  }
  return std::make_shared<HostMemory>(size_bytes, alignment_bytes);
}

void RunPool::hold(const std::shared_ptr<Evacuee>& output) {
  held_.push_back({output, run_bytes_});
}

}  // namespace graphgate::optimized
