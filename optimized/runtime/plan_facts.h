// What the session reads off a finished plan: which buffers steps write, and what it may hand out
// or read where it lies.
#pragma once

#include <set>

#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// Buffers that a step is bound to write, those of the nodes inside fused steps included. Results
// count too. Views that only a call knows are of the buffers of their operands.
[[nodiscard]] std::set<std::uint32_t> written_buffers(const spec::Plan& plan,
                                                      const spec::OpTable& ops);

// The targets of buffers and parameters that a step of a captured partition writes, in the order of
// the program's inputs.
[[nodiscard]] std::vector<std::string> states_written_by_captures(const spec::Plan& plan,
                                                                  const spec::OpTable& ops);

// Moves user inputs into pools that the caller owns (PoolKind::kCaller). `inputs` are indices among
// the user inputs that a call gives values for. kUnsupported for one that the plan writes:
// the caller's bytes are never written.
[[nodiscard]] Result<void> make_static(spec::Plan& plan, const std::set<std::size_t>& inputs,
                                       const spec::OpTable& ops);

// Weak: what a step of the last captured partition of the program makes in an arena. What earlier
// partitions made, state and inputs are strong.
[[nodiscard]] std::vector<spec::OutputLifetime> weak_lifetimes(const spec::Plan& plan,
                                                               const spec::OpTable& ops);

}  // namespace graphgate::optimized
