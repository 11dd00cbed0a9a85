// The words of one call, from an executor and from the reference, side by side.
//
// Used by judge_provenance.cpp. A row of the executor is held to the reference's row of the same
// node, op family and port. Nodes that only one of them has (what passes put in, what they took
// out) are not compared: what they did shows in what others read.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "conformance/run/trace.h"
#include "spec/finding.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::conformance {

// How many nodes of the graph and its subgraphs have the name: a row of a name that stands there
// twice does not tell which of them it is of. The graph owns the names.
using NameCounts = std::unordered_map<std::string_view, int>;
[[nodiscard]] NameCounts count_names(const spec::Graph& graph);

struct ProvenanceDifferences {
  // The first read, in the executor's order, that is not of what it should be; without one, every
  // output, input and state that ends as something else.
  std::vector<spec::Finding> findings;
  std::int64_t elements = 0;  // compared
};

// Rules: P1.stale-read, P2.early-write, P3.foreign-read, P4.unwritten-read, P5.lost-write,
// P6.other-operation.
[[nodiscard]] ProvenanceDifferences compare_provenance(const CallRecord& actual,
                                                       const CallRecord& expected,
                                                       const spec::Program& program,
                                                       const spec::OpTable& ops);

}  // namespace graphgate::conformance
