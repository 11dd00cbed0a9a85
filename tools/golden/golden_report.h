// What golden check and golden update came to, as a report.
#pragma once

#include <vector>

#include "tools/golden/golden_run.h"
#include "tools/report/report.h"

namespace graphgate::tools {

// An item for each record and whole text. Of a check, one that is changed, new, stale or refused
// has failed. Of an update, it is one that a judge objects to, or that could not be run.
[[nodiscard]] Report report_of(const std::vector<GoldenItem>& items, bool is_update);

}  // namespace graphgate::tools
