#include "interop/pt2_graph_reader.h"

#include <algorithm>

#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/pt2_arguments.h"
#include "interop/pt2_effect_tokens.h"
#include "interop/pt2_generator.h"
#include "interop/pt2_inlining.h"
#include "interop/pt2_reader.h"

namespace graphgate::interop {

using spec::Argument;
using spec::Node;
using spec::NodeResult;
using spec::Value;
using spec::ValueId;
using spec::ValueKind;

ValueId GraphReader::intern(const std::string& name) {
  const auto [entry, is_new] =
      ids_.try_emplace(name, ValueId{static_cast<std::uint32_t>(graph_.values.size())});
  if (is_new) {
    graph_.values.push_back(Value{name, ValueKind::kTensor, {}, {}, {}});
    known_.emplace_back();
  }
  return entry->second;
}

Result<ValueId> GraphReader::use(const JsonCursor& name) {
  GRAPHGATE_TRY(const std::string text, name.as_string());
  const ValueId id = intern(text);
  Known& known = known_[id.index];
  if (!known.is_defined && known.first_use.empty()) known.first_use = name.place();
  return id;
}

Result<ValueId> GraphReader::define_name(const std::string& name, ValueKind kind,
                                         const JsonCursor& place) {
  if (name.empty()) return place.error("expected the name of a value, found nothing");
  const ValueId id = intern(name);
  if (known_[id.index].is_defined) {
    return place.error("the value '" + name + "' is defined twice");
  }
  known_[id.index].is_defined = true;
  Value& value = graph_.values[id.index];
  const bool type_fits = (value.kind == kind);
  if (known_[id.index].has_type && !type_fits) {
    return place.error("the value '" + name + "' is listed with values of another kind");
  }
  value.kind = kind;
  return id;
}

Result<ValueId> GraphReader::define(const JsonCursor& name, ValueKind kind) {
  GRAPHGATE_TRY(const std::string text, name.as_string());
  return define_name(text, kind, name);
}

Result<void> GraphReader::add_inputs(const JsonCursor& inputs) {
  GRAPHGATE_TRY(const auto cursors, inputs.elements());
  for (const JsonCursor& cursor : cursors) {
    GRAPHGATE_TRY(const auto only, cursor.only_member());
    const auto& [kind, content] = only;
    InputSlot slot;
    const bool is_tensor = kind == "as_tensor";
    if (is_tensor || kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      GRAPHGATE_TRY(const JsonCursor name, content.member(is_tensor ? "name" : "as_name"));
      const ValueKind value_kind = is_tensor               ? ValueKind::kTensor
                                   : kind == "as_sym_int"  ? ValueKind::kSymInt
                                   : kind == "as_sym_bool" ? ValueKind::kSymBool
                                                           : ValueKind::kSymFloat;
      GRAPHGATE_TRY(slot.value, define(name, value_kind));
      graph_.inputs.push_back(*slot.value);
    } else {
      GRAPHGATE_TRY(slot.constant, read_argument(cursor));
    }
    slots_.push_back(std::move(slot));
  }
  return {};
}

Result<void> GraphReader::add_outputs(const JsonCursor& outputs) {
  GRAPHGATE_TRY(graph_.outputs, read_elements(outputs, [this](const JsonCursor& cursor) {
                  return read_argument(cursor);
                }));
  return {};
}

namespace {

// What write_pt2 left in a node's metadata: names that PyTorch would not accept as they are.
struct OwnNodeNames {
  std::string node;
  std::vector<std::string> nones;  // one for each result that is None
};

Result<OwnNodeNames> read_own_names(const JsonCursor& node) {
  OwnNodeNames names;
  GRAPHGATE_TRY(const auto metadata, node.find_member("metadata"));
  if (!metadata) return names;
  GRAPHGATE_TRY(const auto own, metadata->find_member(kOwnMetadataKey));
  if (!own) return names;
  GRAPHGATE_TRY(const std::string text, own->as_string());
  GRAPHGATE_TRY(const Json parsed, parse_json(text, own->place()));
  const JsonCursor root(parsed, own->place());
  GRAPHGATE_TRY_VOID(read_optional(root, "name", names.node));
  GRAPHGATE_TRY_VOID(read_list(root, "nones", names.nones, &JsonCursor::as_string));
  return names;
}

}  // namespace

namespace {

// What hints_wrapper is given beside its operands: hints by name, and keyword arguments that its
// body has none of.
bool is_hint(const std::string& name, const JsonCursor& value) {
  const auto found = value.json().find("as_string_to_argument");
  return found != value.json().end() && (name == "hints" || found->empty());
}

}  // namespace

Result<void> GraphReader::add_node(const JsonCursor& node) {
  Node out;
  GRAPHGATE_TRY(const JsonCursor target, node.member("target"));
  GRAPHGATE_TRY(const std::string target_text, target.as_string());
  out.op = op_of_target(target_text);
  if (out.op.empty()) return target.error("expected the name of an op");
  GRAPHGATE_TRY(const OwnNodeNames own, read_own_names(node));
  out.name = own.node;
  if (out.name.empty()) GRAPHGATE_TRY_VOID(read_optional(node, "name", out.name));
  GRAPHGATE_TRY(const JsonCursor inputs, node.member("inputs"));
  GRAPHGATE_TRY(const auto input_cursors, inputs.elements());
  for (const JsonCursor& input : input_cursors) {
    spec::NamedArgument argument;
    GRAPHGATE_TRY(argument.name, read_string(input, "name"));
    GRAPHGATE_TRY(const JsonCursor value, input.member("arg"));
    if (out.op == "higher_order.hints_wrapper" && is_hint(argument.name, value)) continue;
    GRAPHGATE_TRY(argument.argument, read_argument(value));
    out.arguments.push_back(std::move(argument));
  }
  if (out.name.empty()) out.name = "node_" + std::to_string(graph_.nodes.size());
  if (!node_names_.insert(out.name).second) {
    return node.error("the node name '" + out.name + "' is there twice");
  }
  GRAPHGATE_TRY_VOID(read_results(node, own.nones, out));
  bool is_bare = false;
  GRAPHGATE_TRY_VOID(read_optional(node, "is_hop_single_tensor_return", is_bare));
  if (is_bare) context_.bare_nodes.push_back(subgraph_path(path_, out.name));
  graph_.nodes.push_back(std::move(out));
  return {};
}

Result<void> GraphReader::read_results(const JsonCursor& node,
                                       const std::vector<std::string>& none_names, Node& out) {
  GRAPHGATE_TRY(const JsonCursor outputs, node.member("outputs"));
  GRAPHGATE_TRY(const auto cursors, outputs.elements());
  std::size_t nones = 0;
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    const bool is_none = cursors[i].json().contains("as_none");
    std::string none_name = default_none_name(out.name, i);
    if (is_none && nones < none_names.size()) none_name = none_names[nones++];
    GRAPHGATE_TRY(out.results.emplace_back(), read_result(cursors[i], none_name));
  }
  return {};
}

Result<NodeResult> GraphReader::read_result(const JsonCursor& result,
                                            const std::string& none_name) {
  NodeResult out;
  GRAPHGATE_TRY(const auto only, result.only_member());
  const auto& [kind, content] = only;
  const auto add = [&](Result<ValueId> id) -> Result<NodeResult> {
    if (!id.ok()) return id.error();
    out.values.push_back(id.value());
    return out;
  };
  if (kind == "as_none") return add(define_name(none_name, ValueKind::kNone, content));
  if (kind == "as_tensors") {
    out.is_list = true;
    GRAPHGATE_TRY(const auto cursors, content.elements());
    for (const JsonCursor& cursor : cursors) {
      GRAPHGATE_TRY(const JsonCursor name, cursor.member("name"));
      GRAPHGATE_TRY(out.values.emplace_back(), define(name, ValueKind::kTensor));
    }
    return out;
  }
  if (kind == "as_tensor") {
    GRAPHGATE_TRY(const JsonCursor name, content.member("name"));
    return add(define(name, ValueKind::kTensor));
  }
  if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") {
    GRAPHGATE_TRY(const JsonCursor name, content.member("as_name"));
    return add(define(name, kind == "as_sym_int"    ? ValueKind::kSymInt
                            : kind == "as_sym_bool" ? ValueKind::kSymBool
                                                    : ValueKind::kSymFloat));
  }
  return content.unsupported_here("a result of the kind '" + std::string(kind) + "'");
}

Result<void> GraphReader::add_tensor_value(const std::string& name, const JsonCursor& meta) {
  GRAPHGATE_TRY(spec::TensorType type, read_tensor_type(meta, context_));
  const ValueId id = intern(name);
  Value& value = graph_.values[id.index];
  Known& known = known_[id.index];
  if (known.has_type || (known.is_defined && value.kind != ValueKind::kTensor)) {
    return meta.error("the value '" + name + "' is also listed with values of another kind");
  }
  known.has_type = true;
  value.kind = ValueKind::kTensor;
  value.type = std::move(type);
  return {};
}

Result<void> GraphReader::add_symbolic_value(const std::string& name, ValueKind kind,
                                             const JsonCursor& number) {
  GRAPHGATE_TRY(SymbolicNumber read, read_symbolic(number, false, context_));
  if (!read.expr || kind == ValueKind::kSymFloat) {
    context_.opaque_values[subgraph_path(path_, name)] = number.json();
    read.expr.reset();
  }
  const ValueId id = intern(name);
  Value& value = graph_.values[id.index];
  Known& known = known_[id.index];
  if (known.has_type || (known.is_defined && value.kind != kind)) {
    return number.error("the value '" + name + "' is also listed with values of another kind");
  }
  known.has_type = true;
  value.kind = kind;
  value.expr = std::move(read.expr);
  value.hint = read.hint;
  return {};
}

Result<void> GraphReader::set_single_return(const JsonCursor& flag) {
  GRAPHGATE_TRY(const bool is_single, flag.as_bool());
  if (is_single) context_.single_returns.push_back(path_);
  return {};
}

Result<void> GraphReader::check_values(std::string_view place) const {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Known& known = known_[i];
    const std::string& name = graph_.values[i].name;
    if (!known.is_defined && !known.first_use.empty()) {
      return bad_input("unknown value '" + name + "'").at(known.first_use);
    }
    if (!known.is_defined || known.has_type || graph_.values[i].kind == ValueKind::kNone) continue;
    const bool is_tensor = graph_.values[i].kind == ValueKind::kTensor;
    return bad_input("the value '" + name + "' has no entry in " +
                     (is_tensor ? "tensor_values" : "sym_*_values"))
        .at(place);
  }
  return {};
}

Result<void> GraphReader::check_order(std::string_view place) const {
  std::vector<bool> is_ready(graph_.values.size(), false);
  for (const ValueId input : graph_.inputs) is_ready[input.index] = true;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    std::optional<ValueId> early;
    spec::for_each_operand(graph_.nodes[i], [&](ValueId id) {
      if (!early && !is_ready[id.index]) early = id;
    });
    if (early) {
      return bad_input("node '" + graph_.nodes[i].name + "' uses the value '" +
                       graph_.value(*early).name + "' before it is defined")
          .at(std::string(place) + ".nodes[" + std::to_string(i) + "]");
    }
    for (const NodeResult& result : graph_.nodes[i].results) {
      for (const ValueId id : result.values) is_ready[id.index] = true;
    }
  }
  return {};
}

namespace {

void renumber_argument(Argument& argument, const std::vector<ValueId>& new_ids) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) *id = new_ids[id->index];
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) renumber_argument(element, new_ids);
  }
}

}  // namespace

// Only in the program's own graph, whose signature says which inputs and outputs are tokens.
void GraphReader::drop_tokens() {
  const std::size_t outputs = graph_.outputs.size();
  const std::vector<ValueId> tokens = drop_effect_tokens(graph_);
  token_outputs_ = outputs - graph_.outputs.size();
  for (InputSlot& slot : slots_) {
    if (!slot.value || std::ranges::find(tokens, *slot.value) == tokens.end()) continue;
    slot.value.reset();
    slot.is_token = true;
  }
}

// Values in order of definition; those that were listed and never defined are dropped.
void GraphReader::renumber() {
  std::vector<ValueId> new_ids(graph_.values.size());
  std::vector<Value> values;
  values.reserve(graph_.values.size());
  const auto place = [&](ValueId& id) {
    new_ids[id.index] = ValueId{static_cast<std::uint32_t>(values.size())};
    values.push_back(std::move(graph_.values[id.index]));
    id = new_ids[id.index];
  };
  for (ValueId& input : graph_.inputs) place(input);
  for (Node& node : graph_.nodes) {
    for (NodeResult& result : node.results) {
      for (ValueId& id : result.values) place(id);
    }
  }
  for (Node& node : graph_.nodes) {
    for (auto& named : node.arguments) renumber_argument(named.argument, new_ids);
  }
  for (Argument& output : graph_.outputs) renumber_argument(output, new_ids);
  for (InputSlot& slot : slots_) {
    if (slot.value) slot.value = new_ids[slot.value->index];
  }
  graph_.values = std::move(values);
}

Result<spec::Graph> GraphReader::finish(std::string_view place) {
  GRAPHGATE_TRY_VOID(check_values(place));
  GRAPHGATE_TRY_VOID(check_order(place));
  inline_wrapped_subgraphs(graph_, path_, context_);
  place_generator_states(graph_);
  if (depth_ == 0) drop_tokens();
  renumber();
  return std::move(graph_);
}

}  // namespace graphgate::interop
