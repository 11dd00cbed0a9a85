// Noop elimination: what gives its argument back, bit by bit.
//
// Two kinds. A view of the same sizes, or a conversion that has nothing to do, *is* its argument:
// it goes unless some op changes a geometry in place. A copy (clone, _to_copy to the same dtype,
// an integer plus 0 or times 1) is a storage of its own: it goes only when nobody writes either
// storage, and not both can be seen from outside. Floats plus 0 stay: -0 + 0 is +0.
//
// "The same sizes" is proved for every size of the compile's ranges (size_facts.h), and geometries
// that have to agree are known to be row-major (row_major.h).
#include <limits>

#include "optimized/passes/alias_sets.h"
#include "optimized/passes/graph_index.h"
#include "optimized/passes/row_major.h"
#include "optimized/passes/size_facts.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::Deviation;
using spec::DType;
using spec::Node;
using spec::ValueId;

bool is_truth(const Argument* argument) {
  const auto* flag = argument ? argument->as<bool>() : nullptr;
  return flag && *flag;
}

// Every value of `narrow` is one of `wide`, and comes back the same.
bool widens(DType narrow, DType wide) {
  if (!spec::is_integral(narrow) || !spec::is_integral(wide)) return false;
  if (narrow == DType::kBool || wide == DType::kBool || wide == DType::kUInt8) return false;
  const auto narrow_bytes = spec::item_size_bytes(narrow);
  return spec::item_size_bytes(wide) > narrow_bytes;
}

class Noops {
 public:
  Noops(spec::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), edit_(graph) {}

  void run() {
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      Node& node = graph_.nodes[n];
      if (node.results.size() != 1 || node.results.front().is_list) continue;
      const auto family = family_of_op(node.op);
      const spec::OpRow* row = context_.row(node.op);
      if (!row || row->effects.mutates() || !family.starts_with("aten.")) continue;
      shorten_chain(node, family);
      const auto self = value_of(node, family == "aten.dropout" ? "input" : "self");
      if (!self || !graph_.value(*self).type || !graph_.value(result_of(node)).type) continue;
      if (is_identity(node, family, *self)) {
        // Outputs say by their values which of them are new contents of inputs and buffers.
        const bool is_output = index().is_output(result_of(node));
        if (!is_output && !aliases().is_reshaped(*self)) drop(n, *self);
      } else if (const auto source = copied(node, family, *self)) {
        if (!aliases().is_reshaped(*self) && copy_is_redundant(result_of(node), *source)) {
          drop(n, *source);
        }
      }
    }
    edit_.apply(graph_);
  }

 private:
  // Made when they are first asked for: most graphs hold no noop. They are of the graph as it came:
  // shorten_chain, which alone changes a node, asks all three before.
  [[nodiscard]] const GraphIndex& index() const {
    if (!index_) index_.emplace(graph_);
    return *index_;
  }
  [[nodiscard]] AliasSets& aliases() const {
    if (!aliases_) aliases_.emplace(graph_, context_);
    return *aliases_;
  }
  [[nodiscard]] bool is_row_major(ValueId id) const {
    if (!row_major_) row_major_.emplace(graph_, context_);
    return (*row_major_)(id);
  }

  [[nodiscard]] const spec::TensorType& type(ValueId id) const { return *graph_.value(id).type; }

  void drop(std::uint32_t node, ValueId source) {
    const ValueId result = result_of(graph_.nodes[node]);
    aliases().unite(source, result);
    edit_.replace(result, source);
    edit_.remove(node);
    context_.count_match();
  }

  // view(view(x)) is one view of x.
  void shorten_chain(Node& node, std::string_view family) {
    if (family != "aten.view" && family != "aten.reshape") return;
    if (argument_of(node, "dtype")) return;
    const auto self = value_of(node, "self");
    const auto maker = self ? index().producer(*self) : std::nullopt;
    if (!maker) return;
    const Node& inner = graph_.nodes[*maker];
    const auto inner_family = family_of_op(inner.op);
    if (inner_family != "aten.view" && inner_family != "aten.reshape") return;
    const auto source = value_of(inner, "self");
    if (!source || argument_of(inner, "dtype") || !is_row_major(*source)) return;
    if (aliases().is_reshaped(*source)) return;
    for (spec::NamedArgument& named : node.arguments) {
      if (named.name == "self") named.argument = {*source};
    }
    context_.count_match();
  }

  // The result is the argument, or a view of its very geometry.
  [[nodiscard]] bool is_identity(const Node& node, std::string_view family, ValueId self) const {
    const ValueId result = result_of(node);
    if (family == "aten.slice") return is_full_slice(node, self);
    if (family == "aten.to" || family == "aten.type_as") return converts_nothing(node, self);
    if (family == "aten.expand") return provably_equal(type(self).sizes, type(result).sizes);
    if (family == "aten.view" || family == "aten.reshape") {
      return type(self).dtype == type(result).dtype &&
             provably_equal(type(self).sizes, type(result).sizes) && is_row_major(self);
    }
    if (family == "aten.contiguous") {
      const Argument contiguous{spec::MemoryFormat::kContiguous};
      return is_default(argument_of(node, "memory_format"), contiguous) && is_row_major(self);
    }
    if (family == "aten.permute") return keeps_order(node, type(self).sizes.size());
    if (family == "aten.transpose") return same_dims(node, type(self).sizes.size());
    if (family == "aten.dropout") {
      const auto* training = argument_of(node, "train");
      return training && training->as<bool>() && !is_truth(training);
    }
    return family == "aten.alias" || family == "aten.detach";
  }

  [[nodiscard]] bool is_full_slice(const Node& node, ValueId self) const {
    const Argument* step = argument_of(node, "step");
    const Argument* start = argument_of(node, "start");
    if (!is_default(step, Argument{std::int64_t{1}})) return false;
    if (!is_default(start, Argument{std::int64_t{0}})) return false;
    const Argument* end = argument_of(node, "end");
    if (!end || end->as<spec::None>()) return true;
    const auto given = integer_of(end);
    if (given && *given == std::numeric_limits<std::int64_t>::max()) return true;
    if (given && *given == -1 && context_.has(Deviation::kSliceEndMinusOneIsFull)) return true;
    const auto dims = type(self).sizes.size();
    const Argument* dim_argument = argument_of(node, "dim");
    std::int64_t dim = dim_argument ? integer_of(dim_argument).value_or(-1) : 0;
    if (dim < 0) dim += static_cast<std::int64_t>(dims);
    if (dim < 0 || dim >= static_cast<std::int64_t>(dims)) return false;
    const spec::SymExpr& size = type(self).sizes[static_cast<std::size_t>(dim)];
    if (given) return *given >= 0 && *given >= greatest(size);
    const auto* symbolic = end->as<ValueId>();
    const spec::Value* value = symbolic ? &graph_.value(*symbolic) : nullptr;
    return value && value->expr && provably_equal(*value->expr, size);
  }

  // The greatest size that has to be reckoned with.
  [[nodiscard]] std::int64_t greatest(const spec::SymExpr& size) const {
    const auto bound = context_.has(Deviation::kDropsGuards)
                           ? value_at_hints(size, context_.symbols())
                           : upper_bound(size, context_.symbols());
    return bound.value_or(std::numeric_limits<std::int64_t>::max());
  }

  [[nodiscard]] static bool keeps_order(const Node& node, std::size_t rank) {
    const auto dims = integers_of(argument_of(node, "dims"));
    if (!dims || dims->size() != rank) return false;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t dim = (*dims)[d];
      if ((dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim) != static_cast<std::int64_t>(d)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] static bool same_dims(const Node& node, std::size_t rank) {
    const auto first = integer_of(argument_of(node, "dim0"));
    const auto second = integer_of(argument_of(node, "dim1"));
    const auto wrap = [&](std::int64_t d) {
      return d < 0 ? d + static_cast<std::int64_t>(rank) : d;
    };
    return first && second && wrap(*first) == wrap(*second);
  }

  // `to` and `type_as` return their argument when dtype, device and format are those it has.
  [[nodiscard]] bool converts_nothing(const Node& node, ValueId self) const {
    const ValueId result = result_of(node);
    if (is_truth(argument_of(node, "copy"))) return false;
    if (!is_default(argument_of(node, "memory_format"), Argument{spec::MemoryFormat::kPreserve})) {
      return false;
    }
    return asks_for_the_same(node, self) && type(self).dtype == type(result).dtype &&
           type(self).device == type(result).device;
  }

  [[nodiscard]] bool asks_for_the_same(const Node& node, ValueId self) const {
    if (const auto other = value_of(node, "other")) {
      const auto& value = graph_.value(*other);
      return value.type && value.type->dtype == type(self).dtype &&
             value.type->device == type(self).device;
    }
    const Argument* dtype = argument_of(node, "dtype");
    const Argument* device = argument_of(node, "device");
    const Argument* layout = argument_of(node, "layout");
    return is_default(dtype, Argument{type(self).dtype}) &&
           is_default(device, Argument{type(self).device}) &&
           is_default(layout, Argument{spec::Layout::kStrided}) &&
           is_default(argument_of(node, "pin_memory"), Argument{false});
  }

  // What the node is a copy of, element by element and in one layout; nothing if it is no copy.
  [[nodiscard]] std::optional<ValueId> copied(const Node& node, std::string_view family,
                                              ValueId self) const {
    const bool is_conversion = family == "aten._to_copy" || family == "aten.to";
    if (is_conversion) {
      if (const auto source = source_of_pair(node, self)) return source;
    }
    const bool is_copy = family == "aten.clone" ||
                         (family == "aten._to_copy" && asks_for_the_same(node, self)) ||
                         (family == "aten._unsafe_view" &&
                          provably_equal(type(self).sizes, type(result_of(node)).sizes)) ||
                         adds_nothing(node, family, self);
    if (!is_copy || !is_row_major(self) || !is_row_major(result_of(node))) return std::nullopt;
    return self;
  }

  // Integers plus 0, minus 0, times 1. (Floats: -0 + 0 is +0, and a signalling NaN turns quiet.)
  [[nodiscard]] bool adds_nothing(const Node& node, std::string_view family, ValueId self) const {
    if (family != "aten.add" && family != "aten.sub" && family != "aten.mul") return false;
    const ValueId result = result_of(node);
    if (type(self).dtype == DType::kBool || !spec::is_integral(type(self).dtype)) return false;
    if (type(self).dtype != type(result).dtype) return false;
    const auto other = integer_of(argument_of(node, "other"));
    if (!other) return false;
    return *other == (family == "aten.mul" ? 1 : 0);
  }

  // A cast to a wider integer and back. Floats are left alone: a cast to a narrower dtype and back
  // rounds, and NaNs may change on any way.
  [[nodiscard]] std::optional<ValueId> source_of_pair(const Node& node, ValueId middle) const {
    const auto maker = index().producer(middle);
    if (!maker) return std::nullopt;
    const Node& first = graph_.nodes[*maker];
    const auto family = family_of_op(first.op);
    if (family != "aten._to_copy" && family != "aten.to") return std::nullopt;
    const auto found = value_of(first, "self");
    if (!found || !graph_.value(*found).type || value_of(node, "other")) return std::nullopt;
    const ValueId source = edit_.current(*found);
    const DType dtype = type(source).dtype;
    const bool is_exact =
        widens(dtype, type(middle).dtype) || context_.has(Deviation::kElidesCastPairs);
    if (type(result_of(node)).dtype != dtype || !is_exact) return std::nullopt;
    if (type(result_of(node)).device != type(source).device) return std::nullopt;
    if (!is_row_major(source) || !is_row_major(result_of(node))) return std::nullopt;
    return aliases().is_written(middle) || aliases().is_reshaped(source) ? std::nullopt
                                                                         : std::optional(source);
  }

  // Whether the copy can be told from its source: by a write, or by who looks from outside.
  [[nodiscard]] bool copy_is_redundant(ValueId copy, ValueId source) const {
    if (aliases().is_written(copy) || aliases().is_written(source)) return false;
    if (aliases().is_reshaped(copy)) return false;
    const bool copy_is_seen =
        aliases().holds_output(copy) && !context_.has(Deviation::kPassDropsOutput);
    return !copy_is_seen || (!aliases().holds_output(source) && !aliases().holds_input(source));
  }

  spec::Graph& graph_;
  PassContext& context_;
  mutable std::optional<GraphIndex> index_;
  mutable std::optional<AliasSets> aliases_;
  mutable std::optional<RowMajor> row_major_;
  Edit edit_;
};

}  // namespace

void eliminate_noops(spec::Graph& graph, PassContext& context) { Noops(graph, context).run(); }

// An assertion about a tensor's dtype, device and layout that its declared type proves. Sizes and
// strides are not looked at: those stay.
void drop_proven_assertions(spec::Graph& graph, PassContext& context) {
  std::erase_if(graph.nodes, [&](const Node& node) {
    if (node.op != "aten._assert_tensor_metadata.default") return false;
    const auto value = value_of(node, "a");
    const auto& type = value ? graph.value(*value).type : std::nullopt;
    const bool is_proven =
        type && is_default(argument_of(node, "size"), {}) &&
        is_default(argument_of(node, "stride"), {}) &&
        is_default(argument_of(node, "dtype"), Argument{type->dtype}) &&
        is_default(argument_of(node, "device"), Argument{type->device}) &&
        is_default(argument_of(node, "layout"), Argument{spec::Layout::kStrided});
    if (is_proven) context.count_match();
    return is_proven;
  });
}

}  // namespace graphgate::optimized
