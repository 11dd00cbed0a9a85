// Memory that runs take turns in: arenas and input slots, of one plan or of all plans of all
// programs of one executor.
//
// Nothing in it outlives the run that made it, but for outputs that a caller holds. A *strong* held
// output is copied out before the next run begins; a *weak* one is gone then, which its generation
// tells: the number of the run that made it.
//
//   run 1 of p            run 2 of q            run 3 of p
//   [ a ][ out ]          [ b     ][ c ]        [ a ][ out ]
//          ^ held strongly: copied out here
//
// Pools grow to the largest that asks for them, and move when they do. The holder of recorded
// addresses compares them before each replay (HostProgram).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "optimized/runtime/host/memory.h"
#include "spec/deviation.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// An output that leaves the pool before the next run does.
class Evacuee {
 public:
  virtual ~Evacuee() = default;
  virtual void copy_out() = 0;
};

class RunPool {
 public:
  explicit RunPool(const spec::DeviationSet& deviations = {}) : deviations_(deviations) {}

  // The memory of all pools of this kind, name and device, at least as large and as aligned as
  // `pool`. With guards where an instrument watches.
  [[nodiscard]] std::shared_ptr<HostMemory> reserve(const spec::PlanPool& pool,
                                                    bool is_guarded = false);

  // Before a run: copies out what is held strongly. `who` names the run for messages; `size_bytes`
  // is what the run's plan takes of the pool. Returns the number of the run, from 1.
  std::uint64_t begin_run(const std::string& who, std::int64_t size_bytes);
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  // "run 3, of 'q'", or "a sleep": the last one.
  [[nodiscard]] std::string last_run() const;
  // Has this output of the last run copied out before the next one, if it lives until then.
  void hold(const std::shared_ptr<Evacuee>& output);
  // Gives all memory back: what is held strongly is copied out, and what is weak is gone as if
  // another run had come. Again while it sleeps: nothing.
  void sleep();
  // Takes it again, with anything in it: at its addresses, or `elsewhere`. What was recorded keeps
  // the old addresses alive. Nothing where it does not sleep.
  void wake(bool elsewhere);
  // A program has recorded addresses in the pool, or is gone. The memory is the pool's, whoever was
  // first.
  void add_user(const void* program);
  void remove_user(const void* program);
  // New memory for something else: never a part of the pool.
  [[nodiscard]] std::shared_ptr<HostMemory> allocate(std::int64_t size_bytes,
                                                     std::int64_t alignment_bytes);
  // How often a pool has grown or moved, the first allocation included.
  [[nodiscard]] std::uint64_t growths() const { return growths_; }

 private:
  struct Held {
    std::weak_ptr<Evacuee> output;
    std::int64_t run_bytes = 0;  // of the run that made it
  };

  spec::DeviationSet deviations_;
  std::map<std::pair<spec::PoolKind, std::string>, std::shared_ptr<HostMemory>> memory_;
  std::uint64_t runs_ = 0;
  std::uint64_t growths_ = 0;
  std::string who_;
  std::int64_t run_bytes_ = 0;
  std::vector<Held> held_;
  bool is_asleep_ = false;
  const void* first_user_ = nullptr;
  std::vector<std::shared_ptr<HostMemory>> given_back_;  // under a deviation
};

}  // namespace graphgate::optimized
