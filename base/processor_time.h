// How much processor time processes have used, for time limits that a busy machine does not
// shorten.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace graphgate {

// The milliseconds until then, for poll(): 0 where it has been, an hour at most.
[[nodiscard]] int milliseconds_until(std::chrono::steady_clock::time_point end);

struct ProcessorTime {
  std::chrono::milliseconds used{0};    // in steps of the kernel's clock (10 ms)
  std::chrono::milliseconds waited{0};  // ready to work, without a processor, until it got one
  bool is_ready = false;                // some thread runs, or waits for a processor
};

// Says what time counts: that of what a process has started, or its own, too.
enum class TimeOf : bool { kDescendants, kProcessToo };

// Of all descendants of a process that run, and of itself where that is asked; `used` with those
// that they have waited for. Nothing where the machine does not list who is whose child.
[[nodiscard]] std::optional<ProcessorTime> processor_time_below(pid_t process,
                                                                TimeOf of = TimeOf::kDescendants);

// Whether a process that is given `time` has had it. By the clock, unless it is seen to
// work without having got a processor for that long. Then it goes on until it has, or stands still,
// or ten times as much has passed.
class TimeLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins now. The descendants of `keeper` are those that work, and itself where `of` says so.
  TimeLimit(std::chrono::milliseconds time, pid_t keeper, TimeOf of = TimeOf::kDescendants);

  [[nodiscard]] bool is_over();
  // When it is to be asked again at the latest; for poll().
  [[nodiscard]] int milliseconds_to_next_look() const;

 private:
  [[nodiscard]] bool has_had_its_time();

  const std::chrono::milliseconds time_;
  const pid_t keeper_;
  const TimeOf of_;
  const Clock::time_point begin_ = Clock::now();
  const std::optional<ProcessorTime> before_;
  std::optional<ProcessorTime> at_last_look_;
  Clock::time_point last_look_ = begin_;
  Clock::time_point next_look_;
};

}  // namespace graphgate
