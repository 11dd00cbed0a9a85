#include "base/processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
#include <thread>

#include "base/file_io.h"
#include "base/scratch_paths.h"
#include "base/uncaught.h"

namespace graphgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotStart = 127;  // as a shell has it

Error cannot_start(const char* what) {
  return infrastructure(std::string(what) + " can be made: " + std::strerror(errno));
}

// Of a worker, by what is being handled; by an abort where that is nothing. Never returns.
[[noreturn]] void end_worker() {
  if (ends_without_memory()) {
    std::fprintf(stderr, "std::bad_alloc\n");
    remove_scratch();
    ::_exit(kNoMemoryStatus);
  }
  if (!std::current_exception()) std::abort();
  try {
    throw;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "something was thrown\n");
  }
  std::abort();
}

// Never returns.
[[noreturn]] void be_worker(pid_t parent, const WorkerLimits& limits,
                            const std::function<void()>& work) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(signal, SIG_IGN);
  const rlimit no_core{0, 0};
  (void)setrlimit(RLIMIT_CORE, &no_core);
  if (limits.memory_bytes > 0 && can_limit_memory()) {
    const rlimit memory{limits.memory_bytes, limits.memory_bytes};
    (void)setrlimit(RLIMIT_AS, &memory);
  }
  // What a dying process prints would stand among the parent's lines.
  const int errors = limits.errors >= 0 ? limits.errors : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (errors >= 0) (void)::dup2(errors, STDERR_FILENO);
  (void)std::set_terminate(end_worker);
  end_without_memory_by(kNoMemoryStatus);
  try {
    work();
  } catch (...) {
    end_worker();
  }
  ::_exit(0);
}

}  // namespace

Result<Pipe> make_pipe(int flags) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | flags) != 0) return cannot_start("no pipe");
  return Pipe{ends[0], ends[1]};
}

Result<pid_t> fork_process() {
  const pid_t process = ::fork();
  if (process < 0) return cannot_start("no process");
  return process;
}

Result<pid_t> fork_worker(const WorkerLimits& limits, const std::function<void()>& work) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  auto process = fork_process();
  if (process.ok() && process.value() == 0) be_worker(parent, limits, work);
  return process;
}

bool can_limit_memory() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

void become_shell(const char* command, const char* argument, int in, int out, int err) {
  (void)::setpgid(0, 0);
  // What main() ignores is no wish of a command's.
  for (const int signal : {SIGPIPE, SIGXFSZ}) (void)std::signal(signal, SIG_DFL);
  (void)::dup2(in, STDIN_FILENO);
  (void)::dup2(out, STDOUT_FILENO);
  (void)::dup2(err, STDERR_FILENO);
  ::execl("/bin/sh", "sh", "-c", command, "sh", argument, static_cast<char*>(nullptr));
  ::_exit(kCannotStart);
}

int wait_for_process(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::optional<int> wait_for_process(pid_t process, Clock::time_point end) {
  auto pause = std::chrono::microseconds(200);
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(10'000));
  }
  return status;
}

int kill_process(pid_t process) {
  (void)::kill(process, SIGKILL);
  return wait_for_process(std::abs(process));
}

std::string stat_fields(const std::string& file) {
  const auto text = read_whole(file);
  if (!text.ok()) return "";
  const std::size_t name_end = text.value().rfind(')');
  return name_end == std::string::npos ? "" : text.value().substr(name_end + 1);
}

std::uint64_t start_ticks(pid_t process) {
  constexpr int kBefore = 19;  // fields between the name and the time
  std::istringstream fields(stat_fields("/proc/" + std::to_string(process) + "/stat"));
  std::string skipped;
  for (int i = 0; i < kBefore; ++i) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

int signal_of(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

std::string signal_words(int signal) {
  return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

}  // namespace graphgate
