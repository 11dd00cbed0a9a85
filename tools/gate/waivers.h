// Waivers: findings that a gate lets pass for a while, each with an issue and a last day.
//
//   # One line for each. What stands behind the day is for people.
//   verifier-V3.overlap-3f2a9c0d5e71 https://example.org/issues/12 2027-01-31 until 2.12 is out
//
// A waived finding is told of and does not fail the gate. A waiver that is out of date does not
// count; one whose finding has gone is an unexpected pass, and fails the gate until it is taken
// out.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace graphgate::tools {

struct Waiver {
  std::string issue;
  std::string last_day;  // "2027-01-31", the day itself included
  std::string note;

  // Days are compared as text: "2026-11-22".
  [[nodiscard]] bool holds_on(std::string_view day) const { return day <= last_day; }
};

// By the finding's name (GateRow::name). kBadInput with the line: names that come twice, a missing
// address, what is no day.
using Waivers = std::map<std::string, Waiver, std::less<>>;
[[nodiscard]] Result<Waivers> parse_waivers(std::string_view text, std::string_view source);

// The machine's day in UTC, "2026-11-22".
[[nodiscard]] std::string today();

}  // namespace graphgate::tools
