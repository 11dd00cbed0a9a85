// How likely it is that the next case shows something that no case has shown.
//
// Good and Turing's estimate of what a sample has missed (I. J. Good, Biometrika 1953; for fuzzing:
// M. Boehme, STADS, TOSEM 2018), by leaving one out: the share of cases without which something
// would not have been seen.
#pragma once

#include <cstdint>
#include <optional>

#include "fuzz/campaign/tally.h"

namespace graphgate::fuzz {

struct ResidualRisk {
  std::uint64_t seen = 0;  // kinds
  std::uint64_t once = 0;  // of them, those of exactly one case
  double probability = 1;  // that the next case shows another kind; 1 without cases
  std::optional<double>
      upper_bound;  // which it stays below with 95% confidence, where one is known
};

// Where a case shows one kind at most. The bound is McAllester and Schapire's (COLT 2000) over Good
// and Turing's estimate, for cases that are drawn independently; where nothing was ever seen, it is
// the exact one, 1 - 0.05^(1 / cases).
[[nodiscard]] ResidualRisk residual_risk(std::uint64_t cases, std::uint64_t seen,
                                         std::uint64_t once);
// A case shows many features: what counts are cases that alone show one or more. No bound.
[[nodiscard]] ResidualRisk feature_risk(const Tally& tally);
[[nodiscard]] ResidualRisk signature_risk(const Tally& tally);

}  // namespace graphgate::fuzz
