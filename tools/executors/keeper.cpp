#include "tools/executors/keeper.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/processes.h"

namespace graphgate::tools {
namespace {

// How long a keeper tries to end what it keeps, and how long its owner waits for that.
constexpr std::int64_t kKeeperMilliseconds = 5'000;
constexpr std::chrono::seconds kOwnerTime{10};

std::int64_t now_milliseconds() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

// All below, up to be_keeper, is what a process may do that was forked off one with threads.

// Kills this thread's children, which are its process's. False where the machine does not list
// them.
bool kill_children() {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  std::array<char, 4096> chunk{};
  pid_t number = 0;
  for (ssize_t count = 0; (count = ::read(list, chunk.data(), chunk.size())) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      const char c = chunk[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        number = number * 10 + (c - '0');
        continue;
      }
      if (number > 0) (void)::kill(number, SIGKILL);
      number = 0;
    }
  }
  if (number > 0) (void)::kill(number, SIGKILL);
  (void)::close(list);
  return true;
}

// Tells the owner how the command ended, and takes in what else has. The group goes with its first
// process: while that is not taken in, no other group has its number.
void take_in(pid_t command, bool& is_over) {
  while (true) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (ended.si_pid == command) (void)::kill(-command, SIGKILL);
    int status = 0;
    if (::waitpid(ended.si_pid, &status, 0) != command) continue;
    is_over = true;
    (void)!::write(STDIN_FILENO, &status, sizeof(status));
  }
}

// Who is killed leaves its children to the keeper: so no tree is walked.
void end_all(pid_t command, bool is_over, const sigset_t& signals) {
  if (!is_over) (void)::kill(-command, SIGKILL);
  const std::int64_t end = now_milliseconds() + kKeeperMilliseconds;
  while (now_milliseconds() < end) {
    const bool is_listed = kill_children();
    take_in(command, is_over);
    siginfo_t any{};
    const bool has_none =
        ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
    if (has_none || (!is_listed && is_over)) return;
    const timespec pause{0, 2'000'000};
    (void)::sigtimedwait(&signals, nullptr, &pause);
  }
}

// Never returns. The status goes into `file`.
[[noreturn]] void be_keeper(pid_t owner, const char* command, const CommandFiles& files, int file) {
  sigset_t signals;
  sigset_t before;
  (void)::sigemptyset(&signals);
  (void)::sigaddset(&signals, SIGTERM);
  (void)::sigaddset(&signals, SIGCHLD);
  (void)::sigprocmask(SIG_BLOCK, &signals, &before);
  (void)::setpgid(0, 0);  // what a terminal sends to its owner's group is not for it
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != owner) ::_exit(0);
  (void)::signal(SIGCHLD, SIG_DFL);  // an ignored child leaves no status
  const pid_t process = ::fork();
  if (process == 0) {
    (void)::sigprocmask(SIG_SETMASK, &before, nullptr);
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    become_shell(command, nullptr, files.in, files.out, files.err);
  }
  if (process < 0) ::_exit(1);
  (void)::setpgid(process, process);
  (void)::dup2(file, STDIN_FILENO);
  (void)::close_range(1, ~0U, 0);
  (void)::signal(SIGTERM, SIG_DFL);  // what is ignored is not waited for
  (void)::signal(SIGPIPE, SIG_IGN);  // of an owner that does not listen any more
  bool is_over = false;
  do {
    take_in(process, is_over);
  } while (::sigwaitinfo(&signals, nullptr) != SIGTERM);
  end_all(process, is_over, signals);
  ::_exit(0);
}

}  // namespace

Result<Keeper> Keeper::start(const std::string& command, const CommandFiles& files) {
  GRAPHGATE_TRY(const Pipe pipe, make_pipe(O_NONBLOCK));
  const pid_t owner = ::getpid();
  const auto process = fork_process();
  if (process.ok() && process.value() == 0) be_keeper(owner, command.c_str(), files, pipe.in);
  ::close(pipe.in);
  if (!process.ok()) {
    ::close(pipe.out);
    return process.error();
  }
  return Keeper(process.value(), pipe.out);
}

Keeper::Keeper(Keeper&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      file_(std::exchange(other.file_, -1)),
      status_(other.status_) {}

Keeper::~Keeper() {
  end();
  if (file_ >= 0) ::close(file_);
}

std::optional<int> Keeper::status() {
  if (status_) return status_;
  int status = 0;
  const ssize_t count = ::read(file_, &status, sizeof(status));
  if (count < 0) return std::nullopt;
  status_ = count == sizeof(status) ? status : kLost;
  return status_;
}

void Keeper::end() {
  if (process_ <= 0) return;
  (void)::kill(process_, SIGTERM);
  (void)::kill(process_, SIGCONT);  // where the command has stopped it
  if (!wait_for_process(process_, std::chrono::steady_clock::now() + kOwnerTime)) {
    (void)kill_process(process_);
  }
  process_ = 0;
}

}  // namespace graphgate::tools
