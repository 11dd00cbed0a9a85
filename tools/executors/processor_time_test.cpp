#include "base/processor_time.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/result_test.h"
#include "tools/executors/process.h"

namespace graphgate::tools {
namespace {

using namespace std::chrono_literals;

// A command that works for so many seconds of a processor, and says that it is done.
std::string busy(const std::string& seconds) {
  return "python3 -I -S -c 'import time\nend = time.process_time() + " + seconds +
         "\nwhile time.process_time() < end: pass'; echo done";
}

TEST(ProcessorTime, IsOfAllThatACommandHasStarted) {
  auto process = must(ExternalProcess::start("while read line; do " + busy("0.2") + "; done"));
  const auto before = processor_time_below(process->keeper());
  ASSERT_EQ(process->exchange("a", 60s).value(), "done");
  const auto after = processor_time_below(process->keeper());
  ASSERT_TRUE(before && after);
  EXPECT_GE(after->used - before->used, 150ms);
  EXPECT_LE(after->used - before->used, 5s);
}

TEST(ProcessorTime, IsNotKnownOfNobody) { EXPECT_FALSE(processor_time_below(0)); }

// It sleeps: nothing says that it goes on.
TEST(TimeLimit, IsByTheClockWhereNothingWorks) {
  auto process = must(ExternalProcess::start("read line; exec sleep 1000"));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(process->exchange("a", 400ms).ok());
  EXPECT_TRUE(process->is_late());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

// It never answers, and has had the time that it was given.
TEST(TimeLimit, IsOverForWhoWorksAllTheTime) {
  auto process = must(ExternalProcess::start("read line; while :; do :; done"));
  EXPECT_FALSE(process->exchange("a", 400ms).ok());
  EXPECT_TRUE(process->is_late());
}

// Loops without end beside it take the processors: it gets a part of one, and its answer comes long
// after the time that it is given. The rivals are of another command, as on a busy machine.
TEST(TimeLimit, WaitsForWhoGetsNoProcessor) {
  const auto processors = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  auto rivals =
      must(ExternalProcess::start("read line; for i in $(seq " + std::to_string(4 * processors) +
                                  "); do (while :; do :; done) & done; echo; wait"));
  ASSERT_TRUE(rivals->exchange("a", 60s).ok());
  auto process = must(ExternalProcess::start("read line; " + busy("0.25")));
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = process->exchange("a", 1000ms);
  const auto taken = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_GT(taken, 1000ms) << "nothing was slowed down";
}

}  // namespace
}  // namespace graphgate::tools
