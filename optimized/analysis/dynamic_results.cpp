// Specializing nodes whose results only a call can tell.
#include "optimized/analysis/specializer.h"
#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::ValueId;
using spec::ValueKind;

// Where each result of a node goes: (result's index among returns, value).
template <class Visit>
void for_each_result(const spec::Node& node, Visit&& visit) {
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    for (const ValueId id : node.results[i].values) visit(i, id);
  }
}

}  // namespace

// The declared type at these symbols; nullopt where it is absent or depends on an unbacked symbol.
std::optional<Tensor> Specializer::declared_tensor(const spec::Value& value) const {
  if (!value.type) return {};
  Tensor tensor{.dtype = value.type->dtype, .device = value.type->device};
  for (std::size_t d = 0; d < value.type->sizes.size(); ++d) {
    const auto size = spec::evaluate(value.type->sizes[d], symbols_);
    const auto stride = spec::evaluate(value.type->strides[d], symbols_);
    if (!size.ok() || !stride.ok()) return {};
    tensor.sizes.push_back(size.value());
    tensor.strides.push_back(stride.value());
  }
  return tensor;
}

// A result that only a call can tell. Where the program states a type that depends on no unbacked
// symbol, and the op makes bytes of its own, the result has a planned place all the same.
Argument Specializer::dynamic_result(const spec::Graph& graph, ValueId result, std::size_t index,
                                     const SizedNode& node) {
  const spec::Value& declared = graph.value(result);
  if (declared.kind == ValueKind::kNone) return {spec::None{}};
  if (declared.kind == ValueKind::kTensorList) {
    throw Unsupported("a list of which only the call knows how long it is");
  }
  SizedValue value{.name = declared.name, .kind = declared.kind, .is_dynamic = true};
  if (declared.kind != ValueKind::kTensor) return {add_value(std::move(value))};
  if (const auto written = written_operand(index, node)) return {*written};
  value.bases = possible_bases(index, node);
  value.declared = declared.type;
  if (declared.type) {
    value.tensor.dtype = declared.type->dtype;
    value.tensor.device = declared.type->device;
  }
  if (auto known = declared_tensor(declared); known && value.bases.empty()) {
    value.is_dynamic = false;
    value.tensor = std::move(*known);
  }
  const auto kind = value.is_dynamic ? StorageKind::kDynamic : StorageKind::kIntermediate;
  const std::int64_t bytes = value.is_dynamic ? 0 : byte_range(value.tensor).end;
  value.tensor.storage = add_storage({declared.name, kind, bytes, value.tensor.device});
  return {add_value(std::move(value))};
}

// The operand that result `index` is, in the in-place and out= forms.
std::optional<ValueId> Specializer::written_operand(std::size_t index, const SizedNode& node) {
  const auto& returns = node.row->effects.returns;
  if (index >= returns.size()) return {};
  for (const std::size_t argument : returns[index].aliases) {
    const Argument* given =
        find_argument(node.node.arguments, node.row->schema.arguments[argument].name);
    const auto* id = given ? given->as<ValueId>() : nullptr;
    if (id && node.row->effects.mutates(argument)) return *id;
  }
  return {};
}

// The storages that result `index` may lie in: those of the arguments that the schema, or the op's
// row, says it may share with.
std::vector<StorageIndex> Specializer::possible_bases(std::size_t index,
                                                      const SizedNode& node) const {
  std::vector<StorageIndex> bases;
  const auto add = [&](const std::string& name) {
    const Argument* given = find_argument(node.node.arguments, name);
    if (!given) return;
    for (const StorageIndex base : storages_of(*given)) bases.push_back(base);
  };
  const auto& returns = node.row->effects.returns;
  if (index < returns.size()) {
    for (const std::size_t argument : returns[index].aliases) {
      add(node.row->schema.arguments[argument].name);
    }
  }
  for (const std::string& name : node.row->undeclared_aliases) add(name);
  return bases;
}

void Specializer::finish_dynamic(const spec::Graph& graph, const spec::Node& node,
                                 SizedNode&& sized, Environment& environment) {
  sized.is_dynamic = true;
  if (sized.row->has_tag("inplace_view")) {
    throw Unsupported("changes the geometry of a tensor in a way that only the call knows");
  }
  for (const spec::NodeResult& result : node.results) {
    sized.node.results.push_back({result.is_list, {}});
  }
  for_each_result(node, [&](std::size_t index, ValueId id) {
    const Argument argument = dynamic_result(graph, id, index, sized);
    const auto* value = argument.as<ValueId>();
    sized.node.results[index].values.push_back(value ? *value : none_value());
    environment[id.index] = argument;
  });
  out_.blocks[block_].nodes.push_back(std::move(sized));
}

}  // namespace graphgate::optimized
