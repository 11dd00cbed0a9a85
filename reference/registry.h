// Every op body of the reference, by base name ("aten.add" serves add.Tensor, add_.Tensor,
// add.out).
//
// A family is one file in reference/ops/ that defines the function declared here for it, and a line
// in registry.cpp. No op is named anywhere else.
#pragma once

#include <span>
#include <string_view>

#include "reference/call.h"

namespace graphgate::reference {

using Body = void (*)(Call&);

// The arguments of an op whose elements move into its results; none of one that computes. What else
// the op takes (indices, masks) is read for what it is.
struct Moves {
  std::string_view first = {};
  std::string_view second = {};

  [[nodiscard]] bool has(std::string_view argument) const {
    return argument == first || argument == second;
  }
};

// The facts behind the body are set in the families' tables: OpBody{"aten.flip",
// flip}.moves("self")
struct OpBody {
  std::string_view base_name;  // "aten.silu", "vllm.silu_and_mul", "_operator.mul"
  Body body = nullptr;
  // The same number into every element: elements of what it writes may share memory.
  bool writes_one_number = false;
  bool leaves_unwritten = false;  // the results hold nothing yet
  // Takes complex tensors, numbers and dtypes as others: it moves elements, or asks for the
  // geometry.
  bool takes_any_dtype = false;
  Moves moved = {};

  [[nodiscard]] constexpr OpBody any_dtype() const {
    OpBody out = *this;
    out.takes_any_dtype = true;
    return out;
  }
  [[nodiscard]] constexpr OpBody moves(std::string_view first, std::string_view second = {}) const {
    OpBody out = *this;
    out.moved = {first, second};
    return out;
  }
  [[nodiscard]] constexpr OpBody unwritten() const {
    OpBody out = *this;
    out.leaves_unwritten = true;
    return out;
  }
};

// The body of an op for calls with complex numbers, beside that of its family (complex_calls.h).
struct ComplexBody {
  std::string_view base_name;
  Body body = nullptr;
};

// The families, in the order of the files in reference/ops/.
[[nodiscard]] std::span<const OpBody> activation_backward_ops();
[[nodiscard]] std::span<const OpBody> activation_ops();
[[nodiscard]] std::span<const OpBody> assertion_ops();
[[nodiscard]] std::span<const OpBody> attention_ops();
[[nodiscard]] std::span<const OpBody> batch_norm_ops();
[[nodiscard]] std::span<const OpBody> binning_ops();
[[nodiscard]] std::span<const OpBody> class_loss_ops();
[[nodiscard]] std::span<const OpBody> comparison_ops();
[[nodiscard]] std::span<const OpBody> complex_number_ops();
[[nodiscard]] std::span<const OpBody> composite_gradient_ops();
[[nodiscard]] std::span<const OpBody> composite_layer_ops();
[[nodiscard]] std::span<const OpBody> composite_linalg_ops();
[[nodiscard]] std::span<const OpBody> composite_loss_ops();
[[nodiscard]] std::span<const OpBody> composite_ops();
[[nodiscard]] std::span<const OpBody> composite_recurrent_ops();
[[nodiscard]] std::span<const OpBody> composite_slope_ops();
[[nodiscard]] std::span<const OpBody> composite_statistics_ops();
[[nodiscard]] std::span<const OpBody> contraction_ops();
[[nodiscard]] std::span<const OpBody> conversion_ops();
[[nodiscard]] std::span<const OpBody> convolution_ops();
[[nodiscard]] std::span<const OpBody> creation_ops();
[[nodiscard]] std::span<const OpBody> diagonal_ops();
[[nodiscard]] std::span<const OpBody> distance_ops();
[[nodiscard]] std::span<const OpBody> einsum_ops();
[[nodiscard]] std::span<const OpBody> embedding_bag_ops();
[[nodiscard]] std::span<const OpBody> equality_ops();
[[nodiscard]] std::span<const OpBody> extremum_ops();
[[nodiscard]] std::span<const OpBody> folding_ops();
[[nodiscard]] std::span<const OpBody> foreach_ops();
[[nodiscard]] std::span<const OpBody> fractional_max_pooling_ops();
[[nodiscard]] std::span<const OpBody> grid_sampler_ops();
[[nodiscard]] std::span<const OpBody> histogram_ops();
[[nodiscard]] std::span<const OpBody> indexing_ops();
[[nodiscard]] std::span<const OpBody> joining_ops();
[[nodiscard]] std::span<const OpBody> linalg_factor_ops();
[[nodiscard]] std::span<const OpBody> linalg_solve_ops();
[[nodiscard]] std::span<const OpBody> linalg_spectral_ops();
[[nodiscard]] std::span<const OpBody> loss_ops();
[[nodiscard]] std::span<const OpBody> matmul_ops();
[[nodiscard]] std::span<const OpBody> max_pooling_ops();
[[nodiscard]] std::span<const OpBody> normalization_ops();
[[nodiscard]] std::span<const OpBody> orthogonal_polynomial_ops();
[[nodiscard]] std::span<const OpBody> padding_ops();
[[nodiscard]] std::span<const OpBody> pointwise_binary_ops();
[[nodiscard]] std::span<const OpBody> pointwise_division_ops();
[[nodiscard]] std::span<const OpBody> pointwise_unary_ops();
[[nodiscard]] std::span<const OpBody> pooling_ops();
[[nodiscard]] std::span<const OpBody> prims_ops();
[[nodiscard]] std::span<const OpBody> quantization_ops();
[[nodiscard]] std::span<const OpBody> random_ops();
[[nodiscard]] std::span<const OpBody> reduction_ops();
[[nodiscard]] std::span<const OpBody> region_scatter_ops();
[[nodiscard]] std::span<const OpBody> renorm_ops();
[[nodiscard]] std::span<const OpBody> scan_ops();
[[nodiscard]] std::span<const OpBody> scatter_ops();
[[nodiscard]] std::span<const OpBody> segment_reduce_ops();
[[nodiscard]] std::span<const OpBody> shuffle_ops();
[[nodiscard]] std::span<const OpBody> sorting_ops();
[[nodiscard]] std::span<const OpBody> special_ops();
[[nodiscard]] std::span<const OpBody> splitting_ops();
[[nodiscard]] std::span<const OpBody> symbolic_ops();
[[nodiscard]] std::span<const OpBody> unique_ops();
[[nodiscard]] std::span<const OpBody> unpooling_ops();
[[nodiscard]] std::span<const OpBody> upsample_ops();
[[nodiscard]] std::span<const OpBody> variance_ops();
[[nodiscard]] std::span<const OpBody> view_ops();
[[nodiscard]] std::span<const OpBody> vllm_ops();

// Bodies for complex numbers of ops that stand in these families.
[[nodiscard]] std::span<const ComplexBody> complex_arithmetic_bodies();
[[nodiscard]] std::span<const ComplexBody> complex_composite_bodies();
[[nodiscard]] std::span<const ComplexBody> complex_number_bodies();
[[nodiscard]] std::span<const ComplexBody> complex_product_bodies();
[[nodiscard]] std::span<const ComplexBody> complex_reduction_bodies();

// Whether the body computes by the bodies of other ops (composite.cpp, composite_loss.cpp). Views
// and what moves elements do not compute.
[[nodiscard]] bool is_made_of_others(const spec::OpRow& row);

// A base name, and that of the op of which PyTorch documents it as an alias: "aten.absolute",
// "aten.abs".
struct Synonym {
  std::string_view name;
  std::string_view op;
};
[[nodiscard]] std::span<const Synonym> synonyms();

// What there is for a qualified name's row, or null: this reference cannot run the op.
[[nodiscard]] const OpBody* find_op(const spec::OpRow& row);
// Its body, or null.
[[nodiscard]] Body find_body(const spec::OpRow& row);
// Its body for calls with complex numbers, or null where it has none of its own.
[[nodiscard]] Body find_complex_body(const spec::OpRow& row);
// OpBody::writes_one_number of that row's body; false if there is none.
[[nodiscard]] bool writes_one_number(const spec::OpRow& row);

}  // namespace graphgate::reference
