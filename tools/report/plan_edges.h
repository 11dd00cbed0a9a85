// Finds which steps of a plan hand what to which.
#pragma once

#include <optional>
#include <vector>

#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::tools {

// A step that reads a buffer, or an output of the plan, and the step that wrote it last before.
struct PlanEdge {
  std::optional<std::uint32_t> from;  // into Plan::steps; nothing: it was there before the call
  std::optional<std::uint32_t> to;    // the same; nothing: an output
  spec::BufferId buffer;
  friend bool operator==(const PlanEdge&, const PlanEdge&) = default;
};

// In the order of execution, outputs last; of each step by buffer. The plan must pass check_plan.
[[nodiscard]] std::vector<PlanEdge> plan_edges(const spec::Plan& plan, const spec::OpTable& ops);

}  // namespace graphgate::tools
