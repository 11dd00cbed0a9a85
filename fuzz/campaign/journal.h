// The write-ahead journal: which case each worker is at, written before it runs.
//
// A file mapped into the memory of a campaign and of its workers. A store into it is all that a
// case costs; what was stored survives the worker, and the campaign too, since the pages belong to
// the file. sync() brings them to the disk.
//
//   header | worker 0: ring of entries | worker 1: ring of entries | ...
//
// Each worker writes its own ring only; the campaign reads all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace graphgate::fuzz {

enum class CasePhase : std::uint32_t { kNone, kDrawing, kJudging, kDone };
// "drawing", "judging".
[[nodiscard]] const char* phase_name(CasePhase phase);

struct JournalEntry {
  std::uint64_t index = 0;
  std::uint64_t begin_nanoseconds = 0;  // of the machine's monotonic clock
  CasePhase phase = CasePhase::kNone;
  std::uint32_t outcome = 0;          // spec::Outcome, once it is done
  std::uint64_t end_nanoseconds = 0;  // once it is done

  // When the worker showed last that it goes on.
  [[nodiscard]] std::uint64_t latest_nanoseconds() const {
    return phase == CasePhase::kDone ? end_nanoseconds : begin_nanoseconds;
  }
};

class Journal {
 public:
  static constexpr std::size_t kRingEntries = 1024;

  // A new file of its full size, in place of what was there. kInfrastructure where the disk has no
  // room for it: a page that cannot be stored later would be a signal.
  [[nodiscard]] static Result<Journal> create(const std::string& path, std::size_t workers);
  // In memory alone, for processes that are forked from this one.
  [[nodiscard]] static Result<Journal> in_memory(std::size_t workers);
  // What a process has left. kBadInput for what is no journal.
  [[nodiscard]] static Result<Journal> open(const std::string& path);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  [[nodiscard]] std::size_t workers() const;
  // The worker's next entry: the case is about to be drawn.
  void begin(std::size_t worker, std::uint64_t index, std::uint64_t at = now_nanoseconds());
  // The worker's latest entry.
  void enter(std::size_t worker, CasePhase phase);
  void finish(std::size_t worker, std::uint32_t outcome, std::uint64_t at = now_nanoseconds());

  // The entry of a case that the worker has begun and not finished.
  [[nodiscard]] std::optional<JournalEntry> in_flight(std::size_t worker) const;
  // The latest entries, oldest first, at most `count` and kRingEntries.
  [[nodiscard]] std::vector<JournalEntry> latest(std::size_t worker, std::size_t count) const;
  // How many cases the worker has begun.
  [[nodiscard]] std::uint64_t begun(std::size_t worker) const;

  // Starts to write to the disk, without waiting for it.
  void sync() const;

  [[nodiscard]] static std::uint64_t now_nanoseconds();
  [[nodiscard]] static double seconds_since(std::uint64_t nanoseconds);

 private:
  struct Header;
  struct Ring;
  Journal(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  static Result<Journal> map(const std::string& path, int file, std::size_t bytes);
  void begin_file(std::size_t workers);
  [[nodiscard]] Ring& ring(std::size_t worker) const;

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace graphgate::fuzz
