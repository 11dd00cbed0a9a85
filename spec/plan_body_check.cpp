// The parts of check_plan behind the walk: what fused steps say of their bodies, and what the plan
// says of its outputs and padded dimensions.
#include <algorithm>
#include <set>

#include "spec/plan_names.h"

namespace graphgate::spec {
namespace {

using Ids = std::set<std::uint32_t>;

// What one body does to values with buffers.
struct BodyUse {
  Ids read;            // and not made in the body before
  Ids made;            // updates in place included
  Ids buffers_inside;  // of what the body makes, and not only updates
};

BodyUse use_of(const Plan& plan, const std::vector<Node>& body) {
  BodyUse use;
  for (const Node& node : body) {
    Ids operands;
    for_each_operand(node, [&](ValueId id) {
      if (!plan.values[id.index].buffer) return;
      operands.insert(id.index);
      if (!use.made.contains(id.index)) use.read.insert(id.index);
    });
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const auto buffer = plan.values[id.index].buffer;
        if (!buffer) continue;
        use.made.insert(id.index);
        if (!operands.contains(id.index)) use.buffers_inside.insert(buffer->index);
      }
    }
  }
  return use;
}

class BodyCheck {
 public:
  BodyCheck(const Plan& plan, const std::vector<bool>& has_maker, const PlanStep& step)
      : plan_(plan), has_maker_(has_maker), step_(step), use_(use_of(plan, step.body)) {}

  Result<void> check() {
    for (const NamedArgument& named : step_.node.arguments) {
      const auto* id = named.argument.as<ValueId>();
      if (!id || !named.name.empty()) return bad_input("an argument of it is no plain value");
      arguments_.insert(id->index);
      if (!use_.read.contains(id->index)) return disagrees(*id, "no node of its body reads ");
    }
    for (const std::uint32_t id : use_.read) {
      if (arguments_.contains(id) || is_view_inside(id)) continue;
      return disagrees(ValueId{id}, "its body reads what is no argument, ");
    }
    Ids results;
    for (const NodeResult& result : step_.node.results) {
      if (result.is_list) return bad_input("a result of it is a list");
      results.insert(result.values.front().index);
      if (!use_.made.contains(result.values.front().index)) {
        return disagrees(result.values.front(), "no node of its body makes ");
      }
    }
    for (const std::uint32_t id : use_.made) {
      if (!results.contains(id))
        return disagrees(ValueId{id}, "its body makes what is no result, ");
    }
    return {};
  }

 private:
  // A view of what the body makes first need not be there before the step.
  bool is_view_inside(std::uint32_t id) const {
    return !has_maker_[id] && use_.buffers_inside.contains(plan_.values[id].buffer->index);
  }

  Result<void> disagrees(ValueId id, std::string_view what) const {
    return bad_input(std::string(what) + name_of(plan_.values[id.index]));
  }

  const Plan& plan_;
  const std::vector<bool>& has_maker_;
  const PlanStep& step_;
  BodyUse use_;
  Ids arguments_;
};

// Whether dimension `dim` of the value is as long as the symbol.
Result<void> check_padded(const Plan& plan, std::optional<ValueId> id, std::uint32_t dim) {
  const std::string text = "dimension " + std::to_string(dim);
  if (!id || !plan.values[id->index].value.type) return bad_input(text + " of what is no tensor");
  const TensorType& type = *plan.values[id->index].value.type;
  const SymExpr size(plan.symbols.at(plan.padding->symbol));
  if (dim < type.sizes.size() && type.sizes[dim] == size) return {};
  return bad_input(text + " of " + name_of(plan.values[id->index]) + " is not " +
                   plan.padding->symbol + " long");
}

Result<void> check_padding(const Plan& plan) {
  const PlanPadding& padding = *plan.padding;
  if (!plan.symbols.contains(padding.symbol)) {
    return bad_input("the plan has no symbol '" + padding.symbol + "'");
  }
  if (padding.input_dims.size() != plan.inputs.size() ||
      padding.output_dims.size() != plan.outputs.size()) {
    return bad_input("it does not list every input and every output");
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (!padding.input_dims[i]) continue;
    const PlanInput& input = plan.inputs[i];
    const auto id = input.constant ? std::nullopt : std::optional(input.value);
    GRAPHGATE_TRY_VOID(check_padded(plan, id, *padding.input_dims[i]));
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    if (!padding.output_dims[i]) continue;
    const auto* id = plan.outputs[i].as<ValueId>();
    GRAPHGATE_TRY_VOID(
        check_padded(plan, id ? std::optional(*id) : std::nullopt, *padding.output_dims[i]));
  }
  return {};
}

}  // namespace

Result<void> check_plan_bodies(const Plan& plan) {
  const std::vector<bool> has_maker = made_values(plan);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const bool is_fused = step.node.op == kFusedStepOp;
    if (is_fused != !step.body.empty()) {
      return bad_input(is_fused ? "it has no body"
                                : "a body, but it is not " + std::string(kFusedStepOp))
          .at(place_of(plan, i));
    }
    if (!is_fused) continue;
    const auto result = BodyCheck(plan, has_maker, step).check();
    if (!result.ok()) return result.error().at(place_of(plan, i));
  }
  return {};
}

Result<void> check_plan_claims(const Plan& plan) {
  if (!plan.output_lifetimes.empty() && plan.output_lifetimes.size() != plan.outputs.size()) {
    return bad_input(std::to_string(plan.output_lifetimes.size()) + " lifetimes for " +
                     std::to_string(plan.outputs.size()) + " outputs");
  }
  if (!plan.padding) return {};
  const auto result = check_padding(plan);
  if (!result.ok()) return result.error().at("padding");
  return {};
}

}  // namespace graphgate::spec
