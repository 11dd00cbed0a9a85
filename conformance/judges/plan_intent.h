// What a configuration asked for, against what a plan does about it.
//
// An option that is silently not in effect is a bug that no result shows: whoever set it believes
// in it. These rules read the configuration, the program and the plan, and nothing else of the
// executor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/run/executor_source.h"
#include "spec/call_options.h"
#include "spec/finding.h"
#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::conformance {

struct IntentCase {
  const spec::Plan* plan = nullptr;
  const spec::OpTable* ops = nullptr;
  Configuration configuration;
  spec::CallOptions call = {};
  // Whether a step does no more than hand out bytes that nobody has written: no launch.
  std::function<bool(const spec::PlanStep&)> is_allocation = {};
};

// Q2.empty-capture, Q3.over-partitioned, Q4.not-in-effect, Q5.idle-streams, Q7.dispatch. The plan
// must pass check_plan, and its ops be in the table.
[[nodiscard]] std::vector<spec::Finding> judge_intent(const IntentCase& intent);

// Of these, what is about places: no-reuse, static-input, unaligned-op. plan_intent_memory.cpp.
[[nodiscard]] std::vector<spec::Finding> judge_memory_intent(const IntentCase& intent);

// Of these, what a plan's key claims of its dispatch: Q7.dispatch. plan_intent_dispatch.cpp.
[[nodiscard]] std::vector<spec::Finding> judge_dispatch_intent(const IntentCase& intent);

// The mode that a call of this configuration is to run in at most: none, piecewise or full.
[[nodiscard]] std::string expected_mode(const Configuration& configuration,
                                        const spec::CallOptions& call);

// Whether an option names the op: "ns.name" stands for every overload; "ns::name" will do.
[[nodiscard]] bool option_names_op(std::string option, const std::string& op);

// The device type that captures run on: that of most tensors that captured partitions touch; one
// that is not the CPU wins a tie. In a plan without captures: the only one there is, or "" (nothing
// tells).
[[nodiscard]] std::string plan_accelerator(const spec::Plan& plan);

// Returns whether nothing in the plan says why the step could not be captured. It has no
// conditional, no unsafe tag, and no number that only a call tells. All its tensors are placed
// before the call on the accelerator.
[[nodiscard]] bool can_be_captured(const spec::Plan& plan, const spec::PlanStep& step,
                                   const spec::OpTable& ops, const std::string& accelerator);

}  // namespace graphgate::conformance
