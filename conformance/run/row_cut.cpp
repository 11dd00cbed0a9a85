#include "conformance/run/row_cut.h"

#include <algorithm>
#include <array>
#include <numeric>
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
  kLines,       // along the dimension `dim`; the number of dimensions stays
  kTrailing,    // the last dimensions, as many as the rule says, are taken together
  kNormalized,  // over the last dimensions, as many as normalized_shape has
  kConvolved,   // all dimensions but the first, one more than `stride` has
  kFirst,       // all dimensions but the first are taken together
  kProduct,     // of the matrices' rows with one matrix
  kBatches,     // of matrices with matrices
  kCopied,      // element by element
  kLookedUp,    // rows of a table, one for each element
  kInserted,    // a dimension of size 1 at `dim`
  kSelected,    // one element of the dimension `dim`, which goes
  kReshaped,    // the same elements in the same order, in other sizes
  kPermuted,    // dimensions in the order of `dims`
  kSwapped,     // the dimensions `dim0` and `dim1`
  kTransposed,  // the two dimensions of a matrix
  kStretched,   // to the sizes `size`
};

struct RowRule {
  std::string_view op;
  RowKind rows;
  std::string_view cut;                  // the operand whose rows they are
  std::string_view also_cut = {};        // another
  std::optional<std::int64_t> dim = {};  // where the argument is left out; of kTrailing: how many
};

constexpr std::array kRowRules = {
    RowRule{"aten._log_softmax.default", RowKind::kLines, "self"},
    RowRule{"aten._log_softmax_backward_data.default", RowKind::kLines, "grad_output", "output"},
    RowRule{"aten._softmax.default", RowKind::kLines, "self"},
    RowRule{"aten._softmax_backward_data.default", RowKind::kLines, "grad_output", "output"},
    RowRule{"aten._to_copy.default", RowKind::kCopied, "self"},
    RowRule{"aten._unsafe_view.default", RowKind::kReshaped, "self"},
    RowRule{"aten.addmm.default", RowKind::kProduct, "mat1"},
    RowRule{"aten.alias.default", RowKind::kCopied, "self"},
    RowRule{"aten.all.dim", RowKind::kReduced, "self"},
    RowRule{"aten.amax.default", RowKind::kReduced, "self"},
    RowRule{"aten.amin.default", RowKind::kReduced, "self"},
    RowRule{"aten.any.dim", RowKind::kReduced, "self"},
    RowRule{"aten.argmax.default", RowKind::kReduced, "self"},
    RowRule{"aten.argmin.default", RowKind::kReduced, "self"},
    RowRule{"aten.avg_pool1d.default", RowKind::kTrailing, "self", {}, 1},
    RowRule{"aten.avg_pool2d.default", RowKind::kTrailing, "self", {}, 2},
    RowRule{"aten.bmm.default", RowKind::kBatches, "self", "mat2"},
    RowRule{"aten.cat.default", RowKind::kLines, "tensors", {}, 0},
    RowRule{"aten.clone.default", RowKind::kCopied, "self"},
    RowRule{"aten.contiguous.default", RowKind::kCopied, "self"},
    RowRule{"aten.conv1d.default", RowKind::kTrailing, "input", {}, 2},
    RowRule{"aten.conv2d.default", RowKind::kTrailing, "input", {}, 3},
    RowRule{"aten.convolution.default", RowKind::kConvolved, "input"},
    RowRule{"aten.cummax.default", RowKind::kLines, "self"},
    RowRule{"aten.cummin.default", RowKind::kLines, "self"},
    RowRule{"aten.cumprod.default", RowKind::kLines, "self"},
    RowRule{"aten.cumsum.default", RowKind::kLines, "self"},
    RowRule{"aten.detach.default", RowKind::kCopied, "self"},
    RowRule{"aten.embedding.default", RowKind::kLookedUp, "indices"},
    RowRule{"aten.expand.default", RowKind::kStretched, "self"},
    RowRule{"aten.flatten.using_ints", RowKind::kReshaped, "self"},
    RowRule{"aten.gather.default", RowKind::kLines, "self", "index"},
    RowRule{"aten.glu.default", RowKind::kLines, "self", {}, -1},
    RowRule{"aten.group_norm.default", RowKind::kFirst, "input"},
    RowRule{"aten.index_select.default", RowKind::kLines, "self"},
    RowRule{"aten.layer_norm.default", RowKind::kNormalized, "input"},
    RowRule{"aten.linalg_vector_norm.default", RowKind::kReduced, "self"},
    RowRule{"aten.linear.default", RowKind::kProduct, "input"},
    RowRule{"aten.log_softmax.int", RowKind::kLines, "self"},
    RowRule{"aten.logcumsumexp.default", RowKind::kLines, "self"},
    RowRule{"aten.logsumexp.default", RowKind::kReduced, "self"},
    RowRule{"aten.matmul.default", RowKind::kProduct, "self"},
    RowRule{"aten.max.dim", RowKind::kReduced, "self"},
    RowRule{"aten.max_pool2d.default", RowKind::kTrailing, "self", {}, 2},
    RowRule{"aten.max_pool2d_with_indices.default", RowKind::kTrailing, "self", {}, 2},
    RowRule{"aten.mean.dim", RowKind::kReduced, "self"},
    RowRule{"aten.min.dim", RowKind::kReduced, "self"},
    RowRule{"aten.mm.default", RowKind::kProduct, "self"},
    RowRule{"aten.native_layer_norm.default", RowKind::kNormalized, "input"},
    RowRule{"aten.permute.default", RowKind::kPermuted, "self"},
    RowRule{"aten.prod.dim_int", RowKind::kReduced, "self"},
    RowRule{"aten.reshape.default", RowKind::kReshaped, "self"},
    RowRule{"aten.rms_norm.default", RowKind::kNormalized, "input"},
    RowRule{"aten.select.int", RowKind::kSelected, "self"},
    RowRule{"aten.slice.Tensor", RowKind::kLines, "self", {}, 0},
    RowRule{"aten.softmax.int", RowKind::kLines, "self"},
    RowRule{"aten.sort.default", RowKind::kLines, "self", {}, -1},
    RowRule{"aten.sort.stable", RowKind::kLines, "self", {}, -1},
    RowRule{"aten.split.Tensor", RowKind::kLines, "self", {}, 0},
    RowRule{"aten.split_with_sizes.default", RowKind::kLines, "self", {}, 0},
    RowRule{"aten.squeeze.dim", RowKind::kReshaped, "self"},
    RowRule{"aten.squeeze.dims", RowKind::kReshaped, "self"},
    RowRule{"aten.std.correction", RowKind::kReduced, "self"},
    RowRule{"aten.sum.dim_IntList", RowKind::kReduced, "self"},
    RowRule{"aten.t.default", RowKind::kTransposed, "self"},
    RowRule{"aten.topk.default", RowKind::kLines, "self", {}, -1},
    RowRule{"aten.transpose.int", RowKind::kSwapped, "self"},
    RowRule{"aten.unflatten.int", RowKind::kReshaped, "self"},
    RowRule{"aten.unsqueeze.default", RowKind::kInserted, "self"},
    RowRule{"aten.upsample_nearest2d.default", RowKind::kTrailing, "self", {}, 2},
    RowRule{"aten.var.correction", RowKind::kReduced, "self"},
    RowRule{"aten.var_mean.correction", RowKind::kReduced, "self"},
    RowRule{"aten.view.default", RowKind::kReshaped, "self"},
};

using Sizes = std::vector<std::int64_t>;

// What is known of a value.
struct Known {
  std::optional<std::int64_t> rank;  // how many dimensions
  std::optional<Sizes> sizes;        // at all rows
  std::optional<RowPlace> place;     // nothing: it is the same for all rows
};

// What a rule makes of rows.
struct MadeRows {
  std::int64_t rank = 0;
  RowPlace place;
};

std::int64_t product(const Sizes& sizes, std::size_t first, std::size_t last) {
  std::int64_t out = 1;
  for (std::size_t d = first; d < last; ++d) out *= sizes[d];
  return out;
}

class CutFinder {
 public:
  CutFinder(const Program& program, const spec::OpTable& ops) : program_(program), ops_(ops) {
    known_.resize(program.graph.values.size());
  }

  // With the inputs cut that have places.
  Result<RowCut> run(std::span<const spec::InputValue> inputs, RowCut cut) {
    cut_ = std::move(cut);
    GRAPHGATE_TRY_VOID(note_inputs(inputs));
    for (std::size_t i = 0; i < program_.graph.nodes.size(); ++i) {
      node_ = i;
      GRAPHGATE_TRY_VOID(follow(program_.graph.nodes[i]));
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i].kind != spec::OutputKind::kUserOutput) return no("state changes");
      const auto* id = program_.graph.outputs[i].as<ValueId>();
      if (!id || !known(*id).place) return no("an output is no tensor that has the rows");
      cut_.outputs.push_back(*known(*id).place);
    }
    for (const Known& value : known_) {
      cut_.values.push_back(value.place);
      if (value.place) cut_.granule = std::lcm(cut_.granule, value.place->over);
    }
    if (cut_.rows % cut_.granule != 0) return no("a view takes an odd number of them together");
    return std::move(cut_);
  }

 private:
  static Error no(const std::string& why) {
    return unsupported("rows depend on each other: " + why);
  }
  static Error no(const Node& node) { return no("node '" + node.name + "' (" + node.op + ")"); }

  Known& known(ValueId id) { return known_[id.index]; }

  Result<void> note_inputs(std::span<const spec::InputValue> inputs) {
    std::size_t next = 0;
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.constant) continue;
      const HostTensor* tensor = nullptr;
      std::optional<RowPlace> place;
      if (input.kind == spec::InputKind::kUserInput) {
        if (next >= inputs.size()) return no("an input is missing");
        tensor = std::get_if<HostTensor>(&inputs[next]);
        place = cut_.inputs[next++];
      } else {
        const auto state = program_.tensors.find(input.target);
        if (state != program_.tensors.end()) tensor = &state->second;
      }
      if (!tensor) continue;
      known(input.value) = {std::ssize(tensor->sizes), tensor->sizes, place};
    }
    return {};
  }

  // Of all that a node is given.
  Result<void> follow(const Node& node) {
    bool has_cut = false;
    spec::for_each_operand(node, [&](ValueId id) { has_cut = has_cut || known(id).place; });
    const OpRow* row = ops_.find(node.op);
    if (!row || !is_plain(*row)) return no(node);
    if (!has_cut) return make_uncut(node);
    const auto rule = std::ranges::find(kRowRules, node.op, &RowRule::op);
    if (rule != kRowRules.end()) return follow_rule(node, *rule);
    return row->has_tag("pointwise") ? follow_pointwise(node, *row) : Result<void>(no(node));
  }

  // What the graph says of a value; sizes where all of them are numbers.
  [[nodiscard]] Known declared(ValueId id) const {
    const auto& type = program_.graph.value(id).type;
    if (!type) return {};
    Known out{std::ssize(type->sizes), Sizes{}, {}};
    for (const spec::SymExpr& size : type->sizes) {
      if (!size.is_constant()) return {out.rank, {}, {}};
      out.sizes->push_back(size.constant());
    }
    return out;
  }

  // The same for all rows.
  Result<void> make_uncut(const Node& node) {
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) known(id) = declared(id);
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

  // Operands stretch to the most dimensions, aligned at the last one: rows are those of who has
  // them, what else is there has one row for all, or fewer dimensions.
  Result<void> follow_pointwise(const Node& node, const OpRow& row) {
    std::int64_t rank = 0;
    std::optional<RowPlace> place;  // its dimension counted from the end, the last one 1
    std::vector<ValueId> tensors;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto index = row.schema.find_argument(named.name);
      const auto* id = named.argument.as<ValueId>();
      if (!index || (!id && named.argument.as<Argument::List>())) return no(node);
      if (!id) continue;
      if (program_.graph.value(*id).kind != spec::ValueKind::kTensor) continue;  // a number
      const Known& operand = known(*id);
      if (!operand.rank) return no(node);
      rank = std::max(rank, *operand.rank);
      tensors.push_back(*id);
      if (!operand.place) continue;
      RowPlace from_end = *operand.place;
      from_end.dim = *operand.rank - from_end.dim;
      if (place && from_end != *place) return no(node);
      place = from_end;
    }
    if (!place) return no(node);
    for (const ValueId id : tensors) {
      const Known& operand = known(id);
      if (operand.place || *operand.rank < place->dim) continue;
      const bool is_stretched =
          operand.sizes &&
          (*operand.sizes)[static_cast<std::size_t>(*operand.rank - place->dim)] == 1;
      if (!is_stretched) return no(node);
    }
    place->dim = rank - place->dim;
    return make(node, {rank, *place});
  }

  Result<void> follow_rule(const Node& node, const RowRule& rule) {
    const Known* first = nullptr;
    for (const spec::NamedArgument& named : node.arguments) {
      const bool must_be_cut = named.name == rule.cut || named.name == rule.also_cut;
      bool fits = true;
      spec::for_each_value(named.argument, [&](ValueId id) {
        const Known& operand = known(id);
        fits = fits && operand.place.has_value() == must_be_cut;
        if (!must_be_cut) return;
        fits = fits && operand.rank &&
               (!first || (first->rank == operand.rank && first->place == operand.place));
        first = &operand;
      });
      if (!fits) return no(node);
    }
    if (!first) return no(node);
    const auto made = rows_made(node, rule, *first);
    return made ? make(node, *made) : Result<void>(no(node));
  }

  // Nothing where rows do not stay apart.
  std::optional<MadeRows> rows_made(const Node& node, const RowRule& rule, const Known& operand) {
    const std::int64_t rank = *operand.rank;
    const RowPlace place = *operand.place;
    const auto as_they_are = [&](bool fits) {
      return fits ? std::optional(MadeRows{rank, place}) : std::nullopt;
    };
    const auto is_before_last = [&](std::int64_t count) { return place.dim < rank - count; };
    switch (rule.rows) {
      case RowKind::kCopied:
        return as_they_are(true);
      case RowKind::kReduced:
        return rows_reduced(node, rank, place);
      case RowKind::kLines:
        return as_they_are(other_dim(node, rule, rank, place).has_value());
      case RowKind::kSelected: {
        const auto dim = other_dim(node, rule, rank, place);
        if (!dim) return std::nullopt;
        return MadeRows{rank - 1, moved(place, *dim < place.dim ? -1 : 0)};
      }
      case RowKind::kInserted: {
        const auto dim = dim_of(argument(node, "dim"), rank + 1);
        if (!dim) return std::nullopt;
        return MadeRows{rank + 1, moved(place, *dim <= place.dim ? 1 : 0)};
      }
      case RowKind::kTrailing:
        return as_they_are(is_before_last(*rule.dim));
      case RowKind::kNormalized:
        return as_they_are(has_list(node, "normalized_shape") &&
                           is_before_last(list_size(node, "normalized_shape")));
      case RowKind::kConvolved:
        return as_they_are(has_list(node, "stride") &&
                           is_before_last(list_size(node, "stride") + 1));
      case RowKind::kFirst:
        return as_they_are(place.dim == 0);
      case RowKind::kProduct: {
        const auto made = place.dim < rank - 1 ? rank_of_product(node, rank) : std::nullopt;
        return made ? std::optional(MadeRows{*made, place}) : std::nullopt;
      }
      case RowKind::kBatches:
        return as_they_are(rank == 3 && place.dim == 0);
      case RowKind::kLookedUp:
        return MadeRows{rank + 1, place};
      case RowKind::kReshaped:
        return rows_reshaped(node, operand);
      case RowKind::kPermuted:
        return rows_permuted(node, rank, place);
      case RowKind::kSwapped: {
        const auto a = dim_of(argument(node, "dim0"), rank);
        const auto b = dim_of(argument(node, "dim1"), rank);
        if (!a || !b) return std::nullopt;
        return MadeRows{rank, moved(place, place.dim == *a   ? *b - *a
                                           : place.dim == *b ? *a - *b
                                                             : 0)};
      }
      case RowKind::kTransposed:
        if (rank != 2) return std::nullopt;
        return MadeRows{rank, moved(place, place.dim == 0 ? 1 : -1)};
      case RowKind::kStretched:
        return rows_stretched(node, rank, place);
    }
    return std::nullopt;
  }

  static RowPlace moved(RowPlace place, std::int64_t by) {
    place.dim += by;
    return place;
  }

  static const Argument* argument(const Node& node, std::string_view name) {
    const auto found = std::ranges::find(node.arguments, name, &spec::NamedArgument::name);
    return found == node.arguments.end() ? nullptr : &found->argument;
  }

  static const Argument::List* list_of(const Node& node, std::string_view name) {
    const Argument* given = argument(node, name);
    return given ? given->as<Argument::List>() : nullptr;
  }
  static bool has_list(const Node& node, std::string_view name) {
    return list_of(node, name) != nullptr;
  }
  static std::int64_t list_size(const Node& node, std::string_view name) {
    return std::ssize(*list_of(node, name));
  }

  // A dimension counted from the first one; nothing where it is no number, or none of them.
  static std::optional<std::int64_t> dim_of(std::int64_t dim, std::int64_t rank) {
    if (dim < -rank || dim >= rank) return std::nullopt;
    return dim < 0 ? dim + rank : dim;
  }
  static std::optional<std::int64_t> dim_of(const Argument* given, std::int64_t rank) {
    const auto* dim = given ? given->as<std::int64_t>() : nullptr;
    return dim ? dim_of(*dim, rank) : std::nullopt;
  }

  // The dimension that a node works along, where that is not the one of rows.
  static std::optional<std::int64_t> other_dim(const Node& node, const RowRule& rule,
                                               std::int64_t rank, const RowPlace& place) {
    const Argument* given = argument(node, "dim");
    if (!given && !rule.dim) return std::nullopt;
    const auto dim = given ? dim_of(given, rank) : dim_of(*rule.dim, rank);
    return dim == place.dim ? std::nullopt : dim;
  }

  static std::optional<MadeRows> rows_reduced(const Node& node, std::int64_t rank,
                                              const RowPlace& place) {
    const Argument* given = argument(node, "dim");
    if (!given) return std::nullopt;
    std::set<std::int64_t> dims;
    const auto add = [&](const Argument& one) {
      const auto dim = dim_of(&one, rank);
      if (!dim || *dim == place.dim) return false;
      dims.insert(*dim);
      return true;
    };
    const auto* list = given->as<Argument::List>();
    if (list ? !std::ranges::all_of(*list, add) : !add(*given)) return std::nullopt;
    if (dims.empty()) return std::nullopt;  // all of them
    const Argument* keeps = argument(node, "keepdim");
    const bool* keepdim = keeps ? keeps->as<bool>() : nullptr;
    if (keeps && !keepdim) return std::nullopt;
    if (keepdim && *keepdim) return MadeRows{rank, place};
    const std::int64_t before = std::distance(dims.begin(), dims.lower_bound(place.dim));
    return MadeRows{rank - std::ssize(dims), moved(place, -before)};
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
      if (!id || known(*id).place || (name == "self" && !is_addmm)) continue;
      if (known(*id).rank != 1 && !(known(*id).rank == 0)) return std::nullopt;
    }
    return made;
  }

  // The dimension of the result before which there are as many elements as before the operand's
  // rows: it begins with a row wherever one begins. Where it has several for one row, or one for
  // several, the place says so.
  std::optional<MadeRows> rows_reshaped(const Node& node, const Known& operand) {
    const auto made = node.results.size() == 1 && node.results.front().values.size() == 1
                          ? declared(node.results.front().values.front())
                          : Known{};
    if (!operand.sizes || !made.sizes) return std::nullopt;
    const auto from = static_cast<std::size_t>(operand.place->dim);
    const std::int64_t before = product(*operand.sizes, 0, from);
    std::size_t to = 0;
    std::int64_t passed = 1;
    while (to < made.sizes->size() && (passed < before || (*made.sizes)[to] == 1)) {
      passed *= (*made.sizes)[to++];
    }
    if (passed != before || to == made.sizes->size()) return std::nullopt;
    const std::int64_t of_operand = (*operand.sizes)[from];
    const std::int64_t of_result = (*made.sizes)[to];
    if (of_operand == 0 || of_result == 0) return std::nullopt;
    RowPlace place = *operand.place;
    place.dim = static_cast<std::int64_t>(to);
    if (of_result % of_operand == 0) {
      place.times *= of_result / of_operand;
    } else if (of_operand % of_result == 0) {
      place.over *= of_operand / of_result;
    } else {
      return std::nullopt;
    }
    const std::int64_t common = std::gcd(place.times, place.over);
    place.times /= common;
    place.over /= common;
    for (const std::string_view name : {"size", "shape"}) {
      if (!list_of(node, name)) continue;
      if (!note_size(node, name, to, place)) return std::nullopt;
    }
    // Sizes of a dimension that is taken apart count from it.
    if (const Argument::List* sizes = list_of(node, "sizes")) {
      const auto dim = dim_of(argument(node, "dim"), *operand.rank);
      if (!dim || static_cast<std::int64_t>(to) < *dim) return std::nullopt;
      const auto entry = to - static_cast<std::size_t>(*dim);
      if (entry < sizes->size() && !note_size(node, "sizes", entry, place)) return std::nullopt;
    }
    return MadeRows{*made.rank, place};
  }

  // Notes that an entry of a list is the count of rows. False where it is no number.
  bool note_size(const Node& node, std::string_view name, std::size_t entry,
                 const RowPlace& place) {
    const Argument::List* list = list_of(node, name);
    if (!list || entry >= list->size()) return false;
    const auto* size = (*list)[entry].as<std::int64_t>();
    if (!size || *size == 0) return false;
    if (*size < 0) return true;  // what is left
    const auto found = std::ranges::find(node.arguments, name, &spec::NamedArgument::name);
    cut_.sizes.push_back(
        {node_, static_cast<std::size_t>(found - node.arguments.begin()), entry, place});
    return true;
  }

  static std::optional<MadeRows> rows_permuted(const Node& node, std::int64_t rank,
                                               const RowPlace& place) {
    const Argument::List* dims = list_of(node, "dims");
    if (!dims || std::ssize(*dims) != rank) return std::nullopt;
    for (std::size_t d = 0; d < dims->size(); ++d) {
      if (dim_of(&(*dims)[d], rank) != place.dim) continue;
      return MadeRows{rank, moved(place, static_cast<std::int64_t>(d) - place.dim)};
    }
    return std::nullopt;
  }

  std::optional<MadeRows> rows_stretched(const Node& node, std::int64_t rank,
                                         const RowPlace& place) {
    const Argument::List* sizes = list_of(node, "size");
    if (!sizes || std::ssize(*sizes) < rank) return std::nullopt;
    const std::int64_t more = std::ssize(*sizes) - rank;
    const RowPlace made = moved(place, more);
    if (!note_size(node, "size", static_cast<std::size_t>(made.dim), made)) return std::nullopt;
    return MadeRows{rank + more, made};
  }

  Result<void> make(const Node& node, const MadeRows& made) {
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const spec::ValueKind kind = program_.graph.value(id).kind;
        if (kind == spec::ValueKind::kNone) continue;
        if (kind != spec::ValueKind::kTensor) return no(node);
        Known& value = known(id) = declared(id);
        if (value.rank && value.rank != made.rank) return no(node);
        if (value.sizes) {
          const std::int64_t size = (*value.sizes)[static_cast<std::size_t>(made.place.dim)];
          if (size != made.place.size(cut_.rows)) return no(node);
        }
        value.rank = made.rank;
        value.place = made.place;
      }
    }
    return {};
  }

  const Program& program_;
  const spec::OpTable& ops_;
  std::vector<Known> known_;  // by value
  RowCut cut_;
  std::size_t node_ = 0;  // that is followed
};

// The largest tensor; null where none has an element in a dimension.
const HostTensor* largest_of(std::span<const spec::InputValue> inputs) {
  const HostTensor* largest = nullptr;
  for (const spec::InputValue& input : inputs) {
    const auto* tensor = std::get_if<HostTensor>(&input);
    if (!tensor || tensor->sizes.empty()) continue;
    const bool is_larger =
        !largest || spec::element_count(tensor->sizes) > spec::element_count(largest->sizes);
    if (is_larger) largest = tensor;
  }
  return largest && spec::element_count(largest->sizes) > 0 ? largest : nullptr;
}

// A count of rows that is no number depends on the inputs. Strides stay row-major where they are.
void set_rows(spec::TensorType& type, const RowPlace& place, std::int64_t rows) {
  spec::SymExpr& size = type.sizes[static_cast<std::size_t>(place.dim)];
  if (!size.is_constant()) return;
  const auto row_major = [&]() -> std::optional<std::vector<spec::SymExpr>> {
    Sizes sizes;
    for (const spec::SymExpr& one : type.sizes) {
      if (!one.is_constant()) return std::nullopt;
      sizes.push_back(one.constant());
    }
    const Sizes strides = spec::contiguous_strides(sizes);
    return std::vector<spec::SymExpr>(strides.begin(), strides.end());
  };
  const bool is_row_major = type.strides == row_major();
  size = place.size(rows);
  if (is_row_major) type.strides = row_major().value_or(type.strides);
}

// Which of the other operands are cut with the largest; any other is the same for all parts.
enum class Company : std::uint8_t {
  kFromFirst,  // those with as many rows at the same dimension, counted from the first one
  kFromLast,   // the same, counted from the last one
  kAlone,      // none
};

}  // namespace

Result<RowCut> find_row_cut(const Program& program, const spec::OpTable& ops,
                            std::span<const spec::InputValue> inputs, std::int64_t parts) {
  const HostTensor* largest = largest_of(inputs);
  if (!largest) return unsupported("rows depend on each other: no input has any");
  const std::int64_t rank = std::ssize(largest->sizes);
  const auto find = [&](std::int64_t dim, Company company) {
    RowCut cut;
    cut.rows = largest->sizes[static_cast<std::size_t>(dim)];
    for (const spec::InputValue& input : inputs) {
      const auto* tensor = std::get_if<HostTensor>(&input);
      const std::int64_t of_tensor = tensor ? std::ssize(tensor->sizes) : 0;
      const std::int64_t at = company == Company::kFromLast ? dim - rank + of_tensor : dim;
      const bool has_rows = tensor && at >= 0 && at < of_tensor &&
                            tensor->sizes[static_cast<std::size_t>(at)] == cut.rows;
      const bool is_cut = has_rows && (company != Company::kAlone || tensor == largest);
      cut.inputs.push_back(is_cut ? std::optional(RowPlace{.dim = at}) : std::nullopt);
      if (is_cut) cut.elements += spec::element_count(tensor->sizes);
    }
    return CutFinder(program, ops).run(inputs, std::move(cut));
  };
  std::optional<Result<RowCut>> best;  // or why there is none, along dimension 0
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    for (const Company company : {Company::kFromFirst, Company::kFromLast, Company::kAlone}) {
      auto found = find(dim, company);
      if (!best || (found.ok() && (!best->ok() || found.value().parts() > best->value().parts()))) {
        best = std::move(found);
      }
      if (best->ok() && best->value().parts() >= parts) return std::move(*best);
    }
  }
  return std::move(*best);
}

HostTensor rows_of(const HostTensor& tensor, const RowPlace& place, std::int64_t first,
                   std::int64_t count) {
  const auto dim = static_cast<std::size_t>(place.dim);
  HostTensor part = tensor;
  part.sizes[dim] = place.size(count);
  part.storage_offset += place.size(first) * tensor.strides[dim];
  return part;
}

Program program_of_rows(const Program& program, const RowCut& cut, std::int64_t rows) {
  Program out = program;
  for (std::size_t i = 0; i < cut.values.size(); ++i) {
    spec::Value& value = out.graph.values[i];
    if (!cut.values[i] || !value.type) continue;
    set_rows(*value.type, *cut.values[i], rows);
  }
  for (const RowSize& size : cut.sizes) {
    Argument& list = out.graph.nodes[size.node].arguments[size.argument].argument;
    std::get<Argument::List>(list.value)[size.entry].value = size.place.size(rows);
  }
  return out;
}

}  // namespace graphgate::conformance
