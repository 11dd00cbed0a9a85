// Where the time of a thread goes, by the clock on the wall: stages that lie inside of each other.
//
//   StageClock clock;                     this thread's, until it goes
//   const StageAsker asker("bounds");     from here on: for the judge bounds
//   const Stage stage("oracle: worst");   from here to the end of the scope
//
// Each moment belongs to the innermost stage that the thread is in, and to who asked for it. So the
// sum over all stages is the time since the clock was made, and nothing counts twice. Where a
// thread has no clock, a stage costs one look at a variable of the thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphgate {

// Returns the machine's monotonic clock, in nanoseconds: that of stages, of journals and of traces.
[[nodiscard]] std::uint64_t monotonic_nanoseconds();

struct StageTime {
  std::uint64_t nanoseconds = 0;
  std::uint64_t times = 0;  // how often the stage began
  friend bool operator==(const StageTime&, const StageTime&) = default;
};

// Sums by who asked ("" for nobody) and by stage.
class StageTimes {
 public:
  using Key = std::pair<std::string, std::string>;
  void add(std::string_view asker, std::string_view stage, const StageTime& time);
  void add(const StageTimes& other);
  [[nodiscard]] const std::map<Key, StageTime>& rows() const { return rows_; }
  [[nodiscard]] double seconds() const;  // of all
  // Returns the same sums by one half of the key alone.
  [[nodiscard]] std::map<std::string, StageTime> by_asker() const;
  [[nodiscard]] std::map<std::string, StageTime> by_stage() const;
  friend bool operator==(const StageTimes&, const StageTimes&) = default;

 private:
  std::map<Key, StageTime> rows_;
};

// Lines "ASKER\tSTAGE\tNANOSECONDS\tTIMES".
[[nodiscard]] std::string print_stage_times(const StageTimes& times);
// Returns false for what is no such text; `times` is then as far as it was read.
[[nodiscard]] bool parse_stage_times(std::string_view text, StageTimes& times);

// A stage as it was, for a time line. `depth` counts what it lies in.
struct StageSpan {
  std::string name;
  std::uint64_t begin_nanoseconds = 0;
  std::uint64_t end_nanoseconds = 0;
  std::size_t depth = 0;
};

// Measures the thread that makes it, from then on, until it goes. One that is made while there is
// another takes its place until then. Names of stages and askers outlive it.
class StageClock {
 public:
  // Begins with this stage, which lasts where there is no other. `keeps_spans`: of askers.
  explicit StageClock(std::string_view stage, bool keeps_spans = false);
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
  ~StageClock();

  // Returns the clock of this thread, or null.
  [[nodiscard]] static StageClock* of_thread();
  // Returns what was measured until now, and begins anew at that moment.
  [[nodiscard]] StageTimes take();
  [[nodiscard]] std::vector<StageSpan> take_spans();
  // Ends the innermost stage at this moment, which it returns, and goes on with another in its
  // place.
  std::uint64_t change(std::string_view stage);

 private:
  friend class Stage;
  friend class StageAsker;
  struct Entry {
    std::string_view asker;
    std::string_view stage;
    std::uint64_t begin_nanoseconds = 0;
  };
  std::uint64_t settle();  // what went by belongs to the innermost stage
  void begin(std::string_view asker, std::string_view stage);
  void end();
  [[nodiscard]] StageTime& at(const Entry& entry);

  StageClock* const previous_;  // of this thread, or of the process that it was forked from
  std::vector<Entry> entries_;  // the innermost last
  std::uint64_t since_ = 0;
  std::map<std::pair<std::string_view, std::string_view>, StageTime> sums_;
  bool keeps_spans_ = false;
  std::vector<StageSpan> spans_;
};

// A stage of who asks at the moment. `stage` outlives the thread's clock.
class Stage {
 public:
  explicit Stage(std::string_view stage) : clock_(StageClock::of_thread()) {
    if (clock_) clock_->begin(clock_->entries_.back().asker, stage);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    if (clock_) clock_->end();
  }

 private:
  StageClock* const clock_;
};

// An asker: it asks for the stages inside of it. Time that is in none of them is in `stage`.
class StageAsker {
 public:
  StageAsker(std::string_view asker, std::string_view stage) : clock_(StageClock::of_thread()) {
    if (clock_) clock_->begin(asker, stage);
  }
  StageAsker(const StageAsker&) = delete;
  StageAsker& operator=(const StageAsker&) = delete;
  ~StageAsker() {
    if (clock_) clock_->end();
  }

 private:
  StageClock* const clock_;
};

}  // namespace graphgate
