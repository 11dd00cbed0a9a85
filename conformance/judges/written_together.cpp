#include "conformance/judges/written_together.h"

#include <algorithm>
#include <map>
#include <optional>

#include "conformance/judges/storage_groups.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using spec::Node;
using spec::ValueId;

// Whether two elements of a tensor may lie in one place: sorted by strides, each dimension must
// step over all that the smaller ones span.
bool overlaps_itself(const HostTensor& tensor) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 0) return false;
    if (tensor.sizes[d] > 1) order.push_back(d);
  }
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return tensor.strides[a] < tensor.strides[b]; });
  std::int64_t spanned = 0;
  for (const std::size_t d : order) {
    if (tensor.strides[d] <= spanned) return true;
    spanned += (tensor.sizes[d] - 1) * tensor.strides[d];
  }
  return false;
}

// Elements that a type of constant geometry covers in its storage: [begin, end). Nothing where it
// has symbols, or no element.
struct Reach {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
std::optional<Reach> reach_of(const std::optional<spec::TensorType>& type) {
  if (!type || !type->storage_offset.is_constant()) return std::nullopt;
  Reach reach{type->storage_offset.constant(), type->storage_offset.constant() + 1};
  for (std::size_t d = 0; d < type->sizes.size(); ++d) {
    if (!type->sizes[d].is_constant() || !type->strides[d].is_constant()) return std::nullopt;
    if (type->sizes[d].constant() < 1) return std::nullopt;
    reach.end += (type->sizes[d].constant() - 1) * type->strides[d].constant();
  }
  return reach;
}

class Sharing {
 public:
  Sharing(const spec::Program& program, std::span<const spec::InputValue> inputs,
          const spec::OpTable& ops)
      : graph_(program.graph),
        ops_(ops),
        groups_(program.graph, ops),
        folded_(program.graph.values.size()) {
    std::size_t next_input = 0;
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind == spec::InputKind::kUserInput) {
        const std::size_t i = next_input++;
        const auto* tensor = i < inputs.size() ? std::get_if<HostTensor>(&inputs[i]) : nullptr;
        if (tensor && !input.constant) place(input.value, *tensor);
        continue;
      }
      const auto held = program.tensors.find(input.target);
      if (held != program.tensors.end()) place(input.value, held->second);
    }
  }

  std::vector<bool> run() {
    std::vector<bool> out;
    for (const Node& node : graph_.nodes) {
      out.push_back(writes_together(node));
      fold(node);
      groups_.join(node);
    }
    return out;
  }

 private:
  void place(ValueId id, const HostTensor& tensor) {
    const auto [first, is_new] = first_of_.emplace(tensor.storage.get(), id);
    if (!is_new) groups_.join(id, first->second);
    has_shared_inputs_ = has_shared_inputs_ || !is_new;
    folded_[id.index] = overlaps_itself(tensor);
  }

  bool writes_together(const Node& node) {
    std::vector<ValueId> operands;
    spec::for_each_operand(node, [&](ValueId id) { operands.push_back(id); });
    const auto shares = [&](ValueId written) {
      return folded_[written.index] || std::ranges::any_of(operands, [&](ValueId other) {
               return other != written && groups_.may_share(other, written) &&
                      !lie_apart(written, other);
             });
    };
    const spec::OpRow* const row = ops_.find(node.op);
    bool out = copies_folded(node);
    for (const spec::NamedArgument& named : node.arguments) {
      const auto argument = row ? row->schema.find_argument(named.name) : std::nullopt;
      if (!argument || !row->writes(*argument)) continue;
      spec::for_each_value(named.argument, [&](ValueId id) { out = out || shares(id); });
    }
    return out;
  }

  // Whether the node writes into a copy that has two elements in one place, as what it copied has.
  [[nodiscard]] bool copies_folded(const Node& node) const {
    const std::string_view copied = copied_by(node);
    // The first version names no bases: it copies written arguments by the op's own names.
    const bool is_any = node.op == "higher_order.auto_functionalized";
    bool out = false;
    for (const spec::NamedArgument& named : node.arguments) {
      if (!is_any && (copied.empty() || named.name != copied)) continue;
      spec::for_each_value(named.argument, [&](ValueId id) { out = out || folded_[id.index]; });
    }
    return out;
  }

  // The argument of which an op writes a copy that keeps its strides; "" for other ops.
  [[nodiscard]] std::string_view copied_by(const Node& node) const {
    if (is_functionalized(node)) return "_all_bases";
    const spec::OpRow* const row = ops_.find(node.op);
    if (!row || row->schema.name.find("scatter") == std::string::npos) return "";
    const std::string name = row->schema.base_name();
    const bool is_scatter =
        name == "slice_scatter" || name == "select_scatter" || name == "diagonal_scatter";
    return is_scatter ? "self" : "";
  }

  // Views of one storage, as the program states them. Where callers pass inputs that share bytes,
  // what is stated of a view says nothing of where another input lies.
  [[nodiscard]] bool lie_apart(ValueId a, ValueId b) const {
    const auto& one = graph_.value(a).type;
    const auto& other = graph_.value(b).type;
    if (has_shared_inputs_ || !one || !other || one->dtype != other->dtype) return false;
    const auto x = reach_of(one);
    const auto y = reach_of(other);
    return x && y && (x->end <= y->begin || y->end <= x->begin);
  }

  // Results may overlap themselves where what they are views or copies of does, or by the op.
  void fold(const Node& node) {
    if (copies_folded(node)) {
      for (const spec::NodeResult& result : node.results) {
        for (const ValueId id : result.values) folded_[id.index] = true;
      }
    }
    const bool folds = node.op.find("expand") != std::string::npos ||
                       node.op.find("unfold") != std::string::npos ||
                       node.op.find("as_strided") != std::string::npos;
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      for (const spec::NamedArgument& named : node.arguments) {
        if (!groups_.may_share(node, r, named.name)) continue;
        spec::for_each_value(named.argument, [&](ValueId from) {
          for (const ValueId id : node.results[r].values) {
            folded_[id.index] = folded_[id.index] || folded_[from.index] || folds;
          }
        });
      }
    }
  }

  const spec::Graph& graph_;
  const spec::OpTable& ops_;
  StorageGroups groups_;
  std::vector<bool> folded_;  // per value: whether it may overlap itself
  std::map<const void*, ValueId> first_of_;
  bool has_shared_inputs_ = false;
};

}  // namespace

std::vector<bool> written_together(const spec::Program& program,
                                   std::span<const spec::InputValue> inputs,
                                   const spec::OpTable& ops) {
  return Sharing(program, inputs, ops).run();
}

}  // namespace graphgate::conformance
