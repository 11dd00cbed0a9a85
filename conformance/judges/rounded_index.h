// Nodes that a rounding error gives another index.
//
// Words move with indices and masks (docs/provenance.md). An index that was made of rounded numbers
// may be another one in an executor that rounds differently, and as right.
#pragma once

#include <cstddef>
#include <string_view>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

// Returns whether, in that call of the script, a node of the call's program is given integers or
// bools whose bits differ between subject and reference. They must differ just where the oracle
// with worst-case bounds says that errors decide. The program runs again, with clones of these
// operands as further outputs, on both and on the oracle, and on states of their own, as the words
// of each are. Where one of them does not get so far, it ends before the node, and all programs run
// without what neither the clones nor later calls depend on. Then, in a program's first call, they
// run with a clone of one operand at a time, and nothing else that it changes. An operand that the
// oracle cannot come to even then depends on what it cannot tell, as on which of drawn numbers are
// above 0: errors count as what decides it. A node in an arm is held to what its conditional is
// given. False where that does not help.
[[nodiscard]] bool reads_rounded_index(Runs& runs, std::size_t call, std::string_view node);

}  // namespace graphgate::conformance
