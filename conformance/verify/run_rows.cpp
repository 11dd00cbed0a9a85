#include "conformance/verify/run_rows.h"

#include <algorithm>
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
  for (const spec::ProgramInput& input : program.inputs) {
    if (!input.constant) first_operands_.emplace(program.graph.value(input.value).name, nullptr);
  }
  by_node_.reserve(program.graph.nodes.size() + 1);
  const spec::ProvenanceRow* before = nullptr;
  Rows* rows = nullptr;  // of the node; null: it is left out
  for (const spec::ProvenanceRow& row : *run) {
    if (before == nullptr || before->node != row.node) {
      rows = left_out.contains(row.node) ? nullptr : &by_node_[row.node];
    }
    before = &row;
    if (rows == nullptr) continue;
    rows->push_back(&row);
    if (!row.port.starts_with("operand")) continue;
    const auto input = first_operands_.find(row.value);
    if (input != first_operands_.end() && input->second == nullptr) input->second = &row;
  }
  drop_repeated();
}

void RunRows::drop_repeated() {
  std::erase_if(by_node_, [](const auto& entry) {
    const Rows& rows = entry.second;
    for (std::size_t i = 0; i < rows.size() && !entry.first.empty(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (rows[k]->port == rows[i]->port) return true;
      }
    }
    return false;
  });
}

const spec::ProvenanceRow* RunRows::find(const std::string& node, std::string_view what,
                                         std::size_t index) const {
  const auto rows = by_node_.find(node);
  if (rows == by_node_.end()) return nullptr;
  const std::string number = std::to_string(index);
  for (const spec::ProvenanceRow* row : rows->second) {
    const std::string_view port = row->port;
    if (port.starts_with(what) && port.substr(what.size()) == number) return row;
  }
  return nullptr;
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
  if (operand != first_operands_.end() && operand->second != nullptr) return operand->second;
  const bool is_user = input.kind == spec::InputKind::kUserInput;
  const std::string port = (is_user ? "input " : "state ") + input.target;
  const auto rows = by_node_.find("");
  if (rows == by_node_.end()) return nullptr;
  const auto row = std::ranges::find_if(
      rows->second, [&](const spec::ProvenanceRow* one) { return one->port == port; });
  return row != rows->second.end() ? *row : nullptr;
}

bool has_words(const std::vector<spec::ProvenanceRow>& run) {
  return std::ranges::any_of(run,
                             [](const spec::ProvenanceRow& row) { return !row.words.empty(); });
}

}  // namespace graphgate::verify
