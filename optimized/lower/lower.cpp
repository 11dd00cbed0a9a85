#include "optimized/lower/lower.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

void lower_type(Tensor& tensor, spec::TensorType& type) {
  type.dtype = tensor.dtype;
  type.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  type.strides.assign(tensor.strides.begin(), tensor.strides.end());
  type.storage_offset = tensor.offset;
  type.device = std::move(tensor.device);
}

void lower_value(const SizedGraph& graph, SizedValue& value, const Placement& placement,
                 spec::PlanValue& out) {
  out.value.name = std::move(value.name);
  out.value.kind = value.kind;
  if (value.kind != spec::ValueKind::kTensor) return;
  if (graph.storages[value.tensor.storage].kind != StorageKind::kInner) {
    out.buffer = placement.of_storage[value.tensor.storage];
  }
  if (value.is_dynamic) {
    out.value.type = std::move(value.declared);
  } else {
    lower_type(value.tensor, out.value.type.emplace());
  }
}

spec::PlanSignature lower_signature(const Signature& signature, const Placement& placement) {
  const auto buffers = [&](const std::vector<StorageIndex>& storages) {
    std::vector<spec::BufferId> out;
    out.reserve(storages.size());
    for (const StorageIndex storage : storages) out.push_back(placement.of_storage[storage]);
    return out;
  };
  spec::PlanSignature out;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    out.inputs.push_back({placement.of_storage[signature.inputs[i]], signature.deallocate[i]});
  }
  out.outputs = buffers(signature.outputs);
  out.constants = buffers(signature.constants);
  out.symbols = signature.symbols;
  return out;
}

void lower_node(SizedNode& node, std::optional<spec::BufferId> workspace, spec::PlanStep& step) {
  step.node = std::move(node.node);
  step.body.reserve(node.body.size());
  for (SizedNode& inner : node.body) step.body.push_back(std::move(inner.node));
  step.stream = node.stream;
  step.waits = std::move(node.waits);
  step.records = std::move(node.records);
  step.workspace = workspace;
}

void renumber(spec::Argument& argument, const std::vector<spec::ValueId>& new_ids) {
  if (auto* id = std::get_if<spec::ValueId>(&argument.value)) *id = new_ids[id->index];
  if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
    for (spec::Argument& element : *list) renumber(element, new_ids);
  }
}

void renumber(spec::Node& node, const std::vector<spec::ValueId>& new_ids) {
  for (spec::NamedArgument& named : node.arguments) renumber(named.argument, new_ids);
  for (spec::NodeResult& result : node.results) {
    for (spec::ValueId& id : result.values) id = new_ids[id.index];
  }
}

// Views of inner storages that no body mentions: nothing could be said of them.
std::vector<bool> lost_views(const SizedGraph& graph, const spec::Plan& plan) {
  std::vector<bool> lost(graph.values.size(), false);
  for (std::size_t v = 0; v < lost.size(); ++v) {
    const SizedValue& value = graph.values[v];
    lost[v] = value.kind == spec::ValueKind::kTensor &&
              graph.storages[value.tensor.storage].kind == StorageKind::kInner;
  }
  for (const spec::PlanStep& step : plan.steps) {
    for (const spec::Node& node : step.body) {
      for (const spec::NodeResult& result : node.results) {
        for (const spec::ValueId id : result.values) lost[id.index] = false;
      }
    }
  }
  return lost;
}

void drop_values(const std::vector<bool>& dropped, spec::Plan& plan) {
  std::vector<spec::ValueId> new_ids(dropped.size());
  std::vector<spec::PlanValue> values;
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    new_ids[v] = {static_cast<std::uint32_t>(values.size())};
    if (!dropped[v]) values.push_back(std::move(plan.values[v]));
  }
  plan.values = std::move(values);
  for (spec::PlanInput& input : plan.inputs) {
    if (!input.constant) input.value = new_ids[input.value.index];
    if (input.final_value) input.final_value = new_ids[input.final_value->index];
  }
  for (spec::PlanStep& step : plan.steps) {
    renumber(step.node, new_ids);
    for (spec::Node& node : step.body) renumber(node, new_ids);
  }
  for (spec::PlanBlock& block : plan.blocks) {
    for (spec::Argument& output : block.outputs) renumber(output, new_ids);
  }
  for (spec::Argument& output : plan.outputs) renumber(output, new_ids);
}

}  // namespace

spec::Plan lower(std::string_view name, SizedGraph graph, const Partitions& partitions,
                 const Signatures& signatures, Placement placement) {
  spec::Plan plan;
  plan.name = name;
  plan.symbols = std::move(graph.symbols);
  plan.pools = std::move(placement.pools);
  plan.buffers = std::move(placement.buffers);
  plan.inputs = std::move(graph.inputs);
  plan.outputs = std::move(graph.outputs);
  plan.event_count = graph.event_count;
  plan.values.reserve(graph.values.size());
  for (SizedValue& value : graph.values) {
    lower_value(graph, value, placement, plan.values.emplace_back());
  }
  std::size_t steps = 0;
  for (const SizedBlock& block : graph.blocks) steps += block.nodes.size();
  plan.steps.reserve(steps);
  plan.blocks.reserve(graph.blocks.size());
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    SizedBlock& sized = graph.blocks[b];
    spec::PlanBlock block{std::move(sized.name), {}, std::move(sized.outputs)};
    for (std::size_t p = 0; p < partitions.blocks[b].size(); ++p) {
      const Partition& partition = partitions.blocks[b][p];
      spec::PlanPartition out{partition.captured, partition.reason, 0, 0,
                              lower_signature(signatures.blocks[b][p], placement)};
      out.begin_step = static_cast<std::uint32_t>(plan.steps.size());
      for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
        lower_node(sized.nodes[n], placement.workspaces[b][n], plan.steps.emplace_back());
      }
      out.end_step = static_cast<std::uint32_t>(plan.steps.size());
      block.partitions.push_back(std::move(out));
    }
    plan.blocks.push_back(std::move(block));
  }
  const std::vector<bool> lost = lost_views(graph, plan);
  if (std::ranges::find(lost, true) != lost.end()) drop_values(lost, plan);
  return plan;
}

}  // namespace graphgate::optimized
