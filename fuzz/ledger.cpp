#include "fuzz/ledger.h"

#include <sstream>

namespace graphgate::fuzz {
namespace {

bool is_expectable(spec::Outcome outcome) {
  return outcome == spec::Outcome::kPass || outcome == spec::Outcome::kFail ||
         outcome == spec::Outcome::kSuspect || outcome == spec::Outcome::kCrash ||
         outcome == spec::Outcome::kTimeout || outcome == spec::Outcome::kFlaky;
}

}  // namespace

Result<Ledger> Ledger::parse(std::string_view text, std::string_view source) {
  Ledger ledger;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto bad = [&](const std::string& what) {
      return bad_input(std::string(source) + ":" + std::to_string(number) + ": " + what);
    };
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name.starts_with('#')) continue;
    std::string outcome_word;
    LedgerEntry entry;
    words >> outcome_word >> entry.issue;
    std::getline(words >> std::ws, entry.note);
    const auto outcome = spec::parse_outcome(outcome_word);
    if (!outcome || !is_expectable(*outcome)) {
      return bad("expected PASS, FAIL, SUSPECT, CRASH, TIMEOUT or FLAKY behind '" + name + "'");
    }
    if (entry.issue.find("://") == std::string::npos) {
      return bad("expected the address of an issue behind '" + name + " " + outcome_word + "'");
    }
    entry.expected = *outcome;
    if (!ledger.entries_.emplace(name, std::move(entry)).second) {
      return bad("'" + name + "' comes twice");
    }
  }
  return ledger;
}

const LedgerEntry* Ledger::find_known(std::string_view finding) const {
  const auto found = entries_.find(finding);
  const bool is_known = found != entries_.end() && found->second.expected != spec::Outcome::kPass;
  return is_known ? &found->second : nullptr;
}

spec::Outcome Ledger::judge(std::string_view finding, spec::Outcome outcome) const {
  const LedgerEntry* known = find_known(finding);
  // A flaky one may pass, and may fail.
  if (!known || (known->expected == spec::Outcome::kFlaky && outcome == spec::Outcome::kPass)) {
    return outcome;
  }
  if (outcome == spec::Outcome::kPass) return spec::Outcome::kXPass;
  return outcome == known->expected || known->expected == spec::Outcome::kFlaky
             ? spec::Outcome::kXFail
             : outcome;
}

}  // namespace graphgate::fuzz
