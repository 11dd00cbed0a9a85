// Two operands or more, element by element, broadcast to a common shape.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct Binary {
  std::string_view name;
  std::uint32_t weight = 2;
  bool is_floating = false;  // integers are computed as float32
  bool has_alpha = false;
  bool has_scalar = false;  // an overload for a number as second operand
  bool takes_integers = true;
  bool wraps_numbers = false;  // PyTorch takes a number where the schema says Tensor
  std::string_view second = "other";
  int since = 0;
};

constexpr Binary kBinary[] = {
    {"aten.add", 24, false, true, true, true, true},
    {"aten.mul", 16, false, false, true, true, true},
    {"aten.sub", 12, false, true, true, true, true},
    {"aten.div", 5, true, false, true, true, true},
    {"aten.rsub", 2, false, true, true, true},
    {"aten.atan2", 1, true, false, false, true},
    {"aten.hypot", 1, true, false, false, false},
    {"aten.copysign", 2, true, false, true, false},
    {"aten.logaddexp", 1, true, false, false, false},
    {"aten.heaviside", 1, false, false, false, false, false, "values"},
    {"aten.xlogy", 1, true, false, false, true},
    {"aten.fmax", 1, false, false, false, true, false, "other", 6},
    {"aten.fmin", 1, false, false, false, true, false, "other", 6},
    {"aten.logaddexp2", 1, true, false, false, false, false, "other", 6},
    {"aten.nextafter", 1, true, false, false, false, false, "other", 6},
    {"aten.special_xlog1py", 1, true, false, false, true, false, "other", 6},
};

constexpr std::string_view kOfIntegers[] = {
    "aten.gcd",        "aten.lcm",       "aten.bitwise_left_shift", "aten.bitwise_right_shift",
    "aten.__lshift__", "aten.__rshift__"};

struct BinaryForms {
  OpForms tensor;
  OpForms scalar;
};

const std::vector<BinaryForms>& binary_forms() {
  static const std::vector<BinaryForms> kForms = [] {
    std::vector<BinaryForms> forms;
    for (const Binary& binary : kBinary) {
      OpForms tensor = forms_of(binary.name, "Tensor");
      if (tensor.functional.empty()) tensor = forms_of(binary.name, "default");
      forms.push_back({std::move(tensor), forms_of(binary.name, "Scalar")});
    }
    return forms;
  }();
  return kForms;
}

bool draw_binary(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Binary& binary = kBinary[variant];
  const bool wants_integers = binary.takes_integers && genes.chance(15);
  auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return wants_integers ? spec::is_integral(tensor.dtype) : is_computed_float(tensor.dtype);
  });
  if (!self) self = draft.pick_floating(genes);
  const DrawnTensor first = draft.tensor(*self);
  const bool by_number = binary.has_scalar && genes.chance(25);
  const BinaryForms& forms = binary_forms()[variant];
  if (by_number && !forms.tensor.functional.empty()) {
    // PyTorch's exporter writes a number into the Tensor overload; both are legal.
    const bool in_tensor_overload =
        forms.scalar.functional.empty() || (genes.chance(60) && binary.wraps_numbers);
    DType dtype = binary.is_floating ? to_floating(first.dtype) : first.dtype;
    spec::Argument other = draw_scalar(genes, dtype);
    if (genes.chance(10)) {
      if (const auto number = draft.pick_number(genes)) other = {*number};
    }
    if (std::get_if<double>(&other.value)) dtype = to_floating(dtype);
    add_pointwise(draft, genes, in_tensor_overload ? forms.tensor : forms.scalar, {{"self", *self}},
                  dtype, 1, [&](NodeBuilder& node) { node.argument("other", other); });
    return true;
  }
  const auto second = pick_second(draft, genes, *self, binary.takes_integers);
  if (!second) return false;
  // The sign of a NaN is nobody's promise: copysign takes it from data alone.
  if (binary.name == "aten.copysign" &&
      (!draft.is_input(draft.tensor(*second)) || draft.storage_of(*second).writes > 0)) {
    return false;
  }
  DType dtype = result_dtype(first, draft.tensor(*second));
  if (binary.is_floating) dtype = to_floating(dtype);
  if (binary.name == "aten.heaviside" && first.dtype != draft.tensor(*second).dtype) return false;
  add_pointwise(
      draft, genes, forms.tensor, {{"self", *self}, {binary.second, *second}}, dtype, 0,
      [&](NodeBuilder& node) {
        if (!binary.has_alpha || !genes.chance(15)) return;
        node.argument("alpha", draw_scalar(genes, spec::is_floating_point(dtype) ? DType::kFloat32
                                                                                 : DType::kInt64));
      },
      binary.name == "aten.rsub");
  return true;
}

// Of two integers of one dtype, or by a number.
bool draw_of_integers(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<BinaryForms> kForms = [] {
    std::vector<BinaryForms> forms;
    for (const std::string_view name : kOfIntegers) {
      OpForms tensor = forms_of(name, "Tensor");
      if (tensor.functional.empty()) tensor = forms_of(name, "default");
      OpForms scalar = forms_of(name, "Tensor_Scalar");
      if (scalar.functional.empty()) scalar = forms_of(name, "Scalar");
      forms.push_back({std::move(tensor), std::move(scalar)});
    }
    return forms;
  }();
  const auto self =
      draft.pick(genes, [](const DrawnTensor& tensor) { return spec::is_integral(tensor.dtype); });
  if (!self) return false;
  const DrawnTensor first = draft.tensor(*self);
  const BinaryForms& forms = kForms[variant];
  if (!forms.scalar.functional.empty() && genes.chance(50)) {
    const std::int64_t distance = genes.next() % 9;
    add_pointwise(draft, genes, forms.scalar, {{"self", *self}}, first.dtype, 1,
                  [&](NodeBuilder& node) { node.integer("other", distance); });
    return true;
  }
  const auto other = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == first.dtype && broadcast(tensor.sizes, first.sizes).has_value();
  });
  if (!other) return false;
  add_pointwise(draft, genes, forms.tensor, {{"self", *self}, {"other", *other}}, first.dtype, 0,
                [](NodeBuilder&) {});
  return true;
}

// The power of two is a row-major tensor of its own.
bool draw_ldexp(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const auto other = draft.pick_broadcast(genes, from.dtype, from.sizes);
  if (!other) return false;
  const Layout layout = row_major_like(draft, {self, *other}, from.sizes);
  NodeBuilder node(draft, "aten.ldexp.Tensor");
  node.tensor("self", self).tensor("other", *other);
  node.fresh(result_dtype(from, draft.tensor(*other)), from.sizes, layout);
  return true;
}

// In float64, by a number.
bool draw_float_power(Draft& draft, GeneReader& genes, std::size_t) {
  static const OpForms kForms = forms_of("aten.float_power", "Tensor_Scalar");
  const TensorIndex self = draft.pick_floating(genes);
  const spec::Argument exponent = draw_scalar(genes, DType::kFloat64);
  add_pointwise(draft, genes, kForms, {{"self", self}}, DType::kFloat64, 0,
                [&](NodeBuilder& node) { node.argument("exponent", exponent); });
  return true;
}

}  // namespace

std::optional<TensorIndex> pick_second(Draft& draft, GeneReader& genes, TensorIndex first,
                                       bool takes_integers) {
  const DrawnTensor self = draft.tensor(first);
  const std::uint32_t gene = genes.next() % 8;
  const auto fits = [&](const DrawnTensor& tensor) {
    const bool is_number =
        is_computed_float(tensor.dtype) || (takes_integers && spec::is_integral(tensor.dtype));
    return is_number && (gene == 7 || tensor.dtype == self.dtype);
  };
  std::optional<TensorIndex> found;
  if (gene >= 4) {
    found = draft.pick(genes, [&](const DrawnTensor& tensor) {
      return fits(tensor) && broadcast(tensor.sizes, self.sizes).has_value();
    });
  }
  if (!found) {
    found = draft.pick(genes, [&](const DrawnTensor& tensor) {
      return fits(tensor) && tensor.sizes == self.sizes;
    });
  }
  return found;
}

std::span<const DrawnOp> pointwise_binary_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    rows.reserve(std::size(kBinary));
    for (std::uint32_t i = 0; i < std::size(kBinary); ++i) {
      rows.push_back({kBinary[i].name, kBinary[i].weight, draw_binary, i, kBinary[i].since});
    }
    for (std::uint32_t i = 0; i < std::size(kOfIntegers); ++i) {
      rows.push_back({kOfIntegers[i], 1, draw_of_integers, i, 6});
    }
    rows.push_back({"aten.ldexp", 1, draw_ldexp, 0, 6});
    rows.push_back({"aten.float_power", 1, draw_float_power, 0, 6});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
