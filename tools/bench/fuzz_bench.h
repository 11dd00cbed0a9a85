// How fast cases are drawn and judged, whether all are valid, and how fast features and high scores
// come, blindly and bred: what `graphgate bench fuzz` prints.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fuzz/reduce/score.h"

namespace graphgate::tools {

struct DrawTimes {
  std::uint64_t cases = 0;
  std::uint64_t nodes = 0;    // of all cases
  double draw_seconds = 0;    // processor time: genes and case, freed again
  std::uint64_t checked = 0;  // by spec::check_case
  std::uint64_t invalid = 0;
  std::string first_complaint;
};
[[nodiscard]] DrawTimes measure_drawing(std::uint64_t cases, std::uint64_t checked);

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
// Drawn cases of one program of 18 to 22 nodes and four calls, each in the configuration that it
// asks for: run by the optimized executor and by the reference, then judged by the verifier and by
// provenance. What an executor refuses counts. Errors are those of a case that is no good.
[[nodiscard]] Result<JudgeTimes> measure_judging(std::uint64_t cases);
// All drawn cases, by the judges that a campaign asks of every case.
[[nodiscard]] Result<JudgeTimes> measure_campaign_cases(std::uint64_t cases);

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
// Runs `cases` cases on the optimized executor, twice, without judges. kInfra where one cannot be
// run at all.
[[nodiscard]] Result<Curves> measure_features(std::uint64_t seed, std::uint64_t cases);
// Of a score that plans alone have: any but kError.
[[nodiscard]] Result<Curves> measure_search(std::uint64_t seed, std::uint64_t cases,
                                            fuzz::Score target);

}  // namespace graphgate::tools
