// Runs a graph: node after node, each value dropped after its last use.
#pragma once

#include <vector>

#include "reference/binding.h"
#include "reference/provenance.h"
#include "reference/reference.h"
#include "reference/registry.h"

namespace graphgate::reference {

// A graph made ready to run: bodies found, last uses known. Holds pointers into the graph.
struct Prepared {
  struct Step {
    const spec::Node* node = nullptr;
    const spec::OpRow* row = nullptr;  // null for higher-order ops
    Body body = nullptr;
    Given given;                       // what the op takes
    std::vector<spec::ValueId> dying;  // values that no later node and no output needs
  };
  const spec::Graph* graph = nullptr;
  std::vector<Step> steps;
  std::vector<Prepared> subgraphs;  // by SubgraphId
};

// Fails with kUnsupported for an op without a body, with kBadInput for one that the table lacks.
[[nodiscard]] Result<Prepared> prepare(const spec::Graph& graph, const spec::OpTable& ops);

// What one run needs beside the graph.
struct Run {
  const Options& options;
  // The node being executed, for messages.
  const spec::Node* node = nullptr;
  const spec::Graph* graph = nullptr;  // that it stands in
  Provenance* provenance = nullptr;    // of a run with Mode::kProvenance, else null
  // What random ops draw depends on the call of the executor, and on how many ops ran before.
  std::uint64_t executor_call = 0;
  mutable std::uint64_t ops_run = 0;
};

// Runs all nodes; `inputs` in the order of graph.inputs. Returns graph.outputs. Throws OpError;
// then run.node is where.
[[nodiscard]] std::vector<Datum> run_graph(const Prepared& prepared, std::vector<Datum> inputs,
                                           Run& run);

// Runs one op: the body, under the effects audit when the options ask for it, with its words in a
// provenance run.
[[nodiscard]] std::vector<Datum> run_op(const spec::OpRow& row, Body body,
                                        const std::vector<Datum>& arguments, const Run& run);

// A Datum's truth as Python has it: a bool, a number, or a tensor of one element.
[[nodiscard]] bool truth(const Datum& datum);

}  // namespace graphgate::reference
