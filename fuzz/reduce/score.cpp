#include "fuzz/reduce/score.h"
#include "conformance/run/trace.h"

#include <algorithm>
#include <limits>

namespace graphgate::fuzz {
namespace {

constexpr std::string_view kScores[] = {"peak", "reuse-depth", "error"};

std::int64_t peak_of(const spec::Plan& plan) {
  std::int64_t most = 0;
  for (const spec::PlanPool& pool : plan.pools) {
    if (pool.kind == spec::PoolKind::kArena) most = std::max(most, pool.size_bytes);
  }
  return most;
}

// How many buffers of an arena have the first byte of one of them.
std::int64_t reuse_depth_of(const spec::Plan& plan) {
  std::int64_t most = 0;
  for (const spec::PlanBuffer& buffer : plan.buffers) {
    if (plan.pools[buffer.pool.index].kind != spec::PoolKind::kArena) continue;
    std::int64_t depth = 0;
    for (const spec::PlanBuffer& other : plan.buffers) {
      depth += other.pool == buffer.pool && other.size_bytes > 0 &&
               other.offset_bytes <= buffer.offset_bytes &&
               buffer.offset_bytes < other.offset_bytes + other.size_bytes;
    }
    most = std::max(most, depth);
  }
  return most;
}

double worst_ratio_of(const conformance::CaseReport& report) {
  double most = 0;
  for (const conformance::JudgeReport& judge : report.judges) {
    const auto figure = judge.figures.find("worst_ratio");
    if (figure != judge.figures.end() && figure->second > most) most = figure->second;
  }
  return std::min(most, std::numeric_limits<double>::max());
}

}  // namespace

std::string_view score_name(Score score) { return kScores[static_cast<std::size_t>(score)]; }

std::optional<Score> parse_score(std::string_view name) {
  const auto found = std::find(std::begin(kScores), std::end(kScores), name);
  if (found == std::end(kScores)) return std::nullopt;
  return static_cast<Score>(found - std::begin(kScores));
}

double score_of(Score score, const conformance::Trace& trace,
                const conformance::CaseReport& report) {
  if (score == Score::kError) return worst_ratio_of(report);
  std::int64_t most = 0;
  for (const conformance::CallRecord& call : trace.calls) {
    if (!call.plan) continue;
    most = std::max(most, score == Score::kPeak ? peak_of(*call.plan) : reuse_depth_of(*call.plan));
  }
  return static_cast<double>(most);
}

}  // namespace graphgate::fuzz
