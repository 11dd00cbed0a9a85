// Ops whose results are views of their operand, their in-place forms (which change the tensor
// object itself), and the copying forms (NAME_copy: the same view, then a contiguous copy of it).
#include <algorithm>
#include <array>

#include "reference/movement.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {

TensorRef reshaped(const Tensor& tensor, const Sizes& sizes) {
  const Sizes known = infer_sizes(sizes, tensor.count());
  if (const auto strides = strides_for_view(tensor, known)) {
    return view_of(tensor, known, *strides, tensor.offset);
  }
  const TensorRef copy = copy_of(tensor);
  return view_of(*copy, known, spec::contiguous_strides(known), 0);
}

namespace {

using View = Geometry (*)(const Call&, const Tensor&);

// The bodies of a view op and of its copying form.
template <View kView>
void view_op(Call& call) {
  const TensorRef& self = call.tensor("self");
  Geometry view = kView(call, *self);
  call.emit_view(self, std::move(view.sizes), std::move(view.strides), view.offset);
}
template <View kView>
void copy_op(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_made(call, copy_of(*view_of(self, kView(call, self))));
}
Geometry view(const Call& call, const Tensor& self) {
  const Sizes sizes = infer_sizes(call.integers("size"), self.count());
  const auto strides = strides_for_view(self, sizes);
  if (!strides) {
    throw OpError(
        "view size is not compatible with input tensor's size and stride (at least one "
        "dimension spans across two contiguous subspaces)");
  }
  return {sizes, *strides, self.offset};
}

Geometry alias(const Call&, const Tensor& self) { return geometry_of(self); }

Geometry permute(const Call& call, const Tensor& self) {
  return permuted(self, call.integers("dims"));
}

Geometry with_dims_swapped(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  Geometry out = geometry_of(self);
  const auto a = static_cast<std::size_t>(wrap_dim(dim0, self.rank()));
  const auto b = static_cast<std::size_t>(wrap_dim(dim1, self.rank()));
  if (a == b) return out;
  std::swap(out.sizes[a], out.sizes[b]);
  std::swap(out.strides[a], out.strides[b]);
  return out;
}

Geometry transpose(const Call& call, const Tensor& self) {
  return with_dims_swapped(self, call.integer("dim0"), call.integer("dim1"));
}

Geometry t(const Call&, const Tensor& self) {
  if (self.rank() > 2) throw OpError("t() expects a tensor with <= 2 dimensions");
  return self.rank() < 2 ? geometry_of(self) : with_dims_swapped(self, 0, 1);
}

Geometry numpy_t(const Call&, const Tensor& self) {
  Geometry out = geometry_of(self);
  std::reverse(out.sizes.begin(), out.sizes.end());
  std::reverse(out.strides.begin(), out.strides.end());
  return out;
}

Geometry expand(const Call& call, const Tensor& self) {
  return expanded(self, call.integers("size"));
}

// Without `dim`: every dimension of size 1 goes. With it: those named, where their size is 1.
Geometry squeeze(const Call& call, const Tensor& self) {
  std::vector<bool> named(self.sizes.size(), !call.has("dim"));
  if (call.has("dim")) {
    for (const std::int64_t dim : call.integers("dim")) {
      const std::int64_t d = wrap_dim(dim, self.rank());
      if (self.rank() > 0) named[static_cast<std::size_t>(d)] = true;
    }
  }
  Geometry out{{}, {}, self.offset};
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (named[d] && self.sizes[d] == 1) continue;
    out.sizes.push_back(self.sizes[d]);
    out.strides.push_back(self.strides[d]);
  }
  return out;
}

Geometry unsqueeze(const Call& call, const Tensor& self) {
  return with_new_dim(self, wrap_dim(call.integer("dim"), self.rank() + 1));
}

Geometry select(const Call& call, const Tensor& self) {
  return selected(self, call.integer("dim"), call.integer("index"));
}

Geometry slice(const Call& call, const Tensor& self) {
  return sliced(self, call.integer("dim"), call.optional_integer("start"),
                call.optional_integer("end"), call.integer("step"));
}

Geometry narrow(const Call& call, const Tensor& self) {
  if (self.rank() == 0) throw OpError("narrow() cannot be applied to a 0-dim tensor");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const std::int64_t size = self.sizes[static_cast<std::size_t>(dim)];
  const std::int64_t given = call.integer("start");
  const std::int64_t start = given < 0 ? given + size : given;
  const std::int64_t length = call.integer("length");
  if (start < 0 || length < 0 || start > size - length) {
    throw OpError("narrow: start " + std::to_string(given) + " and length " +
                  std::to_string(length) + " exceed dimension size " + std::to_string(size));
  }
  return geometry_of(*narrowed(self, dim, start, length));
}

Geometry as_strided(const Call& call, const Tensor& self) {
  return strided_at(self, call.integers("size"), call.integers("stride"),
                    call.optional_integer("storage_offset"));
}

Geometry diagonal(const Call& call, const Tensor& self) {
  return diagonal_of(self, call.integer("offset"), call.integer("dim1"), call.integer("dim2"));
}

// Windows of `size` elements every `step`, as a new last dimension.
Geometry unfold(const Call& call, const Tensor& self) {
  const std::int64_t size = call.integer("size");
  const std::int64_t step = call.integer("step");
  const auto d = static_cast<std::size_t>(wrap_dim(call.integer("dimension"), self.rank()));
  const std::int64_t most = self.rank() == 0 ? 1 : self.sizes[d];
  if (size < 0 || size > most || step <= 0) {
    throw OpError("unfold: size " + std::to_string(size) + " and step " + std::to_string(step) +
                  " do not suit a dimension of size " + std::to_string(most));
  }
  Geometry out = geometry_of(self);
  out.sizes.push_back(size);
  out.strides.push_back(self.rank() == 0 ? 1 : self.strides[d]);
  if (self.rank() == 0) return out;
  out.sizes[d] = (most - size) / step + 1;
  if (__builtin_mul_overflow(out.strides[d], step, &out.strides[d])) {
    throw OpError("unfold: the step is too large");
  }
  return out;
}

// view(dtype): the same bytes as elements of another width; the last dimension takes the change.
// A storage with marks knows values, not bytes: it cannot be read as another dtype, but for the
// parts of complex numbers.
TensorRef reinterpreted(const Tensor& self, spec::DType dtype) {
  const bool is_other = spec::component_dtype(dtype) != spec::component_dtype(self.dtype);
  if (dtype != self.dtype && self.is_conj) {
    throw OpError("view(dtype) of a conjugate view, or into one");
  }
  if (!self.storage->marks.empty() && is_other) {
    throw Undecidable("view(dtype) of elements that the oracle knows only within a radius");
  }
  self.storage->is_reinterpreted |= is_other;
  auto out = std::make_shared<Tensor>(self);
  out->dtype = dtype;
  const std::int64_t old_width = spec::item_size_bytes(self.dtype);
  const std::int64_t new_width = spec::item_size_bytes(dtype);
  if (old_width == new_width) return out;
  if (self.rank() == 0 || self.strides.back() != 1) {
    throw OpError("view(dtype) of another width wants a last dimension of stride 1");
  }
  const auto rescaled = [&](std::int64_t count) {
    if (count * old_width % new_width != 0) {
      throw OpError("view(dtype): sizes, strides and offset must divide into the wider elements");
    }
    return count * old_width / new_width;
  };
  out->offset = rescaled(self.offset);
  out->sizes.back() = rescaled(self.sizes.back());
  for (std::size_t d = 0; d + 1 < self.strides.size(); ++d) {
    out->strides[d] = rescaled(self.strides[d]);
  }
  return out;
}

void view_any(Call& call) {
  if (!call.has("dtype")) return view_op<view>(call);
  call.emit_datum({reinterpreted(*call.tensor("self"), *call.optional_dtype("dtype"))});
}
void view_copy_any(Call& call) {
  const Tensor& self = *call.tensor("self");
  const TensorRef seen = call.has("dtype") ? reinterpreted(self, *call.optional_dtype("dtype"))
                                           : reshaped(self, call.integers("size"));
  emit_made(call, copy_of(*seen));
}

void unsafe_view(Call& call) {
  if (!call.next_is_written()) return view_op<view>(call);
  copy_op<view>(call);
}

void reshape(Call& call) {
  call.emit_datum({reshaped(*call.tensor("self"), call.integers("shape"))});
}
void reshape_as(Call& call) {
  call.emit_datum({reshaped(*call.tensor("self"), call.tensor("other")->sizes)});
}

// One dimension split into several; one of their sizes may be -1.
Geometry unflatten(const Call& call, const Tensor& self) {
  const Sizes parts = call.integers("sizes");
  if (self.rank() == 0) throw OpError("unflatten: a tensor of rank 0 has no dimension to split");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  if (parts.empty()) throw OpError("unflatten: sizes must be non-empty");
  const Sizes known = infer_sizes(parts, self.sizes[static_cast<std::size_t>(dim)]);
  Sizes sizes = self.sizes;
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, known.begin(), known.end());
  const auto strides = strides_for_view(self, sizes);
  if (!strides) throw OpError("unflatten: the strides allow no view of these sizes");
  return {sizes, *strides, self.offset};
}

// The dimensions [start, end] become one. A single one is left alone: then the result is the
// operand, the very tensor.
void flatten(Call& call) {
  const TensorRef& self = call.tensor("self");
  const std::int64_t start = wrap_dim(call.integer("start_dim"), self->rank());
  const std::int64_t end = wrap_dim(call.integer("end_dim"), self->rank());
  if (start > end) throw OpError("flatten() has invalid args: start_dim comes after end_dim");
  if (self->rank() == 0) return call.emit_datum({reshaped(*self, {1})});
  if (start == end) return call.emit_datum({self});
  const auto begin = self->sizes.begin();
  Sizes sizes(begin, begin + start);
  sizes.push_back(count_of(Sizes(begin + start, begin + end + 1)));
  sizes.insert(sizes.end(), begin + end + 1, self->sizes.end());
  call.emit_datum({reshaped(*self, sizes)});
}

// A storage of at least `size_bytes`: the old bytes, then zeros that stand for anything.
void grow(Mode mode, Tensor& tensor, std::int64_t size_bytes) {
  Storage& storage = *tensor.storage;
  if (mode != Mode::kEager) add_marks(tensor);
  static_cast<void>(storage.writable_bytes());
  storage.host->bytes.resize(static_cast<std::size_t>(size_bytes));
  if (mode == Mode::kEager) return;
  const std::int64_t item = spec::item_size_bytes(spec::component_dtype(tensor.dtype));
  const auto count = static_cast<std::size_t>(size_bytes / item);
  storage.marks.resize(count, StoredMark(Mark{0, detail::kInfinity}));
}

// New sizes in row-major order (or a channels-last one) over the same storage, which grows when it
// must. The functional form does so to a copy that keeps the strides of a dense tensor.
void resize_to(Call& call, const Sizes& sizes, std::optional<spec::MemoryFormat> asked) {
  const TensorRef& given = call.tensor("self");
  const bool in_place = call.next_target() == given;
  const TensorRef self =
      in_place ? given : copy_of(*given, strides_like(*given, spec::MemoryFormat::kPreserve));
  const auto format = asked.value_or(spec::MemoryFormat::kContiguous);
  const bool same_sizes = self->sizes == sizes;
  static_cast<void>(count_of(sizes));  // throws before strides are computed from them
  const TensorRef wanted =
      new_tensor(self->dtype, sizes, strides_in_format(sizes, format), self->device);
  self->sizes = sizes;
  if (!same_sizes || asked) self->strides = wanted->strides;
  const std::int64_t needed_bytes =
      wanted->storage->size_bytes() + self->offset * spec::item_size_bytes(self->dtype);
  if (!same_sizes && wanted->count() > 0 && needed_bytes > self->storage->size_bytes()) {
    grow(call.mode(), *self, needed_bytes);
  }
  if (in_place) return call.emit_datum({self});
  emit_made(call, self);
}

void resize(Call& call) {
  const auto format = call.optional_format("memory_format");
  if (format == spec::MemoryFormat::kPreserve) throw OpError("resize_ cannot preserve a format");
  resize_to(call, call.integers("size"), format);
}

// The format to preserve is the one that the template suggests.
void resize_as(Call& call) {
  const Tensor& like = *call.tensor("the_template");
  auto format = call.optional_format("memory_format");
  if (format == spec::MemoryFormat::kPreserve) format = suggested_format(like);
  resize_to(call, like.sizes, format);
}

constexpr std::array kViewOps = {
    OpBody{"aten._unsafe_view", unsafe_view}.any_dtype().moves("self"),
    OpBody{"aten.alias", view_op<alias>}.any_dtype(),
    OpBody{"aten.alias_copy", copy_op<alias>}.any_dtype().moves("self"),
    OpBody{"aten.as_strided", view_op<as_strided>}.any_dtype(),
    OpBody{"aten.as_strided_copy", copy_op<as_strided>}.any_dtype().moves("self"),
    OpBody{"aten.broadcast_to", view_op<expand>}.any_dtype(),
    OpBody{"aten.detach", view_op<alias>}.any_dtype(),
    OpBody{"aten.diagonal", view_op<diagonal>}.any_dtype(),
    OpBody{"aten.diagonal_copy", copy_op<diagonal>}.any_dtype().moves("self"),
    OpBody{"aten.expand", view_op<expand>}.any_dtype(),
    OpBody{"aten.expand_copy", copy_op<expand>}.any_dtype().moves("self"),
    OpBody{"aten.flatten", flatten}.any_dtype().moves("self"),
    OpBody{"aten.narrow", view_op<narrow>}.any_dtype(),
    OpBody{"aten.narrow_copy", copy_op<narrow>}.any_dtype().moves("self"),
    OpBody{"aten.numpy_T", view_op<numpy_t>}.any_dtype(),
    OpBody{"aten.permute", view_op<permute>}.any_dtype(),
    OpBody{"aten.permute_copy", copy_op<permute>}.any_dtype().moves("self"),
    OpBody{"aten.reshape", reshape}.any_dtype().moves("self"),
    OpBody{"aten.reshape_as", reshape_as}.any_dtype().moves("self"),
    OpBody{"aten.resize", resize}.any_dtype(),
    OpBody{"aten.resize_as", resize_as}.any_dtype(),
    OpBody{"aten.select", view_op<select>}.any_dtype(),
    OpBody{"aten.slice", view_op<slice>}.any_dtype(),
    OpBody{"aten.squeeze", view_op<squeeze>}.any_dtype(),
    OpBody{"aten.squeeze_copy", copy_op<squeeze>}.any_dtype().moves("self"),
    OpBody{"aten.t", view_op<t>}.any_dtype(),
    OpBody{"aten.t_copy", copy_op<t>}.any_dtype().moves("self"),
    OpBody{"aten.transpose", view_op<transpose>}.any_dtype(),
    OpBody{"aten.transpose_copy", copy_op<transpose>}.any_dtype().moves("self"),
    OpBody{"aten.unflatten", view_op<unflatten>}.any_dtype(),
    OpBody{"aten.unfold", view_op<unfold>}.any_dtype(),
    OpBody{"aten.unfold_copy", copy_op<unfold>}.any_dtype().moves("self"),
    OpBody{"aten.unsqueeze", view_op<unsqueeze>}.any_dtype(),
    OpBody{"aten.unsqueeze_copy", copy_op<unsqueeze>}.any_dtype().moves("self"),
    OpBody{"aten.view", view_any}.any_dtype(),
    OpBody{"aten.view_copy", view_copy_any}.any_dtype().moves("self"),
};

}  // namespace

std::span<const OpBody> view_ops() { return kViewOps; }

}  // namespace graphgate::reference
