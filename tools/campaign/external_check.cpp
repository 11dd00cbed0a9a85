#include "tools/campaign/external_check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace graphgate::tools {
namespace {

constexpr int kTimedOut = 124;     // as timeout(1) has it
constexpr int kCannotStart = 127;  // as a shell has it

// Never returns.
[[noreturn]] void be_command(const std::string& line, const std::string& path) {
  (void)::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing >= 0) {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      (void)::dup2(nothing, file);
    }
  }
  ::execl("/bin/sh", "sh", "-c", line.c_str(), "sh", path.c_str(), static_cast<char*>(nullptr));
  ::_exit(kCannotStart);
}

int status_of(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return 128 + WTERMSIG(status);
}

}  // namespace

Result<int> run_external_check(const std::string& command, const std::string& path,
                               std::uint32_t timeout_seconds) {
  const std::string line = command + " \"$1\"";
  const pid_t process = ::fork();
  if (process < 0) {
    return infrastructure(std::string("no process can be made: ") + std::strerror(errno));
  }
  if (process == 0) be_command(line, path);
  (void)::setpgid(process, process);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  auto pause = std::chrono::microseconds(200);
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) {
      (void)::kill(-process, SIGKILL);
      while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
      }
      return kTimedOut;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(10'000));
  }
  return status_of(status);
}

}  // namespace graphgate::tools
