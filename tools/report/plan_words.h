// A plan, and what it costs, in words.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/judges/plan_stats.h"
#include "spec/plan.h"

namespace graphgate::tools {

// "97.5% of 40 steps captured in 2 of 3 partitions, peak 12.0 KiB (no reuse 80.5 KiB, bound 12.0
// KiB)"
[[nodiscard]] std::string describe_plan(const conformance::PlanStats& plan);
// "512 B", "12.5 KiB", "3.0 MiB".
[[nodiscard]] std::string print_bytes(std::int64_t bytes);
// A page for a person: partitions with reasons and signatures, then memory. The plan must pass
// check_plan.
[[nodiscard]] std::string summarize_plan(const spec::Plan& plan);

}  // namespace graphgate::tools
