// What a run of a case comes to. Judges report these, case files expect them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace graphgate::spec {

enum class Outcome : std::uint8_t {
  kPass,
  kFail,         // a difference that the judge proves
  kSuspect,      // a difference outside an error estimate; alone, the run is inconclusive
  kUndecided,    // a tie that no executor can be held to
  kMistrusted,   // the case cannot fail: its outputs do not depend on its inputs
  kUnsupported,  // an executor cannot run it, and says why
  kTimeout,
  kCrash,
  kFlaky,  // differs from run to run
  kXFail,  // fails as expected
  kXPass,  // passes though a failure was expected; counts as a failure
  kInfra,  // disk, device or process trouble
};
inline constexpr int kOutcomeCount = 12;

// "PASS", "XFAIL", ...
[[nodiscard]] std::string_view outcome_name(Outcome outcome);
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view name);

}  // namespace graphgate::spec
