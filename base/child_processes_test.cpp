#include "base/child_processes.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/folder_test.h"
#include "base/result_test.h"
#include "base/temporary_folder.h"

namespace graphgate {
namespace {

TEST(ChildProcesses, HandBackWhatTheirWorkReturns) {
  const std::string long_text(1'000'000, 'x');  // more than a pipe holds
  const auto results = must(run_children(
      5, {2, 60, 0}, [&](std::size_t i) { return std::to_string(i) + (i == 3 ? long_text : ""); }));
  ASSERT_EQ(results.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results[i].ending, ChildEnding::kExited);
    EXPECT_EQ(results[i].output, std::to_string(i) + (i == 3 ? long_text : ""));
  }
}

TEST(ChildProcesses, TellHowEachEnded) {
  const auto all = must(run_children(6, {3, 1, 0}, [](std::size_t i) -> std::string {
    if (i == 0) std::abort();
    if (i == 1) ::pause();
    if (i == 2) ::_exit(3);
    if (i == 3) throw std::runtime_error("no");
    if (i == 5) throw std::bad_alloc();
    return "fine";
  }));
  EXPECT_EQ(all[0].ending, ChildEnding::kSignaled);
  EXPECT_EQ(all[0].signal, SIGABRT);
  EXPECT_TRUE(contains(all[0].describe(), "signal 6"));
  EXPECT_EQ(all[1].ending, ChildEnding::kTimedOut);
  EXPECT_EQ(all[2].describe(), "ended by itself without a result");
  EXPECT_EQ(all[3].ending, ChildEnding::kSignaled);
  EXPECT_EQ(all[4].output, "fine");
  EXPECT_EQ(all[5].ending, ChildEnding::kNoMemory);
  EXPECT_EQ(all[5].describe(), "ended: out of memory");
}

// A process keeps what its works leave, until one of them ends it; the rest of its share is done.
// Others take the processors, so that it needs longer by the clock than it is given.
TEST(ChildProcesses, AreNotLateWhereTheyGetNoProcessor) {
  const auto work_for = [](double seconds) {
    while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < seconds) {
    }
    return std::string("done");
  };
  ChildPool rivals({.timeout_seconds = 60});
  const std::size_t count = 4 * std::max(std::thread::hardware_concurrency(), 1U);
  for (std::size_t i = 0; i < count; ++i) must(rivals.start(i, [&] { return work_for(1e9); }));
  const auto begin = std::chrono::steady_clock::now();
  const auto all =
      must(run_children(1, {.timeout_seconds = 1}, [&](std::size_t) { return work_for(0.4); }));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(all[0].ending, ChildEnding::kExited) << all[0].describe();
  EXPECT_EQ(all[0].output, "done");
  EXPECT_GT(taken.count(), 1.0) << "nothing was slowed down";
  EXPECT_EQ(rivals.kill_all().size(), count);
}

TEST(ChildProcesses, ShareWorksAndLoseOneToWhatEndsThem) {
  const std::string long_text(100'000, '\n');
  int done = 0;
  const auto all = must(run_children(7, {1, 1, 0, 3}, [&](std::size_t i) -> std::string {
    if (i == 1) std::abort();
    if (i == 4) ::pause();
    ++done;
    return std::to_string(done) + (i == 5 ? long_text : "");
  }));
  EXPECT_EQ(all[0].output, "1");
  EXPECT_EQ(all[1].signal, SIGABRT);
  EXPECT_EQ(all[2].output, "1");
  EXPECT_EQ(all[3].output, "1");
  EXPECT_EQ(all[4].ending, ChildEnding::kTimedOut);
  EXPECT_EQ(all[5].output, "1" + long_text);
  EXPECT_EQ(all[6].output, "1");
}

// The limit of time is for each work of a share, not for all of them.
TEST(ChildProcesses, MayTakeTheirTimeForEachWork) {
  const auto results = must(run_children(4, {1, 2, 0, 4}, [](std::size_t) {
    ::usleep(700'000);
    return std::string("done");
  }));
  for (const ChildResult& result : results) EXPECT_EQ(result.output, "done");
}

TEST(ChildProcesses, StopWhenTheParentIsToStop) {
  int asked = 0;
  const auto stops = [&] { return ++asked > 40; };  // after about two seconds
  const auto results = must(run_children(6, {2, 60, 0, 3, stops}, [](std::size_t i) {
    if (i != 0) ::pause();
    return std::string("done");
  }));
  ASSERT_EQ(results.size(), 6U);
  EXPECT_EQ(results[0].output, "done");
  EXPECT_EQ(results[0].ending, ChildEnding::kExited);
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(results[i].ending, ChildEnding::kStopped) << i;
  }
}

TEST(ChildProcesses, LeaveNoScratchWhereTheyAreKilled) {
  const TestFolder scratch;
  const std::string path = scratch.file("");
  ASSERT_EQ(::setenv("TMPDIR", path.c_str(), 1), 0);
  const auto make_and_wait = [] {
    const auto folder = must(TemporaryFolder::make("test"));
    std::ofstream(folder.path() + "/file") << "text";
    ::pause();
    return std::string();
  };
  const auto late = run_children(1, {1, 1, 0}, [&](std::size_t) { return make_and_wait(); });
  EXPECT_EQ(must(late).front().ending, ChildEnding::kTimedOut);
  EXPECT_TRUE(std::filesystem::is_empty(path));
  {
    ChildPool pool({1, 60, 0});
    must(pool.start(0, make_and_wait));
    for (int i = 0; i < 500 && std::filesystem::is_empty(path); ++i) ::usleep(10'000);
    EXPECT_FALSE(std::filesystem::is_empty(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(path));
  ::unsetenv("TMPDIR");
}

TEST(ChildProcesses, LeaveTheSignalsOfATerminalToTheParent) {
  const auto results = must(run_children(1, {1, 60, 0}, [](std::size_t) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::kill(::getpid(), signal);
    return std::string("there");
  }));
  EXPECT_EQ(results[0].output, "there");
}

TEST(ChildProcesses, ChangeNothingInTheParent) {
  int touched = 0;
  const auto results = must(run_children(2, {1, 60, 0}, [&](std::size_t) {
    ++touched;
    return std::to_string(touched);
  }));
  EXPECT_EQ(results[1].output, "1");
  EXPECT_EQ(touched, 0);
}

}  // namespace
}  // namespace graphgate
