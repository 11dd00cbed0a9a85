#include "tools/child_processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace graphgate::tools {
namespace {

TEST(ChildProcesses, HandBackWhatTheirWorkReturns) {
  const std::string long_text(1'000'000, 'x');  // more than a pipe holds
  const auto results = run_children(
      5, {2, 60, 0}, [&](std::size_t i) { return std::to_string(i) + (i == 3 ? long_text : ""); });
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results.value().size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results.value()[i].ending, ChildEnding::kExited);
    EXPECT_EQ(results.value()[i].output, std::to_string(i) + (i == 3 ? long_text : ""));
  }
}

TEST(ChildProcesses, TellHowEachEnded) {
  const auto results = run_children(5, {3, 1, 0}, [](std::size_t i) -> std::string {
    if (i == 0) std::abort();
    if (i == 1) ::pause();
    if (i == 2) ::_exit(3);
    if (i == 3) throw std::runtime_error("no");
    return "fine";
  });
  ASSERT_TRUE(results.ok());
  const auto& all = results.value();
  EXPECT_EQ(all[0].ending, ChildEnding::kSignaled);
  EXPECT_EQ(all[0].signal, SIGABRT);
  EXPECT_NE(all[0].describe().find("signal 6"), std::string::npos);
  EXPECT_EQ(all[1].ending, ChildEnding::kTimedOut);
  EXPECT_EQ(all[2].describe(), "ended by itself without a result");
  EXPECT_EQ(all[3].ending, ChildEnding::kSignaled);
  EXPECT_EQ(all[4].output, "fine");
}

TEST(ChildProcesses, ChangeNothingInTheParent) {
  int touched = 0;
  const auto results = run_children(2, {1, 60, 0}, [&](std::size_t) {
    ++touched;
    return std::to_string(touched);
  });
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results.value()[1].output, "1");
  EXPECT_EQ(touched, 0);
}

}  // namespace
}  // namespace graphgate::tools
