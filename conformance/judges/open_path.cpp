#include "conformance/judges/open_path.h"

#include <algorithm>
#include <map>

#include "conformance/judges/provenance_compare.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::Graph;
using spec::Node;
using Sizes = std::vector<std::int64_t>;

// The rows of two runs of one program, by node. Names that stand in several graphs tell nothing.
class Partings {
 public:
  Partings(const Graph& graph, const CallRecord& a, const CallRecord& b)
      : graph_(graph), counts_(count_names(graph)), a_(rows_of(a)), b_(rows_of(b)) {}

  [[nodiscard]] std::string first() const {
    for (const Node& node : graph_.nodes) {
      if (counts_.find(node.name)->second == 1 &&
          (takes_other_arms(node) || has_other_sizes(node))) {
        return node.name;
      }
    }
    return "";
  }

 private:
  // Sizes of results, by port.
  using Rows = std::map<std::string, std::map<std::string, Sizes>>;

  static Rows rows_of(const CallRecord& call) {
    Rows out;
    for (const spec::ProvenanceRow& row : call.result.provenance) {
      auto& results = out[row.node];
      if (row.port.starts_with("result")) results.emplace(row.port, row.sizes);
    }
    return out;
  }

  [[nodiscard]] bool ran(const Graph& arm, const Rows& rows) const {
    for (const Node& node : arm.nodes) {
      if (counts_.find(node.name)->second == 1 && rows.contains(node.name)) return true;
    }
    return std::ranges::any_of(arm.subgraphs,
                               [&](const Graph& nested) { return ran(nested, rows); });
  }

  [[nodiscard]] bool takes_other_arms(const Node& node) const {
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (arm == nullptr) continue;
      const Graph& subgraph = graph_.subgraphs[arm->index];
      if (ran(subgraph, a_) != ran(subgraph, b_)) return true;
    }
    return false;
  }

  [[nodiscard]] bool has_other_sizes(const Node& node) const {
    const auto a = a_.find(node.name);
    const auto b = b_.find(node.name);
    if (a == a_.end() || b == b_.end()) return false;
    return std::ranges::any_of(a->second, [&](const auto& result) {
      const auto other = b->second.find(result.first);
      return other != b->second.end() && other->second != result.second;
    });
  }

  const Graph& graph_;
  NameCounts counts_;
  Rows a_;
  Rows b_;
};

}  // namespace

bool is_path_open(Runs& runs, std::size_t call) {
  const auto cannot_tell = [&](const Trace& trace) {
    return trace.calls.size() <= call && trace.is_loaded && trace.error &&
           trace.error->kind == ErrorKind::kUnsupported;
  };
  const auto oracle = runs.oracle("worst-case");
  if (oracle.ok() && cannot_tell(*oracle.value())) return true;
  const auto on_own_states = runs.oracle_on_own_states("worst-case");
  return on_own_states.ok() && cannot_tell(on_own_states.value());
}

std::string open_parting(Runs& runs, std::size_t call, const CallRecord& actual,
                         const CallRecord& expected) {
  const Graph& graph = runs.script().programs[actual.program]->graph;
  const std::string node = Partings(graph, actual, expected).first();
  return !node.empty() && is_path_open(runs, call) ? node : "";
}

}  // namespace graphgate::conformance
