#include "conformance/verify/node_match.h"

#include <algorithm>

namespace graphgate::verify {
namespace {

using spec::Node;
using spec::Plan;

// The same op, or its in-place, functional or out form.
bool same_family(const spec::OpTable& ops, const Node& a, const Node& b) {
  if (a.op == b.op) return true;
  const spec::OpRow* x = ops.find(a.op);
  const spec::OpRow* y = ops.find(b.op);
  return x != nullptr && y != nullptr && x->schema.ns == y->schema.ns &&
         x->schema.base_name() == y->schema.base_name();
}

// Whether some step of the block is the graph's node itself, under its own op.
bool runs_elsewhere(const Plan& plan, const spec::OpTable& ops, std::uint32_t block,
                    const Node& original) {
  const auto is_original = [&](const Node& node) {
    return node.name == original.name && same_family(ops, original, node);
  };
  for (const spec::PlanPartition& partition : plan.blocks[block].partitions) {
    for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) {
      const spec::PlanStep& step = plan.steps[i];
      if (step.body.empty() ? is_original(step.node)
                            : std::ranges::any_of(step.body, is_original)) {
        return true;
      }
    }
  }
  return false;
}

// Whether it writes an input that is called as it is.
bool is_named_after_input(const Plan& plan, const Node& node) {
  for (const spec::NodeResult& result : node.results) {
    for (const spec::ValueId id : result.values) {
      const auto buffer = plan.values[id.index].buffer;
      if (!buffer) continue;
      for (const spec::PlanInput& input : plan.inputs) {
        if (input.constant || plan.values[input.value.index].buffer != buffer) continue;
        if (input.target == node.name) return true;
        if (plan.values[input.value.index].value.name == node.name) return true;
      }
    }
  }
  return false;
}

}  // namespace

void match_node(const Plan& plan, const spec::OpTable& ops, const GraphFacts& facts,
                std::uint32_t frame, std::uint32_t block, FlowNode& flow) {
  const auto found = facts.find(frame, flow.node->name);
  if (!found) return;
  const Node& original = facts.node(*found);
  if (same_family(ops, original, *flow.node)) {
    flow.match = NodeMatch::kSame;
    flow.graph_node = found;
    return;
  }
  // A copy that the executor added, and named after the input that it writes, may have the name of
  // a node by chance; so may one beside the node itself.
  if (runs_elsewhere(plan, ops, block, original) || is_named_after_input(plan, *flow.node)) return;
  flow.match = NodeMatch::kRewritten;
  flow.graph_node = found;
}

}  // namespace graphgate::verify
