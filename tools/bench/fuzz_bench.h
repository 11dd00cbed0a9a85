// How fast cases are drawn, whether all are valid, and how fast features come, blindly and with
// feedback: what `graphgate bench fuzz` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/result.h"

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

// How many features were seen after so many cases, and after so much processor time.
struct FeaturePoint {
  std::uint64_t cases = 0;
  std::size_t features = 0;
  double seconds = 0;
};
struct FeatureCurves {
  std::vector<FeaturePoint> blind;     // genes of seeds, the usual alphabet
  std::vector<FeaturePoint> feedback;  // half of the genes from a pool, weights by what was new
};
// Runs `cases` cases on the optimized executor, twice. kInfra where one cannot be run at all.
[[nodiscard]] Result<FeatureCurves> measure_features(std::uint64_t seed, std::uint64_t cases);

}  // namespace graphgate::tools
