// Which values inputs, steps and bodies make.
#include "spec/plan_names.h"

namespace graphgate::spec {
namespace {

// Marks what a node makes, and not only updates in place.
class Makers {
 public:
  explicit Makers(const Plan& plan)
      : made_(plan.values.size(), false), operand_of_(plan.values.size(), nullptr) {}

  void make(ValueId id) {
    if (id.index < made_.size()) made_[id.index] = true;
  }
  void run(const Node& node) {
    for_each_operand(node, [&](ValueId id) {
      if (id.index < made_.size()) operand_of_[id.index] = &node;
    });
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        if (id.index < made_.size() && operand_of_[id.index] != &node) make(id);
      }
    }
  }
  std::vector<bool> take() { return std::move(made_); }

 private:
  std::vector<bool> made_;
  std::vector<const Node*> operand_of_;
};

}  // namespace

std::vector<bool> made_values(const Plan& plan) {
  Makers makers(plan);
  for (const PlanInput& input : plan.inputs) {
    if (!input.constant) makers.make(input.value);
  }
  for (const PlanStep& step : plan.steps) {
    if (step.body.empty()) makers.run(step.node);
    for (const Node& node : step.body) makers.run(node);
  }
  return makers.take();
}

bool is_placed(const Plan& plan, const PlanValue& value) {
  if (value.value.kind != ValueKind::kTensor || !value.buffer) return false;
  const PlanBuffer& buffer = plan.buffers[value.buffer->index];
  return plan.pools[buffer.pool.index].kind != PoolKind::kHeap;
}

std::vector<bool> inner_values(const Plan& plan) {
  std::vector<bool> inner(plan.values.size(), false);
  for (const PlanStep& step : plan.steps) {
    for (const Node& node : step.body) {
      for (const NodeResult& result : node.results) {
        for (const ValueId id : result.values) {
          if (id.index < inner.size()) inner[id.index] = !plan.values[id.index].buffer;
        }
      }
    }
  }
  return inner;
}

}  // namespace graphgate::spec
