// For tests of memory planning: programs to plans, with buffers by name.
#pragma once

#include "optimized/analysis/sized_test.h"
#include "optimized/memory/placement_stats.h"

namespace graphgate::optimized {

inline CompileOptions with_strategy(MemoryStrategy strategy,
                                    std::initializer_list<spec::Deviation> deviations = {}) {
  CompileOptions options;
  options.memory.strategy = strategy;
  options.compiler.name = "eager";  // a node is a step, so that a test sees what happens to each
  for (const spec::Deviation deviation : deviations) options.deviations.add(deviation);
  return options;
}

inline const spec::PlanBuffer& buffer(const spec::Plan& plan, const std::string& name) {
  for (const spec::PlanBuffer& candidate : plan.buffers) {
    if (candidate.name == name) return candidate;
  }
  ADD_FAILURE() << "no buffer '" << name << "'";
  return plan.buffers.front();
}

inline bool share_bytes(const spec::Plan& plan, const std::string& a, const std::string& b) {
  const spec::PlanBuffer& x = buffer(plan, a);
  const spec::PlanBuffer& y = buffer(plan, b);
  return x.pool == y.pool && x.offset_bytes < y.offset_bytes + y.size_bytes &&
         y.offset_bytes < x.offset_bytes + x.size_bytes;
}

// "a b" for two live buffers that share bytes; "" if there are none.
inline std::string shared_in(const spec::Plan& plan) {
  const auto found = find_shared_bytes(plan);
  if (!found) return "";
  return plan.buffers[found->first.index].name + " " + plan.buffers[found->second.index].name;
}

inline std::int64_t arena_bytes(const spec::Plan& plan) {
  std::int64_t bytes = 0;
  for (const PlacementStats& stats : placement_stats(plan)) bytes += stats.peak_bytes;
  return bytes;
}

// The first output of the last of these calls.
inline std::vector<float> last_output(const std::string& text, const std::vector<Inputs>& calls,
                                      const CompileOptions& compile) {
  Options options;
  options.compile = compile;
  const auto results = run_calls(program_of(text), calls, options);
  return results.empty() ? std::vector<float>() : floats(results.back().outputs.front());
}

}  // namespace graphgate::optimized
