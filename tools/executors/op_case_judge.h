// Recorded single-op calls through the reference, tallied.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/op_table.h"

namespace graphgate::tools {

// What the cases of one op came to.
struct OpTally {
  std::string family;  // the reference's family; empty when it has no body
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;           // the reference or the executor cannot run it
  std::string reason;                 // why the first of them is skipped
  std::vector<std::string> failures;  // one line each, the first few
  std::vector<double> ratios;         // |error| / bound, of recorded tensors with an error
};

struct OpCasesReport {
  std::map<std::string, OpTally> by_op;
};

struct OpCasesRequest {
  std::string file;
  std::string pattern;                 // only ops whose name contains it
  std::size_t failures_kept = 20;      // per op
  std::string executor = "reference";  // who is under test (subject.h)
};

// Judges every requested case: PyTorch's recorded result and the executor's must both lie within
// the worst-case bound of the op's declared arithmetic, with the recorded geometry.
[[nodiscard]] Result<OpCasesReport> judge_op_cases(const OpCasesRequest& request,
                                                   const spec::OpTable& ops);

// The middle of the values, 0 for none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace graphgate::tools
