// V7: what is captured can be replayed: nothing in it depends on what only a call can tell, reads
// the host, or takes new memory. What is not captured says why.
#include <algorithm>
#include <unordered_set>
#include <utility>

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

// How many tensors are on each type of device; the plan and the program own the names.
class DeviceCounts {
 public:
  using Count = std::pair<std::string_view, std::size_t>;
  void add(std::string_view type) {
    for (Count& known : counts_) {
      if (known.first == type) {
        ++known.second;
        return;
      }
    }
    counts_.emplace_back(type, 1);
  }
  [[nodiscard]] std::size_t of(std::string_view type) const {
    for (const auto& [known, count] : counts_) {
      if (known == type) return count;
    }
    return 0;
  }
  // The one with most. Nothing where two have as many.
  [[nodiscard]] std::optional<std::string_view> most_frequent() const {
    std::optional<std::string_view> best;
    std::size_t most = 0;
    for (const auto& [type, count] : counts_) {
      if (count == most) best.reset();
      if (count > most) best = type;
      most = std::max(most, count);
    }
    return best;
  }
  [[nodiscard]] auto begin() const { return counts_.begin(); }
  [[nodiscard]] auto end() const { return counts_.end(); }

 private:
  std::vector<Count> counts_;
};

// How many tensors a planner may have counted on each type of device. Those of the plan it has; one
// that the program alone has it may have taken out before it counted, or not. What has no type
// (`anywhere`) may be on any.
struct DeviceTally {
  DeviceCounts stated;   // by the program
  DeviceCounts planned;  // by the plan
  DeviceCounts maybe;    // by the program, of values that the plan has not
  std::size_t anywhere = 0;
};

// The names of what a plan has.
class PlannedNames {
 public:
  explicit PlannedNames(const Plan& plan) : plan_(plan) {}
  [[nodiscard]] bool contains(const std::string& name) {
    if (names_.empty()) {
      for (const spec::PlanValue& value : plan_.values) names_.insert(value.value.name);
    }
    return names_.contains(name);
  }

 private:
  const Plan& plan_;
  std::unordered_set<std::string_view> names_;  // gathered for the first question
};

// What is on `main`, where most are, is counted as stated alone.
void tally_graph(const spec::Graph& graph, std::string_view main, PlannedNames& in_plan,
                 DeviceTally& tally) {
  for (const spec::Value& value : graph.values) {
    if (value.kind != ValueKind::kTensor) continue;
    if (value.type) tally.stated.add(value.type->device.type);
    const bool is_main = value.type && value.type->device.type == main;
    if (is_main || in_plan.contains(value.name)) continue;
    if (value.type) {
      tally.maybe.add(value.type->device.type);
    } else {
      ++tally.anywhere;
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) tally_graph(subgraph, main, in_plan, tally);
}

// The device type that captures are for: the one that most tensors live on. Nothing where a
// planner may rightly have come to another one than the program's text does.
std::optional<std::string_view> accelerator_of(const RuleCase& rule_case) {
  DeviceTally tally;
  for (const spec::PlanValue& value : rule_case.plan().values) {
    if (value.value.type) {
      tally.planned.add(value.value.type->device.type);
    } else if (value.value.kind == ValueKind::kTensor) {
      ++tally.anywhere;
    }
  }
  const auto best = tally.planned.most_frequent();
  if (!best || rule_case.plan_case.program == nullptr) return best;
  PlannedNames in_plan(rule_case.plan());
  tally_graph(rule_case.plan_case.program->graph, *best, in_plan, tally);
  if (tally.stated.most_frequent() != best) return std::nullopt;
  for (const DeviceCounts* counts : {&tally.planned, &tally.maybe}) {
    for (const auto& [type, count] : *counts) {
      if (type == *best) continue;
      const std::size_t most = tally.planned.of(type) + tally.maybe.of(type) + tally.anywhere;
      if (most >= tally.planned.of(*best)) return std::nullopt;
    }
  }
  return best;
}

class CaptureCheck {
 public:
  CaptureCheck(const RuleCase& rule_case, Findings& out)
      : rule_case_(rule_case),
        plan_(rule_case.plan()),
        main_device_(accelerator_of(rule_case)),
        out_(out) {}

  void check() {
    for (const spec::PlanBlock& block : plan_.blocks) {
      for (std::size_t i = 0; i < block.partitions.size(); ++i) {
        const PlanPartition& partition = block.partitions[i];
        if (!partition.captured) {
          check_reason(block, i);
          continue;
        }
        // Captures are never for the host: where most tensors live there, the partition tells.
        const bool is_sure = main_device_ && *main_device_ != "cpu";
        accelerator_ = is_sure ? main_device_ : accelerator_in(partition);
        for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) check_step(s);
      }
    }
  }

 private:
  // Where the program does not tell: whatever the captures of this program are for, one that
  // touches the host and another device reads the host.
  [[nodiscard]] std::optional<std::string_view> accelerator_in(
      const PlanPartition& partition) const {
    DeviceCounts counts;
    const auto count = [&](const Node& node) {
      const auto add = [&](ValueId id) {
        const auto& type = plan_.values[id.index].value.type;
        if (type && type->device.type != "cpu") counts.add(type->device.type);
      };
      spec::for_each_operand(node, add);
      for (const spec::NodeResult& result : node.results) {
        std::ranges::for_each(result.values, add);
      }
    };
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      count(plan_.steps[s].node);
      for (const Node& node : plan_.steps[s].body) count(node);
    }
    return counts.most_frequent();
  }

  void check_step(std::uint32_t index) {
    const PlanStep& step = plan_.steps[index];
    if (step.body.empty()) check_node(index, std::nullopt);
    for (std::uint32_t i = 0; i < step.body.size(); ++i) check_node(index, i);
  }

  void check_node(std::uint32_t step, std::optional<std::uint32_t> body) {
    const Node& node = body ? plan_.steps[step].body[*body] : plan_.steps[step].node;
    const spec::OpRow* row = rule_case_.accesses.use_at(step, body).row;
    if (holds_blocks(node)) {
      report("V7.conditional", step, node,
             "chooses between blocks during the call, which a replay cannot");
    }
    // The tags dynamic_output_shape and data_dependent_output say what may be: what is so shows in
    // the plan, as numbers and as memory without a place.
    if (row != nullptr && row->has_tag("cudagraph_unsafe")) {
      report("V7.unsafe-op", step, node, "has the tag cudagraph_unsafe");
    }
    check_values(step, node);
  }

  static bool holds_blocks(const Node& node) {
    return std::ranges::any_of(node.arguments, [](const spec::NamedArgument& named) {
      return named.argument.as<spec::SubgraphId>() != nullptr;
    });
  }

  // Operands and results of one node; one finding of each kind is enough.
  void check_values(std::uint32_t step, const Node& node) {
    Said said;
    spec::for_each_operand(node, [&](ValueId id) { check_value(step, node, "uses ", id, said); });
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) check_value(step, node, "makes ", id, said);
    }
  }

  struct Said {
    bool number = false;
    bool heap = false;
    bool device = false;
  };
  void check_value(std::uint32_t step, const Node& node, const char* does, ValueId id, Said& said) {
    const spec::PlanValue& value = plan_.values[id.index];
    const auto what = [&] { return does + value_name(plan_, id); };
    if (is_symbolic(value.value.kind) && !std::exchange(said.number, true)) {
      report("V7.data-dependent", step, node, what() + ", a number that only a call can tell");
    }
    if (!value.buffer) return;
    if (is_in_heap(value) && !std::exchange(said.heap, true)) {
      report(
          "V7.allocation", step, node,
          what() + ", which each call allocates anew: a replay would use the first call's bytes");
    }
    if (is_elsewhere(value) && !std::exchange(said.device, true)) {
      report("V7.host-read", step, node,
             what() + " on " + spec::print_device(value.value.type->device) + ", and not on " +
                 std::string(*accelerator_) + ": a replay keeps the first call's contents");
    }
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
    if (partition.reason == "loop" && !has_conditional) {
      what = " is eager because of a loop, and holds none";
    }
    if (what.empty()) return;
    Finding finding{.rule = "V7.reason",
                    .message = place + what + ": name the rule that cut it out, or capture it"};
    if (partition.begin_step < partition.end_step) {
      finding.nodes = {plan_.steps[partition.begin_step].node.name};
    }
    out_.push_back(std::move(finding));
  }

  const RuleCase& rule_case_;
  const Plan& plan_;
  std::optional<std::string_view> main_device_;  // of the program, where that is sure
  std::optional<std::string_view> accelerator_;  // of the partition that is looked at
  Findings& out_;
};

}  // namespace

void check_capture(const RuleCase& rule_case, Findings& out) {
  CaptureCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
