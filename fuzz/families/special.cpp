// Special functions, element by element.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

constexpr int kSince = 6;

struct Special {
  std::string_view name;
  bool is_plain = false;  // no 16-bit floats: PyTorch's CPU kernels have none
  std::string_view argument = "self";
};
constexpr Special kSpecial[] = {
    {"aten.digamma"},
    {"aten.erfinv"},
    {"aten.i0"},
    {"aten.lgamma"},
    {"aten.special_airy_ai", true, "x"},
    {"aten.special_bessel_j0", true},
    {"aten.special_bessel_j1", true},
    {"aten.special_bessel_y0", true},
    {"aten.special_bessel_y1", true},
    {"aten.special_entr"},
    {"aten.special_erfcx", true},
    {"aten.special_i0e"},
    {"aten.special_i1"},
    {"aten.special_i1e"},
    {"aten.special_log_ndtr", true},
    {"aten.special_modified_bessel_i0", true},
    {"aten.special_modified_bessel_i1", true},
    {"aten.special_modified_bessel_k0", true},
    {"aten.special_modified_bessel_k1", true},
    {"aten.special_ndtri", true},
    {"aten.special_scaled_modified_bessel_k0", true, "x"},
    {"aten.special_scaled_modified_bessel_k1", true, "x"},
    {"aten.special_spherical_bessel_j0", true, "x"},
};

// Of a floating tensor, which is where these functions are asked for.
bool draw_special(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms;
    for (const Special& row : kSpecial) forms.push_back(forms_of(row.name, "default"));
    return forms;
  }();
  const Special& row = kSpecial[variant];
  const TensorIndex self = draft.pick_floating(genes);
  const DType dtype = draft.tensor(self).dtype;
  if (row.is_plain && !is_plain_float(dtype)) return false;
  add_pointwise(draft, genes, kForms[variant], {{row.argument, self}}, dtype, 0,
                [](NodeBuilder&) {});
  return true;
}

struct OfTwo {
  std::string_view name;
  bool is_plain = false;
};
constexpr OfTwo kOfTwo[] = {{"aten.igamma"}, {"aten.igammac"}, {"aten.special_zeta", true}};

bool draw_of_two(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms;
    for (const OfTwo& row : kOfTwo) forms.push_back(forms_of(row.name, "default"));
    return forms;
  }();
  const TensorIndex self = draft.pick_floating(genes);
  const auto other = pick_second(draft, genes, self, false);
  if (!other) return false;
  const DType dtype = result_dtype(draft.tensor(self), draft.tensor(*other));
  if (kOfTwo[variant].is_plain && !is_plain_float(dtype)) return false;
  add_pointwise(draft, genes, kForms[variant], {{"self", self}, {"other", *other}}, dtype, 0,
                [](NodeBuilder&) {});
  return true;
}

// With an order or a dimension: in the order of the schema, and self alone in place.
bool draw_polygamma(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const std::int64_t n = genes.next() % 4;
  const bool in_place = draft.may_write(self) && genes.chance(40);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, in_place ? "aten.polygamma_.default" : "aten.polygamma.default");
  if (in_place) {
    node.tensor("self", self).integer("n", n);
  } else {
    node.integer("n", n).tensor("self", self);
  }
  node.written_or_fresh(in_place, self, from.dtype, from.sizes, layout);
  return true;
}
bool draw_mvlgamma(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const std::int64_t p = 1 + genes.next() % 3;
  const bool in_place = draft.may_write(self) && genes.chance(40);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, in_place ? "aten.mvlgamma_.default" : "aten.mvlgamma.default");
  node.tensor("self", self).integer("p", p);
  node.written_or_fresh(in_place, self, from.dtype, from.sizes, layout);
  return true;
}

}  // namespace

std::span<const DrawnOp> special_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    for (std::uint32_t i = 0; i < std::size(kSpecial); ++i) {
      rows.push_back({kSpecial[i].name, 1, draw_special, i, kSince});
    }
    for (std::uint32_t i = 0; i < std::size(kOfTwo); ++i) {
      rows.push_back({kOfTwo[i].name, 1, draw_of_two, i, kSince});
    }
    rows.push_back({"aten.polygamma", 1, draw_polygamma, 0, kSince});
    rows.push_back({"aten.mvlgamma", 1, draw_mvlgamma, 0, kSince});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
