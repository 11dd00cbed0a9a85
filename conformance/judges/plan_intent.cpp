#include "conformance/judges/plan_intent.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "conformance/judges/judge_report.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::Finding;
using spec::Plan;
using spec::PlanPartition;
using spec::PlanStep;

// Values that a step mentions: operands and results, those of its body too.
std::vector<spec::ValueId> mentioned(const PlanStep& step) {
  std::vector<spec::ValueId> out;
  const auto add = [&out](const spec::Node& node) {
    spec::for_each_operand(node, [&](spec::ValueId id) { out.push_back(id); });
    for (const spec::NodeResult& result : node.results) {
      out.insert(out.end(), result.values.begin(), result.values.end());
    }
  };
  add(step.node);
  for (const spec::Node& node : step.body) add(node);
  return out;
}

bool holds_block(const spec::Argument& argument) {
  if (argument.as<spec::SubgraphId>()) return true;
  const auto* list = argument.as<spec::Argument::List>();
  return list && std::ranges::any_of(*list, holds_block);
}

// Whatever sizes the program states. Torch tags the form that returns a new tensor alone.
bool sizes_hang_on_data(const std::string& op, const spec::OpTable& ops) {
  const spec::OpRow* row = ops.find(op);
  if (row && op.ends_with(".out")) row = ops.find(op.substr(0, op.rfind('.')) + ".default");
  return row && (row->has_tag("dynamic_output_shape") || row->has_tag("data_dependent_output"));
}

std::vector<std::string> ops_of(const PlanStep& step) {
  if (step.body.empty()) return {step.node.op};
  std::vector<std::string> out;
  out.reserve(step.body.size());
  for (const spec::Node& node : step.body) out.push_back(node.op);
  return out;
}

class IntentJudge {
 public:
  explicit IntentJudge(const IntentCase& intent)
      : case_(intent), plan_(*intent.plan), accelerator_(plan_accelerator(*intent.plan)) {}

  std::vector<Finding> run() {
    for (const spec::PlanBlock& block : plan_.blocks) {
      for (std::size_t p = 0; p < block.partitions.size(); ++p) {
        name_ = "partition " + std::to_string(p) + " of @" + block.name;
        look_at(block.partitions[p]);
      }
      look_at_neighbours(block);
    }
    for (Finding& finding : judge_memory_intent(case_)) findings_.push_back(std::move(finding));
    for (Finding& finding : judge_dispatch_intent(case_)) findings_.push_back(std::move(finding));
    return std::move(findings_);
  }

 private:
  [[nodiscard]] bool has(std::string_view option) const {
    return case_.configuration.find(option) != case_.configuration.end();
  }
  [[nodiscard]] std::string value(std::string_view option) const {
    const auto found = case_.configuration.find(option);
    return found == case_.configuration.end() ? "" : found->second;
  }
  // Whether the call is to run as one graph: in the mixed modes decode batches alone are.
  [[nodiscard]] bool is_full() const {
    return expected_mode(case_.configuration, case_.call) == "full";
  }
  // Whether something other than the graph may keep a partition from being captured.
  [[nodiscard]] bool may_stay_eager() const {
    const std::string mode = value(option::kMode);
    const bool by_mode = !mode.empty() && mode != "piecewise" && mode != "full";
    const bool by_call = expected_mode(case_.configuration, case_.call) == "none";
    return by_mode || by_call || has(option::kNoCapture) || has(option::kMinPartition) ||
           has(option::kAttentionSupport) || has(option::kMaxRequests) ||
           has(option::kCaptureSizes) || has(option::kMaxCaptureSize) ||
           (has(option::kSkipDynamicGraphs) && !plan_.symbols.empty());
  }

  void look_at(const PlanPartition& partition) {
    const auto begin = plan_.steps.begin() + partition.begin_step;
    const auto end = plan_.steps.begin() + partition.end_step;
    const bool is_idle = std::all_of(begin, end, case_.is_allocation);
    if (partition.captured) {
      if (is_idle) {
        add("Q2.empty-capture", name_ + " is captured and launches nothing", partition);
      }
      look_at_capture(partition, begin, end);
      look_at_streams(partition);
      return;
    }
    const bool capturable = std::all_of(begin, end, [&](const PlanStep& step) {
      return can_be_captured(plan_, step, *case_.ops, accelerator_) && !is_split_op(step);
    });
    const bool is_named = std::any_of(
        begin, end, [&](const PlanStep& step) { return names_an_op(partition.reason, step); });
    const bool may_launch = std::any_of(begin, end, [&](const PlanStep& step) {
      return !case_.is_allocation(step) && !makes_no_elements(step);
    });
    if (capturable && may_launch && !is_named && !is_split_piece(partition) && !may_stay_eager()) {
      add("Q3.over-partitioned",
          name_ + " is eager (\"" + partition.reason +
              "\"), though every step in it has its place and its sizes before the call",
          partition);
    }
  }

  // Of such a step nobody can tell whether it only allocates.
  [[nodiscard]] bool makes_no_elements(const PlanStep& step) const {
    const auto has_none = [&](spec::ValueId id) {
      const auto& type = plan_.values[id.index].value.type;
      return type && std::ranges::any_of(type->sizes, [](const auto& size) {
               return size.is_constant() && size.constant() == 0;
             });
    };
    const auto& results = step.node.results;
    return step.body.empty() && !results.empty() &&
           std::ranges::all_of(results, [&](const spec::NodeResult& result) {
             return std::ranges::all_of(result.values, has_none);
           });
  }

  // "split op vllm.attention": an op that the executor never captures, whatever is asked for.
  static bool names_an_op(const std::string& reason, const PlanStep& step) {
    const std::vector<std::string> ops = ops_of(step);
    return std::ranges::any_of(ops, [&](const std::string& op) {
      const std::string base = op.substr(0, op.rfind('.'));
      return reason.find(base) != std::string::npos;
    });
  }

  // To split_graph the ops of the program are split ops; of one that is taken apart no step has the
  // name, and the reason alone says it.
  [[nodiscard]] bool is_split_piece(const PlanPartition& partition) const {
    if (!value(option::kPartition).starts_with("split-graph")) return false;
    const std::vector<std::string> options = split_list(value(option::kSplitOp));
    return std::ranges::any_of(options, [&](const std::string& option) {
      return partition.reason == "split op " + option;
    });
  }

  [[nodiscard]] bool names_split_op(std::string_view op) const {
    const std::vector<std::string> options = split_list(value(option::kSplitOp));
    // To split_graph a name without an overload means the default one.
    const bool takes_default_alone =
        value(option::kPartition).starts_with("split-graph") && !op.ends_with(".default");
    return std::ranges::any_of(options, [&](const std::string& option) {
      const bool is_meant = !takes_default_alone || option.ends_with(op.substr(op.rfind('.')));
      return is_meant && option_names_op(option, std::string(op));
    });
  }

  // A view launches nothing: naming it cuts nothing, and the body of a fused step may have it (as
  // whatever view a compiler writes for it).
  [[nodiscard]] bool is_split_op(const PlanStep& step) const {
    if (step.body.empty()) return names_split_op(step.node.op);
    return std::ranges::any_of(step.body, [&](const spec::Node& node) {
      const spec::OpRow* row = case_.ops->find(node.op);
      return names_split_op(node.op) && !(row && row->effects.is_view);
    });
  }

  template <class Iterator>
  void look_at_capture(const PlanPartition& partition, Iterator begin, Iterator end) {
    if (has(option::kNoCapture) || value(option::kMode) == "none") {
      add("Q4.not-in-effect", name_ + " is captured, though no capture was asked for", partition);
    }
    // split_graph lets an allocation join what stands before it, whatever names it.
    const bool lets_join = value(option::kPartition).starts_with("split-graph");
    const auto split = std::find_if(begin, end, [&](const auto& step) {
      return is_split_op(step) && !(lets_join && case_.is_allocation(step));
    });
    if (split != end && !is_full()) {
      add("Q4.not-in-effect",
          name_ + " captures '" + split->node.name + "', an op that split-op cuts out", partition);
    }
    const auto fused =
        std::find_if(begin, end, [](const PlanStep& step) { return !step.body.empty(); });
    if (fused != end && value(option::kCompiler) == "eager") {
      add("Q4.not-in-effect", name_ + " has fused steps, though compiler=eager was asked for",
          partition);
    }
    const auto most = number_option(case_.configuration, option::kMaxPartition);
    if (most && partition.end_step - partition.begin_step > *most) {
      add("Q4.not-in-effect",
          name_ + " has " + std::to_string(partition.end_step - partition.begin_step) +
              " steps, max-partition=" + std::to_string(*most) + " was asked for",
          partition);
    }
  }

  // The least that two streams are good for: two steps that wait for nothing in the partition, and
  // touch nothing of each other, begin side by side.
  void look_at_streams(const PlanPartition& partition) {
    const auto count = number_option(case_.configuration, option::kStreams).value_or(1);
    std::set<std::uint32_t> used;
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      used.insert(plan_.steps[s].stream);
    }
    if (!used.empty() && *used.rbegin() >= count) {
      add("Q4.not-in-effect",
          name_ + " uses stream " + std::to_string(*used.rbegin()) + ", " + std::to_string(count) +
              " were asked for",
          partition);
    }
    if (count < 2 || used.size() != 1) return;
    std::vector<std::uint32_t> roots;
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      if (case_.is_allocation(plan_.steps[s])) continue;
      bool is_root = true;
      for (std::uint32_t before = partition.begin_step; before < s && is_root; ++before) {
        is_root = !meet(plan_.steps[before], plan_.steps[s]);
      }
      if (is_root) roots.push_back(s);
    }
    if (roots.size() < 2) return;
    add("Q5.idle-streams",
        name_ + " runs on one stream, though '" + plan_.steps[roots[0]].node.name + "' and '" +
            plan_.steps[roots[1]].node.name + "' could begin side by side",
        partition);
  }

  // Whether two steps mention a buffer both, but for state and inputs that neither writes; or touch
  // hidden state, or a token, that orders them.
  [[nodiscard]] bool meet(const PlanStep& a, const PlanStep& b) const {
    if (are_ordered(unseen_of(a), unseen_of(b))) return true;
    const std::set<spec::BufferId> x = touched(a);
    const std::set<spec::BufferId> y = touched(b);
    return std::ranges::any_of(x, [&](spec::BufferId id) {
      return y.contains(id) && (!is_kept(id) || writes(a, id) || writes(b, id));
    });
  }
  // What a step touches that no argument shows. A name may stand for an argument's text: then all
  // steps of that op count as one state's.
  struct Unseen {
    std::set<std::string> read;
    std::set<std::string> written;
    std::set<std::string> tokens;
  };
  [[nodiscard]] Unseen unseen_of(const PlanStep& step) const {
    Unseen out;
    for (const std::string& op : ops_of(step)) {
      const spec::OpRow* row = case_.ops->find(op);
      if (!row) continue;
      out.read.insert(row->hidden_state_reads.begin(), row->hidden_state_reads.end());
      out.written.insert(row->hidden_state_writes.begin(), row->hidden_state_writes.end());
      out.tokens.insert(row->orders.begin(), row->orders.end());
    }
    return out;
  }
  static bool are_ordered(const Unseen& a, const Unseen& b) {
    const auto share = [](const std::set<std::string>& x, const std::set<std::string>& y) {
      return std::ranges::any_of(x, [&](const auto& name) { return y.contains(name); });
    };
    return share(a.tokens, b.tokens) || share(a.written, b.written) || share(a.read, b.written) ||
           share(a.written, b.read);
  }
  [[nodiscard]] bool is_kept(spec::BufferId id) const {
    const spec::PoolKind kind = plan_.pools[plan_.buffers[id.index].pool.index].kind;
    return kind != spec::PoolKind::kArena && kind != spec::PoolKind::kHeap;
  }
  [[nodiscard]] std::set<spec::BufferId> touched(const PlanStep& step) const {
    std::set<spec::BufferId> out;
    for (const spec::ValueId id : mentioned(step)) {
      if (plan_.values[id.index].buffer) out.insert(*plan_.values[id.index].buffer);
    }
    return out;
  }
  [[nodiscard]] bool writes(const PlanStep& step, spec::BufferId id) const {
    const auto node_writes = [&](const spec::Node& node) {
      bool found = false;
      const auto is_there = [&](spec::ValueId value) {
        found |= plan_.values[value.index].buffer == id;
      };
      for (const spec::NodeResult& result : node.results) {
        for (const spec::ValueId value : result.values) is_there(value);
      }
      const spec::OpRow* row = case_.ops->find(node.op);
      for (const spec::NamedArgument& named : node.arguments) {
        const auto argument = row ? row->schema.find_argument(named.name) : std::nullopt;
        if (row && argument && !row->writes(*argument)) continue;
        if (row && !argument) continue;
        spec::for_each_value(named.argument, is_there);
      }
      return found;
    };
    if (!step.body.empty()) {
      return std::ranges::any_of(step.body, node_writes);
    }
    return node_writes(step.node);
  }

  // Two captured partitions side by side say that something was cut for nothing.
  void look_at_neighbours(const spec::PlanBlock& block) {
    const bool cuts_anyway = has(option::kMaxPartition) || has(option::kCutAfter) ||
                             has(option::kProfile) || value(option::kWrapper) == "none" ||
                             value(option::kWrapper) == "split";
    if (cuts_anyway || value(option::kPartition).starts_with("split-graph")) return;
    for (std::size_t p = 1; p < block.partitions.size(); ++p) {
      if (!block.partitions[p - 1].captured || !block.partitions[p].captured) continue;
      add("Q3.over-partitioned",
          "partitions " + std::to_string(p - 1) + " and " + std::to_string(p) + " of @" +
              block.name + " are both captured, with nothing between them",
          block.partitions[p]);
    }
  }

  void add(std::string rule, std::string message, const PlanPartition& partition) {
    Finding finding{.rule = std::move(rule), .message = std::move(message)};
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      finding.nodes.push_back(plan_.steps[s].node.name);
    }
    findings_.push_back(std::move(finding));
  }

  const IntentCase& case_;
  const Plan& plan_;
  std::string accelerator_;
  std::string name_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_intent(const IntentCase& intent) {
  IntentCase asked = intent;
  if (spec::value_of(asked.configuration, option::kWrapper) == "split") {
    asked.configuration.try_emplace(option::kPartition, "split-graph");
  }
  return IntentJudge(asked).run();
}

std::string plan_accelerator(const Plan& plan) {
  std::map<std::string, std::size_t> counts;
  const auto count = [&](const spec::PlanValue& value) {
    if (value.value.type) ++counts[value.value.type->device.type];
  };
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const PlanPartition& partition : block.partitions) {
      for (std::uint32_t s = partition.begin_step; partition.captured && s < partition.end_step;
           ++s) {
        for (const spec::ValueId id : mentioned(plan.steps[s])) count(plan.values[id.index]);
      }
    }
  }
  if (counts.empty()) {
    for (const spec::PlanValue& value : plan.values) count(value);
    if (counts.size() > 1) return "";
  }
  std::string best = "cpu";
  std::size_t most = 0;
  for (const auto& [type, number] : counts) {
    if (number < most || (number == most && type == "cpu")) continue;
    best = type;
    most = number;
  }
  return best;
}

bool can_be_captured(const Plan& plan, const PlanStep& step, const spec::OpTable& ops,
                     const std::string& accelerator) {
  for (const spec::NamedArgument& named : step.node.arguments) {
    if (holds_block(named.argument)) return false;
  }
  for (const std::string& op : ops_of(step)) {
    const spec::OpRow* row = ops.find(op);
    if (!row || row->has_tag("cudagraph_unsafe") || !row->hidden_state_reads.empty()) return false;
    if (sizes_hang_on_data(op, ops)) return false;
  }
  for (const spec::ValueId id : mentioned(step)) {
    const spec::PlanValue& value = plan.values[id.index];
    if (value.value.kind == spec::ValueKind::kNone) continue;
    if (value.value.kind != spec::ValueKind::kTensor || !value.value.type) return false;
    if (value.value.type->device.type != accelerator) return false;
    if (!value.buffer) continue;  // inside a fused step
    if (plan.pools[plan.buffers[value.buffer->index].pool.index].kind == spec::PoolKind::kHeap) {
      return false;
    }
  }
  return true;
}

}  // namespace graphgate::conformance
