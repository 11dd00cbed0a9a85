// Parameters, buffers and constants of one program: bytes that outlive every plan.
//
// Plans of all sizes of a program share it, since state has the same layout in each. A state tensor
// may be bound to new memory while plans are kept (as assigning to a module's attribute does). Its
// buffer then lies outside of its pool, and whoever recorded its old address has to notice.
// HostProgram compares addresses at every run.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optimized/runtime/host/memory.h"

namespace graphgate::optimized {

// A buffer of a state pool: the pool's name, and the offset in bytes.
using StatePlace = std::pair<std::string, std::int64_t>;

struct StateMemory {
  std::map<std::string, std::shared_ptr<HostMemory>, std::less<>> pools;  // by the pool's name
  // Buffers that any step of any plan has been bound to write, or that a caller has replaced.
  std::set<StatePlace> written;
  std::map<StatePlace, std::shared_ptr<HostMemory>> rebound;
  // Counts rebinds and moves, so that a run need not compare addresses one by one.
  std::uint64_t rebinds = 0;
  // Counts the times that a caller, and no step, wrote bytes: a device then gets them anew.
  std::uint64_t host_writes = 1;

  // Binds a buffer to `memory`, which gets the same bytes. The old memory lives as long as somebody
  // has recorded its address.
  void rebind(const StatePlace& place, std::span<const std::byte> bytes,
              std::shared_ptr<HostMemory> memory);
  // Gives all of it back (`with` is what it holds then), and takes other memory for it.
  void give_back(std::byte with);
  void move(std::byte with);
};

// The bytes of every pool and of every rebound buffer, for putting them back.
class StateSnapshot {
 public:
  explicit StateSnapshot(const StateMemory& state);
  // `state` is the one it was made of, with the same pools.
  void restore(StateMemory& state) const;

 private:
  std::map<std::string, std::vector<std::byte>, std::less<>> pools_;
  std::map<StatePlace, std::vector<std::byte>> rebound_;
};

}  // namespace graphgate::optimized
