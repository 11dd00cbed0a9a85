// Work in processes of its own: what crashes or hangs takes nothing else down.
//
// The mutants of `graphgate mutants` run so, and so does what a campaign looks at twice. Children
// are forks: they see everything that the parent has read, and hand back one text. They end with
// their parent.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "spec/result.h"

namespace graphgate::tools {

enum class ChildEnding : std::uint8_t {
  kExited,    // the work returned
  kSignaled,  // by a signal, an abort, or an exit of its own
  kTimedOut,  // and was killed
};

struct ChildResult {
  ChildEnding ending = ChildEnding::kExited;
  int signal = 0;
  double seconds = 0;  // wall-clock time
  std::string output;  // what the work returned
  // "killed by signal 11 (Segmentation fault)"; "" for one that exited.
  [[nodiscard]] std::string describe() const;
};

struct ChildOptions {
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;  // for each
  std::uint64_t memory_bytes = 0;       // address space of each; 0: as the parent's
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
  // process can be made. What work throws counts as an abort.
  [[nodiscard]] Result<void> start(std::size_t index, const std::function<std::string()>& work);
  // Those that have ended, by their names, after waiting for news at most so long.
  [[nodiscard]] std::vector<std::pair<std::size_t, ChildResult>> wait(int milliseconds);

 private:
  struct Child {
    std::size_t index = 0;
    pid_t process = 0;
    int pipe = -1;
    std::chrono::steady_clock::time_point begin;
    ChildResult result;
    bool was_killed = false;
  };
  static bool read_some(Child& child);
  static void finish(Child& child);
  void kill_if_late(Child& child) const;

  const ChildOptions options_;
  std::vector<Child> children_;
};

// Runs `work(i)` for every i in [0, count), at most `jobs` at a time, each in its own process;
// results by i. To be called while the process has one thread. kInfrastructure when no process can
// be made. What work throws counts as an abort.
[[nodiscard]] Result<std::vector<ChildResult>> run_children(
    std::size_t count, const ChildOptions& options,
    const std::function<std::string(std::size_t)>& work);

// What a child hands back, as one line of ASCII; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string child_text(const nlohmann::json& json);

}  // namespace graphgate::tools
