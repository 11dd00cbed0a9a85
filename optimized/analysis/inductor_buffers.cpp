#include "optimized/analysis/inductor_buffers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

// "aten.index_put_.default" -> "aten.index_put", "default".
struct OpParts {
  std::string_view base;
  std::string_view overload;
};

OpParts parts_of(std::string_view op) {
  const std::size_t dot = op.rfind('.');
  OpParts parts{op.substr(0, dot), dot == std::string_view::npos ? "" : op.substr(dot + 1)};
  if (parts.base.ends_with('_')) parts.base.remove_suffix(1);
  return parts;
}

const Tensor* tensor_argument(const SizedGraph& graph, const SizedNode& node,
                              std::string_view name) {
  const spec::Argument* argument = find_argument(node.node.arguments, name);
  const auto* id = argument == nullptr ? nullptr : argument->as<spec::ValueId>();
  if (id == nullptr || graph.value(*id).kind != spec::ValueKind::kTensor) return nullptr;
  return &graph.value(*id).tensor;
}

bool is_true(const SizedNode& node, std::string_view name) {
  const spec::Argument* argument = find_argument(node.node.arguments, name);
  const auto* value = argument == nullptr ? nullptr : argument->as<bool>();
  return value != nullptr && *value;
}

// Whether the argument is there and is another word.
bool says_other_than(const SizedNode& node, std::string_view name, std::string_view word) {
  const spec::Argument* argument = find_argument(node.node.arguments, name);
  const auto* text = argument == nullptr ? nullptr : argument->as<std::string>();
  return text != nullptr && *text != word;
}

// Of these a GPU has no atomic add.
bool lacks_atomic_add(const Tensor* tensor) {
  return tensor != nullptr &&
         (tensor->dtype == spec::DType::kInt64 || tensor->dtype == spec::DType::kBool);
}

bool is_mask(const SizedValue& value) {
  return value.kind == spec::ValueKind::kTensor &&
         (value.tensor.dtype == spec::DType::kBool || value.tensor.dtype == spec::DType::kUInt8);
}

// A single mask with a single number is a where().
bool puts_by_mask(const SizedGraph& graph, const SizedNode& node) {
  const spec::Argument* indices = find_argument(node.node.arguments, "indices");
  if (indices == nullptr) return false;
  std::size_t count = 0;
  bool masked = false;
  for_each_value(*indices, [&](spec::ValueId id) {
    ++count;
    masked |= is_mask(graph.value(id));
  });
  const Tensor* values = tensor_argument(graph, node, "values");
  return masked && (count > 1 || values == nullptr || values->count() != 1);
}

bool falls_back(const SizedGraph& graph, const SizedNode& node) {
  const OpParts op = parts_of(node.node.op);
  const bool is_whole = lacks_atomic_add(tensor_argument(graph, node, "self"));
  if (op.base == "aten.index_put") {
    return puts_by_mask(graph, node) || (is_whole && is_true(node, "accumulate"));
  }
  if (op.base == "aten.index_add" || op.base == "aten.scatter_add") return is_whole;
  if (op.base == "aten.scatter_reduce") return is_whole || says_other_than(node, "reduce", "sum");
  if (op.base != "aten.scatter") return false;
  if (op.overload == "src") return lacks_atomic_add(tensor_argument(graph, node, "src"));
  if (op.overload == "value") return false;
  return is_whole || says_other_than(node, "reduce", "add");
}

}  // namespace

std::vector<bool> views_with_names(const SizedGraph& graph) {
  std::vector<std::optional<spec::DType>> made(graph.storages.size());
  const auto note = [&](spec::ValueId id) {
    const SizedValue& value = graph.value(id);
    if (value.kind != spec::ValueKind::kTensor) return;
    auto& dtype = made[value.tensor.storage];
    if (!dtype) dtype = value.tensor.dtype;
  };
  for (const spec::PlanInput& input : graph.inputs) {
    if (!input.constant) note(input.value);
  }
  for (const SizedBlock& block : graph.blocks) {
    for (const SizedNode& node : block.nodes) {
      for (const SizedNode& member : node.body) for_each_made(member.node, note);
      for_each_made(node.node, note);
    }
  }
  std::vector<bool> out(graph.values.size(), false);
  for (std::size_t v = 0; v < out.size(); ++v) {
    const SizedValue& value = graph.values[v];
    if (value.kind != spec::ValueKind::kTensor) continue;
    const auto& dtype = made[value.tensor.storage];
    // Complex tensors come whole from upstream's fallback kernels: that they are parts, and seen as
    // such, is this executor's own doing.
    const auto item = [](spec::DType of) {
      return spec::item_size_bytes(spec::component_dtype(of));
    };
    out[v] = dtype && item(*dtype) != item(value.tensor.dtype);
  }
  return out;
}

StorageIndex written_without_layout(const SizedGraph& graph, const SizedNode& node) {
  if (node.row == nullptr || !falls_back(graph, node)) return kNoStorage;
  const ValueIds results = flat_results(node.node);
  if (results.empty() || graph.value(results.front()).kind != spec::ValueKind::kTensor) {
    return kNoStorage;
  }
  return graph.value(results.front()).tensor.storage;
}

bool is_realized_at_once(const SizedGraph& graph, const SizedNode& node) {
  if (node.row == nullptr) return false;
  if (written_without_layout(graph, node) != kNoStorage) return true;
  constexpr std::array<std::string_view, 14> kAtOnce = {
      "aten.mm",          "aten.addmm",  "aten.bmm",    "aten.baddbmm", "aten.linear",
      "aten.convolution", "aten.cumsum", "aten.topk",   "aten.sum",     "aten.prod",
      "aten.amax",        "aten.amin",   "aten.argmax", "aten.argmin"};
  const OpParts op = parts_of(node.node.op);
  if (!op.base.starts_with("aten.") && !op.base.starts_with("prims.")) return true;
  return std::ranges::find(kAtOnce, op.base) != kAtOnce.end();
}

}  // namespace graphgate::optimized
