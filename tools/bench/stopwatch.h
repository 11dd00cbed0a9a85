// Timing for benchmarks: seconds of some work, and two ways of doing it in turns.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace graphgate::tools {

// Seconds on the wall: for work that waits for files.
struct WallClock {
  static double now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }
};

// Seconds that the processor spent on this thread: for work that only computes, and all of it on
// this thread. What else runs on the machine counts as far as it takes caches and bandwidth.
struct ThreadClock {
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
};

template <class Clock, class Work>
double seconds_of(Work&& work) {
  const double begin = Clock::now();
  work();
  return Clock::now() - begin;
}

// Work done one way and another. Seconds are the shortest seen; `ratio` is the median, over the
// rounds, of the first by the second, so that a round in which the machine was busy elsewhere does
// not count.
struct Comparison {
  double first_seconds = 0;
  double second_seconds = 0;
  double ratio = 0;
};

// Rounds of both, in turns, after one that is not counted. `rounds` is at least 1. `settle` comes
// after each and is not timed: it waits for what the work has only started.
template <class Clock, class First, class Second, class Settle>
Comparison compare(int rounds, First&& first, Second&& second, Settle&& settle) {
  const auto timed = [&](auto& work) {
    const double seconds = seconds_of<Clock>(work);
    settle();
    return seconds;
  };
  (void)timed(first);
  (void)timed(second);
  Comparison out;
  std::vector<double> ratios;
  for (int r = 0; r < rounds; ++r) {
    const double a = timed(first);
    const double b = timed(second);
    out.first_seconds = r == 0 ? a : std::min(out.first_seconds, a);
    out.second_seconds = r == 0 ? b : std::min(out.second_seconds, b);
    ratios.push_back(a / b);
  }
  std::sort(ratios.begin(), ratios.end());
  out.ratio = ratios[ratios.size() / 2];
  return out;
}

template <class Clock, class First, class Second>
Comparison compare(int rounds, First&& first, Second&& second) {
  return compare<Clock>(rounds, first, second, [] {});
}

}  // namespace graphgate::tools
