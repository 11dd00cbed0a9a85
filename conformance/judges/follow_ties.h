// Ties, followed along the subject's own choices.
//
// Where rounding decides an index, a comparison or an integer, an oracle cannot tell what a right
// executor chooses, nor anything of what follows. The subject can: its program runs again with the
// choices as further outputs (taps), and an oracle runs along them (spec/follow.h). What the
// subject chose has to lie within the errors of what it chose by, and what follows is judged as
// ever. That tells of the run that is judged only where taps leave its bits as they are, which the
// caller has to look at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

// A result of a node in the root graph of a program.
struct Tie {
  std::size_t program = 0;
  std::size_t node = 0;
  std::size_t result = 0;  // among the node's results
  friend auto operator<=>(const Tie&, const Tie&) = default;
};

// The script with taps, as the subject ran it and as oracles run it. In each program taps stand
// behind its own user outputs and user inputs, in the order of `ties`.
struct FollowedTies {
  // Programs with nodes of spec::kFollow; the calls' inputs with the subject's choices behind them.
  std::unique_ptr<const Script> script;
  // Of that script: runs.subject() is the subject's run with taps, its choices behind its inputs.
  std::unique_ptr<Runs> runs;
  std::vector<Tie> ties;
  std::int64_t elements = 0;  // that ties left open, along the subject's choices
};

struct TieSearch {
  std::optional<FollowedTies> followed = {};  // absent where there is no tie to follow, and
  std::string why_not = {};                   // where there is one that cannot be followed: why
};

// Asks an oracle, which goes along its own choices at first, for nodes of which rounding decides
// the results, and the subject for what it chose there; again where its choices lead to others.
// Errors are the oracle's.
[[nodiscard]] Result<TieSearch> follow_ties(Runs& runs);

}  // namespace graphgate::conformance
