// One node made visible at a time.
//
// Taps on every node (judge_nodes.h) keep every value alive, and so hide what goes wrong because
// memory is used again. With a tap on one node only, the rest of the plan stays nearly as it was.
// So comparing two configurations node by node, in the order of the program, gives the first node
// whose result differs.
#pragma once

#include <optional>
#include <string>

#include "conformance/judges/judge.h"
#include "conformance/run/executor_source.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

// How many outputs a caller of the program gets.
[[nodiscard]] std::size_t user_outputs(const spec::Program& program);

// The program with clones of what node `index` makes and writes as further user outputs; nothing if
// it makes no tensor. Nodes inside subgraphs count as the node that holds them.
[[nodiscard]] std::optional<spec::Program> tap_one(const spec::Program& program, std::size_t index,
                                                   const spec::OpTable& ops);

// The program with clones of the tensors that node `index` reads, made before it, as further user
// outputs, in the order of its operands. `first_output` is the first of them.
struct TappedOperands {
  spec::Program program;
  std::size_t first_output = 0;
};
// Those operands.
[[nodiscard]] std::vector<spec::ValueId> tensor_operands(const spec::Program& program,
                                                         std::size_t index);
[[nodiscard]] TappedOperands tap_operands(const spec::Program& program, std::size_t index);
// Returns the same without node `index`, all that comes behind it, and all before it that neither
// the clones depend on nor what the program changes. User outputs that are made there are None, and
// what they change of inputs and state stays as it is.
[[nodiscard]] TappedOperands tap_operands_alone(const spec::Program& program, std::size_t index,
                                                const spec::OpTable& ops);
// The same with a clone of that operand alone, and without all that it does not depend on: what the
// program changes of inputs and state may stay as it is. For a call behind which nothing is run.
[[nodiscard]] TappedOperands tap_operand_alone(const spec::Program& program, std::size_t index,
                                               spec::ValueId operand, const spec::OpTable& ops);
// The program without the nodes that only user outputs depend on; those are None.
[[nodiscard]] spec::Program without_user_outputs(const spec::Program& program,
                                                 const spec::OpTable& ops);

struct FirstDifference {
  std::size_t program = 0;
  std::string node;
  std::string op;
  std::string message;  // "call 1: element [3] is ..., ..."
};

// The first node, in the order of programs and nodes, whose result has other bits under `a` than
// under `b`, both complete sets of options. Looks at no more than `budget` nodes: of longer
// programs at every n-th, and then between the last that agrees and the first that does not.
// Nothing where none differs, or one configuration does not run.
[[nodiscard]] std::optional<FirstDifference> first_difference(Runs& runs, const Configuration& a,
                                                              const Configuration& b,
                                                              std::size_t budget = 96);

}  // namespace graphgate::conformance
