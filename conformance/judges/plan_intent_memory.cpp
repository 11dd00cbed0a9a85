// What was asked for of places in memory, and is not so.
#include <algorithm>
#include <map>

#include "conformance/judges/plan_intent.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::Finding;
using spec::Plan;
using spec::PlanBuffer;
using spec::PlanPool;
using spec::PoolKind;

class MemoryIntent {
 public:
  explicit MemoryIntent(const IntentCase& intent) : case_(intent), plan_(*intent.plan) {}

  std::vector<Finding> run() {
    if (case_.configuration.contains(option::kNoReuse)) look_at_reuse();
    if (case_.configuration.contains(option::kStaticInput)) look_at_inputs();
    const auto unaligned = case_.configuration.find(option::kUnalignedOp);
    if (unaligned != case_.configuration.end()) look_at_alignment(split_list(unaligned->second));
    return std::move(findings_);
  }

 private:
  void look_at_reuse() {
    for (std::size_t a = 0; a < plan_.buffers.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (!share_bytes(plan_.buffers[a], plan_.buffers[b])) continue;
        add("$" + plan_.buffers[b].name + " and $" + plan_.buffers[a].name +
                " share bytes, though no-reuse was asked for",
            "");
        return;
      }
    }
  }

  void look_at_inputs() {
    const bool any = std::ranges::any_of(
        plan_.pools, [](const auto& pool) { return pool.kind == PoolKind::kCaller; });
    if (!any) add("no input stays where the caller has it, though static-input was asked for", "");
  }

  // Results of the named ops may lie at lesser multiples. What another op makes there, and not over
  // an operand of its own, gets less than it was promised.
  void look_at_alignment(const std::vector<std::string>& options) {
    for (const spec::PlanStep& step : plan_.steps) {
      if (step.body.empty()) look_at_results(step.node, options);
      for (const spec::Node& node : step.body) look_at_results(node, options);
    }
  }

  void look_at_results(const spec::Node& node, const std::vector<std::string>& options) {
    const bool is_named = std::ranges::any_of(
        options, [&](const auto& option) { return option_names_op(option, node.op); });
    if (is_named) return;
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) {
        const auto buffer = plan_.values[id.index].buffer;
        if (!buffer || plan_.buffers[buffer->index].size_bytes == 0) continue;
        if (lies_over_operand(node, plan_.buffers[buffer->index])) continue;
        const PlanPool& pool = plan_.pools[plan_.buffers[buffer->index].pool.index];
        const std::int64_t promised = best_alignment(pool.device);
        if (pool.kind != PoolKind::kArena || pool.alignment_bytes >= promised) continue;
        add("$" + plan_.buffers[buffer->index].name + ", a result of " + node.op +
                ", begins at a multiple of " + std::to_string(pool.alignment_bytes) +
                " only, other pools of " + spec::print_device(pool.device) + " at multiples of " +
                std::to_string(promised) + ", and unaligned-op does not name the op",
            node.name);
      }
    }
  }

  [[nodiscard]] bool lies_over_operand(const spec::Node& node, const PlanBuffer& buffer) const {
    bool found = false;
    spec::for_each_operand(node, [&](spec::ValueId id) {
      const auto operand = plan_.values[id.index].buffer;
      found |= operand && share_bytes(plan_.buffers[operand->index], buffer);
    });
    return found;
  }

  [[nodiscard]] std::int64_t best_alignment(const spec::Device& device) const {
    std::int64_t best = 1;
    for (const PlanPool& pool : plan_.pools) {
      const bool is_placed = pool.kind != PoolKind::kHeap && pool.kind != PoolKind::kCaller;
      if (is_placed && pool.device == device) best = std::max(best, pool.alignment_bytes);
    }
    return best;
  }

  [[nodiscard]] bool share_bytes(const PlanBuffer& a, const PlanBuffer& b) const {
    return a.pool == b.pool && plan_.pools[a.pool.index].kind == PoolKind::kArena &&
           a.offset_bytes < b.offset_bytes + b.size_bytes &&
           b.offset_bytes < a.offset_bytes + a.size_bytes;
  }

  void add(std::string message, const std::string& node) {
    Finding finding{.rule = "Q4.not-in-effect", .message = std::move(message)};
    if (!node.empty()) finding.nodes.push_back(node);
    findings_.push_back(std::move(finding));
  }

  const IntentCase& case_;
  const Plan& plan_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_memory_intent(const IntentCase& intent) {
  return MemoryIntent(intent).run();
}

bool option_names_op(std::string option, const std::string& op) {
  const std::size_t colons = option.find("::");
  if (colons != std::string::npos) option.replace(colons, 2, ".");
  return op == option || op.starts_with(option + ".");
}

}  // namespace graphgate::conformance
