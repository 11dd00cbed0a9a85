#include "conformance/verify/accesses.h"

#include <algorithm>

#include "spec/argument_text.h"
#include "spec/loops.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

using spec::Node;
using spec::OpRow;
using spec::Plan;
using spec::ValueId;

// Walks the steps as they run.
class Collector {
 public:
  Collector(const Plan& plan, const spec::OpTable& ops) : plan_(plan), ops_(ops) {
    out_.plan = &plan;
    out_.position.resize(plan.steps.size());
    out_.places.resize(plan.steps.size());
    out_.first_uses.resize(plan.steps.size());
    out_.order.reserve(plan.steps.size());
    out_.first.reserve(plan.steps.size() + 1);
    out_.uses.reserve(plan.steps.size());
    out_.may_lie_in.resize(plan.buffers.size());
    out_.all.reserve(3 * plan.values.size());  // most are made once, and read once or twice
    out_.value_bytes.reserve(plan.values.size());
    for (const spec::PlanValue& value : plan.values) add_value(value);
  }

  Accesses collect() {
    walk_block(0, std::nullopt);
    out_.first.push_back(static_cast<std::uint32_t>(out_.all.size()));
    return std::move(out_);
  }

 private:
  void add_value(const spec::PlanValue& value) {
    const bool in_heap = value.buffer && pool_kind(*value.buffer) == spec::PoolKind::kHeap;
    std::optional<ByteSet> bytes;
    if (value.value.type && !in_heap) bytes = bytes_of(*value.value.type);
    out_.is_known.push_back(bytes.has_value());
    out_.value_bytes.push_back(bytes ? *std::move(bytes) : ByteSet{{}, false});
  }

  spec::PoolKind pool_kind(spec::BufferId id) const {
    return plan_.pools[plan_.buffers[id.index].pool.index].kind;
  }

  void walk_block(std::uint32_t block, std::optional<std::uint32_t> conditional) {
    const auto& partitions = plan_.blocks[block].partitions;
    for (std::uint32_t p = 0; p < partitions.size(); ++p) {
      for (std::uint32_t i = partitions[p].begin_step; i < partitions[p].end_step; ++i) {
        out_.places[i] = {block, p, conditional};
        walk_step(i);
      }
    }
  }

  void walk_step(std::uint32_t index) {
    const spec::PlanStep& step = plan_.steps[index];
    out_.position[index] = static_cast<std::uint32_t>(out_.order.size());
    out_.order.push_back(index);
    out_.first.push_back(static_cast<std::uint32_t>(out_.all.size()));
    out_.first_uses[index] = static_cast<std::uint32_t>(out_.uses.size());
    if (step.workspace) {
      Access access{.step = index, .kind = AccessKind::kWorkspace, .buffer = step.workspace};
      access.reads = access.writes = true;
      out_.all.push_back(access);
    }
    if (step.body.empty()) add_node(step.node, index, std::nullopt);
    for (std::uint32_t i = 0; i < step.body.size(); ++i) add_node(step.body[i], index, i);
    std::vector<std::uint32_t> arms;
    for (const spec::NamedArgument& named : step.node.arguments) find_arms(named.argument, arms);
    for (const std::uint32_t arm : arms) walk_block(arm, index);
    for (const std::uint32_t arm : arms) join_arm(step.node, plan_.blocks[arm]);
  }

  void join_arm(const Node& node, const spec::PlanBlock& arm) {
    std::size_t place = 0;
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const std::size_t at = place++;
        if (at >= arm.outputs.size()) continue;
        const auto* output = arm.outputs[at].as<ValueId>();
        if (output != nullptr) add_base(id, *output);
      }
    }
  }

  void add_base(ValueId view, ValueId base) {
    const auto buffer = plan_.values[view.index].buffer;
    const auto under = plan_.values[base.index].buffer;
    if (!buffer || !under || buffer == under) return;
    if (pool_kind(*buffer) != spec::PoolKind::kHeap) return;
    auto& bases = out_.may_lie_in[buffer->index];
    bases.insert(under->index);
    const auto& further = out_.may_lie_in[under->index];
    bases.insert(further.begin(), further.end());
  }

  static bool may_be_view(const OpRow* row) {
    return row != nullptr && (row->effects.is_view || !row->undeclared_aliases.empty());
  }

  static void find_arms(const spec::Argument& argument, std::vector<std::uint32_t>& out) {
    if (const auto* id = argument.as<spec::SubgraphId>()) {
      if (std::ranges::find(out, id->index) == out.end()) out.push_back(id->index);
    }
    if (const auto* list = argument.as<spec::Argument::List>()) {
      for (const spec::Argument& element : *list) find_arms(element, out);
    }
  }

  void add_node(const Node& node, std::uint32_t step, std::optional<std::uint32_t> body) {
    const NodeUse& use = out_.uses.emplace_back(use_of(node, ops_));
    for (const OperandUse& operand : use.operands) {
      if (!is_tensor(operand.value)) continue;
      Access access = access_of(operand.value, step, body);
      access.argument = static_cast<std::uint32_t>(operand.argument);
      access.reads = operand.reads;
      access.writes = operand.writes;
      out_.all.push_back(access);
    }
    for (std::uint32_t r = 0; r < node.results.size(); ++r) {
      for (const ValueId id : node.results[r].values) {
        if (!is_tensor(id)) continue;
        Access access = access_of(id, step, body);
        access.kind = AccessKind::kResult;
        access.argument = r;
        access.writes = true;
        access.makes = std::ranges::none_of(
            use.operands, [&](const OperandUse& operand) { return operand.value == id; });
        out_.all.push_back(access);
        if (!access.makes || !may_be_view(use.row)) continue;
        for (const OperandUse& operand : use.operands) add_base(id, operand.value);
      }
    }
    for (const HiddenUse& hidden : use.hidden) out_.hidden.push_back({step, body, hidden});
  }

  bool is_tensor(ValueId id) const {
    const spec::PlanValue& value = plan_.values[id.index];
    return value.value.kind == spec::ValueKind::kTensor &&
           (value.buffer || out_.is_known[id.index]);
  }

  Access access_of(ValueId id, std::uint32_t step, std::optional<std::uint32_t> body) const {
    return Access{.step = step, .body = body, .value = id, .buffer = plan_.values[id.index].buffer};
  }

  const Plan& plan_;
  const spec::OpTable& ops_;
  Accesses out_;
};

}  // namespace

Accesses accesses_of(const Plan& plan, const spec::OpTable& ops) {
  return Collector(plan, ops).collect();
}

const Node& Accesses::node_of(const Access& access) const {
  const spec::PlanStep& step = plan->steps[access.step];
  return access.body ? step.body[*access.body] : step.node;
}

std::span<const Access> Accesses::of_step(std::uint32_t step) const {
  const std::size_t at = position[step];
  return std::span(all).subspan(first[at], first[at + 1] - first[at]);
}

const spec::PlanPool& Accesses::pool_of(const Access& access) const {
  return plan->pools[plan->buffers[access.buffer->index].pool.index];
}

ByteSet Accesses::bytes_in_pool(const Access& access) const {
  if (!access.buffer || pool_of(access).kind == spec::PoolKind::kHeap) return {{}, false};
  const spec::PlanBuffer& buffer = plan->buffers[access.buffer->index];
  if (!access.value) return bytes_of(buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes);
  return shifted(value_bytes[access.value->index], buffer.offset_bytes);
}

std::optional<ByteRange> Accesses::shared_bytes(const Access& a, const Access& b) const {
  if (!a.buffer || !b.buffer) return std::nullopt;
  const spec::PlanBuffer& x = plan->buffers[a.buffer->index];
  const spec::PlanBuffer& y = plan->buffers[b.buffer->index];
  if (x.pool != y.pool) return std::nullopt;
  if (plan->pools[x.pool.index].kind == spec::PoolKind::kHeap) {
    return a.buffer == b.buffer ? std::optional(ByteRange{}) : std::nullopt;
  }
  const bool meet = x.offset_bytes < y.offset_bytes + y.size_bytes &&
                    y.offset_bytes < x.offset_bytes + x.size_bytes;
  if (!meet) return std::nullopt;
  const auto bytes = [&](const Access& access, const spec::PlanBuffer& buffer) {
    return access.value ? value_bytes[access.value->index] : bytes_of(0, buffer.size_bytes);
  };
  return first_common(bytes(a, x), x.offset_bytes, bytes(b, y), y.offset_bytes);
}

bool Accesses::are_exclusive(std::uint32_t step_a, std::uint32_t step_b) const {
  // The blocks around a step, the innermost first, each with the conditional that it is an arm of.
  const auto arms_around = [&](std::uint32_t step) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (auto place = places[step]; place.conditional; place = places[*place.conditional]) {
      out.emplace_back(*place.conditional, place.block);
    }
    return out;
  };
  const auto b = arms_around(step_b);
  for (const auto& [conditional, block] : arms_around(step_a)) {
    for (const auto& [other_conditional, other_block] : b) {
      if (conditional == other_conditional && block != other_block) {
        return !spec::is_loop(plan->steps[conditional].node.op);  // its blocks take turns
      }
    }
  }
  return false;
}

std::string Accesses::place_of(const Access& access) const {
  const std::string step = step_name(*plan, access.step);
  const Node& node = node_of(access);
  if (!access.body) return step + " (" + node.op + ")";
  return "'" + node.name + "' (" + node.op + ") in " + step;
}

std::string step_name(const Plan& plan, std::uint32_t step) {
  return "step " + std::to_string(step) + " '" + plan.steps[step].node.name + "'";
}

std::string buffer_name(const Plan& plan, spec::BufferId buffer) {
  return spec::print_sigil_name('$', plan.buffers[buffer.index].name);
}

std::string value_name(const Plan& plan, ValueId value) {
  return spec::print_sigil_name('%', plan.values[value.index].value.name);
}

std::string pool_name(const Plan& plan, spec::PoolId pool) {
  return spec::print_sigil_name('@', plan.pools[pool.index].name);
}

std::string range_text(ByteRange range) {
  return "[" + std::to_string(range.begin_bytes) + ", " + std::to_string(range.end_bytes) + ")";
}

}  // namespace graphgate::verify
