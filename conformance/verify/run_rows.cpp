#include "conformance/verify/run_rows.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "spec/graph_text.h"

namespace graphgate::verify {
namespace {

using Names = std::unordered_set<std::string_view>;

void add_names(const spec::Graph& graph, Names& out) {
  for (const spec::Node& node : graph.nodes) out.insert(node.name);
  for (const spec::Graph& subgraph : graph.subgraphs) add_names(subgraph, out);
}

// The names that do not tell one node of the root graph, where they differ, or one way to run it:
// of a conditional only one arm has run, and what it returns may be any arm's.
Names names_left_out(const spec::Graph& graph) {
  Names out;
  for (const spec::Graph& subgraph : graph.subgraphs) add_names(subgraph, out);
  for (const spec::Node& node : graph.nodes) {
    if (spec::is_higher_order(node.op)) out.insert(node.name);
  }
  return out;
}

}  // namespace

RunRows::RunRows(const spec::Program& program, const std::vector<spec::ProvenanceRow>* run) {
  if (run == nullptr) return;
  const Names left_out = names_left_out(program.graph);
  std::set<std::string_view> twice;
  by_port_.reserve(run->size());
  for (const spec::ProvenanceRow& row : *run) {
    if (left_out.contains(row.node)) continue;
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
