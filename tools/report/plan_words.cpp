#include "tools/report/plan_words.h"

#include <cstdio>

namespace graphgate::tools {

std::string print_bytes(std::int64_t bytes) {
  char text[32];
  if (bytes < 10'000) {
    std::snprintf(text, sizeof(text), "%lld B", static_cast<long long>(bytes));
  } else if (bytes < 10'000'000) {
    std::snprintf(text, sizeof(text), "%.1f KiB", static_cast<double>(bytes) / 1024);
  } else {
    std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1024 * 1024));
  }
  return text;
}

std::string describe_plan(const conformance::PlanStats& plan) {
  char share[32];
  const double captured = plan.steps == 0 ? 0
                                          : 100 * static_cast<double>(plan.captured_steps) /
                                                static_cast<double>(plan.steps);
  std::snprintf(share, sizeof(share), "%.1f%%", captured);
  return std::string(share) + " of " + std::to_string(plan.steps) + " steps captured in " +
         std::to_string(plan.captured_partitions) + " of " + std::to_string(plan.partitions) +
         (plan.partitions == 1 ? " partition" : " partitions") + ", peak " +
         print_bytes(plan.peak_bytes) + " (no reuse " + print_bytes(plan.no_reuse_bytes) +
         ", bound " + print_bytes(plan.lower_bound_bytes) + ")";
}

}  // namespace graphgate::tools
