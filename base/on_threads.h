// Work on several items at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace graphgate {

// Calls work(i) for i in [0, count), at most `jobs` at a time, this thread among them; items begin
// in order. Returns when all are done. Where work throws, no further item begins, and what was
// thrown first is thrown here. Where the machine gives fewer threads, fewer work.
template <class Work>
void on_threads(std::size_t count, int jobs, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex throwing;
  std::exception_ptr thrown;
  const auto loop = [&]() noexcept {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(throwing);
      if (!thrown) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  const std::size_t more = std::min(static_cast<std::size_t>(jobs), count);
  try {
    threads.reserve(more);
    for (std::size_t t = 1; t < more; ++t) threads.emplace_back(loop);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  loop();
  for (std::thread& thread : threads) thread.join();
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace graphgate
