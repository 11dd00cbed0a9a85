// Work in processes of its own: what crashes or hangs takes nothing else down.
//
// The mutants of `graphgate mutants` run so, the cases of a gate, and what a campaign looks at
// twice. Children are forks: they see everything that the parent has read, and hand back texts.
// What one that was killed had made for a while is removed (temporary_folder.h).
// They end with their parent, and leave SIGINT, SIGTERM and SIGHUP, which a terminal sends to all
// of them, to it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/processor_time.h"
#include "base/result.h"

namespace graphgate {

enum class ChildEnding : std::uint8_t {
  kExited,    // the work returned
  kSignaled,  // by a signal, an abort, or an exit of its own
  kTimedOut,  // and was killed
  kNoMemory,  // std::bad_alloc, taken by nobody
  kStopped,   // before its end, or before it began, because the parent was to stop
};

struct ChildResult {
  ChildEnding ending = ChildEnding::kExited;
  int signal = 0;
  double seconds = 0;  // wall-clock time of the process
  std::string output;  // what the work returned
  // "killed by signal 11 (Segmentation fault)"; "" for one that exited. Behind "was".
  [[nodiscard]] std::string describe() const;
};

struct ChildOptions {
  int jobs = 1;
  // For each work. As a TimeLimit counts: a busy machine makes it no shorter.
  std::uint32_t timeout_seconds = 120;
  std::uint64_t memory_bytes = 0;  // address space of each process; 0: as the parent's
  // Of run_children: how many works a process does, one after another. What ends it costs the work
  // that it was at; the rest is done by another.
  std::size_t share = 1;
  // Of run_children: asked again and again. Once it is true no work is begun, and none awaited.
  std::function<bool()> should_stop = {};
};

// Several at a time, started one by one. To be used while the process has one thread.
class ChildPool {
 public:
  explicit ChildPool(const ChildOptions& options) : options_(options) {}
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;
  ~ChildPool();  // kills those that still run

  [[nodiscard]] std::size_t running() const { return children_.size(); }
  // Forks a child that runs the work. `index` is the caller's name for it. kInfrastructure when no
  // process can be made. What work throws counts as an abort, but for kNoMemory.
  [[nodiscard]] Result<void> start(std::size_t index, const std::function<std::string()>& work);
  // The same for work that hands back several texts, one by one: take_texts reads them. The limit
  // of time is for each.
  using HandBack = std::function<void(const std::string& text)>;
  [[nodiscard]] Result<void> start_series(std::size_t index,
                                          const std::function<void(const HandBack&)>& work);
  // What series have handed back since this was asked last, by their names, of those that run.
  // What one has handed back when it ends stands in its output, from the first text on.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::string>> take_news();
  // Those that have ended, by their names, after waiting for news at most so long.
  [[nodiscard]] std::vector<std::pair<std::size_t, ChildResult>> wait(int milliseconds);
  // Kills those that run, kStopped, with what they have handed back so far.
  [[nodiscard]] std::vector<std::pair<std::size_t, ChildResult>> kill_all();

 private:
  struct Child {
    std::size_t index = 0;
    pid_t process = 0;
    int pipe = -1;
    std::chrono::steady_clock::time_point begin;
    std::unique_ptr<TimeLimit> limit;  // since the last bytes came, or it began
    ChildResult result;
    bool was_killed = false;
    std::size_t taken_bytes = 0;  // of the output, by take_news()
  };
  [[nodiscard]] Result<void> fork_child(std::size_t index,
                                        const std::function<void(int file)>& work);
  [[nodiscard]] std::unique_ptr<TimeLimit> limit_of(pid_t process) const;
  bool read_some(Child& child) const;
  static void finish(Child& child);
  void kill_if_late(Child& child) const;

  const ChildOptions options_;
  std::vector<Child> children_;
};

// Removes what processes that have ended had made for a while, where all such things are made
// (remove_leftovers): for who has killed one, or lost one.
void remove_what_was_left();

// Several texts as one, each behind its length in bytes; and back, as far as they are whole. What a
// series hands back is of this form.
[[nodiscard]] std::string join_texts(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> take_texts(const std::string& output);

// Runs `work(i)` for every i in [0, count), at most `jobs` at a time, `share` in each process;
// results by i. To be called while the process has one thread. kInfrastructure when no process can
// be made. What work throws counts as an abort.
[[nodiscard]] Result<std::vector<ChildResult>> run_children(
    std::size_t count, const ChildOptions& options,
    const std::function<std::string(std::size_t)>& work);

}  // namespace graphgate
