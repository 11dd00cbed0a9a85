#include "fuzz/campaign/journal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_io.h"
#include "base/stage_clock.h"

namespace graphgate::fuzz {
namespace {

constexpr std::size_t kMostWorkers = 1024;  // as --jobs has it

constexpr char kMagic[8] = {'g', 'g', 'j', 'o', 'u', 'r', 'n', '1'};

Error cannot(const std::string& path, const char* what, int code) {
  return infrastructure(path + ": " + what + ": " + std::strerror(code));
}

// Of a journal that others may have damaged: what is no phase is none.
CasePhase phase_of(std::uint32_t stored) {
  return stored <= static_cast<std::uint32_t>(CasePhase::kDone) ? static_cast<CasePhase>(stored)
                                                                : CasePhase::kNone;
}

}  // namespace

struct Journal::Header {
  char magic[8];
  std::uint64_t workers;
  std::uint64_t ring_entries;
  std::uint64_t unused[5];
};

// `begun` is stored behind the entry: a reader never sees a number without its entry.
struct Journal::Ring {
  std::atomic<std::uint64_t> begun;
  std::uint64_t unused[7];
  struct Entry {
    std::uint64_t index;
    std::uint64_t begin_nanoseconds;
    std::atomic<std::uint32_t> phase;
    std::uint32_t outcome;
    std::uint64_t end_nanoseconds;
  } entries[kRingEntries];
};

const char* phase_name(CasePhase phase) {
  constexpr const char* kNames[] = {"idle", "drawing", "judging", "done"};
  return kNames[static_cast<std::size_t>(phase)];
}

Result<Journal> Journal::create(const std::string& path, std::size_t workers) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  (void)::unlink(path.c_str());  // workers of a dead campaign may still hold the old one
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) return cannot(path, "cannot be made", errno);
  const std::size_t bytes = sizeof(Header) + workers * sizeof(Ring);
  const int code = ::posix_fallocate(file.number(), 0, static_cast<off_t>(bytes));
  if (code != 0) {
    (void)::unlink(path.c_str());
    return cannot(path, "no room for the journal", code);
  }
  GRAPHGATE_TRY(Journal journal, map(path, file.number(), bytes));
  journal.begin_file(workers);
  return journal;
}

// Of a file, or without one: -1.
Result<Journal> Journal::map(const std::string& path, int file, std::size_t bytes) {
  const int sharing = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing, file, 0);
  if (memory == MAP_FAILED) return cannot(path, "cannot be mapped", errno);
  return Journal(memory, bytes);
}

Result<Journal> Journal::in_memory(std::size_t workers) {
  GRAPHGATE_TRY(Journal journal, map("journal", -1, sizeof(Header) + workers * sizeof(Ring)));
  journal.begin_file(workers);
  return journal;
}

void Journal::begin_file(std::size_t workers) {
  auto* const header = static_cast<Header*>(memory_);
  std::memcpy(header->magic, kMagic, sizeof(kMagic));
  header->workers = workers;
  header->ring_entries = kRingEntries;
}

Result<Journal> Journal::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.number() < 0) {
    return bad_input(path + ": cannot be opened: " + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return cannot(path, "cannot be read", errno);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const bool can_be = S_ISREG(status.st_mode) && bytes >= sizeof(Header) &&
                      bytes <= sizeof(Header) + kMostWorkers * sizeof(Ring);
  if (!can_be) return bad_input(path + ": no journal");
  GRAPHGATE_TRY(Journal journal, map(path, file.number(), bytes));
  const auto* const header = static_cast<const Header*>(journal.memory_);
  const bool fits = std::memcmp(header->magic, kMagic, sizeof(kMagic)) == 0 &&
                    header->ring_entries == kRingEntries &&
                    header->workers == (bytes - sizeof(Header)) / sizeof(Ring) &&
                    (bytes - sizeof(Header)) % sizeof(Ring) == 0;
  if (!fits) return bad_input(path + ": no journal, or one of another version");
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Journal::~Journal() {
  if (memory_) (void)::munmap(memory_, bytes_);
}

std::size_t Journal::workers() const {
  return static_cast<std::size_t>(static_cast<const Header*>(memory_)->workers);
}

Journal::Ring& Journal::ring(std::size_t worker) const {
  auto* const first = static_cast<unsigned char*>(memory_) + sizeof(Header);
  return *reinterpret_cast<Ring*>(first + worker * sizeof(Ring));
}

void Journal::begin(std::size_t worker, std::uint64_t index, std::uint64_t at) {
  Ring& own = ring(worker);
  const std::uint64_t count = own.begun.load(std::memory_order_relaxed);
  auto& entry = own.entries[count % kRingEntries];
  entry.index = index;
  entry.begin_nanoseconds = at;
  entry.outcome = 0;
  entry.phase.store(static_cast<std::uint32_t>(CasePhase::kDrawing), std::memory_order_release);
  own.begun.store(count + 1, std::memory_order_release);
}

void Journal::enter(std::size_t worker, CasePhase phase) {
  Ring& own = ring(worker);
  const std::uint64_t count = own.begun.load(std::memory_order_relaxed);
  if (count == 0) return;
  own.entries[(count - 1) % kRingEntries].phase.store(static_cast<std::uint32_t>(phase),
                                                      std::memory_order_release);
}

void Journal::finish(std::size_t worker, std::uint32_t outcome, std::uint64_t at) {
  Ring& own = ring(worker);
  const std::uint64_t count = own.begun.load(std::memory_order_relaxed);
  if (count == 0) return;
  auto& entry = own.entries[(count - 1) % kRingEntries];
  entry.outcome = outcome;
  entry.end_nanoseconds = at;
  enter(worker, CasePhase::kDone);
}

std::optional<JournalEntry> Journal::in_flight(std::size_t worker) const {
  const std::vector<JournalEntry> last = latest(worker, 1);
  if (last.empty()) return std::nullopt;
  const CasePhase phase = last.front().phase;
  if (phase == CasePhase::kDone || phase == CasePhase::kNone) return std::nullopt;
  return last.front();
}

std::vector<JournalEntry> Journal::latest(std::size_t worker, std::size_t count) const {
  const Ring& own = ring(worker);
  const std::uint64_t begun = own.begun.load(std::memory_order_acquire);
  const std::uint64_t shown = std::min<std::uint64_t>({begun, count, kRingEntries});
  std::vector<JournalEntry> out;
  for (std::uint64_t n = begun - shown; n < begun; ++n) {
    const auto& entry = own.entries[n % kRingEntries];
    out.push_back({entry.index, entry.begin_nanoseconds,
                   phase_of(entry.phase.load(std::memory_order_acquire)), entry.outcome,
                   entry.end_nanoseconds});
  }
  return out;
}

std::uint64_t Journal::begun(std::size_t worker) const {
  return ring(worker).begun.load(std::memory_order_acquire);
}

void Journal::sync() const { (void)::msync(memory_, bytes_, MS_ASYNC); }

std::uint64_t Journal::now_nanoseconds() { return monotonic_nanoseconds(); }

double Journal::seconds_since(std::uint64_t nanoseconds) {
  const std::uint64_t now = now_nanoseconds();
  return now > nanoseconds ? static_cast<double>(now - nanoseconds) / 1e9 : 0;
}

}  // namespace graphgate::fuzz
