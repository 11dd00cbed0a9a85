// How hard a case is, for `graphgate fuzz --target`: the search goes toward larger numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "conformance/judges/judge.h"
#include "conformance/run/trace.h"

namespace graphgate::fuzz {

enum class Score : std::uint8_t {
  kPeak,        // bytes of the largest arena
  kReuseDepth,  // tenants of the byte that has the most, one after the other
  kError,       // the worst error, as a share of what is allowed (of the judge bounds)
};
// "peak", "reuse-depth", "error".
[[nodiscard]] std::string_view score_name(Score score);
[[nodiscard]] std::optional<Score> parse_score(std::string_view name);

// Finite, and 0 where the case has nothing of it: no plan, no judge bounds in the report.
[[nodiscard]] double score_of(Score score, const conformance::Trace& trace,
                              const conformance::CaseReport& report);

}  // namespace graphgate::fuzz
