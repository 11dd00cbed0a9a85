// Every node of a program, held to its own bound on the bytes that it read.
//
// End to end, errors of a deep program add up until no bound means anything. Node by node they do
// not. An oracle runs each node alone, on the very operands that the executor's node read. What the
// executor's node made must lie in the worst-case bound of that one op. The first node outside is
// where a wrong result begins.
//
// Any executor can be judged so: the program is given taps. Before each node its operands are
// cloned into extra outputs, after it what it made or wrote. A clone stands for the value until a
// node that may write it: where memory changes all the same, the next node that reads it is found.
// Taps change no value; that the program's own results keep their bits is checked too, where the
// executor's arithmetic is strict: another one may round otherwise what is fused otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/run/executor_source.h"
#include "conformance/run/runs.h"
#include "spec/executor.h"
#include "spec/finding.h"
#include "spec/op_table.h"

namespace graphgate::conformance {

// The program with taps, and where they stand among its user outputs.
struct TappedProgram {
  struct Tap {
    spec::ValueId value;
    std::size_t output = 0;  // index among the user outputs
  };
  struct NodeTaps {
    std::vector<Tap> before;  // operands, tensors and numbers, each once
    std::vector<Tap> after;   // results, and tensors that the node writes; empty: not judged
  };
  spec::Program program;
  std::vector<NodeTaps> nodes;  // parallel to the nodes of the original graph
  std::size_t own_outputs = 0;  // user outputs of the original program; they come first

  [[nodiscard]] std::size_t program_outputs() const;  // user outputs, taps included
};

// Which operands are cloned before a node: each, or those of which there is no clone since a node
// may have written them.
enum class OperandTaps : std::uint8_t { kEach, kOnce };

// Nodes inside subgraphs are not tapped: the node that holds them is judged as one. Not judged are
// nodes whose result depends on what a clone does not keep. That is strides and storages
// (as_strided, the LU factors beside a determinant, conditionals, which may write operands that
// share one), and lists that the program keeps whole.
[[nodiscard]] TappedProgram tap_nodes(const spec::Program& program, const spec::OpTable& ops,
                                      OperandTaps operands = OperandTaps::kEach);

struct NodeFinding {
  std::size_t call = 0;
  std::string node;
  std::string op;
  std::string message;  // the worst element, in words
};

struct NodeReport {
  std::size_t judged = 0;  // node executions
  // Those that make a tensor and were not judged: the oracle cannot run them alone, or a copy of
  // their operands does not tell what they do.
  std::size_t passed_over = 0;
  // Whether a node that draws no random numbers has a floating result of which the oracle can tell
  // no number.
  bool has_blind_tensor = false;
  std::int64_t elements = 0;
  std::int64_t undecided = 0;
  double worst_ratio = 0;  // |error| / bound over all of them
  std::string worst_node;
  NodeRatios ratios;                  // of the nodes that were judged, over all calls
  std::vector<NodeFinding> findings;  // in program order, call by call
  // Where there are any: what the verifier says of the plans with taps.
  std::vector<spec::Finding> faults_of_plans;
};

// Runs the calls on `executor` and each node on `bounds`, an oracle with worst-case radii.
// kUnsupported when one of them cannot run the tapped program.
[[nodiscard]] Result<NodeReport> judge_nodes(const spec::Program& program,
                                             std::span<const std::vector<spec::InputValue>> calls,
                                             spec::Executor& executor, spec::Executor& bounds,
                                             const spec::OpTable& ops);

// The same for every program of a script, with all that the script does between calls: the subject
// runs it with taps, under `changes`. Calls are counted over all programs.
[[nodiscard]] Result<NodeReport> judge_nodes(Runs& runs, const Configuration& changes = {});

}  // namespace graphgate::conformance
