#include "conformance/run/trials.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graphgate::conformance {
namespace {

// The spreads of one result, in one order.
template <class Result>
auto spreads_of(Result& result) {
  std::vector<decltype(result.output_spreads.data())> out;
  for (auto* spreads :
       {&result.output_spreads, &result.final_input_spreads, &result.final_state_spreads}) {
    for (auto& spread : *spreads) out.push_back(&spread);
  }
  return out;
}

// What one tensor is in trials that came to as many elements.
std::vector<const spec::Spread*> same_tensor(const std::vector<Trace>& trials, std::size_t call,
                                             std::size_t index, std::size_t elements) {
  std::vector<const spec::Spread*> out;
  for (const Trace& trial : trials) {
    if (call >= trial.calls.size()) continue;
    const auto spreads = spreads_of(trial.calls[call].result);
    if (index >= spreads.size() || spreads[index]->values.size() != elements) continue;
    out.push_back(spreads[index]);
  }
  return 2 * out.size() > trials.size() ? out : std::vector<const spec::Spread*>();
}

double away(const spec::Spread& trial, const spec::Spread& spread, std::size_t i) {
  return static_cast<double>(std::fabs(trial.values[i] - spread.values[i]));
}

double radius_of_plain(const std::vector<const spec::Spread*>& trials, const spec::Spread& spread,
                       std::size_t i) {
  if (trials.empty()) return 0;
  const auto count = static_cast<double>(trials.size());
  double squares = 0;
  for (const spec::Spread* trial : trials) {
    const double distance = away(*trial, spread, i);
    if (!std::isfinite(distance)) return std::numeric_limits<double>::infinity();
    squares += distance * distance;
  }
  return (1 + 3 / std::sqrt(2 * count)) * std::sqrt(squares / count);
}

double radius_of_far(const std::vector<const spec::Spread*>& trials, const spec::Spread& spread,
                     std::size_t i) {
  double furthest = 0;
  for (const spec::Spread* trial : trials) {
    const double distance = away(*trial, spread, i);
    if (std::isfinite(distance)) furthest = std::max(furthest, distance);
  }
  return furthest / Trials::kAllowedRadii;
}

}  // namespace

std::vector<spec::CallResult> widened_by_trials(const Trace& oracle, const Trials& trials) {
  std::vector<spec::CallResult> out;
  for (std::size_t c = 0; c < oracle.calls.size(); ++c) {
    const auto spreads = spreads_of(out.emplace_back(oracle.calls[c].result));
    for (std::size_t s = 0; s < spreads.size(); ++s) {
      spec::Spread& spread = *spreads[s];
      const auto plain = same_tensor(trials.plain, c, s, spread.values.size());
      const auto far = same_tensor(trials.far, c, s, spread.values.size());
      for (std::size_t i = 0; i < spread.values.size(); ++i) {
        if (!std::isfinite(spread.values[i]) || spread.radii[i] == 0) continue;
        spread.radii[i] = std::max(
            {spread.radii[i], radius_of_plain(plain, spread, i), radius_of_far(far, spread, i)});
      }
    }
  }
  return out;
}

}  // namespace graphgate::conformance
