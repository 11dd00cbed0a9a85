// The ops of a case, without a copy of the builtin table.
//
// A table has some thousand names. Code that looks at many cases (campaigns, the reducer) asks for
// the same one again and again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spec/case_file.h"

namespace graphgate::spec {

// What case_ops gives: the builtin table itself for a case without ops of its own. For others a
// thread keeps the tables of the 32 sets of rows that it asked for latest.
[[nodiscard]] Result<std::shared_ptr<const OpTable>> shared_case_ops(
    const CaseFile& the_case, const std::vector<std::string>& replacements = {});

}  // namespace graphgate::spec
