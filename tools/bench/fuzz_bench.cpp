#include "tools/bench/fuzz_bench.h"

#include <ctime>
#include <set>

#include "fuzz/features.h"
#include "fuzz/feedback.h"
#include "fuzz/generator.h"
#include "fuzz/judge_case.h"
#include "tools/executor_sources.h"

namespace graphgate::tools {
namespace {

constexpr std::uint64_t kBenchSeed = 1;
constexpr std::uint64_t kPoints = 8;

double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Result<std::vector<FeaturePoint>> curve(std::uint64_t seed, std::uint64_t cases, bool feeds_back) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(false);
  fuzz::Feedback feedback{fuzz::Alphabet()};
  fuzz::GenePool pool(seed);
  conformance::SplitMix64 coin(seed);
  std::set<std::uint32_t> seen;
  std::vector<FeaturePoint> points;
  const std::uint64_t every = std::max<std::uint64_t>(cases / kPoints, 1);
  const double begin = process_seconds();
  for (std::uint64_t index = 0; index < cases; ++index) {
    const bool changes = feeds_back && !pool.empty() && coin.next() % 2 == 0;
    const fuzz::GeneVector genes = changes ? pool.next() : fuzz::genes_of(seed, index);
    const spec::CaseFile the_case = fuzz::draw_case(genes, feedback.alphabet());
    GRAPHGATE_TRY(const conformance::Script script,
                  conformance::script_of(the_case, fuzz::no_files()));
    conformance::Runs runs(script, *subject, *oracle);
    GRAPHGATE_TRY(const conformance::Trace* const trace, runs.subject());
    std::size_t novel = 0;
    for (const std::uint32_t feature : fuzz::features_of(the_case, *trace, *script.ops)) {
      novel += seen.insert(feature).second ? 1 : 0;
    }
    if (feeds_back) {
      feedback.note(the_case, novel);
      if (novel > 0)
        pool.offer(genes, static_cast<double>(novel) + 1e-3 * static_cast<double>(index));
    }
    if ((index + 1) % every == 0) {
      points.push_back({index + 1, seen.size(), process_seconds() - begin});
    }
  }
  return points;
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

Result<FeatureCurves> measure_features(std::uint64_t seed, std::uint64_t cases) {
  FeatureCurves curves;
  GRAPHGATE_TRY(curves.blind, curve(seed, cases, false));
  GRAPHGATE_TRY(curves.feedback, curve(seed, cases, true));
  return curves;
}

}  // namespace graphgate::tools
