#include "fuzz/campaign/residual_risk.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace graphgate::fuzz {
namespace {

constexpr double kError = 0.05;  // one minus the confidence

template <class Counts>
std::uint64_t once_in(const Counts& counts) {
  return static_cast<std::uint64_t>(std::count_if(
      counts.begin(), counts.end(), [](const auto& row) { return row.second.cases == 1; }));
}

}  // namespace

ResidualRisk residual_risk(std::uint64_t cases, std::uint64_t seen, std::uint64_t once) {
  ResidualRisk risk{seen, once, 1, 1.0};
  if (cases == 0) return risk;
  const auto n = static_cast<double>(cases);
  risk.probability = static_cast<double>(once) / n;
  if (seen == 0) {
    risk.upper_bound = 1 - std::pow(kError, 1 / n);
    return risk;
  }
  const double deviation =
      (2 * std::sqrt(2.0) + std::sqrt(3.0)) * std::sqrt(std::log(3 / kError) / n);
  risk.upper_bound = std::min(1.0, risk.probability + deviation);
  return risk;
}

ResidualRisk feature_risk(const Tally& tally) {
  ResidualRisk risk{tally.features.size(), once_in(tally.features), 1, {}};
  std::set<std::uint64_t> alone;
  for (const auto& [feature, count] : tally.features) {
    if (count.cases == 1) alone.insert(count.first);
  }
  const auto cases = static_cast<double>(tally.cases);
  if (tally.cases > 0) risk.probability = static_cast<double>(alone.size()) / cases;
  return risk;
}

ResidualRisk signature_risk(const Tally& tally) {
  return residual_risk(tally.cases, tally.signatures.size(), once_in(tally.signatures));
}

}  // namespace graphgate::fuzz
