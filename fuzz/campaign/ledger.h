// The ledger: findings that are known, and the issues that tell of them.
//
//   # One line for each. What stands behind the address is for people.
//   provenance-V6.order-3f2a9c0d5e71 FAIL https://example.org/issues/12 reads before the copy
//   crash-SIGSEGV-90ab12cd34ef CRASH https://example.org/issues/15
//   verifier-V3.overlap-0123456789ab PASS https://example.org/issues/9 fixed
//
// A known finding is told of, and is no failure. A known finding whose stored case passes is one:
// the line is out of date, or the case has gone blind. PASS says that it was fixed: then the
// finding counts as new again.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "spec/outcome.h"

namespace graphgate::fuzz {

struct LedgerEntry {
  spec::Outcome expected = spec::Outcome::kFail;
  std::string issue;
  std::string note;
};

// By the finding's name (corpus.h).
class Ledger {
 public:
  // kBadInput with the line: names that come twice, outcomes that no finding has, a missing issue.
  [[nodiscard]] static Result<Ledger> parse(std::string_view text, std::string_view source);

  // Null for what is not known, and for what is said to be fixed.
  [[nodiscard]] const LedgerEntry* find_known(std::string_view finding) const;
  // XFAIL for an expected failure, XPASS for a pass where a failure is expected, else `outcome`.
  [[nodiscard]] spec::Outcome judge(std::string_view finding, spec::Outcome outcome) const;
  [[nodiscard]] const std::map<std::string, LedgerEntry, std::less<>>& entries() const {
    return entries_;
  }

 private:
  std::map<std::string, LedgerEntry, std::less<>> entries_;
};

}  // namespace graphgate::fuzz
