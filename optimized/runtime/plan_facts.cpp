#include "optimized/runtime/plan_facts.h"

namespace graphgate::optimized {
namespace {

class Writes {
 public:
  Writes(const spec::Plan& plan, const spec::OpTable& ops) : plan_(plan), ops_(ops) {}

  void add(const spec::Node& node) {
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) add(id);
    }
    const spec::OpRow* row = ops_.find(node.op);
    if (!row) return;
    for (std::size_t a = 0; a < row->schema.arguments.size(); ++a) {
      if (!row->writes(a)) continue;
      for (const spec::NamedArgument& named : node.arguments) {
        if (named.name != row->schema.arguments[a].name) continue;
        spec::for_each_value(named.argument, [&](spec::ValueId id) { add(id); });
      }
    }
  }

  void add(const spec::PlanStep& step) {
    add(step.node);
    for (const spec::Node& node : step.body) add(node);
  }

  [[nodiscard]] std::set<std::uint32_t> take() { return std::move(buffers_); }

 private:
  void add(spec::ValueId id) {
    if (const auto& buffer = plan_.values[id.index].buffer) buffers_.insert(buffer->index);
  }

  const spec::Plan& plan_;
  const spec::OpTable& ops_;
  std::set<std::uint32_t> buffers_;
};

}  // namespace

std::set<std::uint32_t> written_buffers(const spec::Plan& plan, const spec::OpTable& ops) {
  Writes writes(plan, ops);
  for (const spec::PlanStep& step : plan.steps) writes.add(step);
  return writes.take();
}

std::vector<std::string> states_written_by_captures(const spec::Plan& plan,
                                                    const spec::OpTable& ops) {
  Writes writes(plan, ops);
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      if (!partition.captured) continue;
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        writes.add(plan.steps[s]);
      }
    }
  }
  const std::set<std::uint32_t> written = writes.take();
  std::vector<std::string> targets;
  for (const spec::PlanInput& input : plan.inputs) {
    if (input.kind == spec::InputKind::kUserInput || input.constant) continue;
    const auto& buffer = plan.values[input.value.index].buffer;
    if (buffer && written.contains(buffer->index)) targets.push_back(input.target);
  }
  return targets;
}

Result<void> make_static(spec::Plan& plan, const std::set<std::size_t>& inputs,
                         const spec::OpTable& ops) {
  const auto written = written_buffers(plan, ops);
  std::size_t next = 0;
  for (const spec::PlanInput& input : plan.inputs) {
    if (input.kind != spec::InputKind::kUserInput) continue;
    const std::size_t index = next++;
    if (!inputs.contains(index) || input.constant) continue;
    spec::PlanBuffer& buffer = plan.buffers[plan.values[input.value.index].buffer->index];
    const std::string name = "input " + std::to_string(index) + " ('" + input.target + "')";
    if (written.contains(plan.values[input.value.index].buffer->index)) {
      return unsupported(name + " is static, and the program writes it");
    }
    if (plan.pools[buffer.pool.index].kind == spec::PoolKind::kCaller) continue;
    spec::PlanPool pool = plan.pools[buffer.pool.index];
    pool.name = "caller_" + input.target;
    pool.kind = spec::PoolKind::kCaller;
    pool.size_bytes = buffer.size_bytes;
    pool.alignment_bytes = 1;
    buffer.pool = {static_cast<std::uint32_t>(plan.pools.size())};
    buffer.offset_bytes = 0;
    plan.pools.push_back(std::move(pool));
  }
  return {};
}

std::vector<spec::OutputLifetime> weak_lifetimes(const spec::Plan& plan, const spec::OpTable& ops) {
  const spec::PlanPartition* last = nullptr;
  for (const spec::PlanPartition& partition : plan.blocks.front().partitions) {
    if (partition.captured) last = &partition;
  }
  Writes writes(plan, ops);
  for (std::uint32_t s = last ? last->begin_step : 0; last && s < last->end_step; ++s) {
    writes.add(plan.steps[s]);
  }
  const auto made_last = writes.take();
  std::vector<spec::OutputLifetime> lifetimes;
  for (const spec::Argument& output : plan.outputs) {
    const auto* id = output.as<spec::ValueId>();
    const auto buffer = id ? plan.values[id->index].buffer : std::nullopt;
    const bool is_weak =
        buffer && made_last.contains(buffer->index) &&
        plan.pools[plan.buffers[buffer->index].pool.index].kind == spec::PoolKind::kArena;
    lifetimes.push_back(is_weak ? spec::OutputLifetime::kWeak : spec::OutputLifetime::kStrong);
  }
  return lifetimes;
}

}  // namespace graphgate::optimized
