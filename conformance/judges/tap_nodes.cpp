#include <algorithm>
#include <map>

#include "conformance/judges/judge_nodes.h"
#include "conformance/judges/storage_groups.h"
#include "spec/loops.h"

namespace graphgate::conformance {
namespace {

using spec::Node;
using spec::ValueId;
using spec::ValueKind;

// Operands, each once, in order.
std::vector<ValueId> operands_of(const Node& node) {
  std::vector<ValueId> out;
  for_each_operand(node, [&](ValueId id) {
    if (std::ranges::find(out, id) == out.end()) out.push_back(id);
  });
  return out;
}

// Operands that the op writes, as its schema and row say. Of ops without a schema: none.
std::vector<ValueId> written_by(const Node& node, const spec::OpRow* row) {
  std::vector<ValueId> out;
  for (const spec::NamedArgument& named : node.arguments) {
    const auto argument = row ? row->schema.find_argument(named.name) : std::nullopt;
    if (!argument || !row->writes(*argument)) continue;
    for_each_value(named.argument, [&](ValueId id) { out.push_back(id); });
  }
  return out;
}

// Whether a node may write more than the operands that its schema says: state that it names, and
// whatever ops without a schema do.
bool may_write_anything(const Node& node, const spec::OpTable& ops) {
  const spec::OpRow* row = ops.find(node.op);
  if (!row && is_functionalized(node) && !node.arguments.empty()) {
    const auto* inner = node.arguments.front().argument.as<spec::OpName>();
    row = inner ? ops.find(inner->name) : nullptr;
  }
  return !row || !row->hidden_state_writes.empty();
}

class Tapper {
 public:
  Tapper(const spec::Program& program, const spec::OpTable& ops, OperandTaps operands)
      : original_(program), ops_(ops), operands_(operands), groups_(program.graph, ops) {
    // Callers may pass inputs, and programs have states, that share bytes.
    for (const ValueId id : program.graph.inputs) groups_.join(id, program.graph.inputs.front());
    out_.program = program;
    out_.program.graph.nodes.clear();
    out_.own_outputs =
        static_cast<std::size_t>(std::ranges::count_if(program.outputs, [](const auto& output) {
          return output.kind == spec::OutputKind::kUserOutput;
        }));
    next_output_ = out_.own_outputs;
  }

  TappedProgram run() {
    for (const Node& node : original_.graph.nodes) {
      const spec::OpRow* const row = ops_.find(node.op);
      TappedProgram::NodeTaps taps;
      if (!can_stand_alone(node)) {
        out_.program.graph.nodes.push_back(node);
        out_.nodes.push_back({});
        forget_written(node, row);
        continue;
      }
      for (const ValueId id : operands_of(node)) tap_operand(id, taps.before);
      out_.program.graph.nodes.push_back(node);
      forget_written(node, row);
      for (const spec::NodeResult& result : node.results) {
        for (const ValueId id : result.values) tap(id, taps.after);
      }
      for (const ValueId id : written_by(node, row)) tap(id, taps.after);
      out_.nodes.push_back(std::move(taps));
    }
    return std::move(out_);
  }

 private:
  // Whether it says where in an operand's storage elements lie: as_strided, and a functionalized op
  // that writes such a view of a base.
  [[nodiscard]] static bool counts_in_storage(const Node& node) {
    return node.op.find("as_strided") != std::string::npos ||
           std::ranges::any_of(node.arguments, [](const auto& named) {
             return named.name.ends_with("_storage_offset");
           });
  }

  // Whether it factors a matrix as it lies in memory: the factors of a row-major one are those of
  // its transpose.
  [[nodiscard]] static bool hangs_on_strides(const Node& node) {
    return node.op.starts_with("aten._linalg_det.") || node.op.starts_with("aten._linalg_slogdet.");
  }

  // Whether packed copies of its operands are all that the node's results depend on.
  [[nodiscard]] bool can_stand_alone(const Node& node) const {
    if (node.op == "higher_order.cond" || spec::is_loop(node.op)) return false;
    if (counts_in_storage(node)) return false;
    if (hangs_on_strides(node)) return false;
    bool keeps_a_list = false;
    for_each_operand(node, [&](ValueId id) {
      keeps_a_list |= original_.graph.value(id).kind == ValueKind::kTensorList;
    });
    return !keeps_a_list;
  }

  // No clone stands for what the node may have written.
  void forget_written(const Node& node, const spec::OpRow* row) {
    if (may_write_anything(node, ops_)) last_taps_.clear();
    for (const ValueId written : written_by(node, row)) {
      std::erase_if(last_taps_,
                    [&](const auto& tap) { return groups_.may_share(tap.first, written); });
    }
    groups_.join(node);
  }

  void tap_operand(ValueId id, std::vector<TappedProgram::Tap>& taps) {
    const auto last = last_taps_.find(id);
    if (operands_ == OperandTaps::kEach || last == last_taps_.end()) return tap(id, taps);
    taps.push_back({id, last->second});
  }

  void tap(ValueId id, std::vector<TappedProgram::Tap>& taps) {
    const ValueKind kind = original_.graph.value(id).kind;
    if (kind == ValueKind::kNone || kind == ValueKind::kTensorList) return;
    last_taps_[id] = next_output_;
    taps.push_back({id, next_output_++});
    out_.program.outputs.push_back({spec::OutputKind::kUserOutput, ""});
    out_.program.graph.outputs.push_back({kind == ValueKind::kTensor ? clone(id) : id});
  }

  ValueId clone(ValueId id) {
    spec::Graph& graph = out_.program.graph;
    const std::string name = "graphgate_tap_" + std::to_string(next_output_);
    const ValueId copy{static_cast<std::uint32_t>(graph.values.size())};
    spec::Value value;
    value.name = name;
    graph.values.push_back(std::move(value));
    // It keeps the order of dimensions in memory: how kernels round depends on that.
    graph.nodes.push_back({name, "aten.clone.default", {{"self", {id}}}, {{false, {copy}}}});
    return copy;
  }

  const spec::Program& original_;
  const spec::OpTable& ops_;
  const OperandTaps operands_;
  TappedProgram out_;
  std::size_t next_output_ = 0;
  StorageGroups groups_;
  // The output of each value's last tap, as long as no node since may have written the value.
  std::map<ValueId, std::size_t> last_taps_;
};

}  // namespace

TappedProgram tap_nodes(const spec::Program& program, const spec::OpTable& ops,
                        OperandTaps operands) {
  return Tapper(program, ops, operands).run();
}

}  // namespace graphgate::conformance
