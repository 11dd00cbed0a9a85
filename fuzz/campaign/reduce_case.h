// A case that fails, made as small as it gets: what `graphgate reduce` and the bench of the reducer
// do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign/case_runs.h"
#include "fuzz/reduce/reducer.h"

namespace graphgate::fuzz {

struct ReduceRequest {
  spec::CaseFile the_case;  // with all options it is to be judged under
  JudgeChoice choice;
  std::optional<Signature> signature;  // to be kept; absent: the one that stands for the case
  // Says instead of the judges whether a candidate is interesting.
  std::function<Result<bool>(const spec::CaseFile&)> external;
  std::vector<std::string> header;  // lines of the reduced case behind its signature
  ReduceLimits limits;
  Isolation isolation;  // what ends the process is always looked at in isolation
};

struct ReducedCase {
  Reduced reduced;  // its header tells the signature
  // What is kept, with the options that are left; nothing with an external check.
  std::optional<Signature> signature;
};

// kBadInput where the case shows nothing, or not the signature that was asked for, or the external
// check does not find it interesting. Where `limits.should_stop` ends it, what there is so far is
// taken; kInfrastructure where that is nothing. `isolation` is asked the same.
[[nodiscard]] Result<ReducedCase> reduce_case(const ReduceRequest& request,
                                              const CaseExecutors& executors);

// A program as a case: `calls` calls at its traced sizes and others, all data drawn from `seed`.
[[nodiscard]] Result<spec::CaseFile> case_of_program(const spec::Program& program, int calls,
                                                     std::uint64_t seed);
// The same with the program's own tensors and recorded inputs.
[[nodiscard]] spec::CaseFile case_of_recording(
    const spec::Program& program, const std::vector<conformance::ExpectedCall>& recorded);

// The header line that a stored case keeps its signature in, and its value in a case that has one.
[[nodiscard]] std::string signature_line(const Signature& signature);
[[nodiscard]] Result<std::optional<Signature>> stored_signature(const spec::CaseFile& the_case);

// The executor under test where a case was found: a command, and assignments of sh for its
// environment.
struct FoundIn {
  std::string executor;     // empty: the optimized executor
  std::string environment;  // may be empty
};
// The header lines that a stored case keeps it in; none of the optimized executor.
[[nodiscard]] std::vector<std::string> found_in_lines(const FoundIn& found);
// What they say in a case; nothing in one that has none. kBadInput for lines that cannot be read.
[[nodiscard]] Result<std::optional<FoundIn>> stored_found_in(const spec::CaseFile& the_case);

}  // namespace graphgate::fuzz
