// What everything that starts processes shares: forking, waiting, and how a process ended in words.
//
// ChildPool (child_processes.h) and the workers of a campaign are forks that work; the keepers of
// commands are forks that become shells.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace graphgate {

// Both ends close when a process becomes another program.
struct Pipe {
  int out = -1;  // to read from
  int in = -1;   // to write to
};
// `flags` as pipe2() has them. kInfrastructure where the machine has none.
[[nodiscard]] Result<Pipe> make_pipe(int flags = 0);

// As fork(): 0 in the child. kInfrastructure where no process can be made.
[[nodiscard]] Result<pid_t> fork_process();

// The exit status of a worker that found no memory, wherever it noticed.
inline constexpr int kNoMemoryStatus = 120;

struct WorkerLimits {
  std::uint64_t memory_bytes = 0;  // address space; 0, and under sanitizers: as the parent's
  int errors = -1;                 // becomes its standard error; -1: /dev/null
};
// Forks a process that does the work and ends: with kNoMemoryStatus where std::bad_alloc is thrown,
// by an abort where anything else is, also out of a destructor. It ends with its parent, leaves
// SIGINT, SIGTERM and SIGHUP, which a terminal sends to all of them, to it, and leaves no core.
// Nothing of the parent's is flushed or destroyed in it. To be called while the process has one
// thread. kInfrastructure as above.
[[nodiscard]] Result<pid_t> fork_worker(const WorkerLimits& limits,
                                        const std::function<void()>& work);

// Whether a limit on address space can be set: sanitizers need terabytes of it.
[[nodiscard]] bool can_limit_memory();

// Becomes `sh -c COMMAND`, with `argument` as $1 unless it is null, in a process group of its own.
// The files become its standard input, output and error. Allocates nothing, for a fork of a process
// with threads. Ends with status 127 where there is no shell.
[[noreturn]] void become_shell(const char* command, const char* argument, int in, int out, int err);

// Waits for a child, as waitpid() tells its status; 0 where it is none.
int wait_for_process(pid_t process);
// The same, until then at most.
[[nodiscard]] std::optional<int> wait_for_process(pid_t process,
                                                  std::chrono::steady_clock::time_point end);
// Kills the process, or with a negative number its group, and waits for it.
int kill_process(pid_t process);

// Returns what a file `stat` of /proc says behind the name of a process or a thread: its state and
// numbers, apart by blanks. Empty for one that has ended.
[[nodiscard]] std::string stat_fields(const std::string& file);
// Returns when the process was started, in ticks since the machine was; 0 where nobody tells. With
// its number it names a process for good.
[[nodiscard]] std::uint64_t start_ticks(pid_t process);

// The signal that ended it; 0 where it has exited.
[[nodiscard]] int signal_of(int status);
// "signal 11 (Segmentation fault)".
[[nodiscard]] std::string signal_words(int signal);

}  // namespace graphgate
