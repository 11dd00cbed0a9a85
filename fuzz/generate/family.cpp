#include "fuzz/generate/family.h"

#include <algorithm>

#include "spec/op_table.h"

namespace graphgate::fuzz {

using spec::DType;

namespace {

constexpr Family kFamilies[] = {
    {"pointwise_binary", pointwise_binary_rows},
    {"activation", activation_rows},
    {"assertion", assertion_rows},
    {"attention", attention_rows},
    {"batch_norm", batch_norm_rows},
    {"comparison", comparison_rows},
    {"contraction", contraction_rows},
    {"control_flow", control_flow_rows},
    {"conversion", conversion_rows},
    {"convolution", convolution_rows},
    {"creation", creation_rows},
    {"custom", custom_rows},
    {"distance", distance_rows},
    {"einsum", einsum_rows},
    {"extremum", extremum_rows},
    {"grid_sampler", grid_sampler_rows},
    {"histogram", histogram_rows},
    {"indexing", indexing_rows},
    {"joining", joining_rows},
    {"matmul", matmul_rows},
    {"max_pooling", max_pooling_rows},
    {"normalization", normalization_rows},
    {"padding", padding_rows},
    {"pointwise_division", pointwise_division_rows},
    {"pointwise_ternary", pointwise_ternary_rows},
    {"pointwise_unary", pointwise_unary_rows},
    {"pooling", pooling_rows},
    {"reduction", reduction_rows},
    {"region_scatter", region_scatter_rows},
    {"scan", scan_rows},
    {"scatter", scatter_rows},
    {"sorting", sorting_rows},
    {"splitting", splitting_rows},
    {"symbolic", symbolic_rows},
    {"upsample", upsample_rows},
    {"variance", variance_rows},
    {"view", view_rows},
    {"vllm", vllm_rows},
    {"functionalized", functionalized_rows},
    // Of later generators: a program's style counts families by their places.
    {"activation_backward", activation_backward_rows},
    {"binning", binning_rows},
    {"class_loss", class_loss_rows},
    {"composite", composite_rows},
    {"diagonal", diagonal_rows},
    {"embedding_bag", embedding_bag_rows},
    {"equality", equality_rows},
    {"folding", folding_rows},
    {"foreach", foreach_rows},
    {"fractional_max_pooling", fractional_max_pooling_rows},
    {"linalg_factor", linalg_factor_rows},
    {"linalg_solve", linalg_solve_rows},
    {"linalg_spectral", linalg_spectral_rows},
    {"loss", loss_rows},
    {"orthogonal_polynomial", orthogonal_polynomial_rows},
    {"prims", prims_rows},
    {"quantization", quantization_rows},
    {"random", random_rows},
    {"renorm", renorm_rows},
    {"segment_reduce", segment_reduce_rows},
    {"shuffle", shuffle_rows},
    {"special", special_rows},
    {"unique", unique_rows},
    {"unpooling", unpooling_rows},
    {"complex", complex_rows},
    {"gradients", gradients_rows},
    {"optimizer", optimizer_rows},
    {"motif", motif_rows},
    {"host", host_rows},
    {"plane_gradients", plane_gradients_rows},
};

std::string known(std::string name) {
  return spec::builtin_op_table().find(name) ? std::move(name) : std::string();
}

// bool 0, integers 1, floats 2, complex numbers 3.
int category(DType dtype) {
  if (spec::is_complex(dtype)) return 3;
  return spec::is_floating_point(dtype) ? 2 : dtype == DType::kBool ? 0 : 1;
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

OpForms forms_of(std::string_view base, std::string_view overload) {
  const std::string name(base);
  const std::string variant(overload);
  OpForms forms;
  forms.functional = known(name + "." + variant);
  forms.in_place = known(name + "_." + variant);
  const bool is_plain = overload == "default" || overload == "Tensor" || overload == "self";
  forms.out = known(name + (is_plain ? ".out" : "." + variant + "_out"));
  return forms;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  const int x = category(a);
  const int y = category(b);
  if (x != y) return x > y ? a : b;
  const auto size = [](DType dtype) { return spec::item_size_bytes(dtype); };
  if (x == 2) {
    if (size(a) == size(b)) return size(a) == 2 ? DType::kFloat32 : a;  // f16 with bf16
    return size(a) > size(b) ? a : b;
  }
  if (size(a) == size(b)) return DType::kInt16;  // i8 with u8
  return size(a) > size(b) ? a : b;
}

DType result_dtype(const DrawnTensor& a, const DrawnTensor& b) {
  if ((a.sizes.rank == 0) == (b.sizes.rank == 0)) return promote(a.dtype, b.dtype);
  const DType strong = a.sizes.rank == 0 ? b.dtype : a.dtype;
  const DType weak = a.sizes.rank == 0 ? a.dtype : b.dtype;
  return category(weak) > category(strong) ? weak : strong;
}

DType to_floating(DType dtype) { return spec::is_floating_point(dtype) ? dtype : DType::kFloat32; }

bool can_store(DType from, DType to) { return category(from) <= category(to); }

bool is_computed_float(DType dtype) {
  return spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) > 1;
}

PointwiseForm pick_form(Draft& draft, GeneReader& genes, const OpForms& forms,
                        std::initializer_list<Operand> operands, DType dtype, const Shape& sizes) {
  using Kind = PointwiseForm::Kind;
  const std::uint32_t gene = genes.next() % 100;
  const std::uint32_t which = genes.next();
  if (gene < 55) return {};
  const TensorIndex self = operands.begin()->index;
  const auto is_clear_of = [&](TensorIndex target) {
    return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return draft.may_read_while_writing(operand.index, target);
    });
  };
  if (gene < 93 && !forms.in_place.empty()) {
    const DrawnTensor& tensor = draft.tensor(self);
    if (tensor.sizes == sizes && can_store(dtype, tensor.dtype) && draft.may_write(self) &&
        is_clear_of(self)) {
      return {Kind::kInPlace, self};
    }
  }
  if (gene >= 93 && !forms.out.empty()) {
    const auto target = draft.pick_out(which, dtype, sizes);
    if (target) {
      const bool is_apart = std::all_of(operands.begin(), operands.end(), [&](const Operand& o) {
        return draft.tensor(o.index).storage != draft.tensor(*target).storage;
      });
      if (is_apart) return {Kind::kOut, *target};
    }
  }
  return {};
}

spec::Argument draw_scalar(GeneReader& genes, DType dtype) {
  static constexpr std::int64_t kIntegers[] = {2, 1, 3, -1, 0, 5, -2};
  static constexpr double kReals[] = {2.0, 0.5, 1.0, -1.0, 3.0, -0.25, 0.0, 1.5};
  const std::uint32_t gene = genes.next();
  if (!spec::is_floating_point(dtype)) return {kIntegers[gene % std::size(kIntegers)]};
  if (gene % 4 == 3) return {kIntegers[gene / 4 % std::size(kIntegers)]};
  return {kReals[gene / 4 % std::size(kReals)]};
}

Layout row_major_like(Draft& draft, std::initializer_list<TensorIndex> operands,
                      const Shape& sizes) {
  bool is_known = true;
  for (const TensorIndex index : operands) {
    is_known = is_known && draft.is_row_major(draft.tensor(index));
  }
  return {is_known, draft.row_major(sizes)};
}

std::optional<TensorIndex> pick_alike(Draft& draft, GeneReader& genes, const DrawnTensor& from) {
  return draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == from.dtype && tensor.sizes == from.sizes;
  });
}

TensorIndex pick_mask(Draft& draft, GeneReader& genes, const Shape& sizes) {
  const auto found = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kBool && broadcasts_to(tensor.sizes, sizes);
  });
  if (found) return *found;
  const auto from = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && broadcasts_to(tensor.sizes, sizes);
  });
  if (!from && draft.is_unbacked(sizes)) return draft.add_filled(DType::kBool, sizes, 1);
  if (!from) return draft.add_input(spec::InputKind::kUserInput, DType::kBool, sizes);
  const TensorIndex operands[] = {*from};
  const DrawnTensor tensor = draft.tensor(*from);
  const Layout layout = pointwise_layout(draft, operands, tensor.sizes, 1);
  NodeBuilder node(draft, "aten.gt.Scalar");
  node.tensor("self", *from).integer("other", 0);
  return node.fresh(DType::kBool, tensor.sizes, layout);
}

bool is_plain_float(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

std::optional<TensorIndex> pick_with_size(Draft& draft, GeneReader& genes, int least_rank,
                                          std::int64_t least) {
  return draft.pick(genes, [&](const DrawnTensor& tensor) {
    if (!is_computed_float(tensor.dtype) || tensor.sizes.rank < least_rank) return false;
    for (int d = 0; d < tensor.sizes.rank; ++d) {
      if (draft.table().least(tensor.sizes[d]) < least) return false;
    }
    return true;
  });
}

int draw_dim(GeneReader& genes, int rank) {
  return static_cast<int>(genes.below(static_cast<std::size_t>(rank)));
}

AttentionOperands draw_attention_operands(Draft& draft, GeneReader& genes) {
  AttentionOperands out;
  out.dtype = draft.draw_floating(genes);
  const auto& dims = draft.settings().dims;
  out.sizes = Shape{dims[genes.below(dims.size())], 2, 4};
  out.query = draft.pick_like(genes, out.dtype, out.sizes);
  out.key = draft.pick_like(genes, out.dtype, out.sizes);
  out.value = draft.pick_like(genes, out.dtype, out.sizes);
  return out;
}

std::optional<HalvedOperands> pick_halved(Draft& draft, GeneReader& genes) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const int last = tensor.sizes.rank - 1;
    return is_computed_float(tensor.dtype) && tensor.sizes.rank >= 1 &&
           is_constant(tensor.sizes[last]) && tensor.sizes[last] >= 2 &&
           tensor.sizes[last] % 2 == 0;
  });
  if (!input) return std::nullopt;
  const DrawnTensor from = draft.tensor(*input);
  Shape sizes = from.sizes;
  sizes[sizes.rank - 1] = sizes[sizes.rank - 1] / 2;
  auto out = draft.pick_out(genes.next(), from.dtype, sizes);
  if (!out || draft.tensor(*out).storage == from.storage) out = draft.add_empty(from.dtype, sizes);
  return HalvedOperands{*input, *out};
}

void use_number(Draft& draft, GeneReader& genes, std::string_view op, spec::ValueId number) {
  const TensorIndex operand = draft.pick_floating(genes);
  const DrawnTensor to = draft.tensor(operand);
  const TensorIndex operands[] = {operand};
  const Layout layout = pointwise_layout(draft, operands, to.sizes, 1);
  NodeBuilder node(draft, op);
  node.tensor("self", operand).value("other", number).fresh(to.dtype, to.sizes, layout);
}

}  // namespace graphgate::fuzz
