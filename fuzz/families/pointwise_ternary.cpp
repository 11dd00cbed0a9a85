// A tensor with one or two others, and with a number: element by element, in all forms.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct Row {
  std::string_view name;
  std::uint32_t weight = 1;
  std::string_view overload;
  std::string_view first;  // further operands, broadcast to the first one's shape; or none
  std::string_view second;
  std::string_view number;  // a number besides; or none
};

constexpr Row kTable[] = {
    {"aten.addcmul", 2, "default", "tensor1", "tensor2", "value"},
    {"aten.addcdiv", 1, "default", "tensor1", "tensor2", "value"},
    {"aten.lerp.Tensor", 1, "Tensor", "end", "weight", ""},
    {"aten.lerp.Scalar", 1, "Scalar", "end", "", "weight"},
    {"aten.pow.Tensor_Scalar", 2, "Tensor_Scalar", "", "", "exponent"},
    {"aten.clamp.Tensor", 1, "Tensor", "min", "max", ""},
    {"aten.clamp_min.Tensor", 1, "Tensor", "min", "", ""},
    {"aten.clamp_max.Tensor", 1, "Tensor", "max", "", ""},
    {"aten.xlogy.Scalar_Other", 1, "Scalar_Other", "", "", "other"},
};

// "aten.lerp.Tensor" -> "aten.lerp"
std::string_view base_of(const Row& row) {
  return row.name.ends_with(row.overload) ? row.name.substr(0, row.name.rfind('.')) : row.name;
}

OpForms forms_of_row(const Row& row) {
  const std::string_view base = base_of(row);
  OpForms forms = forms_of(base, row.overload);
  // In place the exponent's kind alone is named.
  if (row.overload == "Tensor_Scalar") forms.in_place = forms_of(base, "Scalar").in_place;
  const std::string out(base);
  if (row.overload == "Tensor") forms.out = out + ".Tensor_out";
  return forms;
}

bool draw_ternary(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms;
    for (const Row& row : kTable) forms.push_back(forms_of_row(row));
    return forms;
  }();
  const Row& row = kTable[variant];
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const auto other = [&](std::string_view name) {
    return name.empty() ? std::optional<TensorIndex>(self)
                        : draft.pick_broadcast(genes, from.dtype, from.sizes);
  };
  const auto first = other(row.first);
  const auto second = other(row.second);
  if (!first || !second) return false;
  const auto rest = [&](NodeBuilder& node) {
    if (!row.number.empty()) node.argument(row.number, draw_scalar(genes, from.dtype));
  };
  const int numbers = row.overload == "Tensor_Scalar" || row.overload == "Scalar_Other" ? 1 : 0;
  if (!row.second.empty()) {
    add_pointwise(draft, genes, kForms[variant],
                  {{"self", self}, {row.first, *first}, {row.second, *second}}, from.dtype, numbers,
                  rest);
  } else if (!row.first.empty()) {
    add_pointwise(draft, genes, kForms[variant], {{"self", self}, {row.first, *first}}, from.dtype,
                  numbers, rest);
  } else {
    add_pointwise(draft, genes, kForms[variant], {{"self", self}}, from.dtype, numbers, rest);
  }
  return true;
}

}  // namespace

std::span<const DrawnOp> pointwise_ternary_rows() {
  static const std::vector<DrawnOp> kRows = rows_of(kTable, draw_ternary);
  return kRows;
}

}  // namespace graphgate::fuzz
