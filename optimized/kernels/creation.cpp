// Tensors from sizes and numbers: empty, full, zeros, ones, their new_ and _like forms, and
// scalars. The sequences and the triangles are in creation_sequences.cpp.
//
// A factory says where its dtype, strides and device come from (infer), and what it is filled with
// (bind). What `empty` and its kin make has no bytes of its own: nothing is launched.
#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/work.h"
#include "optimized/kernels/creation_sequences.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// The numbers that fill results.
Item fill_value(const KernelCall& call) { return call.item("fill_value"); }
Item scalar(const KernelCall& call) { return call.item("s"); }
Item zero(const KernelCall& /*call*/) { return {std::int64_t{0}}; }
Item one(const KernelCall& /*call*/) { return {std::int64_t{1}}; }

template <Item (*number)(const KernelCall&)>
Launch bind_fill(const Binding& call) {
  return fill_launch(call.listener(), call.result(), element_of(number(call), call.result().dtype));
}

Sizes strides_of_format(const KernelCall& call, const Sizes& sizes) {
  const auto format = call.optional_format("memory_format");
  if (format == spec::MemoryFormat::kPreserve) throw OpError("preserve_format has nothing to keep");
  return strides_in_format(sizes, format.value_or(spec::MemoryFormat::kContiguous));
}

// empty, zeros, ones: float32 on the CPU unless they say otherwise.
void infer_plain(Inference& call) {
  const Sizes sizes = call.integers("size");
  call.make(call.optional_dtype("dtype").value_or(DType::kFloat32), sizes,
            strides_of_format(call, sizes), call.device_or({}));
}

// full takes its dtype from the number.
void infer_full(Inference& call) {
  const Item& number = call.item("fill_value");
  DType dtype = number.as<double>() ? DType::kFloat32 : DType::kInt64;
  if (number.as<bool>()) dtype = DType::kBool;
  if (number.as<spec::ComplexNumber>()) dtype = DType::kComplex64;
  call.make(call.optional_dtype("dtype").value_or(dtype), call.integers("size"), {},
            call.device_or({}));
}

void infer_scalar(Inference& call) {
  call.make(call.optional_dtype("dtype").value_or(DType::kFloat32), {}, {}, call.device_or({}));
}

void infer_empty_permuted(Inference& call) {
  const Sizes sizes = call.integers("size");
  const Sizes layout = call.integers("physical_layout");
  (void)checked_count(sizes);
  Tensor physical;
  for (const std::int64_t dim : layout) {
    if (dim < 0 || dim >= static_cast<std::int64_t>(sizes.size())) {
      throw OpError("empty_permuted: the layout " + print_sizes(layout) + " has no dimension " +
                    std::to_string(dim));
    }
    physical.sizes.push_back(sizes[static_cast<std::size_t>(dim)]);
  }
  physical.strides = row_major_strides(physical.sizes);
  if (wrap_dims(layout, static_cast<std::int64_t>(sizes.size()), false).size() != sizes.size()) {
    throw OpError("empty_permuted: the layout does not name every dimension");
  }
  Sizes strides(sizes.size());
  for (std::size_t d = 0; d < layout.size(); ++d) {
    strides[static_cast<std::size_t>(layout[d])] = physical.strides[d];
  }
  call.make(call.optional_dtype("dtype").value_or(DType::kFloat32), sizes, std::move(strides),
            call.device_or({}));
}

void infer_new(Inference& call) {
  const Tensor& self = call.tensor("self");
  call.make(call.optional_dtype("dtype").value_or(self.dtype), call.integers("size"), {},
            call.device_or(self.device));
}
// empty_strided and new_empty_strided: any strides, as long as none is negative.
void make_strided(Inference& call, DType dtype, const spec::Device& device) {
  Tensor made;
  made.sizes = call.integers("size");
  made.strides = call.integers("stride");
  bool is_sound = made.sizes.size() == made.strides.size();
  for (const std::int64_t stride : made.strides) is_sound &= stride >= 0;
  if (!is_sound) {
    throw OpError("sizes " + print_sizes(made.sizes) + " with strides " +
                  print_sizes(made.strides));
  }
  (void)checked_count(made.sizes);
  call.make(call.optional_dtype("dtype").value_or(dtype), made.sizes, made.strides, device);
}
void infer_strided(Inference& call) { make_strided(call, DType::kFloat32, call.device_or({})); }
void infer_new_strided(Inference& call) {
  const Tensor& self = call.tensor("self");
  make_strided(call, self.dtype, call.device_or(self.device));
}

void infer_like(Inference& call) {
  const Tensor& self = call.tensor("self");
  const auto format = call.optional_format("memory_format");
  call.make(call.optional_dtype("dtype").value_or(self.dtype), self.sizes,
            strides_like(self, format.value_or(spec::MemoryFormat::kPreserve)),
            call.device_or(self.device));
}

// Zeros with the elements of self on a diagonal.
void infer_diag_embed(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("diag_embed of a tensor without dimensions");
  const std::int64_t rank = self.rank() + 1;
  const std::int64_t a = wrap_dim(call.integer("dim1"), rank);
  const std::int64_t b = wrap_dim(call.integer("dim2"), rank);
  if (a == b) throw OpError("diag_embed: the two dimensions are the same");
  const std::int64_t offset = call.integer("offset");
  const std::int64_t length = self.sizes.back() + (offset < 0 ? -offset : offset);
  Sizes sizes = self.sizes;
  sizes.pop_back();
  sizes.insert(sizes.begin() + std::min(a, b), length);
  sizes.insert(sizes.begin() + std::max(a, b), length);
  call.make(self.dtype, std::move(sizes));
}
Launch bind_diag_embed(const Binding& call) {
  const Tensor& result = call.result();
  const Tensor diagonal =
      diagonal_of(result, call.integer("offset"), call.integer("dim1"), call.integer("dim2"));
  return in_turn({fill_launch(call.listener(), result, {}),
                  copy_launch(call.listener(), diagonal, call.tensor("self"))});
}

}  // namespace

std::span<const Kernel> creation_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.arange", infer_arange, bind_arange}
          .rows(row_rules::arange)
          .row_major(RowMajorRule::kAlways),
      Kernel{"aten.diag_embed", infer_diag_embed, bind_diag_embed}.any_dtype().moves("self"),
      Kernel{"aten.empty", infer_plain, nullptr}
          .any_dtype()
          .rows(row_rules::fresh)
          .row_major(RowMajorRule::kFactory),
      Kernel{"aten.empty_like", infer_like, nullptr}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.empty_permuted", infer_empty_permuted, nullptr}.any_dtype().rows(
          row_rules::fresh),
      Kernel{"aten.empty_strided", infer_strided, nullptr}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.full", infer_full, bind_fill<fill_value>}
          .any_dtype()
          .rows(row_rules::fresh)
          .row_major(RowMajorRule::kFactory),
      Kernel{"aten.full_like", infer_like, bind_fill<fill_value>}.any_dtype().rows(
          row_rules::fresh),
      {"aten.linspace", infer_linspace, bind_linspace},
      {"aten.logspace", infer_linspace, bind_logspace},
      Kernel{"aten.new_empty", infer_new, nullptr}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.new_empty_strided", infer_new_strided, nullptr}.any_dtype().rows(
          row_rules::fresh),
      Kernel{"aten.new_full", infer_new, bind_fill<fill_value>}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.new_ones", infer_new, bind_fill<one>}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.new_zeros", infer_new, bind_fill<zero>}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.ones", infer_plain, bind_fill<one>}
          .any_dtype()
          .rows(row_rules::fresh)
          .row_major(RowMajorRule::kFactory),
      Kernel{"aten.ones_like", infer_like, bind_fill<one>}.any_dtype().rows(row_rules::fresh),
      Kernel{"aten.scalar_tensor", infer_scalar, bind_fill<scalar>}.any_dtype(),
      Kernel{"aten.tril", infer_triangle, bind_tril, Overlap::kSameGeometry}
          .rows(row_rules::pointwise)
          .moves("self"),
      Kernel{"aten.triu", infer_triangle, bind_triu, Overlap::kSameGeometry}
          .rows(row_rules::pointwise)
          .moves("self"),
      Kernel{"aten.zeros", infer_plain, bind_fill<zero>}
          .any_dtype()
          .rows(row_rules::fresh)
          .row_major(RowMajorRule::kFactory),
      Kernel{"aten.zeros_like", infer_like, bind_fill<zero>}.any_dtype().rows(row_rules::fresh),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
