// GoogleTest's side of the kit: matchers of engines, which fail with the judges' words and the
// case.
//
//   EXPECT_THAT(kEngine, ConformsTo(program));
//   EXPECT_THAT(kEngine, ConformsOn(the_case));
//   EXPECT_THAT(kEngine, ConformsOnFile("regressions/relu.case"));
//
// A case that nobody can judge does not match: a test that compares nothing must not pass. The
// project that includes this links GTest::gmock.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>

#include "tools/kit/drawn_case.h"
#include "tools/kit/verdict.h"

namespace graphgate::kit {

// Matches an engine that conforms on one case, or on none where there was an error.
class ConformanceMatcher {
 public:
  using is_gtest_matcher = void;
  explicit ConformanceMatcher(Result<spec::CaseFile> the_case) : case_(std::move(the_case)) {}

  bool MatchAndExplain(const Engine& engine, std::ostream* out) const {
    if (!case_.ok()) {
      if (out) *out << "which was not judged: " << case_.error().message;
      return false;
    }
    const Verdict verdict = judge(engine, case_.value());
    if (out) *out << "which comes to " << verdict.words;
    return verdict.kind == Verdict::Kind::kConforms;
  }
  void DescribeTo(std::ostream* out) const { *out << "conforms on" << text(); }
  void DescribeNegationTo(std::ostream* out) const { *out << "does not conform on" << text(); }

 private:
  [[nodiscard]] std::string text() const {
    if (!case_.ok()) return " a case";
    const auto text = spec::print_case(case_.value());
    return " the case\n" + (text.ok() ? text.value() : text.error().message);
  }
  Result<spec::CaseFile> case_;
};

// Matches an engine that does on this case what it should.
inline ConformanceMatcher ConformsOn(spec::CaseFile the_case) {
  return ConformanceMatcher(std::move(the_case));
}
inline ConformanceMatcher ConformsOn(const DrawnCase& drawn) { return ConformsOn(drawn.the_case); }
// Matches it on the case in this file.
inline ConformanceMatcher ConformsOnFile(const std::string& path) {
  return ConformanceMatcher(read_case(path));
}
// Matches an engine that computes what the program says, in so many calls of drawn data.
inline ConformanceMatcher ConformsTo(const spec::Program& program, int calls = 2,
                                     std::uint64_t seed = 1) {
  return ConformanceMatcher(case_of(program, calls, seed));
}

}  // namespace graphgate::kit
