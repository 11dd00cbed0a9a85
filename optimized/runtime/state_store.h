// The state of one loaded program: where it is, and giving it other contents.
//
// Where state lies is known only from a plan, and is the same in all of them. Until the first plan
// is made, what callers set waits.
#pragma once

#include <optional>
#include <set>

#include "optimized/runtime/host/host_program.h"
#include "spec/program.h"
#include "spec/sleep.h"

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
  // Keeps aside what this sleep does not lose, and gives the memory back.
  void sleep(const spec::SleepRequest& asked, const spec::DeviationSet& deviations);
  // Takes the memory again, all of it at the first wake behind a sleep, and puts back what was kept
  // of `part`. `watcher` may be null.
  void wake(std::optional<spec::SleepPart> part, bool elsewhere,
            const spec::DeviationSet& deviations, Instrument* watcher);
  // Which part of what sleeps a state belongs to.
  [[nodiscard]] spec::SleepPart part_of(std::string_view target) const;
  // Where the state lies now; empty before load(), and for what no graph takes.
  [[nodiscard]] std::span<const std::byte> bytes_of(std::string_view target) const;

 private:
  struct Place {
    StatePlace place;
    std::int64_t size_bytes = 0;
    std::int64_t alignment_bytes = 1;
  };
  // What a place held when it went to sleep.
  struct Asleep {
    Place place;
    spec::SleepPart part = spec::SleepPart::kWeights;
    std::optional<std::vector<std::byte>> kept = {};  // absent: lost
  };
  struct Pending {
    std::string target;
    spec::HostTensor value;
    bool rebind = false;
  };

  Result<void> apply(std::string_view target, const spec::HostTensor& value, bool rebind);
  [[nodiscard]] std::span<std::byte> bytes_of(const Place& place) const;
  [[nodiscard]] bool loses(std::string_view target, int level,
                           const spec::DeviationSet& deviations) const;

  const spec::Program& program_;
  std::shared_ptr<RunPool> pool_;
  StateMemory memory_;
  bool is_loaded_ = false;
  std::map<std::string, Place, std::less<>> places_;  // by target
  std::vector<Pending> pending_;
  std::set<std::string, std::less<>> caches_;  // of the latest sleep
  std::vector<Asleep> asleep_;                 // what has not come back from it
  bool is_given_back_ = false;
};

}  // namespace graphgate::optimized
