// Worker processes of a campaign: each runs batches of cases, many in one process.
//
//   campaign ──batch──> worker   forked once, lives until its executor takes it down
//            <──tally──          one for each batch
//            <──journal──        the case it is at, through shared memory
//
// A worker that is ended by a signal, that exits, or that stays too long in one case, or between
// two, is replaced. The case it was at is handed out as lost: what a crash costs is the rest of its
// batch. The process that makes a pool must have one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/stage_clock.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/campaign/tally.h"

namespace graphgate::fuzz {

// Draws and judges a case; says so when it begins to judge. Runs in a worker.
using JudgeDrawn =
    std::function<CaseVerdict(const Descent& descent, const std::function<void()>& begin_judging)>;

// Seconds that a worker spent: in all, until the subject answered, and what that compiled for.
struct TimeSpent {
  double whole = 0;
  double asked = 0;
  double compile = 0;
  void add(const TimeSpent& other) {
    whole += other.whole;
    asked += other.asked;
    compile += other.compile;
  }
};

struct PoolOptions {
  int jobs = 1;
  Shard shard;
  std::uint32_t lineages = 1;   // of the campaign; tallies come back by lineage
  double timeout_seconds = 20;  // for one case, by the clock on the wall
  // A batch that has taken so long ends behind the draw that it is at, and its other cases come
  // back (BatchDone::rest); 0: it always runs to its end.
  double batch_seconds = 0;
  std::uint64_t data_sets = 1;     // cases of one draw, which have consecutive indices
  std::uint64_t memory_bytes = 0;  // address space of a worker; 0: as the campaign's
  bool wants_lines = false;        // a line of text for each case, for a log
  bool wants_times = false;        // PoolNews::times
  // Returns what the subject of this process has taken so far (`asked`, `compile`); may be empty.
  std::function<TimeSpent()> subject_time;
};

// Cases [begin, end) of the shard, by their ordinals.
struct Batch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<std::vector<std::uint64_t>> ancestors;  // of each; empty: all were drawn blindly

  // Those of its cases that lie in [first, last).
  [[nodiscard]] Batch part(std::uint64_t first, std::uint64_t last) const;
  [[nodiscard]] Descent descent(std::uint64_t ordinal, const Shard& shard) const;
};

struct BatchDone {
  Batch batch;  // the cases that ran
  Batch rest;   // those behind them, for which there was no time; or empty
  Tally tally;
  std::map<std::uint32_t, Tally> by_lineage;  // of which that is the sum
  std::string lines;                          // case_log.h
  TimeSpent spent;
  std::size_t worker = 0;
  StageTimes stages;  // of the worker, since its batch before; cases have the times of CaseTime
};

// Stages of a worker between cases.
inline constexpr std::string_view kWaitsForCases = "waiting for cases";
inline constexpr std::string_view kAddsUp = "adding up";

// A case that ended its process. The cases of the batch before it are to be run again, those
// behind it still have to be: their results are lost.
struct CaseLost {
  Batch batch;
  std::uint64_t ordinal = 0;
  CasePhase phase = CasePhase::kNone;
  bool is_timeout = false;
  bool is_memory = false;  // what was said or done is what happens without memory
  int signal = 0;          // 0: it exited by itself
  std::string last_words;  // the last line that it wrote to standard error
};

// "signal 11 (Segmentation fault)", "more than 20 s", "out of memory", "it exited".
[[nodiscard]] std::string describe(const CaseLost& lost, double timeout_seconds);

// Of a case that took more memory than there was, it or what it was run by.
inline constexpr std::string_view kNoMemorySignature = "memory out-of-memory [] {}";
// "crash SIGSEGV [] {}": what is known of a case that told nothing.
[[nodiscard]] std::string ending_signature(const CaseLost& lost);

// What a worker is at.
struct CaseInWork {
  std::uint64_t index = 0;
  CasePhase phase = CasePhase::kNone;
  double seconds = 0;  // since the case began
};

// When a worker was at a case. One that is run again, since a later one was lost, has several.
struct CaseTime {
  std::size_t worker = 0;
  std::uint64_t index = 0;
  std::uint64_t begin_nanoseconds = 0;  // of the machine's monotonic clock
  std::uint64_t end_nanoseconds = 0;
  std::optional<spec::Outcome> outcome;  // none of a case that was lost
};

struct PoolNews {
  std::vector<BatchDone> done;
  std::vector<CaseLost> lost;
  std::vector<CaseTime> times;  // of the cases of both, at most kRingEntries of each batch
};

class WorkerPool {
 public:
  // The journal has as many rings as there are jobs.
  WorkerPool(const PoolOptions& options, Journal& journal, JudgeDrawn judge);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  // ends all workers

  [[nodiscard]] std::size_t busy() const;
  [[nodiscard]] bool has_idle() const { return busy() < workers_.size(); }
  // Returns the number of the draw that a case belongs to.
  [[nodiscard]] std::uint64_t draw_of(std::uint64_t ordinal) const;
  // Returns the cases that busy workers are at.
  [[nodiscard]] std::vector<CaseInWork> in_work() const;
  // Gives a batch to an idle worker, which is started if it is not there. kInfrastructure where no
  // process can be made.
  [[nodiscard]] Result<void> assign(const Batch& batch);
  // Waits for news, at most so long. kInternal where a worker says what nobody understands.
  [[nodiscard]] Result<PoolNews> wait(int milliseconds);

 private:
  struct Worker {
    pid_t process = 0;  // 0: there is none
    int channel = -1;   // batches go there, tallies come from there
    int words = -1;     // what it writes to standard error
    bool is_busy = false;
    Batch batch;
    std::string received;
    std::uint64_t assigned_nanoseconds = 0;
    std::uint64_t heard_nanoseconds = 0;  // when something of its message came
  };

  [[nodiscard]] TimeSpent subject_time() const;
  Result<void> start(std::size_t index);
  void be_worker(std::size_t index, int channel);
  // False where the worker is gone.
  bool read_some(Worker& worker);
  Result<void> take_messages(Worker& worker, PoolNews& news);
  void bury(std::size_t index, bool is_timeout, PoolNews& news);
  // Of the batch that the worker has.
  void add_times(std::size_t index, PoolNews& news) const;
  [[nodiscard]] bool is_late(std::size_t index) const;

  PoolOptions options_;
  Journal& journal_;
  JudgeDrawn judge_;
  std::vector<Worker> workers_;
};

// One batch in a worker of its own, up to its end or to the first case that is lost.
[[nodiscard]] Result<PoolNews> run_apart(const PoolOptions& options, const JudgeDrawn& judge,
                                         const Batch& batch);

}  // namespace graphgate::fuzz
