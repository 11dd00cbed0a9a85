#include "base/processor_time.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/processes.h"

namespace graphgate {
namespace {

using std::chrono::milliseconds;

// A limit is a number of seconds that nobody reaches at times: nothing overflows.
constexpr std::chrono::hours kLongest{24 * 365};

// One that works, or is ready to, for less of the time stands still: it waits, or looks now and
// then whether it may go on.
constexpr int kStandsStillBelowPercent = 2;

// How often the time is what a command may take of the clock.
constexpr int kMostTimes = 10;

std::filesystem::path folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

// User and system time, and that of children that were waited for, in ticks.
std::int64_t ticks_of(pid_t process) {
  std::istringstream rest(stat_fields(folder_of(process) / "stat"));
  constexpr int kBefore = 11;  // fields between the name and the times
  std::string skipped;
  for (int i = 0; i < kBefore; ++i) rest >> skipped;
  std::int64_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    std::int64_t ticks = 0;
    rest >> ticks;
    sum += ticks;
  }
  return sum;
}

struct Threads {
  std::vector<pid_t> children;
  std::int64_t waited_nanoseconds = 0;  // 0 where the kernel does not count it
  bool is_ready = false;
};

Threads threads_of(pid_t process) {
  Threads out;
  std::error_code failed;
  for (const auto& task :
       std::filesystem::directory_iterator(folder_of(process) / "task", failed)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) out.children.push_back(child);
    std::ifstream schedule(task.path() / "schedstat");
    std::int64_t used = 0;
    std::int64_t waited = 0;
    if (schedule >> used >> waited) out.waited_nanoseconds += waited;
    out.is_ready |= stat_fields(task.path() / "stat").starts_with(" R");
  }
  return out;
}

bool are_children_listed() {
  static const bool are = ::access("/proc/thread-self/children", R_OK) == 0;
  return are;
}

}  // namespace

int milliseconds_until(std::chrono::steady_clock::time_point end) {
  constexpr std::int64_t kMost = 3'600'000;
  const auto left =
      std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
  // Up, so that nobody turns round and round in the last one.
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, kMost));
}

std::optional<ProcessorTime> processor_time_below(pid_t process, TimeOf of) {
  if (process <= 0 || !are_children_listed()) return std::nullopt;
  std::vector<pid_t> processes =
      of == TimeOf::kProcessToo ? std::vector{process} : threads_of(process).children;
  std::int64_t ticks = 0;
  std::int64_t waited = 0;
  bool is_ready = false;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    ticks += ticks_of(processes[i]);
    const Threads threads = threads_of(processes[i]);
    waited += threads.waited_nanoseconds;
    is_ready |= threads.is_ready;
    processes.insert(processes.end(), threads.children.begin(), threads.children.end());
  }
  const std::int64_t per_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  return ProcessorTime{milliseconds(ticks * 1000 / per_second), milliseconds(waited / 1'000'000),
                       is_ready};
}

TimeLimit::TimeLimit(milliseconds time, pid_t keeper, TimeOf of)
    : time_(std::min<milliseconds>(time, kLongest)),
      keeper_(keeper),
      of_(of),
      before_(processor_time_below(keeper, of)),
      at_last_look_(before_),
      next_look_(begin_ + time_ * 3 / 4) {}

int TimeLimit::milliseconds_to_next_look() const { return milliseconds_until(next_look_); }

bool TimeLimit::is_over() {
  const auto now = Clock::now();
  if (now < next_look_) return false;
  if (now >= begin_ + time_ && has_had_its_time()) return true;
  at_last_look_ = processor_time_below(keeper_, of_);
  last_look_ = now;
  next_look_ = now + std::max<milliseconds>(time_ / 4, milliseconds(1));
  if (now < begin_ + time_) next_look_ = begin_ + time_;
  return false;
}

bool TimeLimit::has_had_its_time() {
  const auto now = Clock::now();
  if (now >= begin_ + kMostTimes * time_) return true;
  const auto time = processor_time_below(keeper_, of_);
  if (!time || !before_ || !at_last_look_) return true;
  if (time->used - before_->used >= time_) return true;
  if (time->is_ready) return false;
  const milliseconds ready =
      (time->used - at_last_look_->used) + (time->waited - at_last_look_->waited);
  return ready * 100 < (now - last_look_) * kStandsStillBelowPercent;
}

}  // namespace graphgate
