// Findings of a subject that are known before a campaign begins: those of a ledger that ships with
// the subject's adapter. Each has a case that shows it.
//
// A campaign's finding is taken for a known one only where all of this holds:
//
//   - its signature is one that the known finding's case shows (signature.h), without options;
//   - the case that it was reduced to has the features of the known one's: the same ops, each with
//     the same arguments given, and the same dtypes but for float32, int64 and bool;
//   - the known one's case shows that signature on this very subject, in this very look.
//
// Where one fails the finding is new. So a known finding hides no other one that has its signature;
// what it may hide is a fault that takes the same ops, arguments and dtypes, and ends alike.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/case_file.h"

namespace graphgate::fuzz {

// Words as "addmm(alpha,mat1,mat2,self)", "f64": what a case takes to show what it shows.
using CaseFeatures = std::set<std::string>;
[[nodiscard]] CaseFeatures identifying_features(const spec::CaseFile& the_case);

struct KnownCase {
  std::string file;  // for messages
  spec::CaseFile the_case;
};

struct KnownFinding {
  std::string name;
  std::string issue;             // an address, or empty
  std::set<std::string> faults;  // signatures without options: "bounds B1.outside-bound [mm] {}"
  // The first is what the campaign runs again; the others are looks that it has beside it.
  std::vector<KnownCase> cases;
};

// What a finding was held to be.
struct KnownMatch {
  const KnownFinding* finding = nullptr;  // null: it is new
  std::string doubt;                      // of a new one: which known one it is not, and why
};

class KnownFindings {
 public:
  void add(KnownFinding finding);
  [[nodiscard]] const std::vector<KnownFinding>& all() const { return all_; }
  [[nodiscard]] const KnownFinding* find(std::string_view name) const;

  // Whether a finding of this signature may be a known one at all.
  [[nodiscard]] bool has_fault(std::string_view fault) const;
  // Whether a case as drawn has all features of a known one with this signature: what has not is
  // another finding, however it is reduced.
  [[nodiscard]] bool may_be_known(std::string_view fault, const spec::CaseFile& drawn) const;
  // Holds a reduced case against the known ones. `shows` says whether a known case shows the
  // signature on the subject.
  [[nodiscard]] KnownMatch match(
      std::string_view fault, const spec::CaseFile& reduced,
      const std::function<bool(const spec::CaseFile& known)>& shows) const;

 private:
  struct Row {
    std::size_t finding = 0;
    std::size_t number = 0;  // of its case
    CaseFeatures features;
  };
  // Calls `visit` with each row of a finding that has the signature.
  template <class Visit>
  void for_each_row(std::string_view fault, Visit&& visit) const;

  std::vector<KnownFinding> all_;
  std::vector<Row> rows_;
};

}  // namespace graphgate::fuzz
