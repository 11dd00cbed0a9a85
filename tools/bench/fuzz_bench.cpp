// Parts of `graphgate bench fuzz`: how fast cases are drawn and judged, whether all are valid, and
// how fast features and high scores come, blindly and bred.
#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include "conformance/run/runs.h"
#include "fuzz/campaign/campaign_cases.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/generate/features.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "spec/option.h"
#include "tools/bench/report.h"
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

// How many features were seen after so many cases, and after so much processor time; the highest
// score, where one is searched for.
struct CampaignPoint {
  std::uint64_t cases = 0;
  std::size_t features = 0;
  double score = 0;
  double seconds = 0;
};
using Curve = std::vector<CampaignPoint>;
struct Curves {
  Curve blind;
  Curve bred;  // by generations (fuzz/campaign/guide.h): from rare features, or from the highest
               // scores
};

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

// Processor time of cases, one after the other, by what it went to.
struct JudgeTimes {
  std::uint64_t cases = 0;
  std::uint64_t nodes = 0;  // of all cases
  std::uint64_t calls = 0;
  double seconds = 0;
  // "draw", "script", "optimized", "reference" (with words), judges with the runs that each has to
  // make, "rest".
  std::vector<std::pair<std::string, double>> parts;
};

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

Result<void> judge_one(const spec::CaseFile& the_case, std::uint64_t index, const Workload& work,
                       PartClock& clock) {
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
  conformance::JudgeSettings settings;
  settings.localize = false;
  settings.share_runs = true;
  settings.judge_nodes = fuzz::is_picked_for_nodes(kBenchSeed, index);
  GRAPHGATE_TRY(const auto report, conformance::judge_script(runs, work.judges, settings));
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
    const auto judged = judge_one(the_case, index, work, clock);
    if (!judged.ok() && judged.error().kind != ErrorKind::kUnsupported) return judged.error();
    clock.end("rest");
  }
  return times;
}

// Runs `cases` cases on the optimized executor, twice, without judges. kInfra where one cannot be
// run at all. Of scores, any but kError: those that plans alone have.
Result<Curves> both_curves(std::uint64_t seed, std::uint64_t cases,
                           std::optional<fuzz::Score> target) {
  Curves curves;
  GRAPHGATE_TRY(curves.blind, curve(seed, cases, false, target));
  GRAPHGATE_TRY(curves.bred, curve(seed, cases, true, target));
  return curves;
}

struct DrawTimes {
  std::uint64_t cases = 0;
  std::uint64_t nodes = 0;    // of all cases
  double draw_seconds = 0;    // processor time: genes and case, freed again
  std::uint64_t checked = 0;  // by spec::check_case
  std::uint64_t invalid = 0;
  std::string first_complaint;
};
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

// "judge: 512 cases/s (20.1 nodes, 4.0 calls): draw 2%, optimized 31%..."
Json print_judging(std::FILE* page, const char* what, const JudgeTimes& times) {
  const auto cases = static_cast<double>(times.cases);
  std::fprintf(page, "%s: %.0f cases/s, %.1f nodes and %.1f calls a case;", what,
               cases / times.seconds, static_cast<double>(times.nodes) / cases,
               static_cast<double>(times.calls) / cases);
  Json parts = Json::object();
  for (const auto& [name, seconds] : times.parts) {
    std::fprintf(page, " %s %.0f us", name.c_str(), 1e6 * seconds / cases);
    parts[name] = seconds;
  }
  std::fprintf(page, "\n");
  return {{"cases", times.cases}, {"cases_per_second", cases / times.seconds}, {"seconds", parts}};
}

// In eighths; features, or the highest score where one is searched for.
Json print_curve(std::FILE* page, const char* name, const Curve& points,
                 std::optional<fuzz::Score> target) {
  std::fprintf(page, "  %-10s", name);
  Json json = Json::array();
  for (const CampaignPoint& point : points) {
    const double shown = target ? point.score : static_cast<double>(point.features);
    std::fprintf(page, " %.0f (%.1f s)", shown, point.seconds);
    json.push_back({{"cases", point.cases},
                    {"features", point.features},
                    {"score", point.score},
                    {"seconds", point.seconds}});
  }
  std::fprintf(page, "\n");
  return json;
}

constexpr std::uint64_t kCurveSeed = 3;

Json print_curves(std::FILE* page, const std::string& what, const Curves& curves,
                  std::optional<fuzz::Score> target) {
  std::fprintf(page, "%s in eighths of %llu cases, and the processor time\n", what.c_str(),
               static_cast<unsigned long long>(curves.blind.back().cases));
  Json blind = print_curve(page, "blind", curves.blind, target);
  Json bred = print_curve(page, "bred", curves.bred, target);
  return Json{{"blind", std::move(blind)}, {"bred", std::move(bred)}};
}

std::uint64_t curve_cases(const BenchOptions& verb) {
  return std::min<std::uint64_t>(verb.cases, 100'000);
}

}  // namespace

Result<Json> bench_draw(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  const DrawTimes times = measure_drawing(std::min<std::uint64_t>(verb.cases, 100'000), verb.cases);
  const auto cases = static_cast<double>(times.cases);
  std::fprintf(page, "draw: %.0f cases/s, %.1f nodes a case; %llu of %llu cases not valid%s%s\n",
               cases / times.draw_seconds, static_cast<double>(times.nodes) / cases,
               static_cast<unsigned long long>(times.invalid),
               static_cast<unsigned long long>(times.checked), times.invalid > 0 ? ": " : "",
               times.first_complaint.c_str());
  return Json{{"cases_per_second", cases / times.draw_seconds},
              {"nodes_per_case", static_cast<double>(times.nodes) / cases},
              {"checked", times.checked},
              {"invalid", times.invalid}};
}

// First drawn cases of one program of 18 to 22 nodes and four calls, each in the configuration that
// it asks for: run by the optimized executor and by the reference, then judged by the verifier and
// by provenance. Then all drawn cases, by the judges that a campaign asks of every case. What an
// executor refuses counts.
Result<Json> bench_judging(const BenchOptions& verb) {
  GRAPHGATE_TRY(const auto two, conformance::parse_judges("provenance,verifier"));
  GRAPHGATE_TRY(const JudgeTimes median, judged_times(verb.cases, {is_median, two}));
  Json json = {{"median", print_judging(page_of(verb), "judge, median case", median)}};
  GRAPHGATE_TRY(const auto quick, conformance::parse_judges(fuzz::kQuickJudges));
  const auto is_any = [](const spec::CaseFile&) { return true; };
  GRAPHGATE_TRY(const JudgeTimes campaign, judged_times(verb.cases, {is_any, quick}));
  json["campaign"] = print_judging(page_of(verb), "judge, as a campaign", campaign);
  return json;
}

Result<Json> bench_features(const BenchOptions& verb) {
  GRAPHGATE_TRY(const Curves curves, both_curves(kCurveSeed, curve_cases(verb), {}));
  return print_curves(page_of(verb), "features: seen", curves, {});
}

Result<Json> bench_search(const BenchOptions& verb) {
  Json json;
  for (const auto target : {fuzz::Score::kPeak, fuzz::Score::kReuseDepth}) {
    const std::string name(fuzz::score_name(target));
    GRAPHGATE_TRY(const Curves curves, both_curves(kCurveSeed, curve_cases(verb), target));
    json[name] = print_curves(page_of(verb), "search: highest " + name, curves, target);
  }
  return json;
}

}  // namespace graphgate::tools
