#include "tools/executors/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/one_line.h"
#include "base/processes.h"
#include "tools/executors/limits.h"

namespace graphgate::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptErrors = 4096;
constexpr std::size_t kLongestWords = 1000;

// What is read of standard error before the clock is looked at again.
constexpr std::size_t kErrorsOfATurn = 1U << 20U;

// How long a process that has closed a file of its own may take to end.
constexpr std::chrono::milliseconds kTimeToEnd{1'000};

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

// The last line that says something.
std::string last_words(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.find_last_of('\n', end);
  const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
  return one_line(std::string_view(text).substr(first, end - first + 1), kLongestWords);
}

}  // namespace

Result<std::unique_ptr<ExternalProcess>> ExternalProcess::start(const std::string& command) {
  return make(command, [&](const CommandFiles& files) { return Keeper::start(command, files); });
}

Result<std::unique_ptr<ExternalProcess>> ExternalProcess::fork_of(const std::string& socket,
                                                                  const std::string& command) {
  return make(command, [&](const CommandFiles& files) { return Keeper::fork_of(socket, files); });
}

Result<std::unique_ptr<ExternalProcess>> ExternalProcess::make(const std::string& command,
                                                               const MakeKeeper& make_keeper) {
  Pipes pipes;
  if (!pipes.open()) {
    pipes.close_all();
    return infrastructure(std::string("no pipe can be made: ") + std::strerror(errno));
  }
  auto keeper = make_keeper({pipes.in[1], pipes.out[1], pipes.err[1]});
  if (!keeper.ok()) {
    pipes.close_all();
    return keeper.error();
  }
  ::close(pipes.in[1]);
  ::close(pipes.out[1]);
  ::close(pipes.err[1]);
  for (const int file : {pipes.in[0], pipes.out[0], pipes.err[0]}) {
    (void)::fcntl(file, F_SETFL, O_NONBLOCK);
  }
  return std::unique_ptr<ExternalProcess>(new ExternalProcess(
      command, std::move(keeper).value(), {pipes.in[0], pipes.out[0], pipes.err[0]}));
}

ExternalProcess::ExternalProcess(std::string command, Keeper keeper, const Files& files)
    : command_(std::move(command)), keeper_(std::move(keeper)), files_(files) {}

ExternalProcess::~ExternalProcess() {
  keeper_.end();
  for (const int file : {files_.in, files_.out, files_.err}) ::close(file);
}

// Waits for news of any kind, or until there is room to write.
void ExternalProcess::wait(short for_in, const TimeLimit& limit) {
  std::array<pollfd, 4> ready{{{for_in != 0 ? files_.in : -1, for_in, 0},
                               {is_out_closed_ || for_in != 0 ? -1 : files_.out, POLLIN, 0},
                               {is_err_closed_ ? -1 : files_.err, POLLIN, 0},
                               {keeper_.file(), POLLIN, 0}}};
  (void)::poll(ready.data(), ready.size(), limit.milliseconds_to_next_look());
}

// False where there is nothing to read now.
bool ExternalProcess::read_some() {
  std::array<char, 65536> chunk{};
  const ssize_t count = ::read(files_.out, chunk.data(), chunk.size());
  if (count > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  if (count == 0) is_out_closed_ = true;
  return count > 0;
}

void ExternalProcess::read_errors() {
  std::array<char, 65536> chunk{};
  for (std::size_t read = 0; read < kErrorsOfATurn;) {
    const ssize_t count = ::read(files_.err, chunk.data(), chunk.size());
    if (count == 0) is_err_closed_ = true;
    if (count <= 0) return;
    read += static_cast<std::size_t>(count);
    errors_.append(chunk.data(), static_cast<std::size_t>(count));
    if (errors_.size() > 2 * kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
  }
}

Error ExternalProcess::ended(const std::string& how) {
  read_errors();
  const std::string words = last_words(errors_);
  failure_ = "the executor '" + command_ + "' " + how;
  if (!words.empty()) failure_ += "; its last words: " + words;
  keeper_.end();
  return {ErrorKind::kInternal, failure_};
}

Error ExternalProcess::late(const std::string& how) {
  is_late_ = true;
  return ended(how);
}

Error ExternalProcess::over(int status) {
  if (status == Keeper::kLost) return ended("was lost: the process that keeps it has been ended");
  if (WIFSIGNALED(status)) return ended("was killed by " + signal_words(WTERMSIG(status)));
  return ended("ended with status " + std::to_string(WEXITSTATUS(status)) +
               " and without an answer");
}

// Its end of a pipe is closed: how it ended, or, where it goes on without it, that it said nothing.
Error ExternalProcess::closed(const char* what) {
  const auto end = Clock::now() + kTimeToEnd;
  auto status = keeper_.status();
  while (!status && Clock::now() < end) {
    pollfd news{keeper_.file(), POLLIN, 0};
    (void)::poll(&news, 1, milliseconds_until(end));
    status = keeper_.status();
  }
  return status ? over(*status) : ended(std::string("closed its ") + what);
}

// What it says unasked would be taken for the answer to the next request.
Result<void> ExternalProcess::check_nothing_is_said() {
  if (!is_out_closed_) (void)read_some();
  if (buffer_.empty()) return {};
  return ended("says what it was not asked for: '" + one_line(buffer_, 60) + "'");
}

Result<void> ExternalProcess::send(const std::string& line, std::chrono::milliseconds time) {
  if (!failure_.empty()) return Error{ErrorKind::kInternal, failure_};
  TimeLimit limit(time, keeper_.process());
  GRAPHGATE_TRY_VOID(check_nothing_is_said());
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(files_.in, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) return closed("input");
    // One that says much before it reads waits for us to listen.
    read_errors();
    if (const auto status = keeper_.status()) return over(*status);
    if (limit.is_over()) return late("does not read what it is sent");
    wait(POLLOUT, limit);
  }
  return {};
}

// The line that has come; empty where none has, and never a line's end.
Result<std::string> ExternalProcess::take_line() {
  const std::size_t at = buffer_.find('\n', searched_);
  searched_ = buffer_.size();
  if (at == std::string::npos) return std::string();
  if (at + 1 < buffer_.size()) {
    return ended("says more than its answer: '" + one_line(buffer_.substr(0, at), 60) +
                 "', and then '" + one_line(buffer_.substr(at + 1), 60) +
                 "' (all but answers goes to standard error)");
  }
  std::string line = std::move(buffer_);
  buffer_.clear();
  searched_ = 0;
  return line;
}

Result<std::string> ExternalProcess::receive(std::chrono::milliseconds time) {
  if (!failure_.empty()) return Error{ErrorKind::kInternal, failure_};
  TimeLimit limit(time, keeper_.process());
  while (true) {
    GRAPHGATE_TRY(std::string line, take_line());
    if (!line.empty()) {
      line.pop_back();
      return line;
    }
    if (buffer_.size() > kLongestLine) {
      return ended("answers with more than " + std::to_string(kLongestLine) +
                   " bytes without an end of line");
    }
    // Before what it left is read: nothing that comes after it counts.
    const auto status = keeper_.status();
    const bool has_more = !is_out_closed_ && read_some();
    read_errors();
    const bool is_over = limit.is_over();
    if (has_more && !is_over) continue;
    if (status) return over(*status);
    if (is_out_closed_) return closed("output");
    if (is_over) return late("did not answer in time, and was killed");
    wait(0, limit);
  }
}

Result<std::string> ExternalProcess::exchange(const std::string& line,
                                              std::chrono::milliseconds time) {
  GRAPHGATE_TRY_VOID(send(line, time));
  return receive(time);
}

}  // namespace graphgate::tools
