// A second opinion on the estimate: how far results of the oracle's trials lie apart.
//
// An estimate takes errors as independent. In a trial (reference/trial.h) each error is drawn once
// and goes where it goes, so that one in many terms of a sum, or under a quotient near zero, shows
// what it really does. Trials can clear an executor, never accuse it: radii only grow.
#pragma once

#include <vector>

#include "conformance/run/trace.h"

namespace graphgate::conformance {

// Traces of the oracle's mode "sampled", by option "trial".
struct Trials {
  static constexpr int kPlain = 16;
  static constexpr int kFar = 32;
  static constexpr int kFarScale = 3;
  // Deviations that a judge allows at least.
  static constexpr double kAllowedRadii = 6;
  std::vector<Trace> plain;
  std::vector<Trace> far;  // with errors drawn kFarScale times as large
};

// The oracle's calls with the largest of three radii:
//   - the oracle's own;
//   - the root of the mean square of what lies between its number and those of plain trials, as
//     large as so few trials may have missed it (three standard deviations of such a root);
//   - a sixth of what lies between it and the furthest of the far trials. Of 32 normal numbers the
//     largest lies at two deviations, of theirs at six of the plain ones', as far as a judge allows
//     at least: no more than its own radius where errors go on in proportion, and what functions
//     that bend make of them where they do not.
// A number that is none in some plain trial is left open. A tensor that most trials did not come
// to, or to other sizes, keeps its radii.
[[nodiscard]] std::vector<spec::CallResult> widened_by_trials(const Trace& oracle,
                                                              const Trials& trials);

}  // namespace graphgate::conformance
