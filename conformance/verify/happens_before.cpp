#include "conformance/verify/happens_before.h"

#include <algorithm>
#include <map>

#include "spec/loops.h"

namespace graphgate::verify {
namespace {

using spec::EventId;
using spec::PlanPartition;
using spec::PlanStep;

// A step and the conditionals and loops that it stands in, the outermost first.
std::vector<std::uint32_t> path_of(const Accesses& accesses, std::uint32_t step) {
  std::vector<std::uint32_t> path = {step};
  for (auto around = accesses.places[step].conditional; around;
       around = accesses.places[*around].conditional) {
    path.insert(path.begin(), *around);
  }
  return path;
}

void take_over(std::vector<std::uint32_t>& clock, const std::vector<std::uint32_t>& other) {
  for (std::size_t s = 0; s < clock.size(); ++s) clock[s] = std::max(clock[s], other[s]);
}

}  // namespace

HappensBefore::HappensBefore(const Accesses& accesses)
    : plan_(*accesses.plan),
      accesses_(accesses),
      line_(plan_.steps.size(), 0),
      ordinal_(plan_.steps.size(), 0),
      over_(plan_.steps.size()) {
  for (const spec::PlanBlock& block : plan_.blocks) {
    for (const PlanPartition& partition : block.partitions) {
      if (partition.captured) run_partition(partition);
    }
  }
}

// The latest step of [from, step) that records the event.
std::optional<std::uint32_t> HappensBefore::recorder_of(std::uint32_t step, EventId event,
                                                        std::uint32_t from) const {
  for (std::uint32_t i = step; i-- > from;) {
    const auto& records = plan_.steps[i].records;
    if (std::ranges::find(records, event) != records.end()) return i;
  }
  return std::nullopt;
}

void HappensBefore::run_partition(const PlanPartition& partition) {
  std::map<std::uint32_t, std::uint32_t> lines;  // streams in use, numbered without gaps
  for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) {
    const auto next = static_cast<std::uint32_t>(lines.size());
    line_[i] = lines.try_emplace(plan_.steps[i].stream, next).first->second;
  }
  const std::vector<std::uint32_t> nothing(lines.size(), 0);
  std::vector<std::vector<std::uint32_t>> front(lines.size(), nothing);  // of every one, so far
  std::vector<std::vector<std::uint32_t>> end(partition.end_step - partition.begin_step);
  for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) {
    const PlanStep& step = plan_.steps[i];
    std::vector<std::uint32_t>& clock = front[line_[i]];
    for (const EventId event : step.waits) {
      const auto recorder = recorder_of(i, event, partition.begin_step);
      if (recorder) take_over(clock, end[*recorder - partition.begin_step]);
      if (!recorder) idle_waits_.push_back({i, event, recorder_of(i, event, 0)});
    }
    ordinal_[i] = clock[line_[i]];
    over_[i] = clock;
    ++clock[line_[i]];
    end[i - partition.begin_step] = clock;
  }
}

bool HappensBefore::before(std::uint32_t earlier, std::uint32_t later) const {
  if (accesses_.places[earlier].block == accesses_.places[later].block) {
    return before_in_block(earlier, later);
  }
  const auto a = path_of(accesses_, earlier);
  const auto b = path_of(accesses_, later);
  std::size_t depth = 0;
  while (depth < std::min(a.size(), b.size()) && a[depth] == b[depth]) ++depth;
  // One of them is the conditional that the other stands in, or they are the same step.
  if (depth == a.size() || depth == b.size()) return a.size() < b.size();
  if (accesses_.places[a[depth]].block != accesses_.places[b[depth]].block) {
    // Blocks of one loop run one after the other; of one conditional only one of them does.
    const bool is_loop = depth > 0 && spec::is_loop(plan_.steps[a[depth - 1]].node.op);
    return is_loop && accesses_.position[earlier] < accesses_.position[later];
  }
  return before_in_block(a[depth], b[depth]);
}

bool HappensBefore::before_in_block(std::uint32_t x, std::uint32_t y) const {
  const StepPlace& place_x = accesses_.places[x];
  const StepPlace& place_y = accesses_.places[y];
  if (place_x.partition != place_y.partition) return place_x.partition < place_y.partition;
  if (!plan_.blocks[place_x.block].partitions[place_x.partition].captured) return x < y;
  return over_[y][line_[x]] > ordinal_[x];
}

bool HappensBefore::ordered(std::uint32_t a, std::uint32_t b) const {
  return before(a, b) || before(b, a) || accesses_.are_exclusive(a, b);
}

}  // namespace graphgate::verify
