// One operand, element by element.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum class Takes : std::uint8_t {
  kFloats,    // floating operands alone
  kReals,     // integers too: the result is float32 then
  kNumbers,   // integers stay what they are
  kIntegers,  // integers and booleans alone
};

struct Unary {
  std::string_view name;
  Takes takes = Takes::kReals;
  std::uint32_t weight = 2;
  int since = 0;
};

constexpr Unary kUnary[] = {
    {"neg", Takes::kNumbers, 8},       {"abs", Takes::kNumbers, 5},
    {"exp", Takes::kReals, 4},         {"tanh", Takes::kReals, 5},
    {"sigmoid", Takes::kReals, 5},     {"cos", Takes::kReals, 4},
    {"sin", Takes::kReals, 4},         {"floor", Takes::kFloats, 3},
    {"ceil", Takes::kFloats, 2},       {"trunc", Takes::kFloats, 2},
    {"round", Takes::kFloats, 3},      {"sign", Takes::kNumbers, 3},
    {"sgn", Takes::kNumbers, 1},       {"frac", Takes::kFloats, 1},
    {"sqrt", Takes::kReals, 2},        {"rsqrt", Takes::kReals, 2},
    {"reciprocal", Takes::kReals, 2},  {"log", Takes::kReals, 2},
    {"log1p", Takes::kReals, 1},       {"log2", Takes::kReals, 1},
    {"log10", Takes::kReals, 1},       {"exp2", Takes::kReals, 1},
    {"expm1", Takes::kReals, 1},       {"erf", Takes::kReals, 2},
    {"erfc", Takes::kReals, 1},        {"tan", Takes::kReals, 1},
    {"asin", Takes::kReals, 1},        {"acos", Takes::kReals, 1},
    {"atan", Takes::kReals, 1},        {"sinh", Takes::kReals, 1},
    {"cosh", Takes::kReals, 1},        {"asinh", Takes::kReals, 1},
    {"acosh", Takes::kReals, 1},       {"atanh", Takes::kReals, 1},
    {"deg2rad", Takes::kReals, 1},     {"rad2deg", Takes::kReals, 1},
    {"logit", Takes::kReals, 1},       {"bitwise_not", Takes::kIntegers, 2},
    {"angle", Takes::kReals, 1, 6},    {"sinc", Takes::kReals, 1, 6},
    {"square", Takes::kNumbers, 1, 6},
};

bool takes(Takes what, DType dtype) {
  switch (what) {
    case Takes::kFloats:
      return is_computed_float(dtype);
    case Takes::kReals:
      return is_computed_float(dtype) || !spec::is_floating_point(dtype);
    case Takes::kNumbers:
      return is_computed_float(dtype) || spec::is_integral(dtype);
    case Takes::kIntegers:
      return !spec::is_floating_point(dtype);
  }
  return false;
}

const std::vector<OpForms>& unary_forms() {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms;
    for (const Unary& unary : kUnary) {
      forms.push_back(forms_of("aten." + std::string(unary.name), "default"));
    }
    return forms;
  }();
  return kForms;
}

bool draw_unary(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Unary& unary = kUnary[variant];
  const bool takes_any = genes.chance(25);
  auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return takes(unary.takes, tensor.dtype) && (takes_any || is_computed_float(tensor.dtype));
  });
  if (!self && unary.takes != Takes::kIntegers) self = draft.pick_floating(genes);
  if (!self) {
    self = draft.pick(genes, [&](const DrawnTensor& t) { return takes(unary.takes, t.dtype); });
  }
  if (!self) return false;
  const DType from = draft.tensor(*self).dtype;
  const DType dtype = unary.takes == Takes::kReals ? to_floating(from) : from;
  add_pointwise(draft, genes, unary_forms()[variant], {{"self", *self}}, dtype, 0,
                [&](NodeBuilder& node) {
                  if (unary.name == "logit" && genes.chance(50)) node.real("eps", 0.25);
                });
  return true;
}

bool draw_frexp(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, "aten.frexp.Tensor");
  node.tensor("self", self);
  node.fresh(from.dtype, from.sizes, layout);
  node.fresh(DType::kInt32, from.sizes, layout);
  return true;
}

// In place: the functional form is self itself.
bool draw_conj_physical(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  if (!draft.may_write(self)) return false;
  NodeBuilder node(draft, "aten.conj_physical_.default");
  node.tensor("self", self).written(self);
  return true;
}

}  // namespace

std::span<const DrawnOp> pointwise_unary_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    static std::vector<std::string> names;
    names.reserve(std::size(kUnary));
    std::vector<DrawnOp> rows;
    for (std::uint32_t i = 0; i < std::size(kUnary); ++i) {
      names.push_back("aten." + std::string(kUnary[i].name));
      rows.push_back({names.back(), kUnary[i].weight, draw_unary, i, kUnary[i].since});
    }
    rows.push_back({"aten.frexp", 1, draw_frexp, 0, 6});
    rows.push_back({"aten.conj_physical", 1, draw_conj_physical, 0, 6});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
