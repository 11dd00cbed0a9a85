// SIGINT, SIGTERM and SIGHUP: what ends a process, as a question that a long run asks itself, or as
// an end that leaves nothing behind.
#pragma once

#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace graphgate {

// Has these signals remove the process's scratch (scratch_paths.h), and then do what they always
// do. Has writes to where nobody reads, and past the limit on the size of files, fail, and not end
// the process. For main(). A signal that was ignored when the process began (nohup) still is.
void end_cleanly_on_signals();

// While it lives, the first of these signals is only noted; one that comes more than a second later
// ends the process as above. What comes sooner is the same wish: timeout(1) and batch systems
// signal a process, and then its group. Where one came this holds until the process ends, so that
// reports are whole and the exit code is its own. One at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // The signal that came, or 0.
  [[nodiscard]] int came() const;

 private:
  struct sigaction before_[3]{};
};

// For work that nobody can ask whether it is to stop: where a signal comes, calls `act` on a thread
// of its own while the work goes on. `act` writes down what is there, and ends the process
// (end_process). Not copied into forks.
class OnStop {
 public:
  explicit OnStop(std::function<void(int signal)> act);
  OnStop(const OnStop&) = delete;
  OnStop& operator=(const OnStop&) = delete;
  ~OnStop();

 private:
  void watch();

  const StopSignals stop_;
  const std::function<void(int signal)> act_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

// Ends this process at once, whatever its threads do: what was printed is flushed, its scratch is
// removed.
[[noreturn]] void end_process(int code);

// "SIGTERM".
[[nodiscard]] const char* signal_name(int signal);

}  // namespace graphgate
