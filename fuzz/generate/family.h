// What the families of ops have in common: rows of the alphabet, forms of an op, dtypes of results.
//
// A family is a file of families/ with the name that it has in reference/ops/ and
// optimized/kernels/, a function that gives its rows, and a line in family.cpp. A row's `draw`
// picks operands from the draft and adds nodes; it returns false, having added no node that is not
// valid by itself, where it finds nothing to do.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/generate/draft.h"

namespace graphgate::fuzz {

struct DrawnOp {
  std::string_view name;  // base name: "aten.add"
  std::uint32_t weight = 4;
  bool (*draw)(Draft& draft, GeneReader& genes, std::size_t variant) = nullptr;
  std::uint32_t variant = 0;    // for `draw`: which of the ops that it serves
  int since = 0;                // the first generator that draws it (alphabet.h)
  std::string_view wraps = {};  // the op that it calls through auto_functionalized_v2, if any
  // Where its name is no op's: the ops that it makes, without overloads, blanks between them.
  std::string_view makes = {};
};

struct Family {
  std::string_view name;
  std::span<const DrawnOp> (*ops)();
};
// In a fixed order; the first row of the first family is what a gene of 0 draws.
[[nodiscard]] std::span<const Family> families();

// The qualified names of an op's forms; empty where the table has no such op.
struct OpForms {
  std::string functional;
  std::string in_place;
  std::string out;
};
// "aten.add", "Tensor" -> aten.add.Tensor, aten.add_.Tensor, aten.add.out
[[nodiscard]] OpForms forms_of(std::string_view base, std::string_view overload);

// PyTorch's type promotion of two dtypes; of operands, where 0-dim tensors give way.
[[nodiscard]] spec::DType promote(spec::DType a, spec::DType b);
[[nodiscard]] spec::DType result_dtype(const DrawnTensor& a, const DrawnTensor& b);
// float32 for integers and booleans.
[[nodiscard]] spec::DType to_floating(spec::DType dtype);
// Whether an in-place op may store a result of dtype `from` as `to`.
[[nodiscard]] bool can_store(spec::DType from, spec::DType to);
// Floating with arithmetic of its own: not an 8-bit one.
[[nodiscard]] bool is_computed_float(spec::DType dtype);

struct Operand {
  std::string_view name;
  TensorIndex index = 0;
};

// What a pointwise op came to: the node is still open, so that its other arguments can be added.
struct PointwiseForm {
  enum class Kind : std::uint8_t { kFunctional, kInPlace, kOut } kind = Kind::kFunctional;
  TensorIndex target = 0;
};
// Picks the form of a pointwise op: the first operand is the one that the in-place form writes.
[[nodiscard]] PointwiseForm pick_form(Draft& draft, GeneReader& genes, const OpForms& forms,
                                      std::initializer_list<Operand> operands, spec::DType dtype,
                                      const Shape& sizes);

// Adds a node of a pointwise op in one of its forms. `rest(node)` adds what follows the operands.
// `swaps`: the op computes with the second operand first, which shows in the strides.
template <class Rest>
TensorIndex add_pointwise(Draft& draft, GeneReader& genes, const OpForms& forms,
                          std::initializer_list<Operand> operands, spec::DType dtype, int scalars,
                          Rest&& rest, bool swaps = false) {
  std::array<TensorIndex, 4> indices{};
  std::size_t count = 0;
  Shape sizes;
  for (const Operand& operand : operands) {
    sizes = *broadcast(sizes, draft.tensor(operand.index).sizes);
    indices[count++] = operand.index;
  }
  const PointwiseForm form = pick_form(draft, genes, forms, operands, dtype, sizes);
  NodeBuilder node(draft, form.kind == PointwiseForm::Kind::kFunctional ? forms.functional
                          : form.kind == PointwiseForm::Kind::kInPlace  ? forms.in_place
                                                                        : forms.out);
  for (const Operand& operand : operands) node.tensor(operand.name, operand.index);
  rest(node);
  if (form.kind == PointwiseForm::Kind::kFunctional) {
    if (swaps) std::swap(indices[0], indices[1]);
    const Layout layout = pointwise_layout(draft, {indices.data(), count}, sizes, scalars);
    return node.fresh(dtype, sizes, layout);
  }
  if (form.kind == PointwiseForm::Kind::kOut) node.tensor("out", form.target);
  return node.written(form.target);
}

// The row of a custom op with effects alone: an argument is written, and hidden state.
inline constexpr std::string_view kKeepingSilu =
    "vllm::silu_and_mul.keep(Tensor(a!) out, Tensor input) -> () ; tags=cudagraph_unsafe ; "
    "hidden_writes=cache ; orders=kv";

// What vLLM's attention reads, of one dtype and these sizes.
struct AttentionOperands {
  spec::DType dtype = spec::DType::kFloat32;
  Shape sizes;
  TensorIndex query = 0;
  TensorIndex key = 0;
  TensorIndex value = 0;
};
[[nodiscard]] AttentionOperands draw_attention_operands(Draft& draft, GeneReader& genes);

// What ops over two halves of a last dimension (silu_and_mul) read, and where they write.
struct HalvedOperands {
  TensorIndex input = 0;
  TensorIndex out = 0;  // as `input`, with half of its last dimension
};
[[nodiscard]] std::optional<HalvedOperands> pick_halved(Draft& draft, GeneReader& genes);

// A floating tensor of the draft plus or times a number: so something depends on the number.
void use_number(Draft& draft, GeneReader& genes, std::string_view op, spec::ValueId number);

// A number that fits a dtype's arithmetic, small.
[[nodiscard]] spec::Argument draw_scalar(GeneReader& genes, spec::DType dtype);
// A dimension of the tensor; -1 stands for the last one in some draws.
[[nodiscard]] int draw_dim(GeneReader& genes, int rank);

// Row-major, where every operand is (those that are not leave the result's strides open).
[[nodiscard]] Layout row_major_like(Draft& draft, std::initializer_list<TensorIndex> operands,
                                    const Shape& sizes);
// A second operand: mostly of the same dtype and shape, sometimes broadcast or of another dtype.
[[nodiscard]] std::optional<TensorIndex> pick_second(Draft& draft, GeneReader& genes,
                                                     TensorIndex first, bool takes_integers);
// A tensor of the same dtype and sizes, which may be that one.
[[nodiscard]] std::optional<TensorIndex> pick_alike(Draft& draft, GeneReader& genes,
                                                    const DrawnTensor& from);
// Booleans that broadcast to these sizes; made where there are none.
[[nodiscard]] TensorIndex pick_mask(Draft& draft, GeneReader& genes, const Shape& sizes);
// A floating tensor of f32 or f64 alone, and the same with dimension `dim` of at least `least`.
[[nodiscard]] bool is_plain_float(spec::DType dtype);
[[nodiscard]] std::optional<TensorIndex> pick_with_size(Draft& draft, GeneReader& genes,
                                                        int least_rank, std::int64_t least);
// Rows from a table of names, each drawn by `draw` with its place as variant.
template <class Table>
[[nodiscard]] std::vector<DrawnOp> rows_of(const Table& table,
                                           bool (*draw)(Draft&, GeneReader&, std::size_t)) {
  std::vector<DrawnOp> rows;
  std::uint32_t variant = 0;
  for (const auto& row : table) rows.push_back({row.name, row.weight, draw, variant++});
  return rows;
}

// The families' rows, by the families' names.
[[nodiscard]] std::span<const DrawnOp> activation_backward_rows();
[[nodiscard]] std::span<const DrawnOp> activation_rows();
[[nodiscard]] std::span<const DrawnOp> assertion_rows();
[[nodiscard]] std::span<const DrawnOp> attention_rows();
[[nodiscard]] std::span<const DrawnOp> batch_norm_rows();
[[nodiscard]] std::span<const DrawnOp> binning_rows();
[[nodiscard]] std::span<const DrawnOp> class_loss_rows();
[[nodiscard]] std::span<const DrawnOp> comparison_rows();
[[nodiscard]] std::span<const DrawnOp> complex_rows();
[[nodiscard]] std::span<const DrawnOp> composite_rows();
[[nodiscard]] std::span<const DrawnOp> contraction_rows();
[[nodiscard]] std::span<const DrawnOp> control_flow_rows();
[[nodiscard]] std::span<const DrawnOp> conversion_rows();
[[nodiscard]] std::span<const DrawnOp> convolution_rows();
[[nodiscard]] std::span<const DrawnOp> creation_rows();
[[nodiscard]] std::span<const DrawnOp> custom_rows();
[[nodiscard]] std::span<const DrawnOp> diagonal_rows();
[[nodiscard]] std::span<const DrawnOp> distance_rows();
[[nodiscard]] std::span<const DrawnOp> einsum_rows();
[[nodiscard]] std::span<const DrawnOp> embedding_bag_rows();
[[nodiscard]] std::span<const DrawnOp> equality_rows();
[[nodiscard]] std::span<const DrawnOp> extremum_rows();
[[nodiscard]] std::span<const DrawnOp> folding_rows();
[[nodiscard]] std::span<const DrawnOp> foreach_rows();
[[nodiscard]] std::span<const DrawnOp> fractional_max_pooling_rows();
[[nodiscard]] std::span<const DrawnOp> functionalized_rows();
[[nodiscard]] std::span<const DrawnOp> gradients_rows();
[[nodiscard]] std::span<const DrawnOp> plane_gradients_rows();
[[nodiscard]] std::span<const DrawnOp> grid_sampler_rows();
[[nodiscard]] std::span<const DrawnOp> histogram_rows();
[[nodiscard]] std::span<const DrawnOp> indexing_rows();
[[nodiscard]] std::span<const DrawnOp> joining_rows();
[[nodiscard]] std::span<const DrawnOp> linalg_factor_rows();
[[nodiscard]] std::span<const DrawnOp> linalg_solve_rows();
[[nodiscard]] std::span<const DrawnOp> linalg_spectral_rows();
[[nodiscard]] std::span<const DrawnOp> loss_rows();
[[nodiscard]] std::span<const DrawnOp> matmul_rows();
[[nodiscard]] std::span<const DrawnOp> max_pooling_rows();
[[nodiscard]] std::span<const DrawnOp> motif_rows();
[[nodiscard]] std::span<const DrawnOp> host_rows();
[[nodiscard]] std::span<const DrawnOp> normalization_rows();
[[nodiscard]] std::span<const DrawnOp> optimizer_rows();
[[nodiscard]] std::span<const DrawnOp> orthogonal_polynomial_rows();
[[nodiscard]] std::span<const DrawnOp> padding_rows();
[[nodiscard]] std::span<const DrawnOp> pointwise_binary_rows();
[[nodiscard]] std::span<const DrawnOp> pointwise_division_rows();
[[nodiscard]] std::span<const DrawnOp> pointwise_ternary_rows();
[[nodiscard]] std::span<const DrawnOp> pointwise_unary_rows();
[[nodiscard]] std::span<const DrawnOp> pooling_rows();
[[nodiscard]] std::span<const DrawnOp> prims_rows();
[[nodiscard]] std::span<const DrawnOp> quantization_rows();
[[nodiscard]] std::span<const DrawnOp> random_rows();
[[nodiscard]] std::span<const DrawnOp> reduction_rows();
[[nodiscard]] std::span<const DrawnOp> region_scatter_rows();
[[nodiscard]] std::span<const DrawnOp> renorm_rows();
[[nodiscard]] std::span<const DrawnOp> scan_rows();
[[nodiscard]] std::span<const DrawnOp> scatter_rows();
[[nodiscard]] std::span<const DrawnOp> segment_reduce_rows();
[[nodiscard]] std::span<const DrawnOp> shuffle_rows();
[[nodiscard]] std::span<const DrawnOp> sorting_rows();
[[nodiscard]] std::span<const DrawnOp> special_rows();
[[nodiscard]] std::span<const DrawnOp> splitting_rows();
[[nodiscard]] std::span<const DrawnOp> symbolic_rows();
[[nodiscard]] std::span<const DrawnOp> unique_rows();
[[nodiscard]] std::span<const DrawnOp> unpooling_rows();
[[nodiscard]] std::span<const DrawnOp> upsample_rows();
[[nodiscard]] std::span<const DrawnOp> variance_rows();
[[nodiscard]] std::span<const DrawnOp> view_rows();
[[nodiscard]] std::span<const DrawnOp> vllm_rows();

}  // namespace graphgate::fuzz
