// Work on several items at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace graphgate {

// Calls work(i) for i in [0, count), at most `jobs` at a time, this thread among them; items begin
// in order. `work` does not throw. Returns when all are done.
template <class Work>
void on_threads(std::size_t count, int jobs, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < std::min(static_cast<std::size_t>(jobs), count); ++t) {
    threads.emplace_back(loop);
  }
  loop();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace graphgate
