#include "tools/executors/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::tools {
namespace {

using namespace std::chrono_literals;

// What an exchange with the command comes to: its answer, or how it went wrong.
std::string exchanged(const std::string& command, std::chrono::milliseconds time = 10s) {
  auto process = ExternalProcess::start(command);
  if (!process.ok()) return process.error().message;
  const auto answer = process.value()->exchange("hello", time);
  return answer.ok() ? "answer: " + answer.value() : answer.error().message;
}

TEST(ExternalProcess, AnswersLineByLine) {
  auto process = must(ExternalProcess::start("while read line; do echo \"<$line>\"; done"));
  EXPECT_EQ(process->exchange("a b", 10s).value(), "<a b>");
  EXPECT_EQ(process->exchange("", 10s).value(), "<>");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(process->exchange(large, 20s).value(), "<" + large + ">");
}

TEST(ExternalProcess, SaysHowItEnded) {
  EXPECT_EQ(
      exchanged("no-such-command-here")
          .find("the executor 'no-such-command-here' ended with status 127 and without an answer; "
                "its last words: "),
      0U);
  EXPECT_EQ(exchanged("exit 3"), "the executor 'exit 3' ended with status 3 and without an answer");
  EXPECT_EQ(
      exchanged("kill -SEGV $$").find("the executor 'kill -SEGV $$' was killed by signal 11 ("),
      0U);
  EXPECT_EQ(exchanged("read line; echo one >&2; echo last one >&2; exit 1"),
            "the executor 'read line; echo one >&2; echo last one >&2; exit 1' ended with status 1 "
            "and without an answer; its last words: last one");
}

TEST(ExternalProcess, IsKilledWhenItDoesNotAnswer) {
  EXPECT_EQ(exchanged("sleep 1000", 50ms),
            "the executor 'sleep 1000' did not answer in time, and was killed");
  // Half an answer is none; a closed standard error does not matter.
  EXPECT_EQ(exchanged("exec 2>&-; read line; printf half; sleep 1000", 300ms),
            "the executor 'exec 2>&-; read line; printf half; sleep 1000' did not answer in time, "
            "and was "
            "killed");
  EXPECT_EQ(exchanged("exec 1>&-; sleep 1000"),
            "the executor 'exec 1>&-; sleep 1000' closed its output");
}

// A child, and one that has left the session and its parent, hold the pipes for as long as they
// live.
TEST(ExternalProcess, IsOverWhenItsFirstProcessEnds) {
  const std::string child = "(sleep 1000 &) ; ";
  const std::string orphan = "(setsid sleep 1000 &) ; ";
  for (const std::string& stays : {child, orphan}) {
    const std::string killed = stays + "read line; kill -SEGV $$";
    EXPECT_EQ(exchanged(killed, 100s).find("the executor '" + killed + "' was killed by signal 11"),
              0U);
    const std::string ends = stays + "read line; exit 3";
    EXPECT_EQ(exchanged(ends, 100s),
              "the executor '" + ends + "' ended with status 3 and without an answer");
    // What it said before counts.
    EXPECT_EQ(exchanged(stays + "read line; echo done; exit 3", 100s), "answer: done");
    auto late = ExternalProcess::start(stays + "read line; exec sleep 1000").value();
    EXPECT_FALSE(late->exchange("a", 300ms).ok());
    EXPECT_TRUE(late->is_late());
  }
}

TEST(ExternalProcess, LooksAtTheClockWhateverItSays) {
  auto says = [](const char* command) {
    auto process = ExternalProcess::start(command).value();
    EXPECT_FALSE(process->exchange("a", 300ms).ok());
    return process->is_late();
  };
  EXPECT_TRUE(says("exec 3>&1; exec yes >&2"));
  EXPECT_TRUE(says("exec 3>&1; exec cat /dev/zero >&2"));
  EXPECT_TRUE(says("while :; do printf x; sleep 0.05; done"));
  // Half of it is not read.
  auto deaf = ExternalProcess::start("exec 3>&1; exec yes >&2").value();
  EXPECT_FALSE(deaf->exchange(std::string(10'000'000, 'x'), 300ms).ok());
  EXPECT_TRUE(deaf->is_late());
}

TEST(ExternalProcess, SaysNoMoreThanItIsAsked) {
  EXPECT_EQ(exchanged("read line; exec cat /dev/zero", 1000s),
            "the executor 'read line; exec cat /dev/zero' answers with more than 268435456 bytes "
            "without an end of line");
  const std::string twice = "read line; printf \"one\\ntwo\\033\\n\"; sleep 1000";
  EXPECT_EQ(exchanged(twice, 100s),
            "the executor '" + twice +
                "' says more than its answer: 'one', and then 'two? ' (all but answers goes to "
                "standard error)");
  // The second line is there before the second request.
  const TemporaryFolder folder = made_folder();
  const std::string said = folder.path() + "/said";
  auto process =
      ExternalProcess::start("read line; echo one; echo two; : >" + said + "; read line").value();
  std::string last;
  for (int i = 0; i < 2; ++i) {
    const auto answer = process->exchange("a", 100s);
    last = answer.ok() ? answer.value() : answer.error().message;
    while (answer.ok() && !std::filesystem::exists(said)) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(contains(last, "' says "));
}

TEST(ExternalProcess, HasLastWordsThatSteerNoTerminal) {
  const std::string command = "read line; printf \"a\\tb\\033[2J\\303\\251\\377\\n\" >&2; exit 1";
  EXPECT_EQ(exchanged(command), "the executor '" + command +
                                    "' ended with status 1 and without an answer; its last words: "
                                    "a b?[2J\xc3\xa9?");
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
  auto process = ExternalProcess::start("read line; sleep 1000 & echo $!; wait").value();
  const std::string child = process->exchange("", 10s).value();
  EXPECT_TRUE(runs(child));
  process.reset();
  for (int i = 0; i < 500 && runs(child); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(child));
}

TEST(ExternalProcess, TakesAlongWhoHasLeftIt) {
  auto process = ExternalProcess::start(
                     "read line; (setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' &) ; cat")
                     .value();
  const std::string orphan = process->exchange("", 10s).value();
  EXPECT_TRUE(runs(orphan));
  process.reset();
  for (int i = 0; i < 500 && runs(orphan); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(orphan));
}

// `victim` is a shell's word for a process above the command, which ends it.
void expect_nothing_left_by_who_kills(const std::string& victim) {
  const TemporaryFolder folder = made_folder();
  const std::string names = folder.path() + "/orphan";
  auto process = ExternalProcess::start(
                     "read line; guard=$(cut -d' ' -f4 /proc/$PPID/stat); "
                     "(setsid sh -c 'echo $$ >" +
                     names +
                     "; exec sleep 1000 >/dev/null 2>&1' &); "
                     "while ! [ -s " +
                     names + " ]; do sleep 0.01; done; kill -KILL " + victim + "; sleep 1000")
                     .value();
  const auto answer = process->exchange("", 20s);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kInternal);
  std::string orphan;
  std::ifstream(names) >> orphan;
  ASSERT_FALSE(orphan.empty());
  for (int i = 0; i < 500 && runs(orphan); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(orphan)) << victim;
}

TEST(ExternalProcess, LeavesNothingBehindWhereItKillsWhoKeepsIt) {
  expect_nothing_left_by_who_kills("$PPID");
  expect_nothing_left_by_who_kills("$guard");
}

TEST(ExternalProcess, TakesItsChildrenAlongWhenItsOwnerIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    auto process = ExternalProcess::start("read line; sleep 1000 & echo $!; wait").value();
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

// A fork server that does what `child` says in each process that it forks, after it has been asked
// for its first line, and its socket. In Python, with what the adapters fork by.
struct ForkServer {
  explicit ForkServer(const std::string& child) {
    const std::string script = folder.path() + "/server.py";
    std::ofstream(script) << "import os, sys\n"
                             "sys.path.insert(0, '" GRAPHGATE_SOURCE_DIR
                             "/tools/adapters/common')\n"
                             "from graphgate_adapter import fork_server\n"
                             "listener = fork_server.listen('" +
                                 socket +
                                 "')\n"
                                 "print('ready', flush=True)\n"
                                 "while not fork_server.accept(listener, [0, 1, 2]): pass\n" +
                                 child + "\nos._exit(0)\n";
    process = ExternalProcess::start("read line; exec python3 -I -S " + script).value();
    ready = process->exchange("a", 60s).ok();
  }

  [[nodiscard]] std::string exchanged(std::chrono::milliseconds time = 60s) const {
    auto forked = ExternalProcess::fork_of(socket, "fork");
    if (!forked.ok()) return forked.error().message;
    const auto answer = forked.value()->exchange("hello", time);
    return answer.ok() ? "answer: " + answer.value() : answer.error().message;
  }

  const TemporaryFolder folder = made_folder();
  const std::string socket = folder.path() + "/fork";
  std::unique_ptr<ExternalProcess> process;
  bool ready = false;
};

TEST(ForkedProcess, AnswersLineByLineAndMoreThanOneAtATime) {
  const ForkServer server("for line in os.fdopen(0): print('<' + line.strip() + '>', flush=True)");
  ASSERT_TRUE(server.ready);
  auto one = must(ExternalProcess::fork_of(server.socket, "one"));
  auto other = must(ExternalProcess::fork_of(server.socket, "other"));
  EXPECT_EQ(one->exchange("a", 60s).value(), "<a>");
  EXPECT_EQ(other->exchange("b", 60s).value(), "<b>");
  one.reset();
  EXPECT_EQ(other->exchange("c", 60s).value(), "<c>");
  EXPECT_EQ(server.exchanged(), "answer: <hello>");
}

TEST(ForkedProcess, SaysHowItEnded) {
  const std::string reads = "sys.stdin = os.fdopen(0); sys.stdin.readline()\n";
  EXPECT_EQ(ForkServer(reads + "os._exit(3)").exchanged(),
            "the executor 'fork' ended with status 3 and without an answer");
  EXPECT_EQ(ForkServer(reads + "os.write(2, b'last one\\n'); os.kill(os.getpid(), 11)")
                .exchanged()
                .find("the executor 'fork' was killed by signal 11 ("),
            0U);
  EXPECT_EQ(ForkServer(reads + "os.write(2, b'last one\\n'); os._exit(1)").exchanged(),
            "the executor 'fork' ended with status 1 and without an answer; its last words: last "
            "one");
  EXPECT_EQ(ForkServer(reads + "import time; time.sleep(1000)").exchanged(300ms),
            "the executor 'fork' did not answer in time, and was killed");
}

// One that stays in its group, and one that has left its session and its parent.
TEST(ForkedProcess, TakesAlongAllThatHasComeOfIt) {
  const ForkServer server(
      "sys.stdin = os.fdopen(0); sys.stdin.readline()\n"
      "import subprocess, time\n"
      "child = subprocess.Popen(['sleep', '1000'])\n"
      "orphan = subprocess.check_output(['sh', '-c', \"(setsid sh -c 'echo $$; exec sleep 1000 "
      ">/dev/null 2>&1' &)\"])\n"
      "print(child.pid, int(orphan), flush=True)\n"
      "time.sleep(1000)");
  auto forked = must(ExternalProcess::fork_of(server.socket, "fork"));
  const std::string both = forked->exchange("a", 60s).value();
  const std::string child = both.substr(0, both.find(' '));
  const std::string orphan = both.substr(both.find(' ') + 1);
  EXPECT_TRUE(runs(child));
  EXPECT_TRUE(runs(orphan));
  EXPECT_GT(forked->keeper(), 0);
  forked.reset();
  for (int i = 0; i < 500 && (runs(child) || runs(orphan)); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_FALSE(runs(child));
  EXPECT_FALSE(runs(orphan));
}

TEST(ForkedProcess, EndsWithItsServer) {
  auto server =
      std::make_unique<ForkServer>("for line in os.fdopen(0): print(os.getpid(), flush=True)");
  auto forked = must(ExternalProcess::fork_of(server->socket, "fork"));
  const std::string process = forked->exchange("a", 60s).value();
  EXPECT_TRUE(runs(process));
  server.reset();
  for (int i = 0; i < 500 && runs(process); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(process));
  EXPECT_FALSE(forked->exchange("b", 60s).ok());
}

TEST(ForkedProcess, NeedsAServer) {
  const TemporaryFolder folder = made_folder();
  const auto nobody = ExternalProcess::fork_of(folder.path() + "/fork", "fork");
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().kind, ErrorKind::kInfrastructure);
  const auto too_long = ExternalProcess::fork_of(folder.path() + std::string(200, 'x'), "fork");
  EXPECT_FALSE(too_long.ok());
}

}  // namespace
}  // namespace graphgate::tools
