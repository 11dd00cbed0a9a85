// Oracle runs that go on along another executor's choices (spec/follow.h).
#pragma once

#include <vector>

#include "reference/interpreter.h"

namespace graphgate::reference {

// While it lives: nodes of a graph that leave a choice open, as this thread runs them. Where a node
// may have written its operands, it is named if its results are open for whatever reason.
class OpenChoices {
 public:
  explicit OpenChoices(const spec::Graph& graph);
  ~OpenChoices();
  OpenChoices(const OpenChoices&) = delete;
  OpenChoices& operator=(const OpenChoices&) = delete;

  // What the node that `run` is at was given, and what it resulted in.
  static void look_at(const spec::OpRow& row, const std::vector<Datum>& arguments,
                      const std::vector<Datum>& results, const Run& run);
  [[nodiscard]] const std::vector<const spec::Node*>& nodes() const { return nodes_; }

 private:
  const spec::Graph& graph_;
  std::vector<const spec::Node*> nodes_;
  OpenChoices* outer_;
};

// Runs a node of spec::kFollow: writes into the results of the node before it, and returns what
// spec/follow.h says. A result is followed where the mode's errors leave it open, and what it was
// made of has errors of a known size:
//   indices    of sort, topk, argmax, max, median, kthvalue, cummax and their kin: a line of them
//              is another executor's where its numbers may stand in that order within their errors;
//              values beside them become those at its indices;
//   booleans   are what the other executor has;
//   integers   that a monotone op cuts (casts, floor, round, bucketize), floating ones too, where
//              they lie between what the op makes of the ends of the operands' errors;
//   quotients  that have no bound since errors of the divisor reach zero (a norm's reciprocal),
//              where they lie no nearer to zero than at the ends of the operands' errors;
//   numbers    that item() read, within their error.
// What is not so explained stays the run's own, as a fact, so that the other executor's differs.
// A trial (trial.h), whose numbers have no errors any more, takes every index, integer and boolean,
// and keeps its floats.
// Throws OpError for arguments that are none of the op's.
[[nodiscard]] std::vector<Datum> run_follow(const spec::Node& node, const Environment& environment,
                                            const Run& run);

}  // namespace graphgate::reference
