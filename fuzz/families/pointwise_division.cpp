// Divisions that round, and their remainders.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct Division {
  std::string_view name;
  std::uint32_t weight = 1;
  bool has_mode = false;
};
constexpr Division kDivisions[] = {
    {"aten.div", 2, true},
    {"aten.floor_divide", 1, false},
    {"aten.fmod", 1, false},
    {"aten.remainder", 2, false},
};

struct DivisionForms {
  OpForms tensor;
  OpForms scalar;
};
const std::vector<DivisionForms>& division_forms() {
  static const std::vector<DivisionForms> kForms = [] {
    std::vector<DivisionForms> forms;
    for (const Division& row : kDivisions) {
      OpForms tensor = forms_of(row.name, row.has_mode ? "Tensor_mode" : "Tensor");
      if (tensor.functional.empty()) {
        tensor.functional = forms_of(row.name, "default").functional;
      }
      forms.push_back({tensor, forms_of(row.name, row.has_mode ? "Scalar_mode" : "Scalar")});
    }
    return forms;
  }();
  return kForms;
}

// Integers are divided by numbers that are not 0; floating tensors by anything.
bool draw_division(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Division& division = kDivisions[variant];
  const DivisionForms& forms = division_forms()[variant];
  const bool wants_integers = genes.chance(30);
  auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return wants_integers ? spec::is_integral(tensor.dtype) : is_computed_float(tensor.dtype);
  });
  if (!self) self = draft.pick_floating(genes);
  const DType dtype = draft.tensor(*self).dtype;
  const bool is_integer = spec::is_integral(dtype);
  const bool floors = genes.chance(50);
  const auto rest = [&](NodeBuilder& node) {
    if (division.has_mode) node.text("rounding_mode", floors ? "floor" : "trunc");
  };
  if (is_integer || genes.chance(50)) {
    static constexpr std::int64_t kDivisors[] = {2, 3, -2, 4};
    const std::int64_t divisor = genes.of(kDivisors);
    add_pointwise(draft, genes, forms.scalar, {{"self", *self}}, dtype, 1, [&](NodeBuilder& node) {
      node.integer("other", divisor);
      rest(node);
    });
    return true;
  }
  const auto second = pick_second(draft, genes, *self, false);
  if (!second) return false;
  const DType result = result_dtype(draft.tensor(*self), draft.tensor(*second));
  add_pointwise(draft, genes, forms.tensor, {{"self", *self}, {"other", *second}}, result, 0, rest);
  return true;
}

}  // namespace

std::span<const DrawnOp> pointwise_division_rows() {
  static const std::vector<DrawnOp> kRows = rows_of(kDivisions, draw_division);
  return kRows;
}

}  // namespace graphgate::fuzz
