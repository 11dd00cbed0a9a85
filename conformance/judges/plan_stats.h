// What a plan costs and covers, in a few numbers, derived from its steps.
#pragma once

#include "spec/plan.h"

namespace graphgate::conformance {

// Bytes are summed over all arenas; sizes of buffers are rounded up to the alignment of their pool.
struct PlanStats {
  std::size_t steps = 0;
  std::size_t captured_steps = 0;
  std::size_t partitions = 0;
  std::size_t captured_partitions = 0;
  std::int64_t peak_bytes = 0;         // what the arenas take
  std::int64_t no_reuse_bytes = 0;     // if every buffer had bytes of its own
  std::int64_t lower_bound_bytes = 0;  // the most that is in use at any one step
};

// The plan must pass check_plan.
[[nodiscard]] PlanStats plan_stats(const spec::Plan& plan);

// Returns the bytes in use at each position in the order of execution (spec/plan_drawing.h), of the
// buffers of one pool; sizes are rounded up as above. A result in place of its operand counts once.
// The most of it is the pool's part of lower_bound_bytes.
[[nodiscard]] std::vector<std::int64_t> bytes_in_use(const spec::Plan& plan, spec::PoolId pool);

}  // namespace graphgate::conformance
