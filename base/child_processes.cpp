#include "base/child_processes.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/atomic_file.h"
#include "base/processes.h"

namespace graphgate {
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

}  // namespace

void remove_what_was_left() {
  std::error_code unknown;
  std::set<std::filesystem::path> roots = {"/dev/shm", P_tmpdir};
  roots.insert(std::filesystem::temp_directory_path(unknown));
  for (const std::filesystem::path& root : roots) {
    if (!root.empty()) remove_leftovers(root);
  }
}

std::string ChildResult::describe() const {
  switch (ending) {
    case ChildEnding::kExited:
      return "";
    case ChildEnding::kTimedOut:
      return "killed after its time was up";
    case ChildEnding::kNoMemory:
      return "ended: out of memory";
    case ChildEnding::kStopped:
      return "stopped";
    case ChildEnding::kSignaled:
      break;
  }
  if (signal == 0) return "ended by itself without a result";
  return "killed by " + signal_words(signal);
}

ChildPool::~ChildPool() { (void)kill_all(); }

Result<void> ChildPool::start(std::size_t index, const std::function<std::string()>& work) {
  return fork_child(index, [&work](int file) { write_all(file, work()); });
}

Result<void> ChildPool::start_series(std::size_t index,
                                     const std::function<void(const HandBack&)>& work) {
  return fork_child(index, [&work](int file) {
    work([file](const std::string& text) { write_all(file, join_texts({text})); });
  });
}

Result<void> ChildPool::fork_child(std::size_t index, const std::function<void(int file)>& work) {
  GRAPHGATE_TRY(const Pipe pipe, make_pipe());
  const auto process = fork_worker({options_.memory_bytes}, [&] {
    ::close(pipe.out);
    work(pipe.in);
  });
  ::close(pipe.in);
  if (!process.ok()) {
    ::close(pipe.out);
    return process.error();
  }
  children_.push_back(
      {index, process.value(), pipe.out, Clock::now(), limit_of(process.value()), {}, false, 0});
  return {};
}

std::vector<std::pair<std::size_t, std::string>> ChildPool::take_news() {
  std::vector<std::pair<std::size_t, std::string>> news;
  for (Child& child : children_) {
    std::vector<std::string> texts = take_texts(child.result.output.substr(child.taken_bytes));
    child.taken_bytes += join_texts(texts).size();
    for (std::string& text : texts) news.emplace_back(child.index, std::move(text));
  }
  return news;
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

std::vector<std::pair<std::size_t, ChildResult>> ChildPool::kill_all() {
  std::vector<std::pair<std::size_t, ChildResult>> killed;
  for (Child& child : children_) {
    (void)::kill(child.process, SIGKILL);
    while (read_some(child)) {
    }
    finish(child);
    child.result.ending = ChildEnding::kStopped;
    killed.emplace_back(child.index, std::move(child.result));
  }
  children_.clear();
  return killed;
}

std::unique_ptr<TimeLimit> ChildPool::limit_of(pid_t process) const {
  return std::make_unique<TimeLimit>(std::chrono::seconds(options_.timeout_seconds), process,
                                     TimeOf::kProcessToo);
}

// False at the end.
bool ChildPool::read_some(Child& child) const {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(child.pipe, bytes.data(), bytes.size());
  if (count > 0) child.result.output.append(bytes.data(), static_cast<std::size_t>(count));
  if (count > 0) child.limit = limit_of(child.process);
  return count > 0 || (count < 0 && errno == EINTR);
}

void ChildPool::kill_if_late(Child& child) const {
  if (child.pipe < 0 || child.was_killed || !child.limit->is_over()) return;
  child.was_killed = true;
  (void)::kill(child.process, SIGKILL);
}

void ChildPool::finish(Child& child) {
  const int status = wait_for_process(child.process);
  ::close(child.pipe);
  child.pipe = -1;
  child.result.seconds = std::chrono::duration<double>(Clock::now() - child.begin).count();
  const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (child.was_killed) {
    child.result.ending = ChildEnding::kTimedOut;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemoryStatus) {
    child.result.ending = ChildEnding::kNoMemory;
  } else if (!is_good) {
    child.result.ending = ChildEnding::kSignaled;
    child.result.signal = signal_of(status);
  }
  if (!is_good) remove_what_was_left();
}

std::string join_texts(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += std::to_string(text.size()) + "\n" + text;
  return joined;
}

std::vector<std::string> take_texts(const std::string& output) {
  std::vector<std::string> texts;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = output.find('\n', at);
    if (end == std::string::npos) return texts;
    const std::size_t size = std::stoul(output.substr(at, end - at));
    if (output.size() - end - 1 < size) return texts;
    texts.push_back(output.substr(end + 1, size));
    at = end + 1 + size;
  }
}

namespace {

// Works [begin, end), for one process.
struct Share {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class ShareRun {
 public:
  ShareRun(std::size_t count, const ChildOptions& options,
           const std::function<std::string(std::size_t)>& work)
      : options_(options), work_(work), pool_(options), results_(count) {
    for (ChildResult& result : results_) result.ending = ChildEnding::kStopped;
    const std::size_t share = std::max<std::size_t>(options.share, 1);
    for (std::size_t begin = 0; begin < count; begin += share) {
      waiting_.push_back({begin, std::min(begin + share, count)});
    }
  }

  Result<std::vector<ChildResult>> run() {
    constexpr int kTickMilliseconds = 50;
    while (!waiting_.empty() || pool_.running() > 0) {
      if (options_.should_stop && options_.should_stop()) {
        for (const auto& [number, ended] : pool_.kill_all()) take(started_[number], ended);
        break;
      }
      GRAPHGATE_TRY_VOID(start_waiting());
      for (const auto& [number, ended] : pool_.wait(kTickMilliseconds)) {
        take(started_[number], ended);
      }
    }
    return std::move(results_);
  }

 private:
  Result<void> start_waiting() {
    const auto jobs = static_cast<std::size_t>(std::max(options_.jobs, 1));
    while (!waiting_.empty() && pool_.running() < jobs) {
      const Share share = waiting_.front();
      const auto started =
          pool_.start_series(started_.size(), [&](const ChildPool::HandBack& hand_back) {
            for (std::size_t i = share.begin; i < share.end; ++i) hand_back(work_(i));
          });
      if (!started.ok() && pool_.running() == 0) return started.error();
      if (!started.ok()) break;  // later, when one has ended
      started_.push_back(share);
      waiting_.pop_front();
    }
    return {};
  }

  // What the process handed back; the work that it was at ended as the process did.
  void take(const Share& share, const ChildResult& ended) {
    std::size_t at = share.begin;
    for (std::string& text : take_texts(ended.output)) {
      results_[at] = {ChildEnding::kExited, 0, ended.seconds, std::move(text)};
      ++at;
    }
    if (at == share.end) return;
    results_[at] = {ended.ending, ended.signal, ended.seconds, ""};
    if (at + 1 < share.end) waiting_.push_front({at + 1, share.end});
  }

  const ChildOptions& options_;
  const std::function<std::string(std::size_t)>& work_;
  ChildPool pool_;
  std::vector<ChildResult> results_;
  std::deque<Share> waiting_;
  std::vector<Share> started_;
};

}  // namespace

Result<std::vector<ChildResult>> run_children(std::size_t count, const ChildOptions& options,
                                              const std::function<std::string(std::size_t)>& work) {
  return ShareRun(count, options, work).run();
}

}  // namespace graphgate
