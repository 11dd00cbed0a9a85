#include "conformance/verify/run_rows.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "spec/graph_text.h"

namespace graphgate::verify {
namespace {

void count_names(const spec::Graph& graph, std::unordered_map<std::string_view, int>& counts) {
  for (const spec::Node& node : graph.nodes) ++counts[node.name];
  for (const spec::Graph& subgraph : graph.subgraphs) count_names(subgraph, counts);
}

// The nodes of the root graph that rows can be told apart of. Of a conditional only one arm has
// run, and what it returns may be any arm's.
std::unordered_set<std::string_view> nodes_alone(const spec::Graph& graph) {
  std::unordered_map<std::string_view, int> counts;
  count_names(graph, counts);
  std::unordered_set<std::string_view> out;
  for (const spec::Node& node : graph.nodes) {
    if (counts[node.name] == 1 && !spec::is_higher_order(node.op)) out.insert(node.name);
  }
  return out;
}

}  // namespace

RunRows::RunRows(const spec::Program& program, const std::vector<spec::ProvenanceRow>* run) {
  if (run == nullptr) return;
  const auto alone = nodes_alone(program.graph);
  std::set<std::string_view> twice;
  by_port_.reserve(run->size());
  for (const spec::ProvenanceRow& row : *run) {
    if (!row.node.empty() && !alone.contains(row.node)) continue;
    if (!by_port_.try_emplace({row.node, row.port}, &row).second) twice.insert(row.node);
    if (row.port.starts_with("operand")) first_operands_.try_emplace(row.value, &row);
  }
  twice.erase("");
  if (twice.empty()) return;
  std::erase_if(by_port_, [&](const auto& entry) { return twice.contains(entry.first.node); });
}

const spec::ProvenanceRow* RunRows::find(const std::string& node, const char* what,
                                         std::size_t index) const {
  const std::string port = what + std::to_string(index);
  const auto row = by_port_.find({node, port});
  return row != by_port_.end() ? row->second : nullptr;
}

const spec::ProvenanceRow* RunRows::result(const std::string& node, std::size_t index) const {
  return find(node, "result ", index);
}

const spec::ProvenanceRow* RunRows::operand(const std::string& node, std::size_t index) const {
  return find(node, "operand ", index);
}

const spec::ProvenanceRow* RunRows::written(const std::string& node, std::size_t index) const {
  return find(node, "written ", index);
}

const spec::ProvenanceRow* RunRows::input(const spec::ProgramInput& input,
                                          const std::string& value_name) const {
  const auto operand = first_operands_.find(value_name);
  if (operand != first_operands_.end()) return operand->second;
  const bool is_user = input.kind == spec::InputKind::kUserInput;
  const std::string port = (is_user ? "input " : "state ") + input.target;
  const auto row = by_port_.find({"", port});
  return row != by_port_.end() ? row->second : nullptr;
}

spec::HostTensor RunRows::geometry_of(const spec::ProvenanceRow& row) {
  spec::HostTensor geometry;
  geometry.dtype = row.dtype;
  geometry.sizes = row.sizes;
  geometry.strides = row.strides;
  geometry.storage_offset = row.storage_offset;
  return geometry;
}

bool has_words(const std::vector<spec::ProvenanceRow>& run) {
  return std::any_of(run.begin(), run.end(),
                     [](const spec::ProvenanceRow& row) { return !row.words.empty(); });
}

}  // namespace graphgate::verify
