#include "spec/outcome.h"

#include <array>

namespace graphgate::spec {
namespace {

constexpr std::array<std::string_view, kOutcomeCount> kNames = {
    "PASS",    "FAIL",  "SUSPECT", "UNDECIDED", "MISTRUSTED", "UNSUPPORTED",
    "TIMEOUT", "CRASH", "FLAKY",   "XFAIL",     "XPASS",      "INFRA"};

}  // namespace

std::string_view outcome_name(Outcome outcome) { return kNames[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> parse_outcome(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

}  // namespace graphgate::spec
