#include "conformance/run/row_cut.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace graphgate::conformance {
namespace {

using spec::Argument;
using spec::HostTensor;
using spec::Node;
using spec::OpRow;
using spec::Program;
using spec::ValueId;

// How an op that is no pointwise one treats the rows of its first operands.
enum class RowKind : std::uint8_t {
  kReduced,     // over dimensions that the argument `dim` names
  kLines,       // along the dimension `dim`; the sizes stay
  kNormalized,  // over the last dimensions, as many as normalized_shape has
  kProduct,     // of the matrices' rows with one matrix
  kBatches,     // of matrices with matrices
  kCopied,      // element by element
  kLookedUp,    // rows of a table, one for each element
  kPicked,      // along `dim`, by an index of the same rows
  kInserted,    // a dimension of size 1 at `dim`
  kNarrowed,    // in the dimension `dim`, which stays
  kSelected,    // one element of the dimension `dim`, which goes
  kJoined,      // a list of tensors, along `dim`
};

struct RowRule {
  std::string_view op;
  RowKind rows;
  std::string_view cut;                  // the operand whose rows they are
  std::string_view also_cut = {};        // another
  std::optional<std::int64_t> dim = {};  // where the argument is left out
};

constexpr std::array kRowRules = {
    RowRule{"aten._log_softmax.default", RowKind::kLines, "self"},
    RowRule{"aten._softmax.default", RowKind::kLines, "self"},
    RowRule{"aten._to_copy.default", RowKind::kCopied, "self"},
    RowRule{"aten.addmm.default", RowKind::kProduct, "mat1"},
    RowRule{"aten.alias.default", RowKind::kCopied, "self"},
    RowRule{"aten.amax.default", RowKind::kReduced, "self"},
    RowRule{"aten.amin.default", RowKind::kReduced, "self"},
    RowRule{"aten.bmm.default", RowKind::kBatches, "self", "mat2"},
    RowRule{"aten.cat.default", RowKind::kJoined, "tensors", {}, 0},
    RowRule{"aten.cumprod.default", RowKind::kLines, "self"},
    RowRule{"aten.cumsum.default", RowKind::kLines, "self"},
    RowRule{"aten.detach.default", RowKind::kCopied, "self"},
    RowRule{"aten.embedding.default", RowKind::kLookedUp, "indices"},
    RowRule{"aten.gather.default", RowKind::kPicked, "self", "index"},
    RowRule{"aten.layer_norm.default", RowKind::kNormalized, "input"},
    RowRule{"aten.linear.default", RowKind::kProduct, "input"},
    RowRule{"aten.log_softmax.int", RowKind::kLines, "self"},
    RowRule{"aten.logsumexp.default", RowKind::kReduced, "self"},
    RowRule{"aten.matmul.default", RowKind::kProduct, "self"},
    RowRule{"aten.mean.dim", RowKind::kReduced, "self"},
    RowRule{"aten.mm.default", RowKind::kProduct, "self"},
    RowRule{"aten.native_layer_norm.default", RowKind::kNormalized, "input"},
    RowRule{"aten.prod.dim_int", RowKind::kReduced, "self"},
    RowRule{"aten.rms_norm.default", RowKind::kNormalized, "input"},
    RowRule{"aten.select.int", RowKind::kSelected, "self"},
    RowRule{"aten.slice.Tensor", RowKind::kNarrowed, "self", {}, 0},
    RowRule{"aten.softmax.int", RowKind::kLines, "self"},
    RowRule{"aten.sum.dim_IntList", RowKind::kReduced, "self"},
    RowRule{"aten.unsqueeze.default", RowKind::kInserted, "self"},
    RowRule{"aten.var.correction", RowKind::kReduced, "self"},
};

// What is known of a value: how many dimensions it has, and whether it is cut.
struct Known {
  std::optional<std::int64_t> rank;
  bool is_cut = false;
  bool is_stretched = false;  // its dimension 0 has size 1
};

class CutFinder {
 public:
  CutFinder(const Program& program, const spec::OpTable& ops) : program_(program), ops_(ops) {
    known_.resize(program.graph.values.size());
  }

  // With the inputs cut for which `is_cut` holds.
  Result<RowCut> run(std::span<const spec::InputValue> inputs, RowCut cut) {
    GRAPHGATE_TRY_VOID(note_inputs(inputs, cut));
    for (const Node& node : program_.graph.nodes) GRAPHGATE_TRY_VOID(follow(node));
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i].kind != spec::OutputKind::kUserOutput) return no("state changes");
      const auto* id = program_.graph.outputs[i].as<ValueId>();
      if (!id || !known(*id).is_cut) return no("an output is no tensor that has the rows");
    }
    for (const Known& value : known_) cut.values.push_back(value.is_cut);
    return cut;
  }

 private:
  static Error no(const std::string& why) {
    return unsupported("rows depend on each other: " + why);
  }
  static Error no(const Node& node) { return no("node '" + node.name + "' (" + node.op + ")"); }

  Known& known(ValueId id) { return known_[id.index]; }

  Result<void> note_inputs(std::span<const spec::InputValue> inputs, const RowCut& cut) {
    std::size_t next = 0;
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.constant) continue;
      const HostTensor* tensor = nullptr;
      bool is_cut = false;
      if (input.kind == spec::InputKind::kUserInput) {
        if (next >= inputs.size()) return no("an input is missing");
        tensor = std::get_if<HostTensor>(&inputs[next]);
        is_cut = cut.inputs[next++];
      } else {
        const auto state = program_.tensors.find(input.target);
        if (state != program_.tensors.end()) tensor = &state->second;
      }
      if (!tensor) continue;
      known(input.value) = {static_cast<std::int64_t>(tensor->sizes.size()), is_cut,
                            !tensor->sizes.empty() && tensor->sizes.front() == 1};
    }
    return {};
  }

  // Of all that a node is given.
  Result<void> follow(const Node& node) {
    bool has_cut = false;
    spec::for_each_operand(node, [&](ValueId id) { has_cut = has_cut || known(id).is_cut; });
    const OpRow* row = ops_.find(node.op);
    if (!row || !is_plain(*row)) return no(node);
    if (!has_cut) return make_uncut(node);
    if (row->has_tag("pointwise")) return follow_pointwise(node, *row);
    const auto rule = std::ranges::find(kRowRules, node.op, &RowRule::op);
    if (rule == kRowRules.end()) return no(node);
    return follow_rule(node, *rule);
  }

  // The same for all rows.
  Result<void> make_uncut(const Node& node) {
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const auto& type = program_.graph.value(id).type;
        if (!type) continue;
        const bool is_single = !type->sizes.empty() && type->sizes.front() == spec::SymExpr(1);
        known(id) = {static_cast<std::int64_t>(type->sizes.size()), false, is_single};
      }
    }
    return {};
  }

  // It writes nothing, draws nothing, and makes tensors whose sizes depend on no element.
  static bool is_plain(const OpRow& row) {
    for (std::size_t i = 0; i < row.schema.arguments.size(); ++i) {
      if (row.writes(i)) return false;
    }
    const bool is_hidden = !row.hidden_state_reads.empty() || !row.hidden_state_writes.empty();
    return !is_hidden && row.orders.empty() && !row.has_tag("nondeterministic_seeded") &&
           !row.has_tag("data_dependent_output") && !row.has_tag("dynamic_output_shape");
  }

  // Operands stretch to the most dimensions: rows are those of who has them, what else is there has
  // one row for all, or fewer dimensions.
  Result<void> follow_pointwise(const Node& node, const OpRow& row) {
    std::int64_t rank = 0;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto index = row.schema.find_argument(named.name);
      const auto* id = named.argument.as<ValueId>();
      if (!index || (!id && named.argument.as<Argument::List>())) return no(node);
      if (!id) continue;
      if (program_.graph.value(*id).kind != spec::ValueKind::kTensor) continue;  // a number
      if (!known(*id).rank) return no(node);
      rank = std::max(rank, *known(*id).rank);
    }
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* id = named.argument.as<ValueId>();
      if (!id || program_.graph.value(*id).kind != spec::ValueKind::kTensor) continue;
      const Known& operand = known(*id);
      const bool fits =
          operand.is_cut ? operand.rank == rank : operand.rank < rank || operand.is_stretched;
      if (!fits) return no(node);
    }
    return make(node, rank);
  }

  Result<void> follow_rule(const Node& node, const RowRule& rule) {
    std::optional<std::int64_t> rank;
    for (const spec::NamedArgument& named : node.arguments) {
      const bool must_be_cut = named.name == rule.cut || named.name == rule.also_cut;
      bool fits = true;
      spec::for_each_value(named.argument, [&](ValueId id) {
        const Known& operand = known(id);
        fits = fits && operand.is_cut == must_be_cut;
        if (!must_be_cut) return;
        fits = fits && operand.rank && (!rank || rank == operand.rank);
        rank = operand.rank;
      });
      if (!fits) return no(node);
    }
    if (!rank) return no(node);
    const auto made = rank_made(node, rule, *rank);
    return made ? make(node, *made) : Result<void>(no(node));
  }

  // The dimensions of the result, dimension 0 the operand's own; nothing where it is not.
  std::optional<std::int64_t> rank_made(const Node& node, const RowRule& rule, std::int64_t rank) {
    switch (rule.rows) {
      case RowKind::kCopied:
        return rank;
      case RowKind::kReduced:
        return rank_reduced(node, rank);
      case RowKind::kLines:
      case RowKind::kPicked:
      case RowKind::kNarrowed:
      case RowKind::kJoined:
        return is_behind_rows(node, rule, rank) ? std::optional(rank) : std::nullopt;
      case RowKind::kSelected:
        return is_behind_rows(node, rule, rank) ? std::optional(rank - 1) : std::nullopt;
      case RowKind::kInserted:
        return is_behind_rows(node, rule, rank + 1) ? std::optional(rank + 1) : std::nullopt;
      case RowKind::kNormalized: {
        const Argument* shape = argument(node, "normalized_shape");
        const auto* list = shape ? shape->as<Argument::List>() : nullptr;
        const bool fits = list && static_cast<std::int64_t>(list->size()) < rank;
        return fits ? std::optional(rank) : std::nullopt;
      }
      case RowKind::kProduct:
        return rank_of_product(node, rank);
      case RowKind::kBatches:
        return rank == 3 ? std::optional(rank) : std::nullopt;
      case RowKind::kLookedUp:
        return rank + 1;
    }
    return std::nullopt;
  }

  static const Argument* argument(const Node& node, std::string_view name) {
    const auto found = std::ranges::find(node.arguments, name, &spec::NamedArgument::name);
    return found == node.arguments.end() ? nullptr : &found->argument;
  }

  static bool is_behind_rows(std::int64_t dim, std::int64_t rank) {
    return dim != 0 && dim < rank && dim > -rank;
  }
  static bool is_behind_rows(const Node& node, const RowRule& rule, std::int64_t rank) {
    const Argument* given = argument(node, "dim");
    if (!given) return rule.dim && is_behind_rows(*rule.dim, rank);
    const auto* dim = given->as<std::int64_t>();
    return dim && is_behind_rows(*dim, rank);
  }

  static std::optional<std::int64_t> rank_reduced(const Node& node, std::int64_t rank) {
    const Argument* given = argument(node, "dim");
    if (!given) return std::nullopt;
    std::set<std::int64_t> dims;
    const auto add = [&](const Argument& one) {
      const auto* dim = one.as<std::int64_t>();
      if (!dim || !is_behind_rows(*dim, rank)) return false;
      dims.insert(*dim < 0 ? *dim + rank : *dim);
      return true;
    };
    const auto* list = given->as<Argument::List>();
    if (list ? !std::ranges::all_of(*list, add) : !add(*given)) return std::nullopt;
    if (dims.empty()) return std::nullopt;  // all of them
    const Argument* keeps = argument(node, "keepdim");
    const bool* keepdim = keeps ? keeps->as<bool>() : nullptr;
    if (keeps && !keepdim) return std::nullopt;
    return keepdim && *keepdim ? rank : rank - static_cast<std::int64_t>(dims.size());
  }

  // Of [.., rows, inner] with one matrix that every row is multiplied with. What is added to the
  // product has no rows of its own.
  std::optional<std::int64_t> rank_of_product(const Node& node, std::int64_t rank) {
    if (rank < 2) return std::nullopt;
    std::int64_t made = rank;
    for (const std::string_view name : {"other", "mat2", "weight"}) {
      const Argument* given = argument(node, name);
      const auto* id = given ? given->as<ValueId>() : nullptr;
      if (!id) continue;
      const auto of_matrix = known(*id).rank;
      if (!of_matrix || *of_matrix < 1 || *of_matrix > 2) return std::nullopt;
      if (*of_matrix == 1) made = rank - 1;
    }
    const bool is_addmm = node.op == "aten.addmm.default";
    for (const std::string_view name : {"self", "bias"}) {
      const Argument* given = argument(node, name);
      const auto* id = given ? given->as<ValueId>() : nullptr;
      if (!id || known(*id).is_cut || (name == "self" && !is_addmm)) continue;
      if (known(*id).rank != 1 && !(known(*id).rank == 0)) return std::nullopt;
    }
    return made;
  }

  Result<void> make(const Node& node, std::int64_t rank) {
    for (const spec::NodeResult& result : node.results) {
      if (result.is_list) return no(node);
      const spec::Value& value = program_.graph.value(result.values.front());
      if (value.kind == spec::ValueKind::kNone) continue;
      if (value.kind != spec::ValueKind::kTensor) return no(node);
      known(result.values.front()) = {rank, true, false};
    }
    return {};
  }

  const Program& program_;
  const spec::OpTable& ops_;
  std::vector<Known> known_;  // by value
};

}  // namespace

Result<RowCut> find_row_cut(const Program& program, const spec::OpTable& ops,
                            std::span<const spec::InputValue> inputs) {
  const HostTensor* largest = nullptr;
  for (const spec::InputValue& input : inputs) {
    const auto* tensor = std::get_if<HostTensor>(&input);
    if (!tensor || tensor->sizes.empty()) continue;
    const bool is_larger =
        !largest || spec::element_count(tensor->sizes) > spec::element_count(largest->sizes);
    if (is_larger) largest = tensor;
  }
  if (!largest || spec::element_count(largest->sizes) == 0) {
    return unsupported("rows depend on each other: no input has any");
  }
  const auto with = [&](const auto& is_cut) {
    RowCut cut;
    cut.rows = largest->sizes.front();
    for (const spec::InputValue& input : inputs) {
      const auto* tensor = std::get_if<HostTensor>(&input);
      cut.inputs.push_back(tensor && is_cut(*tensor));
      if (cut.inputs.back()) cut.elements += spec::element_count(tensor->sizes);
    }
    return CutFinder(program, ops).run(inputs, std::move(cut));
  };
  // An operand with as many rows is cut with the largest; any other is the same for all tiles.
  auto found = with([&](const HostTensor& tensor) {
    return !tensor.sizes.empty() && tensor.sizes.front() == largest->sizes.front();
  });
  if (found.ok()) return found;
  auto alone = with([&](const HostTensor& tensor) { return &tensor == largest; });
  return alone.ok() ? std::move(alone) : std::move(found);
}

HostTensor rows_of(const HostTensor& tensor, std::int64_t first, std::int64_t count) {
  HostTensor part = tensor;
  part.sizes.front() = count;
  part.storage_offset += first * tensor.strides.front();
  return part;
}

Program program_of_rows(const Program& program, const RowCut& cut, std::int64_t rows) {
  Program out = program;
  for (std::size_t i = 0; i < cut.values.size(); ++i) {
    spec::Value& value = out.graph.values[i];
    if (!cut.values[i] || !value.type || value.type->sizes.empty()) continue;
    if (value.type->sizes.front().is_constant()) value.type->sizes.front() = rows;
  }
  return out;
}

}  // namespace graphgate::conformance
