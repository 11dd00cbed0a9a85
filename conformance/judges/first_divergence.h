// Where a failure begins, and what makes it go away.
//
// judge_script calls this for every script that fails, without being asked. Two answers:
//
//   the first node    whose operands are not what they should be (provenance), or else whose own
//                     result lies outside its bound on the operands that it read (taps): the node
//                     where the run leaves the right path, by the program's names;
//   the least change  of the configuration under which the judges that failed pass: one option set
//                     or removed, one cut moved, removed or added (cut_changes.h), then two
//                     options.
//
//   first node: 'add_3' (aten.add.Tensor): step 7 read %v3 of buffer b2 ...
//   no-reuse: passes
//   cut 2|3 moved from behind 'mm_1' to behind 'add_3': passes
#pragma once

#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/run/executor_source.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

struct Divergence {
  std::string node;                    // as the program names it; empty where none could be named
  std::string how;                     // one sentence: what of the node is off, and who found it
  std::vector<Configuration> passing;  // the least options that pass, in the order tried
  std::vector<std::string> changes;    // parallel: what was changed, "no-reuse", "without cache"
  std::size_t tried = 0;               // configurations that ran
};

// `failed`: the judges to please; never empty. Runs at most `budget` configurations, and 60 for
// cuts.
[[nodiscard]] Result<Divergence> find_divergence(Runs& runs, JudgeSet failed,
                                                 const JudgeSettings& settings,
                                                 std::size_t budget = 120);

// The same as lines for CaseReport::localization. Whatever goes wrong while looking becomes a line.
[[nodiscard]] std::vector<std::string> localize(Runs& runs, JudgeSet failed,
                                                const JudgeSettings& settings);

}  // namespace graphgate::conformance
