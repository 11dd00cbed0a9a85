// Paths through a program of which either is right.
//
// A predicate, a size or a number may depend on rounding, or on contents that nobody wrote. Then it
// may be one in one executor and another in the next, and what follows is as right in both. For the
// judge of provenance, which holds no words behind such a place against anybody.
#pragma once

#include <cstddef>
#include <string>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/trace.h"

namespace graphgate::conformance {

// Whether the oracle with worst-case bounds cannot tell how that call of the script, or one before
// it, goes on.
[[nodiscard]] bool is_path_open(Runs& runs, std::size_t call);

// Returns the first node in the root graph of the call's program where two runs of it part, as
// their rows show. It is a conditional of which other arms ran (arms' nodes have rows where they
// ran), or a node whose result has other sizes. Empty: they do not part, or the path is not open.
[[nodiscard]] std::string open_parting(Runs& runs, std::size_t call, const CallRecord& actual,
                                       const CallRecord& expected);

}  // namespace graphgate::conformance
