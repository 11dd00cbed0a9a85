// How an oracle is told what another executor chose.
//
// Where rounding decides an order, a comparison or an integer, right executors choose differently,
// and each choice is as right. A node of this op stands in a program for oracles alone, right
// behind the node that chooses. The program goes on with the other executor's choice where rounding
// explains it, as with a fact.
#pragma once

#include <string_view>

namespace graphgate::spec {

// follow(_op, _results, _choices, ARGUMENTS): `_op` is the op that chose, `_results` what the node
// resulted in, ARGUMENTS what it was given, by the names of its schema. `_choices` has for each
// result what the other executor's node resulted in, or None: then the run's own result becomes the
// fact. Results are those of the node again (a number may be another one), and, for each of them,
// how many of its elements rounding left open.
inline constexpr std::string_view kFollow = "higher_order.follow";
inline constexpr std::string_view kFollowedOp = "_op";
inline constexpr std::string_view kFollowedResults = "_results";
inline constexpr std::string_view kFollowedChoices = "_choices";

// The rule of what an estimating oracle adds to a call's findings for each node of the root graph
// that rounding may have left a choice, by the node's name. Where it names none a run with nodes of
// kFollow is the same run.
inline constexpr std::string_view kOpenChoice = "open-choice";

}  // namespace graphgate::spec
