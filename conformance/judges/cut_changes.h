// Cuts of a plan, by name, and the least change of one of them that makes a failure go away.
//
//   k o1 | attn1 | o2 q     cut 0|1 behind 'o1', cut 1|2 behind 'attn1'
//
// A cut is free if an option made it: what lies on both sides is captured, or on neither. Free cuts
// can be written out (--cut-after), and then be moved and removed one by one. The others stand
// where capture begins or ends, and stay. A cut can be added behind any node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/judges/configuration_changes.h"
#include "conformance/run/trace.h"

namespace graphgate::conformance {

struct PlanCut {
  std::string name;          // "1|2", of arms "1|2 of @true_graph"
  std::string behind;        // the last node that is launched before it
  std::string earlier = {};  // the node before `behind`; empty where that would meet another cut
  std::string later = {};    // the first node behind the cut; empty where that would meet another
  bool is_free = false;
};

// What a run's plans say of cuts: of each program its first plan. Empty without plans.
struct PlanCuts {
  std::vector<PlanCut> cuts;
  std::vector<std::string> others;  // nodes behind which no partition ends, each once, in order
};
[[nodiscard]] PlanCuts cuts_of(const Script& script, const Trace& trace);

// Whether the script passes under the options; what is refused does not.
using TryOptions = std::function<Result<bool>(const Configuration&)>;

// Tries three things, in order, and ends with the first that makes the script pass. First every
// single free cut is moved by one node, or else removed. Then come the fewest that have to be
// removed, then the fewest that have to be added. Of the fewest none can be left out; where cuts
// are few, no two would do. Errors are those of `try_options`.
[[nodiscard]] Result<std::vector<Change>> least_cut_changes(const Script& script,
                                                            const Trace& failed,
                                                            const TryOptions& try_options);

}  // namespace graphgate::conformance
