// V7: what is captured can be replayed: nothing in it hangs on what only a call can tell, reads the
// host, or takes new memory. What is not captured says why.
#include <algorithm>
#include <map>
#include <set>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::Node;
using spec::Plan;
using spec::PlanPartition;
using spec::PlanStep;
using spec::PoolKind;
using spec::ValueId;
using spec::ValueKind;

void count_devices(const spec::Graph& graph, std::map<std::string, std::size_t>& counts) {
  for (const spec::Value& value : graph.values) {
    if (value.kind == ValueKind::kTensor && value.type) ++counts[value.type->device.type];
  }
  for (const spec::Graph& subgraph : graph.subgraphs) count_devices(subgraph, counts);
}

// Nothing where two have as many.
std::optional<std::string> most_frequent(const std::map<std::string, std::size_t>& counts) {
  std::optional<std::string> best;
  std::size_t most = 0;
  for (const auto& [type, count] : counts) {
    if (count == most) best.reset();
    if (count > most) best = type;
    most = std::max(most, count);
  }
  return best;
}

// The device type that a capture is for: the one that most tensors of the program live on. Nothing
// where the tensors that the program states a type of, and those of the plan, do not agree.
std::optional<std::string> accelerator_of(const RuleCase& rule_case) {
  std::map<std::string, std::size_t> planned;
  for (const spec::PlanValue& value : rule_case.plan().values) {
    if (value.value.type) ++planned[value.value.type->device.type];
  }
  if (rule_case.plan_case.program == nullptr) return most_frequent(planned);
  std::map<std::string, std::size_t> stated;
  count_devices(rule_case.plan_case.program->graph, stated);
  const auto best = most_frequent(stated);
  return best == most_frequent(planned) ? best : std::nullopt;
}

class CaptureCheck {
 public:
  CaptureCheck(const RuleCase& rule_case, Findings& out)
      : rule_case_(rule_case),
        plan_(rule_case.plan()),
        accelerator_(accelerator_of(rule_case)),
        out_(out) {}

  void check() {
    for (const spec::PlanBlock& block : plan_.blocks) {
      for (std::size_t i = 0; i < block.partitions.size(); ++i) {
        const PlanPartition& partition = block.partitions[i];
        if (!partition.captured) {
          check_reason(block, i);
          continue;
        }
        for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) check_step(s);
      }
    }
  }

 private:
  void check_step(std::uint32_t index) {
    const PlanStep& step = plan_.steps[index];
    if (step.body.empty()) check_node(index, step.node);
    for (const Node& node : step.body) check_node(index, node);
  }

  void check_node(std::uint32_t step, const Node& node) {
    if (holds_blocks(node)) {
      report("V7.conditional", step, node,
             "chooses between blocks during the call, which a replay cannot");
    }
    const spec::OpRow* row = rule_case_.plan_case.ops->find(node.op);
    // The tags dynamic_output_shape and data_dependent_output say what may be: what is so shows in
    // the plan, as numbers and as memory without a place.
    if (row != nullptr && row->has_tag("cudagraph_unsafe")) {
      report("V7.unsafe-op", step, node, "has the tag cudagraph_unsafe");
    }
    check_values(step, node);
  }

  static bool holds_blocks(const Node& node) {
    return std::any_of(node.arguments.begin(), node.arguments.end(),
                       [](const spec::NamedArgument& named) {
                         return named.argument.as<spec::SubgraphId>() != nullptr;
                       });
  }

  // Operands and results of one node; one finding of each kind is enough.
  void check_values(std::uint32_t step, const Node& node) {
    std::vector<ValueId> ids;
    spec::for_each_operand(node, [&](ValueId id) { ids.push_back(id); });
    const std::size_t operands = ids.size();
    for (const spec::NodeResult& result : node.results) {
      ids.insert(ids.end(), result.values.begin(), result.values.end());
    }
    std::set<std::string> said;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const spec::PlanValue& value = plan_.values[ids[i].index];
      const std::string verb = i < operands ? "uses " : "makes ";
      const std::string what = verb + value_name(plan_, ids[i]);
      if (is_number(value.value.kind) && said.insert("number").second) {
        report("V7.data-dependent", step, node, what + ", a number that only a call can tell");
      }
      if (!value.buffer) continue;
      if (is_in_heap(value) && said.insert("heap").second) {
        report(
            "V7.allocation", step, node,
            what + ", which each call allocates anew: a replay would use the first call's bytes");
      }
      if (is_elsewhere(value) && said.insert("device").second) {
        report("V7.host-read", step, node,
               what + " on " + spec::print_device(value.value.type->device) + ", and not on " +
                   *accelerator_ + ": a replay keeps the first call's contents");
      }
    }
  }

  static bool is_number(ValueKind kind) {
    return kind == ValueKind::kSymInt || kind == ValueKind::kSymFloat ||
           kind == ValueKind::kSymBool;
  }
  [[nodiscard]] bool is_in_heap(const spec::PlanValue& value) const {
    return plan_.pools[plan_.buffers[value.buffer->index].pool.index].kind == PoolKind::kHeap;
  }
  [[nodiscard]] bool is_elsewhere(const spec::PlanValue& value) const {
    return accelerator_ && value.value.type && value.value.type->device.type != *accelerator_;
  }

  void report(const char* rule, std::uint32_t step, const Node& node, const std::string& what) {
    Finding finding;
    finding.rule = rule;
    const bool is_inside = !plan_.steps[step].body.empty();
    finding.message = (is_inside ? "'" + node.name + "' in " : std::string()) +
                      step_name(plan_, step) + " (" + node.op + ") is captured, but it " + what +
                      "; run it in an eager partition";
    finding.nodes = {node.name};
    out_.push_back(std::move(finding));
  }

  // A reason that anybody can check is checked: a conditional is there, and nothing is launched.
  void check_reason(const spec::PlanBlock& block, std::size_t index) {
    const PlanPartition& partition = block.partitions[index];
    const std::string place = "partition " + std::to_string(index) + " of @" + block.name;
    bool has_conditional = false;
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      has_conditional = has_conditional || holds_blocks(plan_.steps[s].node);
    }
    std::string what;
    if (partition.reason.empty()) what = " is eager, and does not say why";
    if (partition.reason == "conditional" && !has_conditional) {
      what = " is eager because of a conditional, and holds none";
    }
    if (what.empty()) return;
    Finding finding;
    finding.rule = "V7.reason";
    finding.message = place + what + ": name the rule that cut it out, or capture it";
    if (partition.begin_step < partition.end_step) {
      finding.nodes = {plan_.steps[partition.begin_step].node.name};
    }
    out_.push_back(std::move(finding));
  }

  const RuleCase& rule_case_;
  const Plan& plan_;
  std::optional<std::string> accelerator_;
  Findings& out_;
};

}  // namespace

void check_capture(const RuleCase& rule_case, Findings& out) {
  CaptureCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
