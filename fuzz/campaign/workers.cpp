#include "fuzz/campaign/workers.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "base/child_processes.h"
#include "base/processes.h"
#include "fuzz/campaign/case_log.h"

namespace graphgate::fuzz {
namespace {

// In front of a batch's text; the lines of its log follow, and the times of its stages.
struct MessageHead {
  std::uint64_t tally_bytes = 0;
  std::uint64_t line_bytes = 0;
  std::uint64_t stage_bytes = 0;
  std::uint64_t end = 0;  // of the cases that ran
  TimeSpent spent;
};

// Sends or receives all of it, some at a time. False where the other end is gone.
template <class Byte, class Some>
bool transfer(Byte* bytes, std::size_t size, Some&& some) {
  while (size > 0) {
    const ssize_t count = some(bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Where nobody listens any more it is false, and no signal.
bool send_whole(int channel, const void* data, std::size_t size) {
  return transfer(static_cast<const char*>(data), size, [&](const char* at, std::size_t left) {
    return ::send(channel, at, left, MSG_NOSIGNAL);
  });
}

bool receive_whole(int channel, void* data, std::size_t size) {
  return transfer(static_cast<char*>(data), size,
                  [&](char* at, std::size_t left) { return ::recv(channel, at, left, 0); });
}

void close_file(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

// "lineage 3", and its tally; then the next.
Result<void> take_tallies(std::string_view text, std::map<std::uint32_t, Tally>& tallies) {
  spec::TextReader reader(text, "worker");
  Tally* tally = nullptr;
  while (!reader.at(spec::TokenKind::kEnd)) {
    if (reader.accept("lineage")) {
      GRAPHGATE_TRY(const std::uint64_t lineage, take_number(reader, "a lineage"));
      GRAPHGATE_TRY_VOID(reader.expect_line_end());
      tally = &tallies[static_cast<std::uint32_t>(lineage)];
      continue;
    }
    if (!tally) return reader.expected("a lineage");
    GRAPHGATE_TRY(const bool is_taken, take_tally_line(reader, *tally));
    if (!is_taken) return reader.expected("a tally");
  }
  return {};
}

// In front of what descent the cases of a batch have: numbers of ancestors, and they.
struct BatchHead {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t numbers = 0;
};

// A worker that has died meanwhile is found when its channel ends.
void send_batch(int channel, const Batch& batch) {
  std::vector<std::uint64_t> numbers;
  for (const auto& ancestors : batch.ancestors) {
    numbers.push_back(ancestors.size());
    numbers.insert(numbers.end(), ancestors.begin(), ancestors.end());
  }
  const BatchHead head{batch.begin, batch.end, numbers.size()};
  if (!send_whole(channel, &head, sizeof(head))) return;
  (void)send_whole(channel, numbers.data(), numbers.size() * sizeof(std::uint64_t));
}

bool receive_batch(int channel, Batch& batch) {
  BatchHead head;
  if (!receive_whole(channel, &head, sizeof(head))) return false;
  std::vector<std::uint64_t> numbers(head.numbers);
  if (!receive_whole(channel, numbers.data(), numbers.size() * sizeof(std::uint64_t))) return false;
  batch = {head.begin, head.end, {}};
  for (auto at = numbers.begin(); at != numbers.end();) {
    const auto end = at + 1 + static_cast<std::ptrdiff_t>(*at);
    batch.ancestors.emplace_back(at + 1, end);
    at = end;
  }
  return true;
}

// The last line that is not empty, at most a screen's width or two of it.
std::string last_line(int file) {
  constexpr off_t kMost = 4096;
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::array<char, kMost> bytes{};
  const off_t from = std::max<off_t>(size - kMost, 0);
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), from);
  std::string text(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  return text.substr(line == std::string::npos ? 0 : line + 1).substr(0, 300);
}

}  // namespace

Batch Batch::part(std::uint64_t first, std::uint64_t last) const {
  Batch out{first, last, {}};
  if (ancestors.empty()) return out;
  const auto at = ancestors.begin() + static_cast<std::ptrdiff_t>(first - begin);
  out.ancestors.assign(at, at + static_cast<std::ptrdiff_t>(last - first));
  return out;
}

Descent Batch::descent(std::uint64_t ordinal, const Shard& shard) const {
  Descent out{shard.case_index(ordinal), {}};
  if (!ancestors.empty()) out.ancestors = ancestors[static_cast<std::size_t>(ordinal - begin)];
  return out;
}

WorkerPool::WorkerPool(const PoolOptions& options, Journal& journal, JudgeDrawn judge)
    : options_(options),
      journal_(journal),
      judge_(std::move(judge)),
      workers_(static_cast<std::size_t>(std::max(options.jobs, 1))) {
  GRAPHGATE_CHECK(journal.workers() >= workers_.size());
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) {
    if (worker.process > 0) (void)kill_process(worker.process);
    close_file(worker.channel);
    close_file(worker.words);
  }
  remove_what_was_left();
}

std::size_t WorkerPool::busy() const {
  return static_cast<std::size_t>(std::count_if(
      workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.is_busy; }));
}

std::vector<CaseInWork> WorkerPool::in_work() const {
  std::vector<CaseInWork> out;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    if (!workers_[w].is_busy) continue;
    const auto entry = journal_.in_flight(w);
    if (!entry) continue;
    out.push_back({entry->index, entry->phase, Journal::seconds_since(entry->begin_nanoseconds)});
  }
  return out;
}

TimeSpent WorkerPool::subject_time() const {
  return options_.subject_time ? options_.subject_time() : TimeSpent{};
}

std::uint64_t WorkerPool::draw_of(std::uint64_t ordinal) const {
  return options_.shard.case_index(ordinal) / options_.data_sets;
}

Result<void> WorkerPool::start(std::size_t index) {
  Worker& worker = workers_[index];
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return infrastructure(std::string("no channel can be made: ") + std::strerror(errno));
  }
  worker.words = ::memfd_create("graphgate-worker", MFD_CLOEXEC);
  const auto process = fork_worker({options_.memory_bytes, worker.words}, [&] {
    for (Worker& other : workers_) close_file(other.channel);
    ::close(ends[0]);
    be_worker(index, ends[1]);
  });
  ::close(ends[1]);
  if (!process.ok()) {
    ::close(ends[0]);
    close_file(worker.words);
    return process.error();
  }
  worker.process = process.value();
  worker.channel = ends[0];
  return {};
}

void WorkerPool::be_worker(std::size_t index, int channel) {
  const int words = workers_[index].words;
  Batch batch;
  StageClock clock(kWaitsForCases);
  while (receive_batch(channel, batch)) {
    if (words >= 0 && ::ftruncate(words, 0) == 0) (void)::lseek(words, 0, SEEK_SET);
    const std::uint64_t begin = clock.change(kAddsUp);
    const TimeSpent before = subject_time();
    std::map<std::uint32_t, Tally> by_lineage;
    std::string lines;
    std::uint64_t ordinal = batch.begin;
    for (; ordinal < batch.end; ++ordinal) {
      const bool is_draw_over = ordinal > batch.begin && draw_of(ordinal) != draw_of(ordinal - 1);
      const bool has_end = is_draw_over && options_.batch_seconds > 0;
      if (has_end && Journal::seconds_since(begin) >= options_.batch_seconds) break;
      const Descent descent = batch.descent(ordinal, options_.shard);
      journal_.begin(index, descent.index, clock.change(phase_name(CasePhase::kDrawing)));
      const CaseVerdict verdict = judge_(descent, [&] {
        journal_.enter(index, CasePhase::kJudging);
        (void)clock.change(phase_name(CasePhase::kJudging));
      });
      if (verdict.signature == kNoMemorySignature) throw std::bad_alloc();
      journal_.finish(index, static_cast<std::uint32_t>(verdict.outcome), clock.change(kAddsUp));
      by_lineage[static_cast<std::uint32_t>(descent.index % options_.lineages)].add(verdict);
      if (options_.wants_lines) lines += print_case_line(verdict);
    }
    std::string text;
    for (const auto& [lineage, tally] : by_lineage) {
      text += "lineage " + std::to_string(lineage) + "\n" + print_tally(tally);
    }
    const TimeSpent after = subject_time();
    const TimeSpent spent{Journal::seconds_since(begin), after.asked - before.asked,
                          after.compile - before.compile};
    const std::string stages = print_stage_times(clock.take());
    const MessageHead head{text.size(), lines.size(), stages.size(), ordinal, spent};
    const bool is_sent = send_whole(channel, &head, sizeof(head)) &&
                         send_whole(channel, text.data(), text.size()) &&
                         send_whole(channel, lines.data(), lines.size()) &&
                         send_whole(channel, stages.data(), stages.size());
    if (!is_sent) break;
    (void)clock.change(kWaitsForCases);
  }
}

Result<void> WorkerPool::assign(const Batch& batch) {
  const auto idle = std::find_if(workers_.begin(), workers_.end(),
                                 [](const Worker& worker) { return !worker.is_busy; });
  GRAPHGATE_CHECK(idle != workers_.end());
  const auto index = static_cast<std::size_t>(idle - workers_.begin());
  if (idle->process == 0) GRAPHGATE_TRY_VOID(start(index));
  idle->is_busy = true;
  idle->batch = batch;
  idle->assigned_nanoseconds = Journal::now_nanoseconds();
  send_batch(idle->channel, batch);
  return {};
}

Result<PoolNews> WorkerPool::wait(int milliseconds) {
  std::vector<pollfd> waits;
  std::vector<std::size_t> owners;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    if (workers_[w].process == 0) continue;
    waits.push_back({workers_[w].channel, POLLIN, 0});
    owners.push_back(w);
  }
  {
    const Stage stage("waiting for workers");
    (void)::poll(waits.data(), waits.size(), milliseconds);
  }
  PoolNews news;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    Worker& worker = workers_[owners[i]];
    const bool is_alive = waits[i].revents == 0 || read_some(worker);
    GRAPHGATE_TRY_VOID(take_messages(worker, news));
    if (!is_alive) {
      bury(owners[i], false, news);
    } else if (is_late(owners[i])) {
      bury(owners[i], true, news);
    }
  }
  return news;
}

bool WorkerPool::read_some(Worker& worker) {
  std::array<char, 65536> bytes{};
  const ssize_t count = ::read(worker.channel, bytes.data(), bytes.size());
  if (count > 0) worker.received.append(bytes.data(), static_cast<std::size_t>(count));
  if (count > 0) worker.heard_nanoseconds = Journal::now_nanoseconds();
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

Result<void> WorkerPool::take_messages(Worker& worker, PoolNews& news) {
  MessageHead head;
  if (worker.received.size() < sizeof(head)) return {};
  std::memcpy(&head, worker.received.data(), sizeof(head));
  const std::size_t whole = sizeof(head) + head.tally_bytes + head.line_bytes + head.stage_bytes;
  if (worker.received.size() < whole) return {};
  BatchDone done;
  const bool is_end = head.end > worker.batch.begin && head.end <= worker.batch.end;
  if (!is_end) return Error{ErrorKind::kInternal, "a worker ended its batch elsewhere"};
  done.batch = worker.batch.part(worker.batch.begin, head.end);
  done.rest = worker.batch.part(head.end, worker.batch.end);
  done.spent = head.spent;
  const auto text = std::string_view(worker.received).substr(sizeof(head), head.tally_bytes);
  const auto parsed = take_tallies(text, done.by_lineage);
  if (!parsed.ok()) return Error{ErrorKind::kInternal, parsed.error().message};
  for (const auto& [lineage, tally] : done.by_lineage) done.tally.add(tally);
  done.lines = worker.received.substr(sizeof(head) + head.tally_bytes, head.line_bytes);
  const auto stages = std::string_view(worker.received).substr(whole - head.stage_bytes);
  if (!parse_stage_times(stages.substr(0, head.stage_bytes), done.stages)) {
    return Error{ErrorKind::kInternal, "a worker told times that nobody understands"};
  }
  done.worker = static_cast<std::size_t>(&worker - workers_.data());
  worker.received.erase(0, whole);
  add_times(static_cast<std::size_t>(&worker - workers_.data()), news);
  worker.is_busy = false;
  news.done.push_back(std::move(done));
  return {};
}

bool WorkerPool::is_late(std::size_t index) const {
  const Worker& worker = workers_[index];
  if (!worker.is_busy) return false;
  std::uint64_t sign = std::max(worker.assigned_nanoseconds, worker.heard_nanoseconds);
  for (const JournalEntry& entry : journal_.latest(index, 1)) {
    sign = std::max(sign, entry.latest_nanoseconds());
  }
  return Journal::seconds_since(sign) > options_.timeout_seconds;
}

void WorkerPool::add_times(std::size_t index, PoolNews& news) const {
  if (!options_.wants_times) return;
  for (const JournalEntry& entry : journal_.latest(index, Journal::kRingEntries)) {
    if (entry.begin_nanoseconds < workers_[index].assigned_nanoseconds) continue;
    CaseTime time{index, entry.index, entry.begin_nanoseconds, Journal::now_nanoseconds(), {}};
    if (entry.phase == CasePhase::kDone) {
      time.end_nanoseconds = entry.end_nanoseconds;
      time.outcome = static_cast<spec::Outcome>(entry.outcome);
    }
    news.times.push_back(time);
  }
}

void WorkerPool::bury(std::size_t index, bool is_timeout, PoolNews& news) {
  Worker& worker = workers_[index];
  const int status = is_timeout ? kill_process(worker.process) : wait_for_process(worker.process);
  remove_what_was_left();
  if (worker.is_busy) {
    CaseLost lost;
    lost.batch = worker.batch;
    lost.ordinal = worker.batch.begin;
    const auto latest = journal_.latest(index, 1);
    if (!latest.empty()) {
      const std::uint64_t ordinal = latest.front().index / options_.shard.count;
      const bool is_in_batch = ordinal >= worker.batch.begin && ordinal < worker.batch.end;
      if (is_in_batch) lost.ordinal = ordinal;
      if (is_in_batch) lost.phase = latest.front().phase;
    }
    lost.is_timeout = is_timeout;
    lost.signal = signal_of(status);
    if (worker.words >= 0) lost.last_words = last_line(worker.words);
    const bool says_so = WIFEXITED(status) && WEXITSTATUS(status) == kNoMemoryStatus;
    lost.is_memory = !is_timeout && (lost.signal == SIGKILL || says_so);
    news.lost.push_back(std::move(lost));
    add_times(index, news);
  }
  close_file(worker.channel);
  close_file(worker.words);
  worker = Worker{};
}

}  // namespace graphgate::fuzz
