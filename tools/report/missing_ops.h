// Counting what a run could not compare by the ops that somebody lacks (spec/missing_op.h).
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tools/report/json.h"

namespace graphgate::tools {

// How many programs, cases or calls lack an op.
using MissingOpCounts = std::map<std::string, std::size_t>;

// Adds the ops that the reason of one of them names, if it names any.
void count_missing_ops(const std::string& reason, MissingOpCounts& counts);

// "missing ops: aten.a.default (3), aten.b.default (1)", the most frequent first, and a line end;
// empty where none is missing.
[[nodiscard]] std::string describe_missing_ops(const MissingOpCounts& counts);

// {"aten.a.default": 3, "aten.b.default": 1}, in that order.
[[nodiscard]] Json json_of_missing_ops(const MissingOpCounts& counts);

}  // namespace graphgate::tools
