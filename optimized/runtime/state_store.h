// The state of one loaded program: where it is, and giving it other contents.
//
// Where state lies is known only from a plan, and is the same in all of them. Until the first plan
// is made, what callers set waits.
#pragma once

#include "optimized/runtime/host/host_program.h"
#include "spec/program.h"

namespace graphgate::optimized {

class StateStore {
 public:
  // `program` outlives the store. State that is bound anew gets its memory from `pool`.
  StateStore(const spec::Program& program, std::shared_ptr<RunPool> pool)
      : program_(program), pool_(std::move(pool)) {}

  [[nodiscard]] StateMemory& memory() { return memory_; }
  // Fills the memory that the first HostProgram has made, once.
  Result<void> load(const HostProgram& program);
  // LoadedProgram::set_state. kUnsupported for binding anew what shares a storage with other state.
  Result<void> set(std::string_view target, const spec::HostTensor& value, bool rebind);
  // Where the state lies now; empty before load(), and for what no graph takes.
  [[nodiscard]] std::span<const std::byte> bytes_of(std::string_view target) const;

 private:
  struct Place {
    StatePlace place;
    std::int64_t size_bytes = 0;
    std::int64_t alignment_bytes = 1;
  };
  struct Pending {
    std::string target;
    spec::HostTensor value;
    bool rebind = false;
  };

  Result<void> apply(std::string_view target, const spec::HostTensor& value, bool rebind);
  [[nodiscard]] std::span<std::byte> bytes_of(const Place& place) const;

  const spec::Program& program_;
  std::shared_ptr<RunPool> pool_;
  StateMemory memory_;
  bool is_loaded_ = false;
  std::map<std::string, Place, std::less<>> places_;  // by target
  std::vector<Pending> pending_;
};

}  // namespace graphgate::optimized
