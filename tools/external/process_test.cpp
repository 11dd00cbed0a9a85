#include "tools/external/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <thread>

namespace graphgate::tools {
namespace {

using namespace std::chrono_literals;

// What an exchange with the command comes to: its answer, or how it went wrong.
std::string exchange(const std::string& command, std::chrono::milliseconds time = 10s) {
  auto process = ExternalProcess::start(command);
  if (!process.ok()) return process.error().message;
  const auto answer = process.value()->exchange("hello", time);
  return answer.ok() ? "answer: " + answer.value() : answer.error().message;
}

TEST(ExternalProcess, AnswersLineByLine) {
  auto process = ExternalProcess::start("while read line; do echo \"<$line>\"; done");
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process.value()->exchange("a b", 10s).value(), "<a b>");
  EXPECT_EQ(process.value()->exchange("", 10s).value(), "<>");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(process.value()->exchange(large, 20s).value(), "<" + large + ">");
}

TEST(ExternalProcess, SaysHowItEnded) {
  EXPECT_EQ(
      exchange("no-such-command-here")
          .find("the executor 'no-such-command-here' ended with status 127 and without an answer; "
                "its last words: "),
      0U);
  EXPECT_EQ(exchange("exit 3"), "the executor 'exit 3' ended with status 3 and without an answer");
  EXPECT_EQ(
      exchange("kill -SEGV $$").find("the executor 'kill -SEGV $$' was killed by signal 11 ("), 0U);
  EXPECT_EQ(exchange("read line; echo one >&2; echo last one >&2; exit 1"),
            "the executor 'read line; echo one >&2; echo last one >&2; exit 1' ended with status 1 "
            "and without an answer; its last words: last one");
}

TEST(ExternalProcess, IsKilledWhenItDoesNotAnswer) {
  EXPECT_EQ(exchange("sleep 1000", 50ms),
            "the executor 'sleep 1000' did not answer in time, and was killed");
  // Half an answer is none; a closed standard error does not matter.
  EXPECT_EQ(exchange("exec 2>&-; printf half; sleep 1000", 300ms),
            "the executor 'exec 2>&-; printf half; sleep 1000' did not answer in time, and was "
            "killed");
  EXPECT_EQ(exchange("exec 1>&-; sleep 1000"),
            "the executor 'exec 1>&-; sleep 1000' closed its output");
}

TEST(ExternalProcess, KnowsWhetherItWasLate) {
  auto hangs = ExternalProcess::start("sleep 1000").value();
  EXPECT_FALSE(hangs->exchange("a", 50ms).ok());
  EXPECT_TRUE(hangs->is_late());
  auto ends = ExternalProcess::start("exit 3").value();
  EXPECT_FALSE(ends->exchange("a", 10s).ok());
  EXPECT_FALSE(ends->is_late());
}

TEST(ExternalProcess, IsListenedToBeforeItReads) {
  // More than a pipe holds, then the line, which is more than a socket holds.
  auto process = ExternalProcess::start(
                     "head -c 500000 /dev/zero | tr '\\0' 'x' >&2; read line; echo ${#line}")
                     .value();
  EXPECT_EQ(process->exchange(std::string(1'000'000, 'y'), 20s).value(), "1000000");
}

TEST(ExternalProcess, SaysTheSameEverAfter) {
  auto process = ExternalProcess::start("exit 3").value();
  const auto first = process->exchange("a", 10s);
  const auto second = process->exchange("b", 10s);
  ASSERT_FALSE(first.ok());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(first.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(first.error().message, second.error().message);
}

// Whether a process runs; one that nobody has waited for yet does not.
bool runs(const std::string& process) {
  std::ifstream stat("/proc/" + process + "/stat");
  std::string id;
  std::string name;
  std::string state;
  stat >> id >> name >> state;
  return stat.good() && state != "Z" && state != "X";
}

TEST(ExternalProcess, TakesItsChildrenAlong) {
  auto process = ExternalProcess::start("sleep 1000 & echo $!; wait").value();
  const std::string child = process->exchange("", 10s).value();
  EXPECT_TRUE(runs(child));
  process.reset();
  for (int i = 0; i < 500 && runs(child); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(child));
}

TEST(ExternalProcess, TakesItsChildrenAlongWhenItsOwnerIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    auto process = ExternalProcess::start("sleep 1000 & echo $!; wait").value();
    const std::string child = process->exchange("", 10s).value();
    (void)!::write(ends[1], child.data(), child.size());
    ::close(ends[1]);
    while (true) ::pause();
  }
  ::close(ends[1]);
  std::string child(16, '\0');
  const ssize_t count = ::read(ends[0], child.data(), child.size());
  ::close(ends[0]);
  ASSERT_GT(count, 0);
  child.resize(static_cast<std::size_t>(count));
  EXPECT_TRUE(runs(child));
  ::kill(owner, SIGKILL);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  for (int i = 0; i < 500 && runs(child); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(child));
}

}  // namespace
}  // namespace graphgate::tools
