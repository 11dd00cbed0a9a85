// A whole program, checked: every executor against the oracle and against a recording, call by
// call.
//
// This is what `graphgate check` runs. It knows executors only as spec::Executor.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/harness/judge_call.h"
#include "conformance/harness/judge_nodes.h"
#include "conformance/harness/plan_stats.h"
#include "spec/outcome.h"

namespace graphgate::conformance {

struct CheckOptions {
  // The probability that a right program is called SUSPECT in one call, by the error estimate.
  double false_alarm_rate = 1e-9;
  // Where there is no recording: how many calls, from which seed.
  int seeded_calls = 2;
  std::uint64_t seed = 1;
  // Also holds every node to its own worst-case bound (judge_nodes.h); needs the op table.
  bool judge_nodes = false;
  const spec::OpTable* ops = nullptr;
};

struct ProgramReport {
  std::string program;
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string reason;  // one line, for every outcome but PASS: the first difference, or why not run
  std::string node;    // the node that the first difference comes from, where one can be named
  std::size_t nodes = 0;
  std::size_t calls = 0;
  bool recorded = false;
  std::int64_t elements = 0;   // compared, over executors, recording and calls
  std::int64_t undecided = 0;  // of these, left open by the oracle
  double worst_ratio = 0;      // |error| / allowed at the worst element
  double worst_error = 0;
  double worst_allowed = 0;
  std::vector<Difference> differences;  // with the call in `where`
  std::size_t nodes_judged = 0;         // node executions held to their own bounds
  double worst_node_ratio = 0;          // |error| / bound over these
  std::optional<PlanStats> plan;        // of the last call, from the last executor that makes plans
};

// The parties of a check. `oracle` carries standard deviations; `bounds` carries worst-case bounds,
// and is asked only about differences that the estimate calls suspect: outside both is a failure.
struct Parties {
  std::span<spec::Executor* const> executors;
  spec::Executor* oracle = nullptr;
  spec::Executor* bounds = nullptr;
};

// Runs the recorded calls, or seeded ones when `calls` is empty. Outcomes: PASS; FAIL (a geometry,
// an exact value or a sharing differs, or a number lies outside its worst-case bound); SUSPECT
// (outside the estimate only, and no node was judged alone); UNDECIDED (the oracle could tell
// nothing of some output or state); MISTRUSTED (nothing was compared); UNSUPPORTED (an executor
// cannot run it). An Error is bad input or a defect.
[[nodiscard]] Result<ProgramReport> check_program(const spec::Program& program,
                                                  std::span<const ExpectedCall> calls,
                                                  const Parties& parties,
                                                  const CheckOptions& options);

// User inputs drawn from `seed` for a program: floating elements from a standard normal, integers 0
// or 1 (valid as an index of anything that has two elements), booleans evenly. The first call uses
// each symbol's traced size, later ones other sizes of its range.
[[nodiscard]] Result<std::vector<spec::InputValue>> seeded_inputs(const spec::Program& program,
                                                                  std::uint64_t seed, int call);

}  // namespace graphgate::conformance
