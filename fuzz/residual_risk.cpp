#include "fuzz/residual_risk.h"

#include <algorithm>
#include <cmath>

namespace graphgate::fuzz {
namespace {

constexpr double kError = 0.05;  // one minus the confidence

template <class Counts>
ResidualRisk risk_of(const Tally& tally, const Counts& counts) {
  const auto once = std::count_if(counts.begin(), counts.end(),
                                  [](const auto& row) { return row.second.cases == 1; });
  return residual_risk(tally.cases, counts.size(), static_cast<std::uint64_t>(once));
}

}  // namespace

ResidualRisk residual_risk(std::uint64_t cases, std::uint64_t seen, std::uint64_t once) {
  ResidualRisk risk{seen, once, 1, 1};
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

ResidualRisk feature_risk(const Tally& tally) { return risk_of(tally, tally.features); }

ResidualRisk signature_risk(const Tally& tally) { return risk_of(tally, tally.signatures); }

}  // namespace graphgate::fuzz
