#include "tools/gate/run_sides.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>

#include "base/child_processes.h"

namespace graphgate::tools {
namespace {

using Clock = std::chrono::steady_clock;

// A process of PyTorch's takes seconds to start, and as long to compile a case.
constexpr std::size_t kCasesOfProcess = 8;
constexpr int kTickMilliseconds = 50;

struct Look {
  std::size_t input = 0;
  std::size_t side = 0;
};
using Series = std::vector<Look>;  // of one process, one after another

class SidesRun {
 public:
  SidesRun(const std::vector<SideExecutor>& sides, const std::vector<GateInput>& inputs,
           const SideOptions& options, const CaseDone& done)
      : sides_(sides),
        inputs_(inputs),
        options_(options),
        done_(done),
        pool_(pool_options(sides, options)),
        cases_(inputs.size()) {
    const bool has_process = std::any_of(sides.begin(), sides.end(), is_process);
    const std::size_t share = has_process ? share_of(inputs.size()) : 1;
    for (std::size_t begin = 0; begin < inputs.size(); begin += share) {
      queue_cases(begin, std::min(begin + share, inputs.size()), has_process);
    }
  }

  Result<void> run() {
    while (!queue_.empty() || pool_.running() > 0) {
      if (options_.should_stop && options_.should_stop()) {
        (void)pool_.kill_all();
        return {};
      }
      GRAPHGATE_TRY_VOID(start_waiting());
      const auto ended = pool_.wait(kTickMilliseconds);
      for (const auto& [number, text] : pool_.take_news()) GRAPHGATE_TRY_VOID(hear(number, text));
      for (const auto& [number, child] : ended) GRAPHGATE_TRY_VOID(end(number, child));
      tell_work();
    }
    return {};
  }

 private:
  // A process of ours at its series.
  struct Work {
    Series series;
    std::size_t heard = 0;  // looks that it has told of
    Clock::time_point since;
    std::size_t place = 0;  // among those that work at a time
  };
  struct CaseState {
    std::map<std::size_t, GateCase> sides;
    std::size_t waiting = 0;     // looks that have not ended
    std::size_t time_looks = 1;  // at each side, also of those since one side took longer
  };

  static bool is_process(const SideExecutor& side) { return side.subject->is_process(); }

  static ChildOptions pool_options(const std::vector<SideExecutor>& sides,
                                   const SideOptions& options) {
    const auto processes = std::count_if(sides.begin(), sides.end(), is_process);
    const bool is_mixed = processes > 0 && static_cast<std::size_t>(processes) < sides.size();
    // A look in a process of its own below the worker is ended by that, and told of.
    constexpr std::uint32_t kLaterSeconds = 10;
    ChildOptions pool;
    pool.timeout_seconds = options.timeout_seconds + (is_mixed ? kLaterSeconds : 0);
    return pool;
  }

  [[nodiscard]] std::size_t share_of(std::size_t count) const {
    const auto jobs = static_cast<std::size_t>(std::max(options_.jobs, 1));
    return std::clamp<std::size_t>((count + jobs - 1) / jobs, 1, kCasesOfProcess);
  }

  void queue_cases(std::size_t begin, std::size_t end, bool is_together) {
    Series series;
    for (std::size_t input = begin; input < end; ++input) {
      cases_[input].waiting = sides_.size();
      for (std::size_t side = 0; side < sides_.size(); ++side) {
        series.push_back({input, side});
        if (!is_together) queue_.push_back(std::exchange(series, {}));
      }
    }
    if (is_together) queue_.push_back(std::move(series));
  }

  Result<void> start_waiting() {
    const auto jobs = static_cast<std::size_t>(std::max(options_.jobs, 1));
    while (!queue_.empty() && pool_.running() < jobs) {
      const Series series = queue_.front();
      const std::size_t number = started_++;
      const auto started = pool_.start_series(number, [&](const ChildPool::HandBack& hand_back) {
        for (const Look& look : series) {
          const Result<GateCase> looked = look_now(look, series.size() == 1);
          hand_back(look_text(looked));
          // What it shows is looked at again before the rest.
          if (!looked.ok() || !looked.value().findings.empty()) return;
        }
      });
      if (!started.ok() && pool_.running() == 0) return started.error();
      if (!started.ok()) break;  // later, when one has ended
      work_[number] = {series, 0, Clock::now(), free_place()};
      queue_.pop_front();
    }
    return {};
  }

  [[nodiscard]] std::size_t free_place() const {
    std::size_t place = 0;
    const auto is_taken = [&](const auto& one) { return one.second.place == place; };
    while (std::any_of(work_.begin(), work_.end(), is_taken)) ++place;
    return place;
  }

  // In a worker. An executor that is built in has a process to itself, which it may end.
  [[nodiscard]] Result<GateCase> look_now(const Look& look, bool is_alone) const {
    const GateInput& input = inputs_[look.input];
    const SideExecutor& side = sides_[look.side];
    if (is_process(side) || is_alone) return look_at(input, side, options_.look);
    ChildOptions options;
    options.timeout_seconds = options_.timeout_seconds;
    GRAPHGATE_TRY(const auto children, run_children(1, options, [&](std::size_t) {
                    return look_text(look_at(input, side, options_.look));
                  }));
    return look_of(input, side, children.front());
  }

  Result<void> hear(std::size_t number, const std::string& text) {
    ChildResult child;
    child.output = text;
    return take_next(number, child);
  }

  // What the process handed back last; the look that it was at ended as the process did. One that
  // returned has told of something, and leaves the rest.
  Result<void> end(std::size_t number, const ChildResult& child) {
    const std::vector<std::string> texts = take_texts(child.output);
    for (std::size_t i = work_[number].heard; i < texts.size(); ++i) {
      GRAPHGATE_TRY_VOID(hear(number, texts[i]));
    }
    const bool is_over = child.ending == ChildEnding::kExited && work_[number].heard > 0;
    if (!is_over && work_[number].heard < work_[number].series.size()) {
      ChildResult ending = child;
      ending.output.clear();
      GRAPHGATE_TRY_VOID(take_next(number, ending));
      if (options_.killed) options_.killed();
    }
    const Work work = std::move(work_[number]);
    work_.erase(number);
    const auto left = work.series.begin() + static_cast<std::ptrdiff_t>(work.heard);
    if (left != work.series.end()) queue_.emplace_front(left, work.series.end());
    return {};
  }

  Result<void> take_next(std::size_t number, ChildResult child) {
    Work& work = work_[number];
    const Look look = work.series[work.heard++];
    const auto now = Clock::now();
    child.seconds = std::chrono::duration<double>(now - std::exchange(work.since, now)).count();
    GRAPHGATE_TRY(const GateCase one, look_of(inputs_[look.input], sides_[look.side], child));
    if (options_.looked) {
      options_.looked({look.input, look.side, work.place, child.seconds, &one});
    }
    return take(look, one);
  }

  Result<void> take(const Look& look, const GateCase& one) {
    CaseState& state = cases_[look.input];
    --state.waiting;
    const auto [found, is_first] = state.sides.emplace(look.side, one);
    if (!is_first) merge_look(one, found->second);
    if (is_first && !one.findings.empty()) look_again(look.input, {look.side}, options_.reruns);
    if (state.waiting > 0 || state.sides.size() < sides_.size()) return {};
    if (options_.reruns > 0 && state.time_looks < kTimeLooks) {
      ++state.time_looks;
      look_again(look.input, slower_sides(state), 1);
    }
    if (state.waiting > 0) return {};
    std::vector<GateCase> cases;
    cases.reserve(state.sides.size());
    for (auto& [side, each] : state.sides) cases.push_back(std::move(each));
    state.sides.clear();
    return done_(inputs_[look.input], std::move(cases));
  }

  // Sides that take longer than the first, behind the first; empty where none does.
  [[nodiscard]] std::vector<std::size_t> slower_sides(const CaseState& state) const {
    std::vector<std::size_t> sides = {0};
    const GateCase& first = state.sides.at(0);
    for (std::size_t side = 1; side < sides_.size(); ++side) {
      const GateCase& other = state.sides.at(side);
      const bool are_clean = first.findings.empty() && other.findings.empty();
      const bool is_late = seems_slower(other, first, options_.time_threshold);
      if (are_clean && is_late) sides.push_back(side);
    }
    return sides.size() == 1 ? std::vector<std::size_t>() : sides;
  }

  // Before what waits, so that a case is done soon. Looks at several sides go in turns.
  void look_again(std::size_t input, const std::vector<std::size_t>& sides, int times) {
    for (int time = 0; time < times; ++time) {
      for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
        queue_.push_front({{input, *side}});
        ++cases_[input].waiting;
      }
    }
  }

  void tell_work() const {
    if (!options_.tick) return;
    std::vector<LookInWork> in_work;
    for (const auto& [number, work] : work_) {
      if (work.heard == work.series.size()) continue;
      const Look& look = work.series[work.heard];
      in_work.push_back({look.input, look.side,
                         std::chrono::duration<double>(Clock::now() - work.since).count()});
    }
    options_.tick(in_work);
  }

  const std::vector<SideExecutor>& sides_;
  const std::vector<GateInput>& inputs_;
  const SideOptions& options_;
  const CaseDone& done_;
  ChildPool pool_;
  std::vector<CaseState> cases_;
  std::deque<Series> queue_;
  std::map<std::size_t, Work> work_;  // by their numbers
  std::size_t started_ = 0;
};

}  // namespace

Result<void> run_sides(const std::vector<SideExecutor>& sides, const std::vector<GateInput>& inputs,
                       const SideOptions& options, const CaseDone& done) {
  if (sides.empty()) return {};
  return SidesRun(sides, inputs, options, done).run();
}

}  // namespace graphgate::tools
