#include "tools/child_processes.h"

#include <fcntl.h>
#include <poll.h>
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

namespace graphgate::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  std::size_t index = 0;
  pid_t process = 0;
  int pipe = -1;
  Clock::time_point begin;
  ChildResult result;
  bool was_killed = false;
};

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
[[noreturn]] void be_child(int file, std::size_t index, const ChildOptions& options,
                           const std::function<std::string(std::size_t)>& work) {
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
    write_all(file, work(index));
  } catch (...) {
    std::abort();
  }
  ::_exit(0);
}

class Pool {
 public:
  Pool(std::size_t count, const ChildOptions& options,
       const std::function<std::string(std::size_t)>& work)
      : options_(options), work_(work), results_(count) {}

  Result<std::vector<ChildResult>> run() {
    const auto jobs = static_cast<std::size_t>(std::max(options_.jobs, 1));
    while (next_ < results_.size() || !children_.empty()) {
      while (next_ < results_.size() && children_.size() < jobs) {
        const auto started = start();
        if (!started.ok() && children_.empty()) return started.error();
        if (!started.ok()) break;  // later, when one has ended
      }
      wait_for_news();
    }
    return std::move(results_);
  }

 private:
  Result<void> start() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("no pipe");
    std::fflush(nullptr);
    const pid_t process = ::fork();
    if (process < 0) {
      const Result<void> error = failed("no process");
      ::close(ends[0]);
      ::close(ends[1]);
      return error;
    }
    if (process == 0) {
      ::close(ends[0]);
      be_child(ends[1], next_, options_, work_);
    }
    ::close(ends[1]);
    children_.push_back({next_++, process, ends[0], Clock::now(), {}, false});
    return {};
  }

  static Result<void> failed(const char* what) {
    return infrastructure(std::string(what) + " can be made: " + std::strerror(errno));
  }

  void wait_for_news() {
    constexpr int kTickMilliseconds = 50;
    std::vector<pollfd> waits;
    for (const Child& child : children_) waits.push_back({child.pipe, POLLIN, 0});
    (void)::poll(waits.data(), waits.size(), kTickMilliseconds);
    for (std::size_t c = 0; c < waits.size(); ++c) {
      if (waits[c].revents != 0 && !read_some(children_[c])) finish(children_[c]);
      kill_if_late(children_[c]);
    }
    std::erase_if(children_, [](const Child& child) { return child.pipe < 0; });
  }

  // False at the end.
  static bool read_some(Child& child) {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(child.pipe, bytes.data(), bytes.size());
    if (count > 0) child.result.output.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  void kill_if_late(Child& child) const {
    const auto limit = std::chrono::seconds(options_.timeout_seconds);
    if (child.pipe < 0 || child.was_killed || Clock::now() - child.begin < limit) return;
    child.was_killed = true;
    (void)::kill(child.process, SIGKILL);
  }

  void finish(Child& child) {
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
    results_[child.index] = std::move(child.result);
  }

  const ChildOptions options_;
  const std::function<std::string(std::size_t)>& work_;
  std::vector<ChildResult> results_;
  std::vector<Child> children_;
  std::size_t next_ = 0;
};

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

Result<std::vector<ChildResult>> run_children(std::size_t count, const ChildOptions& options,
                                              const std::function<std::string(std::size_t)>& work) {
  return Pool(count, options, work).run();
}

}  // namespace graphgate::tools
