#include "base/on_threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <vector>

namespace graphgate {
namespace {

TEST(OnThreads, DoesEachItemOnce) {
  std::vector<std::atomic<int>> done(100);
  on_threads(done.size(), 4, [&](std::size_t i) { ++done[i]; });
  for (const auto& count : done) EXPECT_EQ(count, 1);
}

// By whichever thread, this one or another.
TEST(OnThreads, ThrowsHereWhatWorkThrows) {
  for (const std::size_t bad : {0U, 1U, 7U}) {
    std::atomic<int> done = 0;
    const auto work = [&](std::size_t i) {
      if (i == bad) throw std::bad_alloc();
      ++done;
    };
    EXPECT_THROW(on_threads(8, 4, work), std::bad_alloc);
    EXPECT_LT(done, 8);
  }
  const auto all_throw = [](std::size_t) { throw std::runtime_error("no"); };
  EXPECT_THROW(on_threads(8, 4, all_throw), std::runtime_error);
}

TEST(OnThreads, BeginsNoFurtherItemWhereWorkThrows) {
  int begun = 0;
  const auto work = [&](std::size_t i) {
    ++begun;
    if (i == 2) throw std::bad_alloc();
  };
  EXPECT_THROW(on_threads(1000, 1, work), std::bad_alloc);
  EXPECT_EQ(begun, 3);
}

}  // namespace
}  // namespace graphgate
