// From a draft to a program: values in order of definition, their types and names.
#include <algorithm>

#include "fuzz/generate/draft.h"

namespace graphgate::fuzz {
namespace {

void renumber(spec::Argument& argument, const std::vector<std::uint32_t>& order) {
  if (auto* id = std::get_if<spec::ValueId>(&argument.value)) id->index = order[id->index];
  if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
    for (spec::Argument& element : *list) renumber(element, order);
  }
}

int rank_of(spec::InputKind kind) {
  switch (kind) {
    case spec::InputKind::kParameter:
      return 0;
    case spec::InputKind::kBuffer:
      return 1;
    case spec::InputKind::kTensorConstant:
      return 2;
    case spec::InputKind::kUserInput:
      return 3;
  }
  return 3;
}

std::string input_name(spec::InputKind kind, std::size_t number) {
  static constexpr const char* kLetters[] = {"w", "b", "c", "x"};
  return kLetters[rank_of(kind)] + std::to_string(number);
}

}  // namespace

std::vector<std::size_t> Draft::inputs_in_order() const {
  std::vector<std::size_t> order(inputs_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return rank_of(inputs_[a].kind) < rank_of(inputs_[b].kind);
  });
  return order;
}

// New numbers by old ones: inputs first, then results. Results are made in order.
std::vector<std::uint32_t> Draft::definition_order() const {
  std::vector<std::uint32_t> order(values_.size(), UINT32_MAX);
  std::uint32_t next = 0;
  for (const std::size_t i : inputs_in_order()) order[inputs_[i].id.index] = next++;
  for (const spec::Node& node : nodes_) {
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) order[id.index] = next++;
    }
  }
  return order;
}

spec::TensorType Draft::type_of(const DrawnTensor& tensor) const {
  spec::TensorType type;
  type.dtype = tensor.dtype;
  const auto rank = static_cast<std::size_t>(tensor.sizes.rank);
  type.sizes.reserve(rank);
  type.strides.reserve(rank);
  for (int d = 0; d < tensor.sizes.rank; ++d) {
    type.sizes.push_back(table_.expression(tensor.sizes[d]));
    type.strides.push_back(table_.expression(tensor.strides[d]));
  }
  type.storage_offset = table_.expression(tensor.offset);
  if (settings_.on_accelerator && !tensor.on_host) type.device.type = "cuda";
  return type;
}

spec::Program Draft::finish(std::string name, const std::vector<spec::ValueId>& outputs) {
  spec::Program program;
  program.name = std::move(name);
  spec::Graph& graph = program.graph;
  const std::vector<std::uint32_t> order = definition_order();
  graph.values.resize(values_.size());
  for (std::size_t v = 0; v < values_.size(); ++v) {
    spec::Value& value = graph.values[order[v]];
    value.kind = values_[v].kind;
    value.name = "v" + std::to_string(order[v]);
    if (value.kind == spec::ValueKind::kTensor) {
      const DrawnTensor& tensor = tensors_[values_[v].tensor];
      if (tensor.has_layout) value.type = type_of(tensor);
    } else if (values_[v].size) {
      value.expr = table_.expression(*values_[v].size);
    }
  }
  std::array<std::size_t, 4> counts{};
  for (const std::size_t i : inputs_in_order()) {
    const Input& input = inputs_[i];
    const spec::ValueId id{order[input.id.index]};
    spec::Value& value = graph.values[id.index];
    value.name = input_name(input.kind, counts[static_cast<std::size_t>(rank_of(input.kind))]++);
    graph.inputs.push_back(id);
    program.inputs.push_back({input.kind, id, value.name, true, std::nullopt});
  }
  std::size_t number = 0;
  for (spec::Node& node : nodes_) {
    for (spec::NamedArgument& named : node.arguments) renumber(named.argument, order);
    for (spec::NodeResult& result : node.results) {
      for (spec::ValueId& id : result.values) id.index = order[id.index];
    }
    const bool has_result = !node.results.empty() && !node.results.front().values.empty();
    node.name = has_result ? graph.values[node.results.front().values.front().index].name
                           : "node_" + std::to_string(number);
    ++number;
  }
  graph.nodes = std::move(nodes_);
  graph.subgraphs = std::move(subgraphs_);
  for (const spec::ValueId output : outputs) {
    graph.outputs.push_back({spec::ValueId{order[output.index]}});
    program.outputs.push_back({spec::OutputKind::kUserOutput, ""});
  }
  program.symbols = std::move(symbols_);
  return program;
}

}  // namespace graphgate::fuzz
