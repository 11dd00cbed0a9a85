// The part of check_plan that follows the steps: what is defined when it is read.
#include <algorithm>
#include <utility>

#include "spec/plan_names.h"

namespace graphgate::spec {
namespace {

constexpr int kMaxBlockDepth = 50;

// Walks the blocks as they would run, with the arms of a conditional at its step. Ids in the tables
// are in range, and partitions cover the steps.
class Walk {
 public:
  explicit Walk(const Plan& plan)
      : plan_(plan),
        has_maker_(made_values(plan)),
        states_(plan.values.size(), State::kUndefined),
        values_over_(plan.buffers.size(), 0),
        operand_of_(plan.values.size(), kNoStep),
        runs_in_(plan.blocks.size(), kNoStep),
        next_marker_(plan.steps.size()) {}

  Result<void> check() {
    for (const PlanInput& input : plan_.inputs) {
      const auto result = check_input(input);
      if (!result.ok()) return result.error().at("input '" + input.target + "'");
    }
    GRAPHGATE_TRY_VOID(walk_block(plan_.blocks.front(), 0));
    for (const PlanInput& input : plan_.inputs) {
      const auto result = check_final_value(input);
      if (!result.ok()) return result.error().at("input '" + input.target + "'");
    }
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      const auto result = check_argument(plan_.outputs[i], kNoStep);
      if (!result.ok()) return result.error().at("output " + std::to_string(i));
    }
    for (std::size_t i = 1; i < plan_.blocks.size(); ++i) {
      if (runs_in_[i] == kNoStep) {
        return bad_input("no step runs it").at("block " + name_of(plan_.blocks[i]));
      }
    }
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (states_[i] != State::kUndefined || is_view(ValueId{i})) continue;
      return bad_input("no input and no step makes it").at("value " + name_of(plan_.values[i]));
    }
    return {};
  }

 private:
  enum class State : std::uint8_t { kUndefined, kVisible, kGone };
  static constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);

  Result<void> check_input(const PlanInput& input) {
    if (!input.constant) return define(input.value, kNoStep);
    bool found = false;
    for_each_value(*input.constant, [&](ValueId) { found = true; });
    if (found) return bad_input("a constant that is a value");
    return check_argument(*input.constant, kNoStep);
  }

  Result<void> check_final_value(const PlanInput& input) {
    if (!input.final_value) return {};
    if (input.constant) return bad_input("a constant that has a final value");
    GRAPHGATE_TRY_VOID(use(*input.final_value, kNoStep));
    const PlanValue& value = plan_.values[input.value.index];
    const PlanValue& left_as = plan_.values[input.final_value->index];
    if (value.buffer && value.buffer == left_as.buffer) return {};
    return bad_input("its final value " + name_of(left_as) + " is not over its buffer");
  }

  Result<void> walk_block(const PlanBlock& block, int depth) {
    if (depth > kMaxBlockDepth) {
      return bad_input("blocks nested more than " + std::to_string(kMaxBlockDepth) + " deep");
    }
    const std::size_t outer = made_.size();
    for (const PlanPartition& partition : block.partitions) {
      for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
        const auto result = walk_step(i, depth);
        if (!result.ok()) return result.error().at(place_of(plan_, i));
      }
    }
    for (std::size_t i = 0; i < block.outputs.size(); ++i) {
      const auto result = check_argument(block.outputs[i], kNoStep);
      if (!result.ok()) {
        return result.error().at("block " + name_of(block) + ": output " + std::to_string(i));
      }
    }
    if (depth == 0) return {};
    for (std::size_t i = outer; i < made_.size(); ++i) {
      states_[made_[i].index] = State::kGone;
      const auto buffer = plan_.values[made_[i].index].buffer;
      if (buffer) --values_over_[buffer->index];
    }
    made_.resize(outer);
    return {};
  }

  Result<void> walk_step(std::size_t index, int depth) {
    const PlanStep& step = plan_.steps[index];
    for (const NamedArgument& named : step.node.arguments) {
      GRAPHGATE_TRY_VOID(check_argument(named.argument, index));
    }
    const std::vector<std::uint32_t> arms = std::exchange(arms_, {});
    GRAPHGATE_TRY_VOID(check_results(step.node));
    if (!step.body.empty()) {
      GRAPHGATE_TRY_VOID(walk_body(step.body));
      return check_launch(step);
    }
    GRAPHGATE_TRY_VOID(define_results(step.node, index, true));
    for (const std::uint32_t arm : arms) {
      GRAPHGATE_TRY_VOID(walk_block(plan_.blocks[arm], depth + 1));
    }
    // The arms may have read the same operands.
    if (!arms.empty())
      for_each_operand(step.node, [&](ValueId id) { operand_of_[id.index] = index; });
    GRAPHGATE_TRY_VOID(define_results(step.node, index, false));
    return check_launch(step);
  }

  // What the body makes is what the step makes; inner values are gone behind it.
  Result<void> walk_body(const std::vector<Node>& body) {
    const std::size_t outer = made_.size();
    for (const Node& node : body) {
      const auto result = walk_body_node(node, next_marker_++);
      if (!result.ok()) return result.error().at("'" + node.name + "' (" + node.op + ")");
    }
    for (std::size_t i = outer; i < made_.size(); ++i) {
      if (!plan_.values[made_[i].index].buffer) states_[made_[i].index] = State::kGone;
    }
    return {};
  }

  Result<void> walk_body_node(const Node& node, std::size_t marker) {
    for (const NamedArgument& named : node.arguments) {
      GRAPHGATE_TRY_VOID(check_argument(named.argument, marker));
    }
    if (!arms_.empty()) return bad_input("a body runs no blocks");
    GRAPHGATE_TRY_VOID(check_results(node));
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) GRAPHGATE_TRY_VOID(define(id, marker));
    }
    return {};
  }

  Result<void> check_results(const Node& node) {
    for (const NodeResult& result : node.results) {
      if (!result.is_list && result.values.size() != 1) {
        return bad_input("a result that is no list has " + std::to_string(result.values.size()) +
                         " values");
      }
      for (const ValueId id : result.values) {
        if (id.index >= states_.size()) return missing("value", id.index);
      }
    }
    return {};
  }

  // The arms of a conditional write its placed results; the others are there behind the arms.
  Result<void> define_results(const Node& node, std::size_t step, bool placed) {
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        if (is_placed(plan_, plan_.values[id.index]) != placed) continue;
        GRAPHGATE_TRY_VOID(define(id, step));
      }
    }
    return {};
  }

  Result<void> check_launch(const PlanStep& step) {
    if (step.workspace && step.workspace->index >= plan_.buffers.size()) {
      return missing("buffer", step.workspace->index);
    }
    for (const auto& events : {step.waits, step.records}) {
      for (const EventId id : events) {
        if (id.index >= plan_.event_count) return missing("event", id.index);
      }
    }
    return {};
  }

  Result<void> check_argument(const Argument& argument, std::size_t step) {
    if (const auto* id = argument.as<ValueId>()) return use(*id, step);
    if (const auto* id = argument.as<SubgraphId>()) return run_arm(*id, step);
    if (const auto* list = argument.as<Argument::List>()) {
      for (const Argument& element : *list) GRAPHGATE_TRY_VOID(check_argument(element, step));
    }
    return {};
  }

  Result<void> run_arm(SubgraphId id, std::size_t step) {
    if (id.index >= plan_.blocks.size()) return missing("block", id.index);
    const std::string name = name_of(plan_.blocks[id.index]);
    if (id.index == 0) return bad_input("block " + name + " is the program itself");
    if (step == kNoStep) return bad_input("block " + name + " is no output");
    if (runs_in_[id.index] == step) return {};
    if (runs_in_[id.index] != kNoStep) {
      return bad_input("block " + name + " is an arm of " + place_of(plan_, runs_in_[id.index]) +
                       " too");
    }
    runs_in_[id.index] = step;
    arms_.push_back(id.index);
    return {};
  }

  Result<void> use(ValueId id, std::size_t step) {
    if (id.index >= states_.size()) return missing("value", id.index);
    operand_of_[id.index] = step;
    const PlanValue& value = plan_.values[id.index];
    if (states_[id.index] == State::kVisible) return {};
    const std::string name = name_of(value);
    if (is_view(id)) {
      const std::size_t buffer = value.buffer->index;
      if (values_over_[buffer] > 0) return {};
      return bad_input("it reads the view " + name + " before anything is made in " +
                       name_of(plan_.buffers[buffer]));
    }
    if (states_[id.index] == State::kGone && !value.buffer) {
      return bad_input("it reads " + name + ", which exists only inside a fused step or an arm");
    }
    if (states_[id.index] == State::kGone) {
      return bad_input("it reads " + name + ", which is made inside an arm");
    }
    return bad_input("it reads " + name + " before its definition");
  }

  // A result may be an operand of its step: that is an update in place.
  Result<void> define(ValueId id, std::size_t step) {
    if (id.index >= states_.size()) return missing("value", id.index);
    State& state = states_[id.index];
    const bool there = state == State::kVisible || is_view(id);
    if (there && step != kNoStep && operand_of_[id.index] == step) return {};
    if (state != State::kUndefined) {
      return bad_input("it makes " + name_of(plan_.values[id.index]) +
                       ", which is made before and no operand of it");
    }
    state = State::kVisible;
    made_.push_back(id);
    const auto buffer = plan_.values[id.index].buffer;
    if (buffer) ++values_over_[buffer->index];
    return {};
  }

  bool is_view(ValueId id) const {
    return !has_maker_[id.index] && is_placed(plan_, plan_.values[id.index]);
  }

  const Plan& plan_;
  std::vector<bool> has_maker_;             // values that an input or a step makes
  std::vector<State> states_;               // of values that are no views
  std::vector<std::uint32_t> values_over_;  // visible ones that are no views, by buffer
  std::vector<std::size_t> operand_of_;     // the latest step or marker that reads the value
  std::vector<std::size_t> runs_in_;        // the step that a block is an arm of
  std::vector<std::uint32_t> arms_;         // of the step being read
  std::vector<ValueId> made_;               // visible values, in order of definition
  std::size_t next_marker_;                 // stands for the next node of a body, as a step's index
};

}  // namespace

Result<void> check_plan_order(const Plan& plan) { return Walk(plan).check(); }

}  // namespace graphgate::spec
