// Conditionals of which either arm is right.
//
// A predicate that hangs on rounding, or on contents that nobody wrote, may be true in one executor
// and false in another. Which arm ran shows in the rows of a call: arms' nodes have rows where they
// ran. For the judge of provenance, which holds no words behind such a branch against anybody.
#pragma once

#include <cstddef>
#include <string>

#include "conformance/harness/judge.h"

namespace graphgate::conformance {

// The first conditional in the root graph of the call's program of which the rows of `actual` and
// `expected`, both of call number `call` of the script, show other arms, where the oracle with
// worst-case bounds cannot tell how that call, or one before it, goes on. Empty: there is none.
[[nodiscard]] std::string open_branch(Runs& runs, std::size_t call, const CallRecord& actual,
                                      const CallRecord& expected);

}  // namespace graphgate::conformance
