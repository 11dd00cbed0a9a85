// V4: nodes that reach hidden state or hold tokens run once, in the program's order.
#include <algorithm>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

// Where a step of the plan does what the graph's node does to hidden state.
struct EffectPlace {
  std::uint32_t graph_node = 0;
  const FlowNode* first = nullptr;
  std::size_t count = 0;
};

bool shares_order(const HiddenUse& a, const HiddenUse& b) {
  return a.name == b.name && a.is_token == b.is_token && (a.writes || b.writes);
}

bool must_run(const NodeUse& use) {
  return std::ranges::any_of(use.hidden, [](const HiddenUse& hidden) { return hidden.writes; });
}

class EffectCheck {
 public:
  EffectCheck(const RuleCase& rule_case, Findings& out)
      : case_(rule_case), facts_(*rule_case.facts), lineage_(*rule_case.lineage), out_(out) {}

  void check() {
    for (std::uint32_t n = 0; n < facts_.nodes.size(); ++n) {
      if (facts_.nodes[n].use.hidden.empty()) continue;
      places_.push_back(place_of(n));
      check_count(places_.back());
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (std::size_t j = i + 1; j < places_.size(); ++j) check_pair(places_[i], places_[j]);
    }
  }

 private:
  // The steps with the node's name, or with that of a fusion that holds it.
  EffectPlace place_of(std::uint32_t graph_node) {
    EffectPlace place{graph_node, nullptr, 0};
    for (const FlowNode& node : case_.flow->nodes) {
      if (!node.graph_node) continue;
      const bool is_it = *node.graph_node == graph_node;
      const bool holds_it = node.match == NodeMatch::kRewritten && lineage_.is_absent(graph_node) &&
                            lineage_.absorbed_by(*node.graph_node).contains(graph_node);
      if (!is_it && !holds_it) continue;
      if (place.first == nullptr) place.first = &node;
      ++place.count;
    }
    return place;
  }

  void check_count(const EffectPlace& place) {
    const NodeFact& fact = facts_.nodes[place.graph_node];
    if (place.count == 1 || !must_run(fact.use)) return;
    const std::string name = facts_.name_of(facts_.writer_of(place.graph_node));
    out_.push_back({.rule = "V4.missing-effect",
                    .message = name + " writes or orders '" + fact.use.hidden.front().name +
                               "', and " +
                               (place.count == 0 ? std::string("no step runs it")
                                                 : std::to_string(place.count) + " steps run it"),
                    .nodes = {facts_.node(place.graph_node).name}});
  }

  void check_pair(const EffectPlace& earlier, const EffectPlace& later) {
    if (earlier.first == nullptr || later.first == nullptr || earlier.first == later.first) return;
    const auto& a = facts_.nodes[earlier.graph_node].use.hidden;
    const auto& b = facts_.nodes[later.graph_node].use.hidden;
    const HiddenUse* shared = nullptr;
    for (const HiddenUse& x : a) {
      for (const HiddenUse& y : b) {
        if (shares_order(x, y)) shared = &x;
      }
    }
    if (shared == nullptr || runs_before(*earlier.first, *later.first)) return;
    if (case_.accesses.are_exclusive(earlier.first->step, later.first->step)) return;
    out_.push_back(
        {.rule = "V4.effect-order",
         .message = facts_.name_of(facts_.writer_of(later.graph_node)) + " runs in " +
                    step_name(case_.plan(), later.first->step) + ", before " +
                    facts_.name_of(facts_.writer_of(earlier.graph_node)) + " in " +
                    step_name(case_.plan(), earlier.first->step) + "; both reach '" + shared->name +
                    "', and the program has them the other way round",
         .nodes = {facts_.node(later.graph_node).name, facts_.node(earlier.graph_node).name}});
  }

  bool runs_before(const FlowNode& a, const FlowNode& b) const {
    const auto& position = case_.accesses.position;
    return std::pair(position[a.step], a.body.value_or(0)) <
           std::pair(position[b.step], b.body.value_or(0));
  }

  const RuleCase& case_;
  const GraphFacts& facts_;
  Lineage& lineage_;
  Findings& out_;
  std::vector<EffectPlace> places_;
};

}  // namespace

void check_effects(const RuleCase& rule_case, Findings& out) {
  if (rule_case.facts != nullptr) EffectCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
