#include "conformance/verify/order_words.h"

namespace graphgate::verify {
namespace {

std::string token_text(const RuleCase& rule_case, Writer token) {
  const spec::Plan& plan = rule_case.plan();
  const Token& what = rule_case.flow->tokens[token];
  if (what.kind == TokenKind::kPassed) return token_text(rule_case, what.under);
  if (what.kind == TokenKind::kInput) return "input '" + plan.inputs[what.index].target + "'";
  const FlowNode& node = rule_case.flow->nodes[what.index];
  std::string text = "'" + node.node->name + "' (" + node.node->op + ")";
  return text + " in " + step_name(plan, node.step);
}

std::string writers_text(const GraphFacts& facts, const Writers& writers) {
  std::string text;
  for (std::size_t i = 0; i < writers.size() && i < 4; ++i) {
    if (i > 0) text += i + 1 == writers.size() ? " or " : ", ";
    text += facts.name_of(writers[i]);
  }
  return writers.size() > 4 ? text + ", ..." : text;
}

// Steps of the plan that stand for the graph's writer, before or after `step`.
std::string when_text(const RuleCase& rule_case, Writer writer, std::uint32_t step) {
  const GraphFacts& facts = *rule_case.facts;
  if (facts.is_input(writer)) return "";
  for (const FlowNode& node : rule_case.flow->nodes) {
    if (node.graph_node != facts.node_of(writer)) continue;
    const bool later = rule_case.accesses.position[node.step] > rule_case.accesses.position[step];
    return ", which runs " + std::string(later ? "later, " : "before, ") +
           step_name(rule_case.plan(), node.step);
  }
  return ", which no step stands for";
}

}  // namespace

std::string order_words(const RuleCase& rule_case, const Mismatch& mismatch,
                        const Writers& expected, std::uint32_t step) {
  const GraphFacts& facts = *rule_case.facts;
  if (mismatch.unexpected) {
    const Writer wanted = expected.empty() ? 0 : expected.back();
    return " as " + token_text(rule_case, *mismatch.unexpected) + " left it; the graph says " +
           (expected.empty() ? "nobody"
                             : writers_text(facts, expected) + when_text(rule_case, wanted, step));
  }
  return " without what " + facts.name_of(*mismatch.missing) + " wrote" +
         when_text(rule_case, *mismatch.missing, step);
}

}  // namespace graphgate::verify
