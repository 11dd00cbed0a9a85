// The plan verifier: every claim that a plan makes, against facts that are derived here.
//
// It takes a plan, from whatever executor, and the program that it is for. From the graph, the
// schemas and an instrumented reference run (facts.h) it derives who reads and writes which bytes,
// in which order, and for how long they matter; nothing is taken from a planner. Each rule family
// is a file (rule_*.cpp), quadratic and obvious. docs/rules.md lists the rules with an example.
//
// check_plan() in spec/ has said before that the plan is well formed.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/executor.h"
#include "spec/finding.h"
#include "spec/op_table.h"
#include "spec/plan.h"
#include "spec/program.h"

namespace graphgate::verify {

// One rule: "V3.overlap", one line of what must hold, and what happens where it does not.
struct Rule {
  std::string_view id;
  std::string_view invariant;
  std::string_view consequence;
};
// In the order of docs/rules.md.
[[nodiscard]] std::span<const Rule> rules();

// A plan and what it is for. `facts_of_run` is what the reference returned for the same inputs in
// its provenance mode (CallResult::provenance: one row per tensor that a node read or made). Where
// it is null, only what the graph itself tells is known, and rules that need more stay silent.
// Without a program (a foreign plan alone) the plan's own steps are the graph. `unaligned_ops` are
// ops of the plan whose results, made by a launch of their own, nobody promised to align.
struct PlanCase {
  const spec::Plan* plan = nullptr;
  const spec::Program* program = nullptr;
  const spec::OpTable* ops = nullptr;
  const std::vector<spec::ProvenanceRow>* facts_of_run = nullptr;
  std::set<std::string, std::less<>> unaligned_ops = {};
};

// Whether all that nodes say of their positions (positions.h) can be read. The rules pass over what
// cannot. Errors name the node and the text.
[[nodiscard]] Result<void> check_positions(const spec::Plan& plan, const spec::OpTable& ops);

// All findings, in the order of the rules. The plan must pass check_plan, and its ops be in `ops`.
[[nodiscard]] std::vector<spec::Finding> verify_plan(const PlanCase& plan_case);

// The plans that calls of a scenario followed, in order, with what the calls passed: what no single
// plan shows (outputs that a later run overwrites, keys that say too little).
struct PlanUse {
  PlanCase plan_case;
  std::size_t call = 0;
  std::size_t program = 0;  // which of the scenario's
  std::span<const spec::InputValue> inputs = {};
  std::size_t session = 0;         // calls of one process; a restart begins another
  spec::CallOptions options = {};  // as the call asked
  // Whether the caller agreed to weak outputs, and whether arenas of one name and device are one
  // memory for all plans of the scenario.
  bool allows_weak = true;
  bool shares_pools = false;
  // How many plans of a program are kept; one that so many others were used after is made anew,
  // with arenas of its own. 0: all.
  std::size_t plans_kept = 0;
  // By user output: the last call before whose end the caller still read it where it lay, and was
  // answered. Empty, or absent for one output: not after its own call.
  std::vector<std::optional<std::size_t>> read_until = {};
};
[[nodiscard]] std::vector<spec::Finding> verify_plan_uses(std::span<const PlanUse> uses);

}  // namespace graphgate::verify
