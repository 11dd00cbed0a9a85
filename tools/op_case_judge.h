// Recorded single-op calls through the reference, tallied.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/op_table.h"
#include "spec/result.h"

namespace graphgate::tools {

// What the cases of one op came to.
struct OpTally {
  std::string family;  // the reference's family; empty when it has no body
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;           // the reference has no body for the op
  std::vector<std::string> failures;  // one line each, the first few
  std::vector<double> ratios;         // |error| / bound, of recorded tensors with an error
};

struct OpCasesReport {
  std::map<std::string, OpTally> by_op;
};

// Judges every case of `file` whose op contains `pattern`: PyTorch's recorded result and the
// reference's eager result must both lie within the worst-case bound of the op's declared
// arithmetic, with the recorded geometry. Keeps `failures_kept` failures per op.
[[nodiscard]] Result<OpCasesReport> judge_op_cases(const std::string& file,
                                                   const std::string& pattern,
                                                   std::size_t failures_kept,
                                                   const spec::OpTable& ops);

// The middle of the values, 0 for none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace graphgate::tools
