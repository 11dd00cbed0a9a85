#include "fuzz/campaign/ledger.h"

#include "fuzz/campaign/named_lines.h"

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
  const auto take = [&](const std::string& name, std::istringstream& words) -> Result<void> {
    std::string outcome_word;
    LedgerEntry entry;
    words >> outcome_word >> entry.issue;
    std::getline(words >> std::ws, entry.note);
    const auto outcome = spec::parse_outcome(outcome_word);
    if (!outcome || !is_expectable(*outcome)) {
      return bad_input("expected PASS, FAIL, SUSPECT, CRASH, TIMEOUT or FLAKY behind '" + name +
                       "'");
    }
    std::string words_before = name;
    words_before += ' ';
    words_before += outcome_word;
    GRAPHGATE_TRY_VOID(expect_address(entry.issue, words_before));
    entry.expected = *outcome;
    ledger.entries_.emplace(name, std::move(entry));
    return {};
  };
  GRAPHGATE_TRY_VOID(read_named_lines(text, source, take));
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
