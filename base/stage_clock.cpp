#include "base/stage_clock.h"

#include <charconv>
#include <ctime>

namespace graphgate {
namespace {

thread_local StageClock* clock_of_thread = nullptr;

// Takes the text up to the next `end`, and that; empty where there is none.
std::string_view take_field(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return {};
  const std::string_view field = text.substr(0, at);
  text.remove_prefix(at + 1);
  return field;
}

bool take_count(std::string_view& text, char end, std::uint64_t& count) {
  const std::string_view field = take_field(text, end);
  const char* const last = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), last, count);
  return error == std::errc() && at == last && !field.empty();
}

}  // namespace

std::uint64_t monotonic_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void StageTimes::add(std::string_view asker, std::string_view stage, const StageTime& time) {
  StageTime& sum = rows_[{std::string(asker), std::string(stage)}];
  sum.nanoseconds += time.nanoseconds;
  sum.times += time.times;
}

void StageTimes::add(const StageTimes& other) {
  for (const auto& [key, time] : other.rows_) add(key.first, key.second, time);
}

double StageTimes::seconds() const {
  std::uint64_t sum = 0;
  for (const auto& [key, time] : rows_) sum += time.nanoseconds;
  return static_cast<double>(sum) * 1e-9;
}

namespace {

template <class Name>
std::map<std::string, StageTime> sums_by(const StageTimes& times, const Name& name) {
  std::map<std::string, StageTime> sums;
  for (const auto& [key, time] : times.rows()) {
    StageTime& sum = sums[name(key)];
    sum.nanoseconds += time.nanoseconds;
    sum.times += time.times;
  }
  return sums;
}

}  // namespace

std::map<std::string, StageTime> StageTimes::by_asker() const {
  return sums_by(*this, [](const Key& key) { return key.first; });
}

std::map<std::string, StageTime> StageTimes::by_stage() const {
  return sums_by(*this, [](const Key& key) { return key.second; });
}

std::string print_stage_times(const StageTimes& times) {
  std::string text;
  for (const auto& [key, time] : times.rows()) {
    text += key.first + "\t" + key.second + "\t" + std::to_string(time.nanoseconds) + "\t" +
            std::to_string(time.times) + "\n";
  }
  return text;
}

bool parse_stage_times(std::string_view text, StageTimes& times) {
  while (!text.empty()) {
    const std::string_view asker = take_field(text, '\t');
    const std::string_view stage = take_field(text, '\t');
    StageTime time;
    const bool is_read = !stage.empty() && take_count(text, '\t', time.nanoseconds) &&
                         take_count(text, '\n', time.times);
    if (!is_read) return false;
    times.add(asker, stage, time);
  }
  return true;
}

StageClock::StageClock(std::string_view stage, bool keeps_spans)
    : previous_(clock_of_thread), since_(monotonic_nanoseconds()), keeps_spans_(keeps_spans) {
  entries_.push_back({"", stage, since_});
  at(entries_.back()).times = 1;
  clock_of_thread = this;
}

StageClock::~StageClock() { clock_of_thread = previous_; }

StageClock* StageClock::of_thread() { return clock_of_thread; }

StageTime& StageClock::at(const Entry& entry) { return sums_[{entry.asker, entry.stage}]; }

std::uint64_t StageClock::settle() {
  const std::uint64_t now = monotonic_nanoseconds();
  at(entries_.back()).nanoseconds += now - since_;
  since_ = now;
  return now;
}

void StageClock::begin(std::string_view asker, std::string_view stage) {
  entries_.push_back({asker, stage, settle()});
  ++at(entries_.back()).times;
}

void StageClock::end() {
  const std::uint64_t now = settle();
  const Entry ended = entries_.back();
  entries_.pop_back();
  const bool is_askers = entries_.empty() || ended.asker != entries_.back().asker;
  if (!keeps_spans_ || !is_askers) return;
  spans_.push_back({std::string(ended.asker), ended.begin_nanoseconds, now, entries_.size()});
}

std::uint64_t StageClock::change(std::string_view stage) {
  const std::uint64_t now = settle();
  Entry& entry = entries_.back();
  entry.stage = stage;
  entry.begin_nanoseconds = now;
  ++at(entry).times;
  return now;
}

StageTimes StageClock::take() {
  (void)settle();
  StageTimes times;
  for (const auto& [key, time] : sums_) times.add(key.first, key.second, time);
  sums_.clear();
  return times;
}

std::vector<StageSpan> StageClock::take_spans() { return std::exchange(spans_, {}); }

}  // namespace graphgate
