#include "conformance/verify/lineage.h"

#include <algorithm>

namespace graphgate::verify {

Lineage::Lineage(const GraphFacts& facts, const PlanFlow& flow)
    : facts_(facts), flow_(flow), absent_(facts.nodes.size(), true) {
  for (const FlowNode& node : flow.nodes) {
    if (node.graph_node) absent_[*node.graph_node] = false;
  }
  lacks_nodes_ = std::ranges::find(absent_, true) != absent_.end();
}

Writers Lineage::operand_writers(const NodeFact& node) {
  Writers out;
  for (const OperandFact& operand : node.operands) {
    if (operand.tensor) out = united(out, operand.tensor->writers());
    out = united(out, operand.number);
  }
  return out;
}

const std::set<std::uint32_t>& Lineage::absorbed_by(std::uint32_t graph_node) {
  static const std::set<std::uint32_t> kNone;
  if (!lacks_nodes_) return kNone;
  absorbed_.resize(facts_.nodes.size());
  if (absorbed_[graph_node]) return *absorbed_[graph_node];
  std::set<std::uint32_t>& found = absorbed_[graph_node].emplace();
  std::vector<std::uint32_t> left = {graph_node};
  while (!left.empty()) {
    const std::uint32_t node = left.back();
    left.pop_back();
    for (const Writer writer : operand_writers(facts_.nodes[node])) {
      if (facts_.is_input(writer) || !absent_[facts_.node_of(writer)]) continue;
      if (found.insert(facts_.node_of(writer)).second) left.push_back(facts_.node_of(writer));
    }
  }
  return found;
}

Writers Lineage::writers_read_by(std::uint32_t graph_node) {
  Writers out = operand_writers(facts_.nodes[graph_node]);
  for (const std::uint32_t node : absorbed_by(graph_node)) {
    out = united(out, operand_writers(facts_.nodes[node]));
  }
  return out;
}

bool Lineage::any_accepts(const Writers& writers, Writer token) {
  return std::ranges::any_of(writers, [&](Writer writer) { return accepts(writer, token); });
}

bool Lineage::is_of(Writer writer, Writer token) const {
  const Token& what = flow_.tokens[token];
  if (what.kind == TokenKind::kInput) return writer == what.index;
  const auto& graph_node = flow_.nodes[what.index].graph_node;
  return what.kind == TokenKind::kNode && graph_node && facts_.writer_of(*graph_node) == writer;
}

bool Lineage::accepts(Writer writer, Writer token) {
  if (is_of(writer, token)) return true;  // mostly
  const auto [entry, is_new] = decided_.try_emplace({writer, token}, false);
  if (!is_new) return entry->second;
  const bool decision = decide(writer, token);
  return decided_[{writer, token}] = decision;
}

bool Lineage::decide(Writer writer, Writer token) {
  if (decide_token(writer, token)) return true;
  if (facts_.is_input(writer) || !hands_on(facts_.node_of(writer))) return false;
  return any_accepts(operand_writers(facts_.nodes[facts_.node_of(writer)]), token);
}

bool Lineage::hands_on(std::uint32_t graph_node) {
  if (!absent_[graph_node]) return false;
  const auto& operands = facts_.nodes[graph_node].use.operands;
  if (std::ranges::none_of(operands, [](const OperandUse& operand) { return operand.writes; })) {
    return true;
  }
  if (!fused_) {
    fused_.emplace();
    for (const FlowNode& node : flow_.nodes) {
      if (node.match != NodeMatch::kRewritten) continue;
      const std::set<std::uint32_t>& absorbed = absorbed_by(*node.graph_node);
      fused_->insert(absorbed.begin(), absorbed.end());
    }
  }
  return fused_->contains(graph_node);
}

bool Lineage::decide_token(Writer writer, Writer token) {
  const Token& what = flow_.tokens[token];
  if (what.kind == TokenKind::kInput) return false;
  const FlowNode& node = flow_.nodes[what.index];
  if (what.kind == TokenKind::kPassed) {
    if (accepts(writer, what.under)) return true;
    if (!node.graph_node || facts_.writer_of(*node.graph_node) != writer) return false;
    return any_accepts(operand_writers(facts_.nodes[*node.graph_node]), what.under);
  }
  if (node.match == NodeMatch::kExtra || node.may_alias) {
    return std::ranges::any_of(what.reads, [&](Writer read) { return accepts(writer, read); });
  }
  if (node.match != NodeMatch::kRewritten || facts_.is_input(writer)) return false;
  return absorbed_by(*node.graph_node).contains(facts_.node_of(writer));
}

}  // namespace graphgate::verify
