#include "optimized/partition/cut_rules.h"

#include <algorithm>

#include "optimized/binding.h"
#include "optimized/codegen/fused_works.h"
#include "spec/loops.h"

namespace graphgate::optimized {
namespace {

using Reason = std::optional<std::string>;
using spec::Deviation;

// The first tensor among the values that `is_wanted` takes, or null.
template <class IsWanted>
const Tensor* find_operand(const CutContext& context, const SizedNode& node, IsWanted&& is_wanted) {
  const Tensor* found = nullptr;
  for_each_operand(node.node, [&](spec::ValueId id) {
    const SizedValue& value = context.graph().value(id);
    if (found != nullptr || value.kind != spec::ValueKind::kTensor) return;
    if (is_wanted(value.tensor)) found = &value.tensor;
  });
  return found;
}

// Whether a name says which overload it means: "ns.name.overload", "ns::name.overload".
bool has_overload(const std::string& name) {
  const std::size_t colons = name.find("::");
  const std::size_t end = colons == std::string::npos ? name.find('.') + 1 : colons + 2;
  return name.find('.', end) != std::string::npos;
}

// The op that a node of a program comes down to: what auto_functionalized runs is written out
// before the cut.
const std::string& op_run_by(const spec::Node& node) {
  if (!node.op.starts_with("higher_order.auto_functionalized") || node.arguments.empty()) {
    return node.op;
  }
  const auto* op = node.arguments.front().argument.as<spec::OpName>();
  return op ? op->name : node.op;
}

// The name among the options' split ops that names the op, or null. To split_graph a name without
// an overload means the default one alone, as OpOverload.name() leaves out no other.
const std::string* named_split_op(const CutContext& context, const std::string& op) {
  if (context.has(Deviation::kIgnoresPartitionOption)) return nullptr;
  const bool is_split_graph = context.options().mode == PartitionMode::kSplitGraph;
  const bool is_default = op.ends_with(".default");
  const auto& names = context.options().split_ops;
  const auto found = std::ranges::find_if(names, [&](const std::string& name) {
    return names_op(name, op) && (!is_split_graph || is_default || has_overload(name));
  });
  return found == names.end() ? nullptr : &*found;
}

Reason split_op(const CutContext& context, const SizedNode& node) {
  const std::string* name = split_op_of(context, node);
  return name ? Reason("split op " + *name) : Reason();
}

Reason conditional(const CutContext& /*context*/, const SizedNode& node) {
  if (node.row) return {};
  return spec::is_loop(node.node.op) ? "loop" : "conditional";
}

// Work that happens elsewhere: what the node makes, or writes, or all it reads, is on another
// device.
Reason not_on_accelerator(const CutContext& context, const SizedNode& node) {
  const auto is_elsewhere = [&](const Tensor& tensor) {
    return tensor.device.type != context.accelerator();
  };
  const Tensor* found = nullptr;
  bool makes_tensors = false;
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) {
      const SizedValue& value = context.graph().value(id);
      if (value.kind != spec::ValueKind::kTensor) continue;
      makes_tensors = true;
      if (found == nullptr && is_elsewhere(value.tensor)) found = &value.tensor;
    }
  }
  if (!makes_tensors) found = find_operand(context, node, is_elsewhere);
  if (found == nullptr) return {};
  return "runs on " + found->device.type + ", not on " + context.accelerator();
}

Reason device_copy(const CutContext& context, const SizedNode& node) {
  const Tensor* found = find_operand(context, node, [&](const Tensor& tensor) {
    return tensor.rank() > 0 && tensor.device.type != context.accelerator();
  });
  return found != nullptr ? Reason("device copy from " + found->device.type) : Reason();
}

// A scalar in host memory is read by the host at launch: a capture would freeze it.
Reason host_scalar(const CutContext& context, const SizedNode& node) {
  if (context.has(Deviation::kCapturesHostScalars)) return {};
  const Tensor* found = find_operand(context, node, [&](const Tensor& tensor) {
    return tensor.device.type != context.accelerator();
  });
  return found != nullptr ? Reason("reads a scalar on " + found->device.type) : Reason();
}

bool has_dynamic_operand(const CutContext& context, const SizedNode& node) {
  bool found = false;
  for_each_operand(node.node,
                   [&](spec::ValueId id) { found |= context.graph().value(id).is_dynamic; });
  return found;
}

// Whether only the call knows what the node reads or makes.
bool is_dynamic(const CutContext& context, const SizedNode& node) {
  if (!context.has(Deviation::kDynamicByOutputOnly) || node.node.results.empty()) {
    return node.is_dynamic;
  }
  bool found = false;
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) found |= context.graph().value(id).is_dynamic;
  }
  return found;
}

// Sizes and numbers that only the call can tell begin here (nonzero, item).
Reason unbacked_binding(const CutContext& context, const SizedNode& node) {
  const bool begins = !has_dynamic_operand(context, node) && is_dynamic(context, node);
  return begins ? Reason("unbacked symbol") : Reason();
}

Reason unsafe_tag(const CutContext& /*context*/, const SizedNode& node) {
  return node.row && node.row->has_tag("cudagraph_unsafe") ? Reason("tag cudagraph_unsafe")
                                                           : Reason();
}

// They are used here.
Reason unbacked_use(const CutContext& context, const SizedNode& node) {
  if (!has_dynamic_operand(context, node)) return {};
  Reason reason;
  for_each_operand(node.node, [&](spec::ValueId id) {
    const std::string& source = context.unsafe_source(id);
    if (!reason && !source.empty()) reason = "uses an unbacked symbol of " + source;
  });
  // Without the list of unsafe ops nothing cuts what they would have cut.
  if (reason && context.has(Deviation::kCapturesUnbackedSymbols)) return {};
  if (!reason && is_dynamic(context, node)) reason = "unbacked symbol";
  return reason;
}

Reason any_symbol(const CutContext& context, const SizedNode& node) {
  const bool cuts =
      context.options().skip_dynamic_graphs || context.has(Deviation::kAnySymbolIsUnsafe);
  if (!cuts || node.symbols.empty()) return {};
  return "uses symbol " + node.symbols.front();
}

// Captures run on a GPU, and the op has no kernel there for what it is asked.
Reason no_device_kernel(const CutContext& context, const SizedNode& node) {
  if (!context.options().device_kernels || node.row == nullptr || node.kernel == nullptr) return {};
  const auto item = [&](spec::ValueId id) -> Item {
    const SizedValue& value = context.graph().value(id);
    if (value.kind == spec::ValueKind::kTensor) return {value.tensor};
    return {spec::None{}};
  };
  std::vector<Tensor> made;
  for (const spec::ValueId id : flat_results(node.node)) {
    const SizedValue& value = context.graph().value(id);
    made.push_back(value.kind == spec::ValueKind::kTensor ? value.tensor : Tensor{});
  }
  const bool has_kernel = has_device_kernel(
      *node.kernel, *node.row, bind_arguments(node.row->schema, node.node.arguments, item), made);
  return has_kernel ? Reason() : "no GPU kernel for " + node.node.op;
}

}  // namespace

const std::vector<CutRule>& cut_rules() {
  static const std::vector<CutRule> kRules = {
      {"split_op", split_op},       {"not_on_accelerator", not_on_accelerator},
      {"device_copy", device_copy}, {"host_scalar", host_scalar},
      {"conditional", conditional}, {"unbacked_binding", unbacked_binding},
      {"unsafe_tag", unsafe_tag},   {"unbacked_use", unbacked_use},
      {"any_symbol", any_symbol},   {"no_device_kernel", no_device_kernel},
  };
  return kRules;
}

std::optional<std::string> cut_reason(const CutContext& context, const SizedNode& node) {
  for (const SizedNode& member : node.body) {
    if (auto reason = cut_reason(context, member)) return reason;
  }
  if (node.is_fused()) return {};
  for (const CutRule& rule : cut_rules()) {
    if (auto reason = rule.reason(context, node)) return reason;
  }
  return {};
}

const std::string* split_op_of(const CutContext& context, const SizedNode& node) {
  return context.is_overlooked(node) ? nullptr : named_split_op(context, node.node.op);
}

const std::string* split_op_of(const CutContext& context, const spec::Node& node) {
  const std::string& op = op_run_by(node);
  return context.is_overlooked(node, op) ? nullptr : named_split_op(context, op);
}

bool must_end(const CutContext& context, const SizedNode& last, std::size_t count) {
  const PartitionOptions& options = context.options();
  if (options.max_nodes != 0 && count >= options.max_nodes) return true;
  return std::ranges::find(options.cut_after, last.node.name) != options.cut_after.end();
}

bool launches(const SizedNode& node) {
  return !node.row || !node.kernel || node.kernel->bind != nullptr;
}

}  // namespace graphgate::optimized
