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

}  // namespace

std::span<const DrawnOp> activation_rows() {
  static const std::vector<DrawnOp> kRows = rows_of(kActivations, draw_activation);
  return kRows;
}

}  // namespace graphgate::fuzz
