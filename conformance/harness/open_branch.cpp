#include "conformance/harness/open_branch.h"

#include <map>
#include <set>

namespace graphgate::conformance {
namespace {

using spec::Graph;
using spec::Node;

void count_names(const Graph& graph, std::map<std::string, int>& counts) {
  for (const Node& node : graph.nodes) ++counts[node.name];
  for (const Graph& subgraph : graph.subgraphs) count_names(subgraph, counts);
}

std::set<std::string> nodes_with_rows(const CallRecord& call) {
  std::set<std::string> out;
  for (const spec::ProvenanceRow& row : call.result.provenance) out.insert(row.node);
  return out;
}

// Whether a node of the arm, nested arms included, has a row. Names that stand in several graphs
// tell nothing.
bool ran(const Graph& arm, const std::set<std::string>& rows,
         const std::map<std::string, int>& counts) {
  for (const Node& node : arm.nodes) {
    if (counts.at(node.name) == 1 && rows.contains(node.name)) return true;
  }
  for (const Graph& nested : arm.subgraphs) {
    if (ran(nested, rows, counts)) return true;
  }
  return false;
}

}  // namespace

std::string open_branch(Runs& runs, std::size_t call, const CallRecord& actual,
                        const CallRecord& expected) {
  const Graph& graph = runs.script().programs[actual.program]->graph;
  std::map<std::string, int> counts;
  count_names(graph, counts);
  const std::set<std::string> rows = nodes_with_rows(actual);
  const std::set<std::string> right_rows = nodes_with_rows(expected);
  for (const Node& node : graph.nodes) {
    bool differs = false;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (arm == nullptr) continue;
      const Graph& subgraph = graph.subgraphs[arm->index];
      differs = differs || ran(subgraph, rows, counts) != ran(subgraph, right_rows, counts);
    }
    if (!differs) continue;
    const auto oracle = runs.oracle("worst-case");
    const bool is_open = oracle.ok() && oracle.value()->calls.size() <= call &&
                         oracle.value()->is_loaded && oracle.value()->error &&
                         oracle.value()->error->kind == ErrorKind::kUnsupported;
    return is_open ? node.name : "";
  }
  return "";
}

}  // namespace graphgate::conformance
