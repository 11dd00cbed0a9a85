#include "optimized/analysis/specializer.h"

#include <algorithm>
#include <set>

#include "optimized/analysis/complex.h"
#include "optimized/analysis/node_symbols.h"
#include "optimized/binding.h"
#include "optimized/complex_numbers.h"
#include "optimized/launch.h"
#include "spec/loops.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::ValueId;
using spec::ValueKind;

constexpr std::string_view kCond = "higher_order.cond";
constexpr std::string_view kGetItem = "_operator.getitem";

// A number as an argument.
Argument constant(const Item& number) {
  if (const auto* i = number.as<std::int64_t>()) return {*i};
  if (const auto* x = number.as<double>()) return {*x};
  if (const auto* b = number.as<bool>()) return {*b};
  return {spec::None{}};
}

bool is_elementwise(const Inference& inference) {
  return !inference.results().empty() && inference.all_follow_operands() &&
         inference.workspace_bytes() == 0;
}

}  // namespace

Specializer::Specializer(const spec::SymbolValues& symbols, const spec::OpTable& ops,
                         const spec::DeviationSet& deviations)
    : symbols_(symbols), ops_(ops), deviations_(deviations) {
  out_.blocks.push_back({"main", {}, {}});
  for (const auto& [name, value] : symbols) out_.symbols.emplace(name, value);
}

std::string Specializer::place() const {
  if (place_ == nullptr) return "";
  return "node '" + place_->name + "' (" + place_->op + "): ";
}

void Specializer::reserve(std::size_t values) {
  out_.values.reserve(out_.values.size() + values);
  out_.storages.reserve(out_.storages.size() + values);
  names_.reserve(names_.size() + values);
}

ValueId Specializer::add_value(SizedValue value) {
  value.name = unique_name(value.name);
  out_.values.push_back(std::move(value));
  return {static_cast<std::uint32_t>(out_.values.size() - 1)};
}

StorageIndex Specializer::add_storage(SizedStorage storage) {
  out_.storages.push_back(std::move(storage));
  return static_cast<StorageIndex>(out_.storages.size() - 1);
}

std::string Specializer::unique_name(const std::string& wanted) {
  const int uses = names_[wanted]++;
  if (uses == 0) return wanted;
  return unique_name(wanted + "_" + std::to_string(uses));
}

ValueId Specializer::none_value() {
  SizedValue none{.name = "none", .kind = ValueKind::kNone};
  return add_value(std::move(none));
}

Argument Specializer::resolve(const Argument& argument, const Environment& environment) const {
  if (const auto* id = argument.as<ValueId>()) return environment[id->index];
  if (const auto* list = argument.as<Argument::List>()) {
    Argument::List out;
    out.reserve(list->size());
    for (const Argument& element : *list) out.push_back(resolve(element, environment));
    return {std::move(out)};
  }
  return argument;
}

bool Specializer::is_dynamic(const SizedNode& node) const {
  bool dynamic = false;
  for_each_operand(node.node, [&](ValueId id) { dynamic |= out_.value(id).is_dynamic; });
  return dynamic;
}

std::vector<StorageIndex> Specializer::storages_of(const Argument& argument) const {
  std::vector<StorageIndex> out;
  for_each_value(argument, [&](ValueId id) {
    out_.for_each_storage(id, [&](StorageIndex storage) { out.push_back(storage); });
  });
  return out;
}

std::vector<Argument> Specializer::run_graph(const spec::Graph& graph,
                                             const std::vector<Argument>& inputs) {
  if (inputs.size() != graph.inputs.size()) throw OpError("a subgraph has another input count");
  Environment environment(graph.values.size());
  environments_.push_back(&environment);
  if (environments_.size() > 1) reserve(graph.values.size());
  out_.blocks[block_].nodes.reserve(out_.blocks[block_].nodes.size() + graph.nodes.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    environment[graph.inputs[i].index] = inputs[i];
  }
  for (const spec::Node& node : graph.nodes) {
    place_ = &node;
    if (node.op == kCond) {
      run_conditional(graph, node, environment);
    } else if (spec::is_loop(node.op)) {
      run_loop(graph, node, environment);
    } else {
      run_node_as_traced(graph, node, environment);
    }
  }
  std::vector<Argument> outputs;
  outputs.reserve(graph.outputs.size());
  for (const Argument& output : graph.outputs) {
    outputs.push_back(resolve(output, environment));
    if (turned_.empty()) continue;
    SizedNode whole;
    whole.node.name = "output";
    read_turned(whole, outputs.back());
  }
  environments_.pop_back();
  if (environments_.empty()) place_ = nullptr;
  return outputs;
}

// getitem of a list that the program keeps whole, or of a node's results.
void Specializer::pick_element(const spec::Node& node, Environment& environment) {
  if (node.arguments.size() != 2 || node.results.size() != 1) throw OpError("wrong operands");
  const Argument list = resolve(node.arguments[0].argument, environment);
  const Argument index = resolve(node.arguments[1].argument, environment);
  const auto* elements = list.as<Argument::List>();
  const auto* at = index.as<std::int64_t>();
  if (!elements || !at) throw Unsupported("an element of what is known only in the call");
  const auto size = static_cast<std::int64_t>(elements->size());
  const std::int64_t position = *at < 0 ? *at + size : *at;
  if (position < 0 || position >= size) {
    throw OpError("index " + std::to_string(*at) + " of a list of " + std::to_string(size));
  }
  environment[node.results[0].values.front().index] =
      (*elements)[static_cast<std::size_t>(position)];
}

// Whether the program says other strides of an operand than it has. Those of dimensions of size 1
// mean nothing.
bool Specializer::has_other_strides(const spec::Graph& graph, const spec::Node& node,
                                    const Environment& environment) const {
  bool is_other = false;
  spec::for_each_operand(node, [&](ValueId declared) {
    const auto& type = graph.value(declared).type;
    const auto* id = environment[declared.index].as<ValueId>();
    if (!type || !id || out_.value(*id).kind != ValueKind::kTensor) return;
    const Tensor& tensor = out_.value(*id).tensor;
    if (tensor.strides.size() != type->strides.size()) return;
    for (std::size_t d = 0; d < tensor.strides.size(); ++d) {
      const spec::SymExpr& said = type->strides[d];
      is_other = is_other || (said.is_constant() && tensor.sizes[d] != 1 &&
                              said.constant() != tensor.strides[d]);
    }
  });
  return is_other;
}

// A view may not be there because the program was traced with strides that its ops do not give:
// then PyTorch refuses the program as well, and it is not for whoever hands it in to mend.
void Specializer::run_node_as_traced(const spec::Graph& graph, const spec::Node& node,
                                     Environment& environment) {
  try {
    run_node(graph, node, environment);
  } catch (const OpError& error) {
    const spec::OpRow* row = ops_.find(node.op);
    if (!row || !row->effects.is_view || !has_other_strides(graph, node, environment)) throw;
    throw Unsupported(std::string(error.what()) + "; the program has other strides");
  }
}

void Specializer::run_node(const spec::Graph& graph, const spec::Node& node,
                           Environment& environment) {
  if (node.op == kGetItem) return pick_element(node, environment);
  SizedNode sized;
  sized.row = ops_.find(node.op);
  // What is made of others may share a base name with a kernel of another overload.
  const bool is_composite = sized.row && find_composite(*sized.row) != nullptr;
  sized.kernel = sized.row && !is_composite ? find_kernel(*sized.row) : nullptr;
  sized.node.name = node.name;
  sized.node.op = node.op;
  sized.node.arguments.reserve(node.arguments.size());
  for (const spec::NamedArgument& named : node.arguments) {
    spec::NamedArgument& resolved = sized.node.arguments.emplace_back();
    resolved.name = named.name;
    resolved.argument = resolve(named.argument, environment);
  }
  if (!symbols_.empty()) sized.symbols = symbols_of(graph, node, deviations_);
  run_or_take_apart(graph, node, std::move(sized), environment);
}

bool Specializer::mentions_complex(const Argument& argument) const {
  if (const auto* id = argument.as<ValueId>()) {
    return out_.value(*id).kind == ValueKind::kTensor &&
           spec::is_complex(out_.value(*id).tensor.dtype);
  }
  if (const auto* dtype = argument.as<spec::DType>()) return spec::is_complex(*dtype);
  if (const auto* list = argument.as<Argument::List>()) {
    return std::ranges::any_of(*list, [this](const Argument& e) { return mentions_complex(e); });
  }
  return argument.as<spec::ComplexNumber>() != nullptr;
}

// Complex elements are moved by kernels, and computed with by parts.
TakeApart Specializer::parts_of(const SizedNode& node) const {
  const auto is_complex = [this](const spec::NamedArgument& named) {
    return mentions_complex(named.argument);
  };
  if (std::ranges::any_of(node.node.arguments, is_complex)) {
    const Lookup lookup = [this](ValueId id) { return Item{out_.value(id).tensor}; };
    const KernelCall call(*node.row, bind_arguments(node.row->schema, node.node.arguments, lookup));
    if (node.kernel && moves_complex(call)) return nullptr;
    if (const TakeApart parts = find_complex(*node.row)) return parts;
    if (node.kernel) throw Unsupported(no_complex_text(call));
  }
  return node.kernel ? nullptr : find_composite(*node.row);
}

// The turn of the operand of a view; none of another node.
Turn Specializer::turn_of_view(const SizedNode& node) const {
  Turn turn = Turn::kNone;
  for_each_operand(node.node, [&](ValueId id) {
    const auto found = turned_.find(id);
    if (found != turned_.end()) turn = found->second;
  });
  if (turn != Turn::kNone && node.row->effects.mutates()) {
    throw Unsupported("writes beside a conjugate that has not been resolved");
  }
  const bool is_view = node.kernel != nullptr && node.kernel->bind == nullptr &&
                       node.row->effects.is_view && node.row->schema.overload != "dtype";
  return is_view ? turn : Turn::kNone;
}

void Specializer::pass_turn(const spec::Node& node, Turn turn, const Environment& environment) {
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) {
      for_each_value(environment[id.index], [&](ValueId made) { turned_.emplace(made, turn); });
    }
  }
}

void Specializer::read_turned(const SizedNode& whole, Argument& argument) {
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) read_turned(whole, element);
  }
  const auto* id = argument.as<ValueId>();
  const auto found = id ? turned_.find(*id) : turned_.end();
  if (found == turned_.end()) return;
  const bool is_conjugate = found->second == Turn::kConjugate;
  // What lies there, read as it is.
  SizedValue plain = out_.value(*id);
  const ValueId there = add_value(std::move(plain));
  argument = run_part(whole, is_conjugate ? "aten._conj_physical.default" : "aten.neg.default",
                      {{"self", {there}}})
                 .front();
}

void Specializer::run_or_take_apart(const spec::Graph& graph, const spec::Node& node,
                                    SizedNode&& sized, Environment& environment) {
  if (!turned_.empty() && sized.row != nullptr) {
    const Turn turn = turn_of_view(sized);
    if (turn != Turn::kNone) {
      run_resolved(graph, node, std::move(sized), environment);
      return pass_turn(node, turn, environment);
    }
    const SizedNode whole = sized;
    for (spec::NamedArgument& named : sized.node.arguments) read_turned(whole, named.argument);
  }
  const TakeApart parts = sized.row ? parts_of(sized) : nullptr;
  if (parts) return take_apart(graph, node, std::move(sized), parts, environment);
  if (!sized.kernel) throw Unsupported("the optimized executor has no kernel for " + node.op);
  run_resolved(graph, node, std::move(sized), environment);
}

void Specializer::run_resolved(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                               Environment& environment) {
  if (is_dynamic(sized)) return finish_dynamic(graph, node, std::move(sized), environment);
  const Lookup lookup = [this](ValueId id) { return Item{out_.value(id).tensor}; };
  try {
    auto items = bind_arguments(sized.row->schema, sized.node.arguments, lookup);
    Inference inference = infer_call(*sized.kernel, *sized.row, std::move(items), false);
    finish_static(graph, node, std::move(sized), inference, environment);
  } catch (const NeedsData&) {
    finish_dynamic(graph, node, std::move(sized), environment);
  }
}

// A composite op becomes its parts, whose names are its own and a number.
void Specializer::take_apart(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                             TakeApart composite, Environment& environment) {
  if (is_dynamic(sized)) throw Unsupported("its parts need sizes that are known before the call");
  std::vector<spec::Value> declared;
  for (const spec::NodeResult& result : node.results) {
    if (!result.is_list) declared.push_back(graph.value(result.values.front()));
  }
  const Parts::Target target = {
      [&](const std::string& op, std::vector<spec::NamedArgument> arguments) {
        return run_part(sized, op, std::move(arguments), declared);
      },
      [&](ValueId id) -> const Tensor& { return out_.value(id).tensor; },
      [&](const Tensor& tensor, Turn turn) -> Argument {
        const ValueId view = add_value({.name = sized.node.name + "_view", .tensor = tensor});
        if (turn != Turn::kNone) turned_.emplace(view, turn);
        return {view};
      }};
  const Lookup lookup = [this](ValueId id) { return Item{out_.value(id).tensor}; };
  Parts parts(*sized.row, bind_arguments(sized.row->schema, sized.node.arguments, lookup),
              sized.node.arguments, ops_, target);
  auto& nodes = out_.blocks[block_].nodes;
  const std::size_t first = nodes.size();
  const std::vector<Argument> results = composite(parts);
  // The part that leaves a result is known by the node's name.
  std::set<StorageIndex> made;
  for (const Argument& result : results) {
    for (const StorageIndex storage : storages_of(result)) made.insert(storage);
  }
  for (std::size_t i = first; i < nodes.size(); ++i) {
    for (const ValueId id : flat_results(nodes[i].node)) {
      if (made.contains(out_.value(id).tensor.storage)) nodes[i].node.name = node.name;
    }
  }
  for (std::size_t i = 0; i < node.results.size() && i < results.size(); ++i) {
    const spec::NodeResult& result = node.results[i];
    if (!result.is_list) {
      environment[result.values.front().index] = results[i];
      continue;
    }
    const auto* list = results[i].as<Argument::List>();
    if (list == nullptr || list->size() != result.values.size()) {
      throw OpError("the op returns another number of tensors than the program says");
    }
    for (std::size_t e = 0; e < list->size(); ++e) {
      environment[result.values[e].index] = (*list)[e];
    }
  }
}

// Runs one part of a node; its operands are values of what is made.
std::vector<Argument> Specializer::run_part(const SizedNode& whole, const std::string& op,
                                            std::vector<spec::NamedArgument> arguments,
                                            const std::vector<spec::Value>& declared) {
  SizedNode sized;
  sized.row = ops_.find(op);
  sized.kernel = sized.row ? find_kernel(*sized.row) : nullptr;
  sized.node.name = unique_name(whole.node.name + "_part");
  sized.node.op = op;
  sized.node.arguments = std::move(arguments);
  sized.symbols = whole.symbols;
  // A graph of its own: its values are the results.
  spec::Graph graph;
  spec::Node node;
  node.name = sized.node.name;
  node.op = op;
  const std::size_t count = sized.row->schema.returns.size();
  for (std::size_t i = 0; i < count; ++i) {
    spec::Value value = i < declared.size() ? declared[i] : spec::Value();
    value.name = node.name + (i == 0 ? "" : "_" + std::to_string(i));
    graph.values.push_back(std::move(value));
    node.results.push_back({false, {ValueId{static_cast<std::uint32_t>(i)}}});
  }
  Environment environment(count);
  run_or_take_apart(graph, node, std::move(sized), environment);
  return environment;
}

// The operand that a result is, or whose geometry it changes: the one that the schema says the
// return shares its storage with, before any other that looks the same.
ValueId Specializer::operand_of(const Tensor& tensor, std::size_t result, bool same_shape,
                                const SizedNode& node) const {
  const auto fits = [&](ValueId id) {
    const Tensor& candidate = out_.value(id).tensor;
    return out_.value(id).kind == ValueKind::kTensor && candidate.storage == tensor.storage &&
           (!same_shape || same_geometry(candidate, tensor));
  };
  std::optional<ValueId> found;
  const auto look = [&](ValueId id) {
    if (!found && fits(id)) found = id;
  };
  const auto& returns = node.row->effects.returns;
  if (result < returns.size()) {
    for (const std::size_t argument : returns[result].aliases) {
      const auto& name = node.row->schema.arguments[argument].name;
      for (const spec::NamedArgument& named : node.node.arguments) {
        if (named.name == name) for_each_value(named.argument, look);
      }
    }
  }
  for_each_operand(node.node, look);
  GRAPHGATE_CHECK(found.has_value());
  return *found;
}

// What one inferred result has become; takes its tensor. In-place forms that change the geometry of
// their argument change it for everyone who holds that tensor.
Argument Specializer::argument_of(Made& made, const std::string& name, std::size_t result,
                                  const SizedNode& node) {
  if (made.kind == Made::Kind::kNumber) return constant(made.number);
  if (made.kind == Made::Kind::kNone) return {spec::None{}};
  if (made.kind == Made::Kind::kArgument) return {operand_of(made.tensor, result, true, node)};
  if (made.kind == Made::Kind::kList) {
    Argument::List list;
    for (std::size_t i = 0; i < made.list.size(); ++i) {
      list.push_back(argument_of(made.list[i], name + "_" + std::to_string(i), result, node));
    }
    return {std::move(list)};
  }
  SizedValue value{.name = name, .tensor = std::move(made.tensor)};
  if (made.kind == Made::Kind::kNew) {
    value.tensor.storage = add_storage(
        {name, StorageKind::kIntermediate, byte_range(value.tensor).end, value.tensor.device});
  }
  const ValueId id = add_value(std::move(value));
  if (made.kind == Made::Kind::kReshaped) {
    replace_everywhere(operand_of(out_.value(id).tensor, result, false, node), id);
  }
  return {id};
}

namespace {

void replace_in(Argument& argument, ValueId old, ValueId replacement) {
  if (auto* id = std::get_if<ValueId>(&argument.value); id && *id == old) *id = replacement;
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) replace_in(element, old, replacement);
  }
}

}  // namespace

void Specializer::replace_everywhere(ValueId old, ValueId replacement) {
  if (old.index < values_before_arm_) {
    throw Unsupported("an arm of a conditional changes the geometry of a tensor of the outside");
  }
  for (auto& [first, last] : reshaped_) {
    if (last == old) last = replacement;
  }
  reshaped_.emplace(old, replacement);
  for (Environment* environment : environments_) {
    for (Argument& argument : *environment) replace_in(argument, old, replacement);
  }
}

ValueId Specializer::at_the_end(ValueId id) const {
  const auto found = reshaped_.find(id);
  return found == reshaped_.end() ? id : found->second;
}

void Specializer::finish_static(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                                Inference& inference, Environment& environment) {
  const bool launches = takes_step(*sized.kernel, inference);
  sized.workspace_bytes = inference.workspace_bytes();
  sized.is_elementwise = is_elementwise(inference);
  auto& made = inference.results();
  std::size_t result_index = 0;
  if (launches) sized.node.results.reserve(node.results.size());
  const auto bind = [&](Made& one, ValueId id, spec::NodeResult& bound) {
    Argument& argument = environment[id.index];
    argument = argument_of(one, graph.value(id).name, result_index, sized);
    if (!launches) return;
    if (one.kind == Made::Kind::kList) {  // a list that the program keeps whole
      bound.is_list = true;
      for_each_value(argument, [&](ValueId element) { bound.values.push_back(element); });
      return;
    }
    const auto* value = argument.as<ValueId>();
    bound.values.push_back(value ? *value : none_value());
  };
  for (std::size_t i = 0; i < node.results.size() && i < made.size(); ++i) {
    const spec::NodeResult& result = node.results[i];
    spec::NodeResult bound{result.is_list, {}};
    result_index = i;
    if (!result.is_list) {
      bind(made[i], result.values.front(), bound);
    } else if (made[i].list.size() != result.values.size()) {
      throw OpError("the op returns " + std::to_string(made[i].list.size()) +
                    " tensors, the program says " + std::to_string(result.values.size()));
    } else {
      for (std::size_t e = 0; e < result.values.size(); ++e) {
        bind(made[i].list[e], result.values[e], bound);
      }
    }
    if (launches) sized.node.results.push_back(std::move(bound));
  }
  if (launches) out_.blocks[block_].nodes.push_back(std::move(sized));
}

void Specializer::emit_copy(ValueId target, ValueId source, const std::string& name,
                            std::vector<std::string> symbols) {
  SizedNode copy{.row = ops_.find("aten.copy_.default"), .symbols = std::move(symbols)};
  copy.kernel = copy.row ? find_kernel(*copy.row) : nullptr;
  if (!copy.kernel)
    throw Unsupported("the optimized executor has no kernel for aten.copy_.default");
  copy.node = {name, "aten.copy_.default", {{"self", {target}}, {"src", {source}}}, {}};
  copy.node.results.push_back({false, {target}});
  copy.is_dynamic = is_dynamic(copy);
  if (!copy.is_dynamic) {
    const Lookup lookup = [this](ValueId id) { return Item{out_.value(id).tensor}; };
    const Inference inference =
        infer_call(*copy.kernel, *copy.row,
                   bind_arguments(copy.row->schema, copy.node.arguments, lookup), false);
    copy.workspace_bytes = inference.workspace_bytes();
    copy.is_elementwise = is_elementwise(inference);
  }
  out_.blocks[block_].nodes.push_back(std::move(copy));
}

}  // namespace graphgate::optimized
