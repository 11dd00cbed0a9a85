#include "optimized/extension/extension_text.h"

#include <map>
#include <set>

#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "spec/node_text.h"

namespace graphgate::optimized {
namespace {

using spec::ValueId;

spec::Program program_of(spec::Graph graph, const SymbolRanges& symbols) {
  spec::Program program;
  program.name = graph.name.empty() ? "graph" : graph.name;
  program.graph = std::move(graph);
  for (const ValueId id : program.graph.inputs) {
    const std::string& name = program.graph.value(id).name;
    program.inputs.push_back({spec::InputKind::kUserInput, id, name, true, std::nullopt});
  }
  program.outputs.resize(program.graph.outputs.size());
  for (const auto& [name, info] : symbols) program.symbols.emplace(name, info);
  return program;
}

void rename(spec::Argument& argument, const std::vector<ValueId>& ids) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) *id = ids[id->index];
  if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
    for (spec::Argument& element : *list) rename(element, ids);
  }
}

// The program has the inputs that it had, in the same order, and the same subgraphs.
Result<void> check_frame(const spec::Graph& before, const spec::Graph& after,
                         const PassContext& context) {
  if (before.inputs.size() != after.inputs.size()) {
    return bad_input("has " + std::to_string(after.inputs.size()) + " inputs, expected " +
                     std::to_string(before.inputs.size()));
  }
  for (std::size_t i = 0; i < before.inputs.size(); ++i) {
    const spec::Value& was = before.value(before.inputs[i]);
    const spec::Value& is = after.value(after.inputs[i]);
    if (was == is) continue;
    return bad_input("has another input " + std::to_string(i) + " than %" + was.name);
  }
  const bool is_same = std::equal(
      before.subgraphs.begin(), before.subgraphs.end(), after.subgraphs.begin(),
      after.subgraphs.end(), [&](const spec::Graph& was, const spec::Graph& is) {
        return was.name == is.name && print_graph(was, context) == print_graph(is, context);
      });
  if (is_same) return {};
  return bad_input("changes a subgraph, which passes are given by itself");
}

// The ids that values of the answer have in the graph. What is new is added to it.
std::vector<ValueId> ids_in(spec::Graph& graph, const spec::Graph& answer) {
  std::map<std::string, ValueId, std::less<>> named;
  for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
    named.emplace(graph.values[i].name, ValueId{i});
  }
  std::vector<ValueId> ids;
  for (const spec::Value& value : answer.values) {
    const auto found = named.find(value.name);
    if (found != named.end()) {
      graph.values[found->second.index] = value;
      ids.push_back(found->second);
    } else {
      ids.push_back({static_cast<std::uint32_t>(graph.values.size())});
      graph.values.push_back(value);
    }
  }
  return ids;
}

spec::TensorType type_of(const Tensor& tensor) {
  spec::TensorType type;
  type.dtype = tensor.dtype;
  type.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  type.strides.assign(tensor.strides.begin(), tensor.strides.end());
  type.storage_offset = tensor.offset;
  type.device = tensor.device;
  return type;
}

// The values and the names of blocks, as nodes are printed with them.
spec::Graph values_of(const SizedGraph& graph) {
  spec::Graph out;
  for (const SizedValue& value : graph.values) {
    spec::Value& made = out.values.emplace_back();
    made.name = value.name;
    made.kind = value.kind;
    if (value.kind != spec::ValueKind::kTensor) continue;
    made.type = value.is_dynamic ? value.declared : std::optional(type_of(value.tensor));
  }
  for (const SizedBlock& block : graph.blocks) out.subgraphs.emplace_back().name = block.name;
  return out;
}

}  // namespace

std::string print_graph(const spec::Graph& graph, const PassContext& context) {
  return spec::print_program(program_of(graph, context.symbols()), context.ops());
}

Result<bool> take_graph(std::string_view text, const std::string& source, spec::Graph& graph,
                        const PassContext& context) {
  if (text == print_graph(graph, context)) return false;
  const std::string name = "the answer of " + source;
  GRAPHGATE_TRY(spec::Program program, spec::parse_program(text, context.ops(), name));
  const auto checked = spec::check_program(program, context.ops());
  if (!checked.ok()) return bad_input(checked.error().message).at(name);
  const auto framed = check_frame(graph, program.graph, context);
  if (!framed.ok()) return framed.error().at(name);
  const std::vector<ValueId> ids = ids_in(graph, program.graph);
  for (spec::Node& node : program.graph.nodes) {
    for (spec::NamedArgument& named : node.arguments) rename(named.argument, ids);
    for (spec::NodeResult& result : node.results) {
      for (ValueId& id : result.values) id = ids[id.index];
    }
  }
  for (spec::Argument& output : program.graph.outputs) rename(output, ids);
  graph.nodes = std::move(program.graph.nodes);
  graph.outputs = std::move(program.graph.outputs);
  return true;
}

std::string print_partition(const CompilerSource& source, const CompilerContext& context,
                            const CompiledPartition& usual) {
  const spec::Graph values = values_of(source.graph);
  std::string text = "partition " + std::to_string(context.partition_index) + "\n";
  for (const auto& [symbol, size] : context.symbols) {
    text += "symbol " + symbol + " " + std::to_string(size) + "\n";
  }
  text += "limit nodes " + std::to_string(context.limits.nodes) + "\n";
  std::set<ValueId> made;
  std::set<ValueId> told;
  for (const SizedNode& node : source.nodes()) {
    spec::for_each_operand(node.node, [&](ValueId id) {
      if (made.contains(id) || !told.insert(id).second) return;
      text += "input %" + values.value(id).name + spec::print_value_type(values.value(id)) + "\n";
    });
    for_each_made(node.node, [&](ValueId id) { made.insert(id); });
  }
  for (std::size_t n = 0; n < source.nodes().size(); ++n) {
    // Arguments of ops that the built-in table lacks stand with their names.
    text += "node " + std::to_string(n) + " " +
            spec::print_node(values, source.nodes()[n].node, spec::builtin_op_table()) + "\n";
  }
  return text + print_compiled(usual);
}

}  // namespace graphgate::optimized
