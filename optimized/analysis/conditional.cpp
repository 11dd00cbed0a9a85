// Specializing conditionals: both arms become blocks, joined by copies into the results.
#include <set>
#include <utility>

#include "optimized/analysis/node_symbols.h"
#include "optimized/analysis/specializer.h"
#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::ValueId;

const Argument& operand(const spec::Node& node, std::size_t index) {
  if (index >= node.arguments.size()) throw OpError("too few operands");
  return node.arguments[index].argument;
}

const spec::Graph& arm_of(const spec::Graph& graph, const Argument& argument) {
  const auto* id = argument.as<spec::SubgraphId>();
  if (!id || id->index >= graph.subgraphs.size()) throw OpError("expected a subgraph");
  return graph.subgraphs[id->index];
}

// A predicate that is known now; nullopt for a tensor or a dynamic number.
std::optional<bool> known_predicate(const Argument& argument) {
  if (const auto* b = argument.as<bool>()) return *b;
  if (const auto* i = argument.as<std::int64_t>()) return *i != 0;
  if (const auto* x = argument.as<double>()) return *x != 0;
  return {};
}

// Whether what two arms result in can share one planned place.
bool join_in_place(const SizedValue& a, const SizedValue& b) {
  return a.kind == spec::ValueKind::kTensor && b.kind == spec::ValueKind::kTensor &&
         !a.is_dynamic && !b.is_dynamic && a.tensor.dtype == b.tensor.dtype &&
         a.tensor.sizes == b.tensor.sizes && a.tensor.strides == b.tensor.strides &&
         is_dense(a.tensor);
}

}  // namespace

void Specializer::run_conditional(const spec::Graph& graph, const spec::Node& node,
                                  Environment& environment) {
  const Argument predicate = resolve(operand(node, 0), environment);
  std::vector<Argument> inputs;
  if (node.arguments.size() > 3) {
    const Argument operands = resolve(operand(node, 3), environment);
    if (const auto* list = operands.as<Argument::List>()) inputs = *list;
  }
  const ValueIds results = flat_results(node);
  if (const auto taken = known_predicate(predicate)) {
    const auto outputs = run_graph(arm_of(graph, operand(node, *taken ? 1 : 2)), inputs);
    if (outputs.size() != results.size()) throw OpError("an arm has another output count");
    for (std::size_t i = 0; i < results.size(); ++i) {
      environment[results[i].index] = outputs[i];
    }
    return;
  }
  const spec::Node* place = place_;
  const std::size_t outer = block_;
  const std::size_t outer_values = std::exchange(values_before_arm_, out_.values.size());
  const std::size_t arms[] = {out_.blocks.size(), out_.blocks.size() + 1};
  out_.blocks.push_back({unique_name(node.name + "_then"), {}, {}});
  out_.blocks.push_back({unique_name(node.name + "_else"), {}, {}});
  for (std::size_t a = 0; a < 2; ++a) {
    block_ = arms[a];
    values_before_arm_ = out_.values.size();
    auto outputs = run_graph(arm_of(graph, operand(node, a + 1)), inputs);
    place_ = place;
    if (outputs.size() != results.size()) throw OpError("an arm has another output count");
    refuse_aliases(outputs);
    out_.blocks[arms[a]].outputs = std::move(outputs);
  }
  SizedNode sized;
  sized.node.name = node.name;
  sized.node.op = node.op;
  sized.symbols = symbols_of(graph, node, deviations_);
  sized.node.arguments = {{"", predicate},
                          {"", {spec::SubgraphId{static_cast<std::uint32_t>(arms[0])}}},
                          {"", {spec::SubgraphId{static_cast<std::uint32_t>(arms[1])}}}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Argument joined = join_arms(graph, results[i], i, arms);
    const auto* id = joined.as<ValueId>();
    sized.node.results.push_back({false, {id ? *id : none_value()}});
    environment[results[i].index] = joined;
  }
  block_ = outer;
  values_before_arm_ = outer_values;
  out_.blocks[block_].nodes.push_back(std::move(sized));
}

// torch.cond wants arms whose results share no storage with what comes from outside, nor with each
// other: then copying them into the results of the conditional cannot be told from handing them on.
void Specializer::refuse_aliases(const std::vector<Argument>& outputs) const {
  std::set<StorageIndex> seen;
  for (std::size_t v = 0; v < values_before_arm_; ++v) {
    const ValueId id{static_cast<std::uint32_t>(v)};
    out_.for_each_storage(id, [&](StorageIndex storage) { seen.insert(storage); });
  }
  for (const Argument& output : outputs) {
    for (const StorageIndex storage : storages_of(output)) {
      if (!seen.insert(storage).second) {
        throw Unsupported("an arm results in a view of an operand or of another result");
      }
    }
  }
}

// Tensors of one geometry get a place that either arm copies into. What differs between the arms in
// size, or is a number, is dynamic: it takes what the arm that ran results in.
Argument Specializer::join_arms(const spec::Graph& graph, ValueId result, std::size_t index,
                                std::span<const std::size_t> arms) {
  const Argument outputs[] = {out_.blocks[arms[0]].outputs[index],
                              out_.blocks[arms[1]].outputs[index]};
  const auto* first = outputs[0].as<ValueId>();
  const auto* second = outputs[1].as<ValueId>();
  if (!first && outputs[0] == outputs[1]) return outputs[0];
  const spec::Value& declared = graph.value(result);
  SizedValue value{.name = declared.name, .kind = declared.kind};
  if (first && second && join_in_place(out_.value(*first), out_.value(*second))) {
    value.tensor = out_.value(*first).tensor;
    value.tensor.offset = 0;
    value.tensor.storage = add_storage({declared.name, StorageKind::kIntermediate,
                                        byte_range(value.tensor).end, value.tensor.device});
    const ValueId joined = add_value(std::move(value));
    for (std::size_t a = 0; a < 2; ++a) {
      block_ = arms[a];
      emit_copy(joined, *outputs[a].as<ValueId>(), declared.name,
                symbols_of(graph, {result}, deviations_));
      out_.blocks[arms[a]].outputs[index] = {joined};
    }
    return {joined};
  }
  value.is_dynamic = true;
  for (const Argument& output : outputs) {
    for (const StorageIndex storage : storages_of(output)) value.bases.push_back(storage);
  }
  value.declared = declared.type;
  if (declared.kind == spec::ValueKind::kTensor) {
    if (declared.type) {
      value.tensor.dtype = declared.type->dtype;
      value.tensor.device = declared.type->device;
    }
    value.tensor.storage =
        add_storage({declared.name, StorageKind::kDynamic, 0, value.tensor.device});
  }
  return {add_value(std::move(value))};
}

}  // namespace graphgate::optimized
