// Views, their _copy forms, and the in-place forms that change a tensor's geometry.
//
// An op is one function from its call to the viewed tensor. The view op returns that geometry; the
// _copy op makes a row-major tensor and copies into it.
#include <algorithm>
#include <numeric>

#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/scratch.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using Geometry = Tensor (*)(const KernelCall&);

template <Geometry geometry>
void infer_view(Inference& call) {
  const Tensor view = geometry(call);
  call.make_view(view, view.sizes, view.strides, view.offset);
}
template <Geometry geometry>
void infer_copy(Inference& call) {
  const Tensor view = geometry(call);
  call.make(view.dtype, view.sizes);
}
template <Geometry geometry>
Launch bind_copy(const Binding& call) {
  return copy_launch(call.listener(), call.result(), geometry(call));
}

template <Geometry geometry>
constexpr Kernel view_kernel(std::string_view name) {
  return Kernel{name, infer_view<geometry>, nullptr}.any_dtype();
}
template <Geometry geometry>
constexpr Kernel copy_kernel(std::string_view name) {
  return Kernel{name, infer_copy<geometry>, bind_copy<geometry>}.any_dtype();
}

Tensor alias(const KernelCall& call) { return call.tensor("self"); }
Tensor permute(const KernelCall& call) {
  return permuted(call.tensor("self"), call.integers("dims"));
}
Tensor transpose(const KernelCall& call) {
  return transposed(call.tensor("self"), call.integer("dim0"), call.integer("dim1"));
}
Tensor matrix_transpose(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() > 2) throw OpError("t: more than 2 dimensions: " + print_sizes(self.sizes));
  return self.rank() < 2 ? self : transposed(self, 0, 1);
}
Tensor reverse_dims(const KernelCall& call) {
  Sizes dims(call.tensor("self").sizes.size());
  std::iota(dims.rbegin(), dims.rend(), std::int64_t{0});
  return permuted(call.tensor("self"), dims);
}
Tensor expand(const KernelCall& call) {
  return expanded(call.tensor("self"), call.integers("size"));
}
Tensor squeeze(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (!call.has("dim")) return squeezed(self, wrap_dims({}, self.rank(), true));
  if (call.item("dim").as<std::string>()) throw Unsupported("squeeze: named dimensions");
  return squeezed(self, wrap_dims(call.integers("dim"), self.rank(), false));
}
Tensor unsqueeze(const KernelCall& call) {
  return unsqueezed(call.tensor("self"), call.integer("dim"));
}
Tensor slice(const KernelCall& call) {
  return sliced(call.tensor("self"), call.integer("dim"), call.optional_integer("start"),
                call.optional_integer("end"), call.integer("step"));
}
Tensor narrow(const KernelCall& call) {
  return narrowed(call.tensor("self"), call.integer("dim"), call.integer("start"),
                  call.integer("length"));
}
Tensor select(const KernelCall& call) {
  return selected(call.tensor("self"), call.integer("dim"), call.integer("index"));
}
Tensor diagonal(const KernelCall& call) {
  return diagonal_of(call.tensor("self"), call.integer("offset"), call.integer("dim1"),
                     call.integer("dim2"));
}
Tensor unfold(const KernelCall& call) {
  return unfolded(call.tensor("self"), call.integer("dimension"), call.integer("size"),
                  call.integer("step"));
}
// Dimension `dim` in several.
Tensor unflatten(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("unflatten of a tensor without dimensions");
  const Sizes wanted = call.integers("sizes");
  if (wanted.empty()) throw OpError("unflatten into no dimensions");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const Sizes split = infer_sizes(wanted, self.size(dim));
  Sizes sizes(self.sizes.begin(), self.sizes.begin() + dim);
  sizes.insert(sizes.end(), split.begin(), split.end());
  sizes.insert(sizes.end(), self.sizes.begin() + dim + 1, self.sizes.end());
  return viewed(self, sizes);
}
Tensor as_strided(const KernelCall& call) {
  return strided(call.tensor("self"), call.integers("size"), call.integers("stride"),
                 call.optional_integer("storage_offset"));
}
Tensor view(const KernelCall& call) {
  if (const auto dtype = call.optional_dtype("dtype")) {
    return viewed_as(call.tensor("self"), *dtype);
  }
  return viewed(call.tensor("self"), call.integers("size"));
}

// A copy of an as_strided view must see self's own storage, so self cannot stand aside for `out`.
void infer_as_strided_copy(Inference& call) {
  const Tensor* out = call.written_result(0);
  if (out && out->storage == call.tensor("self").storage) {
    throw Unsupported("as_strided_copy: out shares the storage of self");
  }
  infer_copy<as_strided>(call);
}

// reshape and flatten: a view where strides allow it, else a row-major copy.
void infer_reshape_to(Inference& call, const Sizes& sizes) {
  const Tensor& self = call.tensor("self");
  if (auto strides = view_strides(self, sizes)) {
    call.make_view(self, sizes, std::move(*strides), self.offset);
  } else {
    call.make(self.dtype, sizes);
  }
}
void infer_reshape(Inference& call) {
  infer_reshape_to(call, infer_sizes(call.integers("shape"), call.tensor("self").count()));
}
void infer_reshape_as(Inference& call) { infer_reshape_to(call, call.tensor("other").sizes); }
void infer_flatten(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (call.has("out_dim")) throw Unsupported("flatten: named dimensions");
  const auto start = wrap_dim(call.integer("start_dim"), self.rank());
  const auto end = wrap_dim(call.integer("end_dim"), self.rank());
  if (start > end) throw OpError("flatten: start_dim comes after end_dim");
  if (self.rank() == 0) return infer_reshape_to(call, {1});
  if (start == end) return call.make_same(self);
  Sizes sizes(self.sizes.begin(), self.sizes.begin() + start);
  sizes.push_back(checked_count({self.sizes.begin() + start, self.sizes.begin() + end + 1}));
  sizes.insert(sizes.end(), self.sizes.begin() + end + 1, self.sizes.end());
  infer_reshape_to(call, sizes);
}

// `row_major` seen with other sizes.
Tensor reshaped(Tensor row_major, const Sizes& sizes) {
  row_major.sizes = sizes;
  row_major.strides = row_major_strides(sizes);
  return row_major;
}
Launch bind_reshape(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return copy_launch(call.listener(), reshaped(call.result(), self.sizes), self);
}

// view_copy takes any strides; where there is no view, elements go through a row-major copy.
void infer_view_copy(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (call.has("dtype")) return infer_copy<view>(call);
  const Sizes sizes = infer_sizes(call.integers("size"), self.count());
  if (!view_strides(self, sizes)) call.want_workspace(scratch_bytes(self.dtype, self.sizes));
  call.make(self.dtype, sizes);
}
Launch bind_view_copy(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Sizes& sizes = call.result().sizes;
  if (call.has("dtype") || view_strides(self, sizes)) return bind_copy<view>(call);
  std::byte* workspace = call.workspace();
  const Tensor scratch = scratch_tensor(self.dtype, self.sizes, workspace);
  return [first = copy_launch(nullptr, scratch, self),
          then = copy_launch(nullptr, call.result(), reshaped(scratch, sizes))] {
    first.run();
    then.run();
  };
}

// resize_ keeps the bytes and lays row-major (or channels_last) strides over them; the same sizes
// keep their strides. A storage that would have to grow is refused, as far as self's own extent
// tells. `resize` is a clone that is resized: what it has beyond the clone's bytes is not defined.
// resize_as_ takes the template's sizes, and its format where that is to be preserved.
Sizes wanted_sizes(const KernelCall& call) {
  return call.has("the_template") ? call.tensor("the_template").sizes : call.integers("size");
}
std::optional<spec::MemoryFormat> wanted_format(const KernelCall& call) {
  const auto format = call.optional_format("memory_format");
  if (format != spec::MemoryFormat::kPreserve) return format;
  if (!call.has("the_template")) throw OpError("resize_: preserve_format");
  return suggested_format(call.tensor("the_template"));
}
Sizes resized_strides(const KernelCall& call, const Sizes& sizes) {
  const Tensor& self = call.tensor("self");
  const auto format = wanted_format(call);
  (void)checked_count(sizes);
  if (format) return strides_in_format(sizes, *format);
  if (sizes != self.sizes) return row_major_strides(sizes);
  return call.row().effects.is_in_place ? self.strides
                                        : strides_like(self, spec::MemoryFormat::kPreserve);
}
void infer_resize(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Sizes sizes = wanted_sizes(call);
  Sizes strides = resized_strides(call, sizes);
  if (!call.row().effects.is_in_place) {
    call.want_workspace(scratch_bytes(self.dtype, self.sizes));
    return call.make(self.dtype, sizes, std::move(strides));
  }
  const std::int64_t end_bytes = (self.offset + checked_count(sizes)) * self.item_bytes();
  if (sizes != self.sizes && checked_count(sizes) > 0 && end_bytes > byte_range(self).end) {
    throw Unsupported("resize_: " + print_sizes(sizes) + " needs more bytes than " +
                      print_sizes(self.sizes));
  }
  call.make_view(self, sizes, std::move(strides), self.offset);
}
Launch bind_resize(const Binding& call) {
  if (call.row().effects.is_in_place) return {};
  const Tensor& self = call.tensor("self");
  std::byte* workspace = call.workspace();
  Tensor clone = scratch_tensor(self.dtype, self.sizes, workspace);
  clone.strides = strides_like(self, spec::MemoryFormat::kPreserve);
  const Tensor& result = call.result();
  if (result.strides != resized_strides(call, result.sizes)) {
    throw Unsupported("resize: out has other strides than the resized clone");
  }
  // The first elements of the clone's bytes, in the order of its memory.
  const std::int64_t kept = std::min(clone.count(), result.count());
  const Tensor flat = strided(clone, {kept}, {1}, 0);
  const Tensor target = strided(result, {kept}, {1}, {});
  return [first = copy_launch(nullptr, clone, self), then = copy_launch(nullptr, target, flat)] {
    first.run();
    then.run();
  };
}

void infer_detach_in_place(Inference& call) { call.make_same(call.tensor("self")); }
void infer_detach(Inference& call) {
  if (call.row().effects.is_in_place) return infer_detach_in_place(call);
  infer_view<alias>(call);
}

}  // namespace

std::span<const Kernel> view_kernels() {
  static constexpr Kernel kKernels[] = {
      view_kernel<alias>("aten.alias")
          .rows(row_rules::pointwise)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf),
      copy_kernel<alias>("aten.alias_copy").rows(row_rules::pointwise).copies("self"),
      Kernel{"aten.detach", infer_detach, nullptr}
          .any_dtype()
          .rows(row_rules::pointwise)
          .row_major(RowMajorRule::kLikeSelf),
      view_kernel<permute>("aten.permute").rows(row_rules::move_dims),
      copy_kernel<permute>("aten.permute_copy").rows(row_rules::move_dims).moves("self"),
      view_kernel<transpose>("aten.transpose").rows(row_rules::move_dims),
      copy_kernel<transpose>("aten.transpose_copy").rows(row_rules::move_dims).moves("self"),
      view_kernel<matrix_transpose>("aten.t").rows(row_rules::move_dims),
      copy_kernel<matrix_transpose>("aten.t_copy").rows(row_rules::move_dims).moves("self"),
      view_kernel<reverse_dims>("aten.numpy_T").rows(row_rules::move_dims),
      view_kernel<expand>("aten.expand").rows(row_rules::expand).row_numbers(),
      copy_kernel<expand>("aten.expand_copy").rows(row_rules::expand).moves("self"),
      view_kernel<expand>("aten.broadcast_to").rows(row_rules::expand).row_numbers(),
      view_kernel<squeeze>("aten.squeeze").rows(row_rules::move_dims),
      copy_kernel<squeeze>("aten.squeeze_copy").rows(row_rules::move_dims).copies("self"),
      view_kernel<unsqueeze>("aten.unsqueeze")
          .rows(row_rules::move_dims)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf),
      copy_kernel<unsqueeze>("aten.unsqueeze_copy").rows(row_rules::move_dims).copies("self"),
      view_kernel<slice>("aten.slice").rows(row_rules::slice).row_numbers(),
      copy_kernel<slice>("aten.slice_copy").moves("self"),
      view_kernel<narrow>("aten.narrow").rows(row_rules::along_dim),
      copy_kernel<narrow>("aten.narrow_copy").rows(row_rules::along_dim).moves("self"),
      view_kernel<select>("aten.select").rows(row_rules::along_dim),
      copy_kernel<select>("aten.select_copy").moves("self"),
      view_kernel<diagonal>("aten.diagonal"),
      copy_kernel<diagonal>("aten.diagonal_copy").moves("self"),
      view_kernel<unfold>("aten.unfold").rows(row_rules::along_dimension),
      copy_kernel<unfold>("aten.unfold_copy").rows(row_rules::along_dimension).moves("self"),
      view_kernel<as_strided>("aten.as_strided"),
      Kernel{"aten.as_strided_copy", infer_as_strided_copy, bind_copy<as_strided>}
          .any_dtype()
          .moves("self"),
      view_kernel<unflatten>("aten.unflatten").rows(row_rules::view),
      view_kernel<view>("aten.view")
          .rows(row_rules::view)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf),
      Kernel{"aten.view_copy", infer_view_copy, bind_view_copy}
          .any_dtype()
          .rows(row_rules::view)
          .copies("self"),
      view_kernel<view>("aten._unsafe_view")
          .rows(row_rules::view)
          .row_major(RowMajorRule::kLikeSelf)
          .copies("self"),  // by its schema a tensor of its own; ATen makes a view
      Kernel{"aten.reshape", infer_reshape, bind_reshape}
          .any_dtype()
          .rows(row_rules::view)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf)
          .copies("self"),
      Kernel{"aten.reshape_as", infer_reshape_as, bind_reshape}
          .any_dtype()
          .rows(row_rules::view)
          .copies("self"),
      Kernel{"aten.flatten", infer_flatten, bind_reshape}
          .any_dtype()
          .rows(row_rules::view)
          .copies("self"),
      Kernel{"aten.resize", infer_resize, bind_resize}.any_dtype(),
      Kernel{"aten.resize_as", infer_resize, bind_resize}.any_dtype(),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
