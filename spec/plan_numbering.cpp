// The numbering of plan text: steps block by block, values in the order of definition.
#include <algorithm>
#include <utility>

#include "spec/plan_names.h"
#include "spec/plan_text.h"

namespace graphgate::spec {
namespace {

// Puts ids of values through a table.
void renumber(Argument& argument, const std::vector<ValueId>& new_ids) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) *id = new_ids.at(id->index);
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) renumber(element, new_ids);
  }
}

void renumber(Node& node, const std::vector<ValueId>& new_ids) {
  for (NamedArgument& named : node.arguments) renumber(named.argument, new_ids);
  for (NodeResult& result : node.results) {
    for (ValueId& id : result.values) id = new_ids.at(id.index);
  }
}

void renumber(Plan& plan, const std::vector<ValueId>& new_ids) {
  for (PlanInput& input : plan.inputs) {
    input.value = input.constant ? ValueId{} : new_ids.at(input.value.index);
    if (input.final_value) input.final_value = new_ids.at(input.final_value->index);
  }
  for (PlanStep& step : plan.steps) {
    renumber(step.node, new_ids);
    for (Node& node : step.body) renumber(node, new_ids);
  }
  for (PlanBlock& block : plan.blocks) {
    for (Argument& output : block.outputs) renumber(output, new_ids);
  }
  for (Argument& output : plan.outputs) renumber(output, new_ids);
}

// Steps block by block, as their partitions stand.
void order_steps(Plan& plan) {
  std::vector<PlanStep> steps;
  steps.reserve(plan.steps.size());
  for (PlanBlock& block : plan.blocks) {
    for (PlanPartition& partition : block.partitions) {
      const auto begin = static_cast<std::uint32_t>(steps.size());
      for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
        steps.push_back(std::move(plan.steps.at(i)));
      }
      partition.begin_step = begin;
      partition.end_step = static_cast<std::uint32_t>(steps.size());
    }
  }
  plan.steps = std::move(steps);
}

// Reads a plan as its text stands, and collects values where they are defined: inputs, results, and
// what nothing makes at its first mention.
class Numbering {
 public:
  explicit Numbering(const Plan& plan)
      : plan_(plan), has_maker_(made_values(plan)), defined_(plan.values.size(), false) {}

  std::vector<ValueId> order() {
    for (const PlanInput& input : plan_.inputs) {
      if (!input.constant) define(input.value);
    }
    for (const PlanBlock& block : plan_.blocks) {
      for (const PlanPartition& partition : block.partitions) {
        for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
          const PlanStep& step = plan_.steps.at(i);
          number_node(step.node);
          for (const Node& node : step.body) number_node(node);
        }
      }
      for (const Argument& output : block.outputs) mention(output);
    }
    for (const PlanInput& input : plan_.inputs) {
      if (input.final_value) mention(Argument{*input.final_value});
    }
    for (const Argument& output : plan_.outputs) mention(output);
    for (const ValueId id : unmentioned_values(plan_, defined_)) define(id);
    return std::move(order_);
  }

 private:
  void define(ValueId id) {
    if (defined_.at(id.index)) return;
    defined_[id.index] = true;
    order_.push_back(id);
  }

  void mention(const Argument& argument) {
    for_each_value(argument, [&](ValueId id) {
      if (!has_maker_.at(id.index)) define(id);
    });
  }

  void number_node(const Node& node) {
    for (const NamedArgument& named : node.arguments) mention(named.argument);
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) define(id);
    }
  }

  const Plan& plan_;
  std::vector<bool> has_maker_;
  std::vector<bool> defined_;
  std::vector<ValueId> order_;
};

}  // namespace

std::vector<ValueId> unmentioned_values(const Plan& plan, const std::vector<bool>& mentioned) {
  std::vector<ValueId> left;
  for (std::uint32_t i = 0; i < plan.values.size(); ++i) {
    if (!mentioned.at(i)) left.push_back(ValueId{i});
  }
  std::sort(left.begin(), left.end(), [&](ValueId a, ValueId b) {
    return plan.values[a.index].value.name < plan.values[b.index].value.name;
  });
  return left;
}

Plan number_plan(Plan plan) {
  order_steps(plan);
  std::vector<ValueId> new_ids(plan.values.size());
  std::vector<PlanValue> values;
  values.reserve(plan.values.size());
  for (const ValueId id : Numbering(plan).order()) {
    new_ids[id.index] = ValueId{static_cast<std::uint32_t>(values.size())};
    values.push_back(std::move(plan.values[id.index]));
  }
  plan.values = std::move(values);
  renumber(plan, new_ids);
  const auto& lifetimes = plan.output_lifetimes;
  if (std::count(lifetimes.begin(), lifetimes.end(), OutputLifetime::kWeak) == 0) {
    plan.output_lifetimes.clear();
  }
  return plan;
}

}  // namespace graphgate::spec
