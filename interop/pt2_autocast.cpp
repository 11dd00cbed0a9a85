#include "interop/pt2_autocast.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace graphgate::interop {
namespace {

using spec::Argument;
using spec::DType;
using spec::Graph;
using spec::Node;
using spec::ValueId;

// What autocast does with the tensors that an op is given.
enum class CastPolicy : std::uint8_t {
  kLower,    // to the dtype that autocast is for
  kFloat32,  // to float32
  kWidest,   // to float32 where one of them is that, else as kLower
  kNone,     // nothing
};

// Names without the namespace "aten.": of an op in all its overloads, or of one overload.
constexpr std::array kLower =
    std::to_array<std::string_view>({"conv1d.default",
                                     "conv1d.padding",
                                     "conv2d.default",
                                     "conv2d.padding",
                                     "conv3d.default",
                                     "conv3d.padding",
                                     "bmm.default",
                                     "mm.default",
                                     "linalg_vecdot.default",
                                     "baddbmm.default",
                                     "addmm.default",
                                     "_addmm_activation.default",
                                     "addbmm.default",
                                     "linear.default",
                                     "_convolution.deprecated",
                                     "matmul.default",
                                     "conv_tbc.default",
                                     "conv_transpose1d.default",
                                     "conv_transpose2d.input",
                                     "conv_transpose3d.input",
                                     "prelu.default",
                                     "scaled_dot_product_attention.default"});
constexpr std::array kFloat32 =
    std::to_array<std::string_view>({"avg_pool3d.default",
                                     "grid_sampler.default",
                                     "prod.default",
                                     "prod.dim_int",
                                     "quantile.default",
                                     "quantile.scalar",
                                     "nanquantile.default",
                                     "nanquantile.scalar",
                                     "cdist.default",
                                     "grid_sampler_2d.default",
                                     "grid_sampler_3d.default",
                                     "trace.default",
                                     "cholesky_inverse.default",
                                     "cholesky_solve.default",
                                     "inverse.default",
                                     "lu_solve.default",
                                     "orgqr.default",
                                     "ormqr.default",
                                     "pinverse.default",
                                     "max_pool3d.default",
                                     "max_unpool2d.default",
                                     "max_unpool3d.default",
                                     "adaptive_avg_pool3d.default",
                                     "reflection_pad1d.default",
                                     "reflection_pad2d.default",
                                     "replication_pad1d.default",
                                     "replication_pad2d.default",
                                     "replication_pad3d.default",
                                     "mse_loss.default",
                                     "cosine_embedding_loss.default",
                                     "nll_loss.default",
                                     "nll_loss2d.default",
                                     "hinge_embedding_loss.default",
                                     "poisson_nll_loss.default",
                                     "smooth_l1_loss.default",
                                     "cross_entropy_loss.default",
                                     "l1_loss.default",
                                     "huber_loss.default",
                                     "margin_ranking_loss.default",
                                     "soft_margin_loss.default",
                                     "triplet_margin_loss.default",
                                     "multi_margin_loss.default",
                                     "ctc_loss.IntList",
                                     "ctc_loss.Tensor",
                                     "kl_div.default",
                                     "multilabel_margin_loss.default",
                                     "binary_cross_entropy_with_logits.default",
                                     "linalg_cond.default",
                                     "linalg_solve.default",
                                     "linalg_cholesky.default",
                                     "linalg_svdvals.default",
                                     "linalg_eigvalsh.default",
                                     "linalg_inv.default",
                                     "linalg_householder_product.default",
                                     "linalg_tensorinv.default",
                                     "linalg_tensorsolve.default",
                                     "fake_quantize_per_tensor_affine.default",
                                     "geqrf.default",
                                     "linalg_cholesky_ex.default",
                                     "linalg_eigh.default",
                                     "linalg_inv_ex.default",
                                     "linalg_lstsq.default",
                                     "linalg_qr.default",
                                     "linalg_svd.default",
                                     "svd.default",
                                     "triangular_solve.default",
                                     "fractional_max_pool2d.default",
                                     "fractional_max_pool3d.default",
                                     "adaptive_max_pool3d.default"});
constexpr std::array kWidest =
    std::to_array<std::string_view>({"stack.default", "cat.default", "index_copy.default"});

// Ops on no list that call none of a list either: one launch, a view, or made of such.
constexpr std::array kAlone = std::to_array<std::string_view>({"abs",
                                                               "acos",
                                                               "adaptive_avg_pool1d",
                                                               "adaptive_avg_pool2d",
                                                               "add",
                                                               "addcdiv",
                                                               "addcmul",
                                                               "alias",
                                                               "all",
                                                               "amax",
                                                               "amin",
                                                               "any",
                                                               "arange",
                                                               "argmax",
                                                               "argmin",
                                                               "argsort",
                                                               "asin",
                                                               "atan",
                                                               "atan2",
                                                               "avg_pool1d",
                                                               "avg_pool2d",
                                                               "batch_norm",
                                                               "bitwise_and",
                                                               "bitwise_not",
                                                               "bitwise_or",
                                                               "bitwise_xor",
                                                               "broadcast_tensors",
                                                               "broadcast_to",
                                                               "ceil",
                                                               "celu",
                                                               "chunk",
                                                               "clamp",
                                                               "clamp_max",
                                                               "clamp_min",
                                                               "clone",
                                                               "constant_pad_nd",
                                                               "contiguous",
                                                               "copy",
                                                               "cos",
                                                               "cosh",
                                                               "cumprod",
                                                               "cumsum",
                                                               "detach",
                                                               "detach_",
                                                               "div",
                                                               "dropout",
                                                               "elu",
                                                               "embedding",
                                                               "empty",
                                                               "empty_like",
                                                               "eq",
                                                               "erf",
                                                               "erfc",
                                                               "erfinv",
                                                               "exp",
                                                               "exp2",
                                                               "expand",
                                                               "expand_as",
                                                               "expm1",
                                                               "fill",
                                                               "flatten",
                                                               "flip",
                                                               "floor",
                                                               "floor_divide",
                                                               "fmod",
                                                               "full",
                                                               "full_like",
                                                               "gather",
                                                               "ge",
                                                               "gelu",
                                                               "glu",
                                                               "group_norm",
                                                               "gt",
                                                               "hardsigmoid",
                                                               "hardswish",
                                                               "hardtanh",
                                                               "index",
                                                               "index_select",
                                                               "instance_norm",
                                                               "isfinite",
                                                               "isinf",
                                                               "isnan",
                                                               "layer_norm",
                                                               "le",
                                                               "leaky_relu",
                                                               "lerp",
                                                               "lift_fresh_copy",
                                                               "log",
                                                               "log10",
                                                               "log1p",
                                                               "log2",
                                                               "log_sigmoid",
                                                               "log_softmax",
                                                               "logical_and",
                                                               "logical_not",
                                                               "logical_or",
                                                               "logical_xor",
                                                               "logsumexp",
                                                               "lt",
                                                               "masked_fill",
                                                               "max",
                                                               "max_pool2d",
                                                               "maximum",
                                                               "mean",
                                                               "min",
                                                               "minimum",
                                                               "mish",
                                                               "movedim",
                                                               "mul",
                                                               "narrow",
                                                               "native_batch_norm",
                                                               "native_dropout",
                                                               "native_group_norm",
                                                               "native_layer_norm",
                                                               "ne",
                                                               "neg",
                                                               "new_empty",
                                                               "new_full",
                                                               "new_ones",
                                                               "new_zeros",
                                                               "nonzero",
                                                               "numpy_T",
                                                               "ones",
                                                               "ones_like",
                                                               "permute",
                                                               "pow",
                                                               "reciprocal",
                                                               "relu",
                                                               "relu6",
                                                               "remainder",
                                                               "repeat",
                                                               "reshape",
                                                               "reshape_as",
                                                               "rms_norm",
                                                               "roll",
                                                               "round",
                                                               "rsqrt",
                                                               "rsub",
                                                               "scalar_tensor",
                                                               "scatter",
                                                               "scatter_add",
                                                               "select",
                                                               "selu",
                                                               "sigmoid",
                                                               "sign",
                                                               "silu",
                                                               "sin",
                                                               "sinh",
                                                               "slice",
                                                               "softmax",
                                                               "softplus",
                                                               "sort",
                                                               "split",
                                                               "split_with_sizes",
                                                               "sqrt",
                                                               "square",
                                                               "squeeze",
                                                               "std",
                                                               "sub",
                                                               "sum",
                                                               "sym_size",
                                                               "t",
                                                               "tan",
                                                               "tanh",
                                                               "to",
                                                               "_to_copy",
                                                               "topk",
                                                               "transpose",
                                                               "tril",
                                                               "triu",
                                                               "trunc",
                                                               "type_as",
                                                               "unbind",
                                                               "unflatten",
                                                               "unsqueeze",
                                                               "upsample_bilinear2d",
                                                               "upsample_nearest2d",
                                                               "var",
                                                               "view",
                                                               "view_as",
                                                               "where",
                                                               "zeros",
                                                               "zeros_like",
                                                               "_assert_tensor_metadata",
                                                               "_unsafe_view",
                                                               "mT",
                                                               "matrix_H"});

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

// "aten.add_.Tensor" -> "add". In-place forms cast nothing either, where the op alone does not.
std::string_view base_of(std::string_view name) {
  name = name.substr(0, name.find('.'));
  const bool is_in_place = name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
  return is_in_place ? name.substr(0, name.size() - 1) : name;
}

std::optional<CastPolicy> policy_of(std::string_view op) {
  if (op.starts_with("_operator.") || op.starts_with("math.")) return CastPolicy::kNone;
  constexpr std::string_view kNamespace = "aten.";
  if (!op.starts_with(kNamespace)) return std::nullopt;
  const std::string_view name = op.substr(kNamespace.size());
  if (holds(kLower, name)) return CastPolicy::kLower;
  if (holds(kFloat32, name)) return CastPolicy::kFloat32;
  if (holds(kWidest, name)) return CastPolicy::kWidest;
  if (holds(kAlone, base_of(name))) return CastPolicy::kNone;
  return std::nullopt;
}

// A dtype that autocast casts: it leaves float64 alone, and what is not floating.
bool is_cast(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

DType target_of(const Graph& graph, const Node& node, CastPolicy policy, DType lower) {
  if (policy == CastPolicy::kLower) return lower;
  if (policy == CastPolicy::kFloat32) return DType::kFloat32;
  DType widest = lower;
  for_each_operand(node, [&](ValueId id) {
    const auto& type = graph.value(id).type;
    if (type && type->dtype == DType::kFloat32) widest = DType::kFloat32;
  });
  return widest;
}

// Whether nothing about the operands hinders the casts: their dtypes are known, and a dtype that is
// neither float32 nor the lower one is in no promotion.
bool knows_operands(const Graph& graph, const Node& node, CastPolicy policy, DType lower) {
  bool knows = true;
  for_each_operand(node, [&](ValueId id) {
    const spec::Value& value = graph.value(id);
    if (value.kind == spec::ValueKind::kTensorList) knows = false;
    if (value.kind != spec::ValueKind::kTensor) return;
    if (!value.type) {
      knows = false;
    } else if (policy == CastPolicy::kWidest && is_cast(value.type->dtype)) {
      knows = knows && (value.type->dtype == DType::kFloat32 || value.type->dtype == lower);
    }
  });
  return knows;
}

class Caster {
 public:
  Caster(Graph& graph, DType lower, const SettledNodes& settled)
      : graph_(graph), lower_(lower), settled_(settled) {
    for (const spec::Value& value : graph.values) names_.insert(value.name);
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  void run() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (Node& node : nodes) {
      const CastPolicy policy = policy_of(node.op).value_or(CastPolicy::kNone);
      if (policy != CastPolicy::kNone && !settled_.contains(node.name)) {
        const DType target = target_of(graph_, node, policy, lower_);
        for (spec::NamedArgument& named : node.arguments) cast(named.argument, target);
      }
      graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  void cast(Argument& argument, DType target) {
    if (auto* list = std::get_if<Argument::List>(&argument.value)) {
      for (Argument& element : *list) cast(element, target);
    }
    auto* id = std::get_if<ValueId>(&argument.value);
    if (id == nullptr || graph_.value(*id).kind != spec::ValueKind::kTensor) return;
    const DType from = graph_.value(*id).type->dtype;
    if (!is_cast(from) || from == target) return;
    const std::string name = free_name(graph_.value(*id).name + "_cast");
    const ValueId made{static_cast<std::uint32_t>(graph_.values.size())};
    graph_.values.push_back({name, spec::ValueKind::kTensor, {}, {}, {}});
    Node node;
    node.name = name;
    node.op = "aten.to.dtype";
    node.arguments = {{"self", {*id}}, {"dtype", {target}}};
    node.results.push_back({false, {made}});
    graph_.nodes.push_back(std::move(node));
    *id = made;
  }

  std::string free_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  Graph& graph_;
  DType lower_;
  const SettledNodes& settled_;
  std::unordered_set<std::string> names_;
};

}  // namespace

bool knows_casts(const Graph& graph, std::string_view device, DType lower,
                 const SettledNodes& settled) {
  if (device != "cpu" || (lower != DType::kBFloat16 && lower != DType::kFloat16)) return false;
  if (!graph.subgraphs.empty()) return false;
  return std::ranges::all_of(graph.nodes, [&](const Node& node) {
    if (settled.contains(node.name)) return true;
    const auto policy = policy_of(node.op);
    return policy && (*policy == CastPolicy::kNone || knows_operands(graph, node, *policy, lower));
  });
}

void add_casts(Graph& graph, DType lower, const SettledNodes& settled) {
  Caster(graph, lower, settled).run();
}

}  // namespace graphgate::interop
