#include "conformance/verify/run_rows.h"

#include <algorithm>
#include <set>

#include "spec/graph_text.h"

namespace graphgate::verify {
namespace {

void count_names(const spec::Graph& graph, std::map<std::string, int>& counts) {
  for (const spec::Node& node : graph.nodes) ++counts[node.name];
  for (const spec::Graph& subgraph : graph.subgraphs) count_names(subgraph, counts);
}

}  // namespace

RunRows::RunRows(const spec::Program& program, const std::vector<spec::ProvenanceRow>* run) {
  if (run == nullptr) return;
  std::map<std::string, int> counts;
  count_names(program.graph, counts);
  // Of a conditional only one arm has run, and what it returns may be any arm's.
  std::set<std::string> in_root;
  for (const spec::Node& node : program.graph.nodes) {
    if (!spec::is_higher_order(node.op)) in_root.insert(node.name);
  }
  std::set<std::string> twice;
  for (const spec::ProvenanceRow& row : *run) {
    const bool is_end = row.node.empty();
    if (!is_end && (counts[row.node] != 1 || !in_root.contains(row.node))) continue;
    if (!by_port_.try_emplace({row.node, row.port}, &row).second) twice.insert(row.node);
    const bool is_operand = row.port.rfind("operand", 0) == 0;
    if (is_operand) first_operands_.try_emplace(row.value, &row);
  }
  std::erase_if(by_port_, [&](const auto& entry) {
    return !entry.first.first.empty() && twice.contains(entry.first.first);
  });
}

const spec::ProvenanceRow* RunRows::find(const std::string& node, const char* what,
                                         std::size_t index) const {
  const auto row = by_port_.find({node, what + std::to_string(index)});
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
  const auto row = by_port_.find({"", (is_user ? "input " : "state ") + input.target});
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
