// What changed between two golden records, in sentences for a person.
//
//   call 1, output 0: 3 of 8 values changed, by at most 1 ulp (the first from 0x1p+0 to ...)
//   plan 0: buffer $b7: now shares bytes with $b3
//   plan 0: peak 1.2 KiB became 1.4 KiB (+17%)
//   kernels: 2 are new (k_..., k_...)
//
// Plans are compared by spec::diff_plans where both records have their text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "spec/op_table.h"
#include "tools/golden/golden_record.h"

namespace graphgate::tools {

// Empty iff the records are equal but for generator, command and reason. `ops` are those of the
// plans' texts. kBadInput for a stored plan that cannot be read, with its place.
[[nodiscard]] Result<std::vector<std::string>> diff_golden(const GoldenRecord& before,
                                                           const GoldenRecord& after,
                                                           const spec::OpTable& ops);

// What changed between texts whose lines are "KEY: WORDS" or "KEY WORDS": which are new, gone or
// changed, by key; `#` starts a comment. For lines of another form, and where only their order
// changed, how many changed, and the first.
[[nodiscard]] std::vector<std::string> diff_texts(const std::string& before,
                                                  const std::string& after);

}  // namespace graphgate::tools
