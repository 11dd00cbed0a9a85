#include "tools/bench/fuzz_bench.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include "conformance/run/runs.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/generate/features.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "spec/option.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;

constexpr std::uint64_t kBenchSeed = 1;
constexpr std::uint64_t kPoints = 8;
// As in a campaign, sums are handed over now and then.
constexpr std::uint64_t kBatchCases = 32;
static_assert(fuzz::kGenerationCases % kBatchCases == 0);

double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Result<Curve> curve(std::uint64_t seed, std::uint64_t cases, bool is_bred,
                    std::optional<fuzz::Score> target) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(false);
  const fuzz::Alphabet alphabet;
  fuzz::Lineages lineages;
  const auto from = target ? fuzz::BreedFrom::kScores : fuzz::BreedFrom::kFeatures;
  fuzz::ShardGuide guide({seed, from, 1}, {}, lineages);
  std::set<std::uint32_t> seen;
  double score = 0;
  fuzz::Tally tally;
  Curve points;
  const std::uint64_t every = std::max<std::uint64_t>(cases / kPoints, 1);
  const double begin = process_seconds();
  for (std::uint64_t index = 0; index < cases; ++index) {
    const fuzz::Descent descent = is_bred ? guide.descent_of(index) : fuzz::Descent{index, {}};
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(seed, descent), alphabet);
    GRAPHGATE_TRY(const conformance::Script script,
                  conformance::script_of(the_case, fuzz::no_files()));
    conformance::Runs runs(script, *subject, *oracle);
    GRAPHGATE_TRY(const conformance::Trace* const trace, runs.subject());
    fuzz::CaseVerdict verdict;
    verdict.index = index;
    verdict.ancestors = descent.ancestors;
    verdict.features = fuzz::features_of(the_case, *trace, *script.ops);
    if (target) verdict.score = score_of(*target, *trace, {});
    seen.insert(verdict.features.begin(), verdict.features.end());
    score = std::max(score, verdict.score);
    tally.add(verdict);
    if (is_bred && tally.cases == kBatchCases) guide.add(0, std::exchange(tally, {}));
    if ((index + 1) % every == 0) {
      points.push_back({index + 1, seen.size(), score, process_seconds() - begin});
    }
  }
  return points;
}

std::size_t calls_of(const spec::CaseFile& the_case) {
  const auto& steps = the_case.scenario.steps;
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const auto& step) {
    return std::holds_alternative<spec::CallStep>(step);
  }));
}

// As the median of drawn cases is.
bool is_median(const spec::CaseFile& the_case) {
  if (the_case.programs.size() != 1 || calls_of(the_case) != 4) return false;
  const std::size_t nodes = the_case.programs.front().graph.nodes.size();
  return nodes >= 18 && nodes <= 22;
}

// Sums of processor time, by name.
class PartClock {
 public:
  explicit PartClock(JudgeTimes& times) : times_(times) {}
  void begin() { begin_ = process_seconds(); }
  // Since begin(), or since the last part.
  void end(std::string_view part) { add(part, process_seconds() - begin_); }
  // That much of what has gone by.
  void add(std::string_view part, double seconds) {
    const auto is_it = [&](const auto& known) { return known.first == part; };
    auto sum = std::find_if(times_.parts.begin(), times_.parts.end(), is_it);
    if (sum == times_.parts.end()) sum = times_.parts.emplace(sum, part, 0.0);
    sum->second += seconds;
    times_.seconds += seconds;
    begin_ += seconds;
  }

 private:
  JudgeTimes& times_;
  double begin_ = 0;
};

struct Workload {
  bool (*wanted)(const spec::CaseFile& the_case) = nullptr;
  conformance::JudgeSet judges;
};

Result<void> judge_one(const spec::CaseFile& the_case, const Workload& work, PartClock& clock) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(the_case.options.contains(option::kAllowZeroAndOne));
  GRAPHGATE_TRY_VOID(spec::check_case(the_case));
  GRAPHGATE_TRY(const auto script, conformance::script_of(the_case, fuzz::no_files()));
  clock.end("script");
  conformance::Runs runs(script, *subject, *oracle);
  runs.share_runs_with_words();  // as campaigns do
  GRAPHGATE_TRY_VOID(runs.subject());
  clock.end("optimized");
  GRAPHGATE_TRY_VOID(runs.oracle("provenance"));
  clock.end("reference");
  GRAPHGATE_TRY(const auto report, conformance::judge_script(runs, work.judges, {}));
  for (const conformance::JudgeReport& judge : report.judges) {
    clock.add(conformance::judge_name(judge.judge), judge.seconds);
  }
  clock.end("rest");
  return {};
}

// The first `cases` cases of the seed that are wanted.
Result<JudgeTimes> judged_times(std::uint64_t cases, const Workload& work) {
  const fuzz::Alphabet alphabet;
  JudgeTimes times;
  PartClock clock(times);
  for (std::uint64_t index = 0; times.cases < cases; ++index) {
    clock.begin();
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(kBenchSeed, index), alphabet);
    if (!work.wanted(the_case)) continue;
    clock.end("draw");
    ++times.cases;
    for (const spec::Program& program : the_case.programs)
      times.nodes += program.graph.nodes.size();
    times.calls += calls_of(the_case);
    const auto judged = judge_one(the_case, work, clock);
    if (!judged.ok() && judged.error().kind != ErrorKind::kUnsupported) return judged.error();
    clock.end("rest");
  }
  return times;
}

Result<Curves> both_curves(std::uint64_t seed, std::uint64_t cases,
                           std::optional<fuzz::Score> target) {
  Curves curves;
  GRAPHGATE_TRY(curves.blind, curve(seed, cases, false, target));
  GRAPHGATE_TRY(curves.bred, curve(seed, cases, true, target));
  return curves;
}

}  // namespace

DrawTimes measure_drawing(std::uint64_t cases, std::uint64_t checked) {
  DrawTimes times;
  times.cases = cases;
  const fuzz::Alphabet alphabet;
  (void)fuzz::draw_case(fuzz::genes_of(kBenchSeed, 0), alphabet);  // tables are made once
  const double begin = process_seconds();
  for (std::uint64_t index = 0; index < cases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(kBenchSeed, index), alphabet);
    for (const spec::Program& program : the_case.programs)
      times.nodes += program.graph.nodes.size();
  }
  times.draw_seconds = process_seconds() - begin;
  times.checked = checked;
  for (std::uint64_t index = 0; index < checked; ++index) {
    const auto valid =
        spec::check_case(fuzz::draw_case(fuzz::genes_of(kBenchSeed, index), alphabet));
    if (valid.ok()) continue;
    if (times.invalid++ == 0) {
      times.first_complaint = "index " + std::to_string(index) + ": " + valid.error().message;
    }
  }
  return times;
}

Result<JudgeTimes> measure_judging(std::uint64_t cases) {
  GRAPHGATE_TRY(const auto judges, conformance::parse_judges("provenance,verifier"));
  return judged_times(cases, {is_median, judges});
}

Result<JudgeTimes> measure_campaign_cases(std::uint64_t cases) {
  GRAPHGATE_TRY(const auto judges, conformance::parse_judges(fuzz::kQuickJudges));
  return judged_times(cases, {[](const spec::CaseFile&) { return true; }, judges});
}

Result<Curves> measure_features(std::uint64_t seed, std::uint64_t cases) {
  return both_curves(seed, cases, {});
}

Result<Curves> measure_search(std::uint64_t seed, std::uint64_t cases, fuzz::Score target) {
  return both_curves(seed, cases, target);
}

}  // namespace graphgate::tools
