// Activation functions.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct Activation {
  std::string_view name;
  std::uint32_t weight = 1;
};
constexpr Activation kActivations[] = {
    {"aten.relu", 6},      {"aten.silu", 4},        {"aten.gelu", 4},       {"aten.hardtanh", 1},
    {"aten.hardswish", 1}, {"aten.hardsigmoid", 1}, {"aten.leaky_relu", 2}, {"aten.mish", 1},
    {"aten.softplus", 1},  {"aten.threshold", 1},   {"aten.elu", 1},        {"aten.celu", 1},
};

const std::vector<OpForms>& activation_forms() {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms;
    for (const Activation& row : kActivations) forms.push_back(forms_of(row.name, "default"));
    return forms;
  }();
  return kForms;
}

bool draw_activation(Draft& draft, GeneReader& genes, std::size_t variant) {
  const std::string_view name = kActivations[variant].name;
  const TensorIndex self = draft.pick_floating(genes);
  add_pointwise(draft, genes, activation_forms()[variant], {{"self", self}},
                draft.tensor(self).dtype, 0, [&](NodeBuilder& node) {
                  if (name == "aten.threshold") node.real("threshold", 0.5).real("value", -1.0);
                  if (name == "aten.gelu" && genes.chance(40)) node.text("approximate", "tanh");
                  if (name == "aten.leaky_relu" && genes.chance(40)) {
                    node.real("negative_slope", 0.25);
                  }
                  if ((name == "aten.elu" || name == "aten.celu") && genes.chance(40)) {
                    node.real("alpha", 0.5);
                  }
                });
  return true;
}

bool draw_shrink(Draft& draft, GeneReader& genes, std::size_t is_soft) {
  const TensorIndex self = draft.pick_floating(genes);
  add_pointwise(draft, genes,
                forms_of(is_soft == 1 ? "aten.softshrink" : "aten.hardshrink", "default"),
                {{"self", self}}, draft.tensor(self).dtype, 0, [&](NodeBuilder& node) {
                  if (genes.chance(40)) node.real("lambd", 0.25);
                });
  return true;
}

bool draw_log_sigmoid(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, "aten.log_sigmoid_forward.default");
  node.tensor("self", self);
  node.fresh(from.dtype, from.sizes);
  node.fresh(from.dtype, from.sizes);
  return true;
}

// Of an even number of elements along a dimension.
bool draw_glu(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const int last = tensor.sizes.rank - 1;
    return is_computed_float(tensor.dtype) && last >= 0 && is_constant(tensor.sizes[last]) &&
           tensor.sizes[last] % 2 == 0;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  Shape sizes = from.sizes;
  sizes[sizes.rank - 1] = from.sizes[sizes.rank - 1] / 2;
  const Layout layout{sizes.rank == 1, draft.row_major(sizes)};
  NodeBuilder node(draft, "aten.glu.default");
  node.tensor("self", *self).integer("dim", genes.chance(50) ? -1 : from.sizes.rank - 1);
  node.fresh(from.dtype, sizes, layout);
  return true;
}

bool draw_prelu(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const auto weight = draft.pick_broadcast(genes, from.dtype, from.sizes);
  if (!weight) return false;
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, "aten._prelu_kernel.default");
  node.tensor("self", self).tensor("weight", *weight);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

constexpr DrawnOp kLaterActivations[] = {{"aten.hardshrink", 1, draw_shrink, 0, 6},
                                         {"aten.softshrink", 1, draw_shrink, 1, 6},
                                         {"aten.log_sigmoid_forward", 1, draw_log_sigmoid, 0, 6},
                                         {"aten.glu", 1, draw_glu, 0, 6},
                                         {"aten._prelu_kernel", 1, draw_prelu, 0, 6}};

}  // namespace

std::span<const DrawnOp> activation_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows = rows_of(kActivations, draw_activation);
    rows.insert(rows.end(), std::begin(kLaterActivations), std::end(kLaterActivations));
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
