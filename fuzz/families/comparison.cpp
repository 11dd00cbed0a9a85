// Comparisons, logic, bounds and choices, element by element.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct Comparison {
  std::string_view name;
  std::uint32_t weight = 2;
  int since = 0;
};
constexpr Comparison kComparisons[] = {{"aten.gt", 3}, {"aten.lt", 3}, {"aten.ge", 2},
                                       {"aten.le", 2}, {"aten.eq", 2}, {"aten.ne", 2}};
constexpr Comparison kLogic[] = {
    {"aten.logical_and", 2}, {"aten.logical_or", 1}, {"aten.logical_xor", 1},
    {"aten.bitwise_and", 1}, {"aten.bitwise_or", 1}, {"aten.bitwise_xor", 1},
    {"aten.__and__", 1},     {"aten.__or__", 1},     {"aten.__xor__", 1}};
constexpr Comparison kBounds[] = {{"aten.clamp", 3}, {"aten.clamp_min", 2}, {"aten.clamp_max", 2}};
constexpr Comparison kExtremes[] = {{"aten.maximum", 3}, {"aten.minimum", 3}};
constexpr Comparison kTests[] = {{"aten.isnan", 1},
                                 {"aten.isinf", 1},
                                 {"aten.isneginf", 1, 6},
                                 {"aten.isposinf", 1, 6},
                                 {"aten.signbit", 1, 6}};

template <class Table>
std::vector<OpForms> forms_with(const Table& table, std::string_view overload) {
  std::vector<OpForms> forms;
  for (const auto& row : table) forms.push_back(forms_of(row.name, overload));
  return forms;
}

bool draw_comparison(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kTensor = forms_with(kComparisons, "Tensor");
  static const std::vector<OpForms> kScalar = forms_with(kComparisons, "Scalar");
  const TensorIndex self = draft.pick_floating(genes);
  if (genes.chance(50)) {
    const spec::Argument other = draw_scalar(genes, draft.tensor(self).dtype);
    add_pointwise(draft, genes, kScalar[variant], {{"self", self}}, DType::kBool, 1,
                  [&](NodeBuilder& node) { node.argument("other", other); });
    return true;
  }
  const auto second = pick_second(draft, genes, self, false);
  if (!second) return false;
  add_pointwise(draft, genes, kTensor[variant], {{"self", self}, {"other", *second}}, DType::kBool,
                0, [](NodeBuilder&) {});
  return true;
}

// On booleans, or on integers where the op goes bit by bit.
bool draw_logic(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms = forms_with(kLogic, "default");
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (forms[i].functional.empty()) forms[i] = forms_of(kLogic[i].name, "Tensor");
    }
    return forms;
  }();
  const bool on_integers = variant >= 3 && genes.chance(40);
  auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return on_integers ? spec::is_integral(tensor.dtype) : tensor.dtype == DType::kBool;
  });
  if (!self) self = pick_mask(draft, genes, draft.draw_shape(genes, 1, 2));
  const DrawnTensor first = draft.tensor(*self);
  const auto other = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == first.dtype && broadcast(tensor.sizes, first.sizes).has_value();
  });
  if (!other) return false;
  add_pointwise(draft, genes, kForms[variant], {{"self", *self}, {"other", *other}}, first.dtype, 0,
                [](NodeBuilder&) {});
  return true;
}

bool draw_logical_not(Draft& draft, GeneReader& genes, std::size_t) {
  static const OpForms kForms = forms_of("aten.logical_not", "default");
  const auto self = draft.pick(genes, [](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kBool || is_computed_float(tensor.dtype);
  });
  if (!self) return false;
  add_pointwise(draft, genes, kForms, {{"self", *self}}, DType::kBool, 0, [](NodeBuilder&) {});
  return true;
}

bool draw_bound(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = forms_with(kBounds, "default");
  const TensorIndex self = draft.pick_floating(genes);
  add_pointwise(draft, genes, kForms[variant], {{"self", self}}, draft.tensor(self).dtype,
                variant == 0 ? 0 : 1, [&](NodeBuilder& node) {
                  if (variant != 2) node.real("min", -0.5);
                  if (variant == 2 || (variant == 0 && genes.chance(60))) node.integer("max", 1);
                });
  return true;
}

bool draw_extreme(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = forms_with(kExtremes, "default");
  const TensorIndex self = draft.pick_floating(genes);
  const auto second = pick_second(draft, genes, self, false);
  if (!second) return false;
  add_pointwise(draft, genes, kForms[variant], {{"self", self}, {"other", *second}},
                result_dtype(draft.tensor(self), draft.tensor(*second)), 0, [](NodeBuilder&) {});
  return true;
}

bool draw_test(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = forms_with(kTests, "default");
  const TensorIndex self = draft.pick_floating(genes);
  const TensorIndex operands[] = {self};
  const DrawnTensor from = draft.tensor(self);
  // isnan is x != x, isinf x == inf: as pointwise as any.
  const Layout layout = variant != 1 ? pointwise_layout(draft, operands, from.sizes, 0)
                                     : row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, kForms[variant].functional);
  node.tensor("self", self).fresh(DType::kBool, from.sizes, layout);
  return true;
}

bool draw_nan_to_num(Draft& draft, GeneReader& genes, std::size_t) {
  static const OpForms kForms = forms_of("aten.nan_to_num", "default");
  const TensorIndex self = draft.pick_floating(genes);
  add_pointwise(draft, genes, kForms, {{"self", self}}, draft.tensor(self).dtype, 0,
                [&](NodeBuilder& node) {
                  if (genes.chance(50)) node.real("nan", 1.0);
                  if (genes.chance(50)) node.real("posinf", 2.0).real("neginf", -2.0);
                });
  return true;
}

bool draw_masked_fill(Draft& draft, GeneReader& genes, std::size_t) {
  static const OpForms kForms = forms_of("aten.masked_fill", "Scalar");
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  const bool in_place =
      draft.may_write(self) && draft.may_read_while_writing(mask, self) && genes.chance(45);
  const spec::Argument value = draw_scalar(genes, from.dtype);
  const Layout layout = row_major_like(draft, {self, mask}, from.sizes);
  NodeBuilder node(draft, in_place ? kForms.in_place : kForms.functional);
  node.tensor("self", self).tensor("mask", mask).argument("value", value);
  node.written_or_fresh(in_place, self, from.dtype, from.sizes, layout);
  return true;
}

bool draw_where(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  if (genes.chance(40)) {
    NodeBuilder node(draft, "aten.where.ScalarOther");
    const Layout layout = row_major_like(draft, {self, mask}, from.sizes);
    node.tensor("condition", mask).tensor("self", self).real("other", 0.5);
    node.fresh(from.dtype, from.sizes, layout);
    return true;
  }
  const auto other = draft.pick_broadcast(genes, from.dtype, from.sizes);
  if (!other) return false;
  const TensorIndex operands[] = {mask, self, *other};
  const Layout layout = pointwise_layout(draft, operands, from.sizes, 0);
  NodeBuilder node(draft, "aten.where.self");
  node.tensor("condition", mask).tensor("self", self).tensor("other", *other);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

}  // namespace

std::span<const DrawnOp> comparison_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows = rows_of(kComparisons, draw_comparison);
    const auto add = [&](std::vector<DrawnOp> more) {
      rows.insert(rows.end(), more.begin(), more.end());
    };
    add(rows_of(kLogic, draw_logic));
    add(rows_of(kBounds, draw_bound));
    add(rows_of(kExtremes, draw_extreme));
    std::vector<DrawnOp> tests = rows_of(kTests, draw_test);
    for (std::size_t i = 0; i < tests.size(); ++i) tests[i].since = kTests[i].since;
    add(std::move(tests));
    add({{"aten.logical_not", 2, draw_logical_not},
         {"aten.nan_to_num", 1, draw_nan_to_num},
         {"aten.masked_fill", 4, draw_masked_fill},
         {"aten.where", 5, draw_where}});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
