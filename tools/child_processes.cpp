#include "tools/child_processes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace graphgate::tools {
namespace {

using Clock = std::chrono::steady_clock;

void write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

// Never returns. Nothing of the parent's is flushed or destroyed.
[[noreturn]] void be_child(int file, pid_t parent, const ChildOptions& options,
                           const std::function<std::string()>& work) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  const rlimit no_core{0, 0};
  (void)setrlimit(RLIMIT_CORE, &no_core);
  if (options.memory_bytes > 0) {
    const rlimit memory{options.memory_bytes, options.memory_bytes};
    (void)setrlimit(RLIMIT_AS, &memory);
  }
  // What a dying child prints would stand among the parent's lines.
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) (void)::dup2(nothing, STDERR_FILENO);
  try {
    write_all(file, work());
  } catch (...) {
    std::abort();
  }
  ::_exit(0);
}

Result<void> cannot_start(const char* what) {
  return infrastructure(std::string(what) + " can be made: " + std::strerror(errno));
}

}  // namespace

std::string ChildResult::describe() const {
  switch (ending) {
    case ChildEnding::kExited:
      return "";
    case ChildEnding::kTimedOut:
      return "killed after its time was up";
    case ChildEnding::kSignaled:
      break;
  }
  if (signal == 0) return "ended by itself without a result";
  return "killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

ChildPool::~ChildPool() {
  for (Child& child : children_) {
    (void)::kill(child.process, SIGKILL);
    finish(child);
  }
}

Result<void> ChildPool::start(std::size_t index, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start("no pipe");
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) {
    Result<void> error = cannot_start("no process");
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
  }
  if (process == 0) {
    ::close(ends[0]);
    be_child(ends[1], parent, options_, work);
  }
  ::close(ends[1]);
  children_.push_back({index, process, ends[0], Clock::now(), {}, false});
  return {};
}

std::vector<std::pair<std::size_t, ChildResult>> ChildPool::wait(int milliseconds) {
  std::vector<pollfd> waits;
  waits.reserve(children_.size());
  for (const Child& child : children_) waits.push_back({child.pipe, POLLIN, 0});
  (void)::poll(waits.data(), waits.size(), milliseconds);
  std::vector<std::pair<std::size_t, ChildResult>> ended;
  for (std::size_t c = 0; c < waits.size(); ++c) {
    Child& child = children_[c];
    if (waits[c].revents != 0 && !read_some(child)) {
      finish(child);
      ended.emplace_back(child.index, std::move(child.result));
    }
    kill_if_late(child);
  }
  std::erase_if(children_, [](const Child& child) { return child.pipe < 0; });
  return ended;
}

// False at the end.
bool ChildPool::read_some(Child& child) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(child.pipe, bytes.data(), bytes.size());
  if (count > 0) child.result.output.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

void ChildPool::kill_if_late(Child& child) const {
  const auto limit = std::chrono::seconds(options_.timeout_seconds);
  if (child.pipe < 0 || child.was_killed || Clock::now() - child.begin < limit) return;
  child.was_killed = true;
  (void)::kill(child.process, SIGKILL);
}

void ChildPool::finish(Child& child) {
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(child.pipe);
  child.pipe = -1;
  child.result.seconds = std::chrono::duration<double>(Clock::now() - child.begin).count();
  const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (child.was_killed) {
    child.result.ending = ChildEnding::kTimedOut;
  } else if (!is_good) {
    child.result.ending = ChildEnding::kSignaled;
    child.result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
}

Result<std::vector<ChildResult>> run_children(std::size_t count, const ChildOptions& options,
                                              const std::function<std::string(std::size_t)>& work) {
  constexpr int kTickMilliseconds = 50;
  const auto jobs = static_cast<std::size_t>(std::max(options.jobs, 1));
  std::vector<ChildResult> results(count);
  ChildPool pool(options);
  std::size_t next = 0;
  while (next < count || pool.running() > 0) {
    while (next < count && pool.running() < jobs) {
      const auto started = pool.start(next, [&work, next] { return work(next); });
      if (!started.ok() && pool.running() == 0) return started.error();
      if (!started.ok()) break;  // later, when one has ended
      ++next;
    }
    for (auto& [index, result] : pool.wait(kTickMilliseconds)) results[index] = std::move(result);
  }
  return results;
}

std::string child_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace graphgate::tools
