#include "tools/external/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace graphgate::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptErrors = 4096;

struct Pipes {
  std::array<int, 2> in{-1, -1};  // both ends of a socket: writing to a dead process is no signal
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};

  [[nodiscard]] bool open() {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) == 0 &&
           ::pipe2(out.data(), O_CLOEXEC) == 0 && ::pipe2(err.data(), O_CLOEXEC) == 0;
  }
  void close_all() const {
    for (const auto& ends : {in, out, err}) {
      for (const int file : ends) {
        if (file >= 0) ::close(file);
      }
    }
  }
};

// Never returns.
[[noreturn]] void be_command(const std::string& command, const Pipes& pipes) {
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::dup2(pipes.in[1], STDIN_FILENO);
  (void)::dup2(pipes.out[1], STDOUT_FILENO);
  (void)::dup2(pipes.err[1], STDERR_FILENO);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
  ::_exit(127);
}

// Of the guard's own process.
volatile pid_t guarded_group = 0;

void end_guarded_group(int /*signal*/) { (void)::kill(-guarded_group, SIGKILL); }

// Never returns. A member of the command's group that ends the group when the owner is gone,
// however it went: the signal at an owner's end reaches a child of its own, and not the children of
// that. What may follow fork() in a program with threads is all that it does.
[[noreturn]] void be_guard(pid_t owner, pid_t group) {
  if (::setpgid(0, group) != 0) ::_exit(0);
  guarded_group = group;
  struct sigaction action {};
  action.sa_handler = end_guarded_group;
  (void)::sigaction(SIGTERM, &action, nullptr);
  sigset_t signals;
  (void)::sigemptyset(&signals);
  (void)::sigaddset(&signals, SIGTERM);
  (void)::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
  (void)::close_range(0, ~0U, 0);
  if (::getppid() != owner) end_guarded_group(SIGTERM);
  while (true) (void)::pause();
}

void wait_for(pid_t process) {
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

// The last line that says something.
std::string last_words(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

Result<std::unique_ptr<ExternalProcess>> ExternalProcess::start(const std::string& command) {
  Pipes pipes;
  if (!pipes.open()) {
    pipes.close_all();
    return infrastructure(std::string("no pipe can be made: ") + std::strerror(errno));
  }
  const pid_t process = ::fork();
  if (process < 0) {
    pipes.close_all();
    return infrastructure(std::string("no process can be made: ") + std::strerror(errno));
  }
  if (process == 0) be_command(command, pipes);
  (void)::setpgid(process, process);
  const pid_t owner = ::getpid();
  const pid_t guard = ::fork();
  if (guard == 0) be_guard(owner, process);
  ::close(pipes.in[1]);
  ::close(pipes.out[1]);
  ::close(pipes.err[1]);
  for (const int file : {pipes.in[0], pipes.out[0], pipes.err[0]}) {
    (void)::fcntl(file, F_SETFL, O_NONBLOCK);
  }
  return std::unique_ptr<ExternalProcess>(
      new ExternalProcess(command, process, guard, pipes.in[0], pipes.out[0], pipes.err[0]));
}

ExternalProcess::ExternalProcess(std::string command, pid_t process, pid_t guard, int in, int out,
                                 int err)
    : command_(std::move(command)),
      process_(process),
      guard_(guard),
      in_(in),
      out_(out),
      err_(err) {}

ExternalProcess::~ExternalProcess() {
  kill();
  for (const int file : {in_, out_, err_}) ::close(file);
}

void ExternalProcess::kill() {
  if (process_ <= 0) return;
  (void)::kill(-process_, SIGKILL);
  wait_for(process_);
  process_ = 0;
  end_guard();
}

void ExternalProcess::end_guard() {
  if (guard_ <= 0) return;
  (void)::kill(guard_, SIGKILL);  // where it had not joined the group yet
  wait_for(guard_);
  guard_ = 0;
}

void ExternalProcess::read_errors() {
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0; (count = ::read(err_, chunk.data(), chunk.size())) > 0;) {
    errors_.append(chunk.data(), static_cast<std::size_t>(count));
    if (errors_.size() > 2 * kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
  }
}

Error ExternalProcess::ended(const std::string& how) {
  read_errors();
  const std::string words = last_words(errors_);
  failure_ = "the executor '" + command_ + "' " + how;
  if (!words.empty()) failure_ += "; its last words: " + words;
  kill();
  return {ErrorKind::kInternal, failure_};
}

Error ExternalProcess::late(const std::string& how) {
  is_late_ = true;
  return ended(how);
}

// Its end of a pipe is closed: how it ended, or, where it goes on without it, that it said nothing.
Error ExternalProcess::lost() {
  int status = 0;
  pid_t seen = 0;
  const auto end = Clock::now() + std::chrono::seconds(1);
  while ((seen = ::waitpid(process_, &status, WNOHANG)) == 0 && Clock::now() < end) {
    (void)::poll(nullptr, 0, 5);
  }
  if (seen != process_) return ended("closed its output");
  (void)::kill(-process_, SIGKILL);  // what it has left behind
  process_ = 0;
  end_guard();
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return ended("was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")");
  }
  return ended("ended with status " + std::to_string(WEXITSTATUS(status)) +
               " and without an answer");
}

Result<void> ExternalProcess::send(const std::string& line, Clock::time_point end) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(in_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) return lost();
    // One that says much before it reads waits for us to listen.
    read_errors();
    if (Clock::now() >= end) return late("does not read what it is sent");
    pollfd ready{in_, POLLOUT, 0};
    (void)::poll(&ready, 1, std::min(milliseconds_until(end), 20));
  }
  return {};
}

Result<std::string> ExternalProcess::receive(Clock::time_point end) {
  std::array<char, 65536> chunk{};
  while (true) {
    const std::size_t at = buffer_.find('\n');
    if (at != std::string::npos) {
      std::string line = buffer_.substr(0, at);
      buffer_.erase(0, at + 1);
      return line;
    }
    if (buffer_.size() > kLongestLine) return ended("answers without an end of line");
    std::array<pollfd, 2> ready{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), milliseconds_until(end)) == 0) {
      return late("did not answer in time, and was killed");
    }
    read_errors();
    const ssize_t count = ::read(out_, chunk.data(), chunk.size());
    if (count == 0) return lost();
    if (count > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    // Where standard error alone is closed, poll returns at once: do not spin.
    if (count < 0 && (ready[1].revents & POLLHUP) != 0) {
      pollfd only{out_, POLLIN, 0};
      if (::poll(&only, 1, milliseconds_until(end)) == 0) {
        return late("did not answer in time, and was killed");
      }
    }
  }
}

Result<std::string> ExternalProcess::exchange(const std::string& line,
                                              std::chrono::milliseconds time) {
  if (!failure_.empty()) return Error{ErrorKind::kInternal, failure_};
  const auto end = Clock::now() + time;
  GRAPHGATE_TRY_VOID(send(line, end));
  return receive(end);
}

}  // namespace graphgate::tools
