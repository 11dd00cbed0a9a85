// auto_functionalized_v2 becomes what it was made from: copies of the bases, views of them, and the
// op that writes; the first version, auto_functionalized, copies of the written arguments and the
// op. The copies stay: whether a base may be written in place is for reinplace.
#include <algorithm>
#include <unordered_map>

#include "optimized/passes/pass.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::Node;
using spec::ValueId;

constexpr std::string_view kAutoFunctionalized = "higher_order.auto_functionalized_v2";
// Keyed by the op's own parameters; the new contents of the written ones follow its results.
constexpr std::string_view kFirstVersion = "higher_order.auto_functionalized";

bool is_functionalized(const Node& node) {
  return node.op == kAutoFunctionalized || node.op == kFirstVersion;
}

// The keyword arguments of an auto_functionalized_v2 node. For a written parameter `x` they say
// which base it is or views: `_x_base_index`, and `_x_size`, `_x_stride`, `_x_storage_offset` or
// `_x_slice_dim`, `_x_slice_start`, `_x_slice_end`; for a written list `_x_length` and the same for
// `x_0`, `x_1`...
class Keywords {
 public:
  explicit Keywords(const Node& node) : node_(node) {}

  [[nodiscard]] const Argument* find(const std::string& name) const {
    const auto found = std::ranges::find_if(node_.arguments,
                                            [&](const auto& named) { return named.name == name; });
    return found == node_.arguments.end() ? nullptr : &found->argument;
  }
  [[nodiscard]] Argument or_none(const std::string& name) const {
    const Argument* argument = find(name);
    return argument ? *argument : Argument{spec::None{}};
  }
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& name) const {
    const Argument* argument = find(name);
    const auto* value = argument ? argument->as<std::int64_t>() : nullptr;
    return value ? std::optional(*value) : std::nullopt;
  }

 private:
  const Node& node_;
};

// What is known from node to node.
struct Renames {
  // By the copy that stands for a base: the base that it was made from.
  std::unordered_map<std::uint32_t, ValueId> originals;
  // Values that later readers take for others.
  std::unordered_map<std::uint32_t, ValueId> readers;
};

class Undo {
 public:
  Undo(spec::Graph& graph, const Node& node, const spec::OpRow& row, PassContext& context,
       Renames& renames)
      : graph_(graph),
        node_(node),
        row_(row),
        context_(context),
        renames_(renames),
        keywords_(node) {}

  void append_to(std::vector<Node>& out) {
    const bool is_first_version = node_.op == kFirstVersion;
    std::size_t next =
        own_results();  // the place of the next written argument, in the first version
    if (!is_first_version) copy_bases(out);
    Node call{node_.name, row_.schema.qualified_name(), {}, {}};
    for (std::size_t i = 0; i < row_.schema.arguments.size(); ++i) {
      const std::string& name = row_.schema.arguments[i].name;
      if (is_first_version && row_.effects.mutates(i)) {
        call.arguments.push_back({name, written_copy(keywords_.or_none(name), next++, out)});
      } else if (row_.effects.mutates(i)) {
        call.arguments.push_back({name, written(name, out)});
      } else if (const Argument* given = keywords_.find(name)) {
        call.arguments.push_back({name, *given});
      }
    }
    call.results.assign(node_.results.begin(),
                        node_.results.begin() + static_cast<std::ptrdiff_t>(own_results()));
    out.push_back(std::move(call));
  }

 private:
  // The op's own results stand first, one place for an op without any; then the bases.
  [[nodiscard]] std::size_t own_results() const {
    return std::max<std::size_t>(row_.schema.returns.size(), 1);
  }

  void copy_bases(std::vector<Node>& out) {
    const Argument* all = keywords_.find("_all_bases");
    const auto* list = all ? all->as<Argument::List>() : nullptr;
    if (!list) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto* base = (*list)[i].as<ValueId>();
      const std::size_t result = own_results() + i;
      if (!base || result >= node_.results.size()) {
        copies_.emplace_back();
        continue;
      }
      const ValueId copy = node_.results[result].values.front();
      copies_.emplace_back(copy);
      add_copy(*base, copy, i, out);
    }
  }

  void add_copy(ValueId base, ValueId copy, std::size_t number, std::vector<Node>& out) {
    out.push_back({node_.name + "_base" + std::to_string(number),
                   "graphgate.clone_preserve_strides.default",
                   {{"self", {version_of(base)}}},
                   {{false, {copy}}}});
    renames_.originals.emplace(copy.index, base);
    if (context_.has(spec::Deviation::kConsumerReadsOldVersion)) {
      renames_.readers.emplace(copy.index, base);
    }
  }

  // In the first version: a copy of what is given for a written parameter, a tensor or a list of
  // them, which is result `place` of the node.
  Argument written_copy(const Argument& given, std::size_t place, std::vector<Node>& out) {
    if (place >= node_.results.size()) return given;
    const std::vector<ValueId>& made = node_.results[place].values;
    if (const auto* base = given.as<ValueId>()) {
      add_copy(*base, made.front(), copied_++, out);
      return {made.front()};
    }
    const auto* list = given.as<Argument::List>();
    if (!list) return given;
    Argument::List copies = *list;
    for (std::size_t e = 0; e < copies.size() && e < made.size(); ++e) {
      const auto* base = copies[e].as<ValueId>();
      if (!base) continue;
      add_copy(*base, made[e], copied_++, out);
      copies[e] = {made[e]};
    }
    return {std::move(copies)};
  }

  // The contents that a copy starts with: the base as the op before left it.
  [[nodiscard]] ValueId version_of(ValueId base) const {
    if (!context_.has(spec::Deviation::kStaleBaseForSiblings)) return base;
    const auto found = renames_.originals.find(base.index);
    return found == renames_.originals.end() ? base : found->second;
  }

  Argument written(const std::string& name, std::vector<Node>& out) {
    const auto length = keywords_.integer("_" + name + "_length");
    if (!length) return written_tensor(name, out);
    Argument::List list;
    for (std::int64_t i = 0; i < *length; ++i) {
      list.push_back(written_tensor(name + "_" + std::to_string(i), out));
    }
    return {std::move(list)};
  }

  Argument written_tensor(const std::string& name, std::vector<Node>& out) {
    const std::string prefix = "_" + name;
    const auto index = keywords_.integer(prefix + "_base_index");
    if (!index) return {spec::None{}};  // an optional argument that is None
    const auto at = static_cast<std::size_t>(*index);
    if (*index < 0 || at >= copies_.size() || !copies_[at]) return {spec::None{}};
    Argument base{*copies_[at]};
    if (const Argument* size = keywords_.find(prefix + "_size")) {
      return view(out, name, "aten.as_strided.default",
                  {{"self", base},
                   {"size", *size},
                   {"stride", keywords_.or_none(prefix + "_stride")},
                   {"storage_offset", keywords_.or_none(prefix + "_storage_offset")}});
    }
    if (const Argument* dim = keywords_.find(prefix + "_slice_dim")) {
      return view(out, name, "aten.slice.Tensor",
                  {{"self", base},
                   {"dim", *dim},
                   {"start", keywords_.or_none(prefix + "_slice_start")},
                   {"end", keywords_.or_none(prefix + "_slice_end")}});
    }
    return base;
  }

  Argument view(std::vector<Node>& out, const std::string& name, std::string op,
                std::vector<spec::NamedArgument> arguments) {
    const ValueId id{static_cast<std::uint32_t>(graph_.values.size())};
    spec::Value value;
    value.name = node_.name + "_" + name;
    graph_.values.push_back(value);
    out.push_back({value.name, std::move(op), std::move(arguments), {{false, {id}}}});
    return {id};
  }

  spec::Graph& graph_;
  const Node& node_;
  const spec::OpRow& row_;
  PassContext& context_;
  Renames& renames_;
  Keywords keywords_;
  std::vector<std::optional<ValueId>> copies_;  // by base
  std::size_t copied_ = 0;                      // arguments, in the first version
};

void read_others(Argument& argument, const Renames& renames) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) {
    const auto found = renames.readers.find(id->index);
    if (found != renames.readers.end()) *id = found->second;
  }
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) read_others(element, renames);
  }
}

void read_others(Node& node, const Renames& renames) {
  for (spec::NamedArgument& named : node.arguments) read_others(named.argument, renames);
}

}  // namespace

void undo_functionalization(spec::Graph& graph, PassContext& context) {
  if (std::ranges::none_of(graph.nodes, is_functionalized)) return;
  std::vector<Node> out;
  Renames renames;
  out.reserve(graph.nodes.size());
  for (Node& node : graph.nodes) {
    const auto* op = is_functionalized(node) && !node.arguments.empty()
                         ? node.arguments.front().argument.as<spec::OpName>()
                         : nullptr;
    const spec::OpRow* row = op ? context.row(op->name) : nullptr;
    if (!renames.readers.empty()) read_others(node, renames);
    if (row) {
      Undo(graph, node, *row, context, renames).append_to(out);
      context.count_match();
    } else {
      out.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(out);
}

}  // namespace graphgate::optimized
