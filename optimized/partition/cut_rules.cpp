#include "optimized/partition/cut_rules.h"

#include <algorithm>
#include <map>

namespace graphgate::optimized {
namespace {

using Reason = std::optional<std::string>;

std::vector<const Tensor*> tensors(const SizedGraph& graph, const std::vector<spec::ValueId>& ids) {
  std::vector<const Tensor*> out;
  for (const spec::ValueId id : ids) {
    if (graph.value(id).kind == spec::ValueKind::kTensor) out.push_back(&graph.value(id).tensor);
  }
  return out;
}

std::vector<const Tensor*> operands(const CutContext& context, const SizedNode& node) {
  std::vector<spec::ValueId> ids;
  for_each_operand(node.node, [&](spec::ValueId id) { ids.push_back(id); });
  return tensors(context.graph, ids);
}

std::vector<const Tensor*> results(const CutContext& context, const SizedNode& node) {
  std::vector<spec::ValueId> ids;
  for (const spec::NodeResult& result : node.node.results) {
    ids.insert(ids.end(), result.values.begin(), result.values.end());
  }
  return tensors(context.graph, ids);
}

Reason split_op(const CutContext& context, const SizedNode& node) {
  const std::string packet = node.node.op.substr(0, node.node.op.rfind('.'));
  for (const std::string& name : context.split_ops) {
    if (name == node.node.op || name == packet) return "split op " + name;
  }
  return {};
}

Reason conditional(const CutContext& /*context*/, const SizedNode& node) {
  return node.row ? Reason() : "conditional";
}

// Work that happens elsewhere: what the node makes, or writes, or all it reads, is on another
// device.
Reason not_on_accelerator(const CutContext& context, const SizedNode& node) {
  auto where = results(context, node);
  if (where.empty()) where = operands(context, node);
  for (const Tensor* tensor : where) {
    if (tensor->device.type != context.accelerator) {
      return "runs on " + tensor->device.type + ", not on " + context.accelerator;
    }
  }
  return {};
}

Reason device_copy(const CutContext& context, const SizedNode& node) {
  for (const Tensor* tensor : operands(context, node)) {
    if (tensor->device.type != context.accelerator && tensor->rank() > 0) {
      return "device copy from " + tensor->device.type;
    }
  }
  return {};
}

// A scalar in host memory is read by the host at launch: a capture would freeze it.
Reason host_scalar(const CutContext& context, const SizedNode& node) {
  for (const Tensor* tensor : operands(context, node)) {
    if (tensor->device.type != context.accelerator) {
      return "reads a scalar on " + tensor->device.type;
    }
  }
  return {};
}

Reason unbacked(const CutContext& /*context*/, const SizedNode& node) {
  return node.is_dynamic ? Reason("unbacked symbol") : Reason();
}

Reason unsafe_tag(const CutContext& /*context*/, const SizedNode& node) {
  return node.row && node.row->has_tag("cudagraph_unsafe") ? Reason("tag cudagraph_unsafe")
                                                           : Reason();
}

}  // namespace

const std::vector<CutRule>& cut_rules() {
  static const std::vector<CutRule> kRules = {
      {"split_op", split_op},       {"not_on_accelerator", not_on_accelerator},
      {"device_copy", device_copy}, {"host_scalar", host_scalar},
      {"conditional", conditional}, {"unbacked", unbacked},
      {"unsafe_tag", unsafe_tag},
  };
  return kRules;
}

std::optional<std::string> cut_reason(const CutContext& context, const SizedNode& node) {
  for (const CutRule& rule : cut_rules()) {
    if (auto reason = rule.reason(context, node)) return reason;
  }
  return {};
}

std::string accelerator_of(const SizedGraph& graph) {
  std::map<std::string, std::size_t> counts;
  for (const SizedValue& value : graph.values) {
    if (value.kind == spec::ValueKind::kTensor) ++counts[value.tensor.device.type];
  }
  std::string best = "cpu";
  std::size_t most = 0;
  for (const auto& [type, count] : counts) {
    if (count > most || (count == most && best == "cpu")) {
      best = type;
      most = count;
    }
  }
  return best;
}

}  // namespace graphgate::optimized
