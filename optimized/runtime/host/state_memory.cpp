#include "optimized/runtime/host/state_memory.h"

#include <algorithm>

#include "base/result.h"

namespace graphgate::optimized {
namespace {

std::vector<std::byte> bytes_of(const HostMemory& memory) {
  return {memory.data(), memory.data() + memory.size_bytes()};
}

}  // namespace

void StateMemory::rebind(const StatePlace& place, std::span<const std::byte> bytes,
                         std::shared_ptr<HostMemory> memory) {
  GRAPHGATE_CHECK(memory->size_bytes() >= static_cast<std::int64_t>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), memory->data());
  rebound[place] = std::move(memory);
  ++rebinds;
  ++host_writes;
}

void StateMemory::give_back(std::byte with) {
  for (const auto& [name, memory] : pools) memory->fill(with);
  for (const auto& [place, memory] : rebound) memory->fill(with);
  ++host_writes;
}

void StateMemory::move(std::byte with) {
  for (auto& [name, memory] : pools) memory = memory->moved(with);
  for (auto& [place, memory] : rebound) memory = memory->moved(with);
  ++rebinds;
  ++host_writes;
}

StateSnapshot::StateSnapshot(const StateMemory& state) {
  for (const auto& [name, memory] : state.pools) pools_.emplace(name, bytes_of(*memory));
  for (const auto& [place, memory] : state.rebound) rebound_.emplace(place, bytes_of(*memory));
}

void StateSnapshot::restore(StateMemory& state) const {
  ++state.host_writes;
  for (const auto& [name, bytes] : pools_) {
    std::copy(bytes.begin(), bytes.end(), state.pools.at(name)->data());
  }
  for (const auto& [place, bytes] : rebound_) {
    std::copy(bytes.begin(), bytes.end(), state.rebound.at(place)->data());
  }
}

}  // namespace graphgate::optimized
