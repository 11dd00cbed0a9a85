// Ops that surround a tensor with a constant or with its own elements.
#include <algorithm>
#include <array>

#include "reference/movement.h"
#include "reference/ops/plane_gradient.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::MemoryFormat;

// How many elements come before and after each dimension; negative ones cut.
struct Margins {
  Sizes before;
  Sizes after;
};

// PyTorch's list names the last dimension first: {before, after} of it, then of the one before...
Margins margins_of(const Tensor& self, const Sizes& pad) {
  if (pad.size() % 2 != 0) throw OpError("pad: the length must be even");
  if (pad.size() / 2 > self.sizes.size()) {
    throw OpError("pad: the list names more dimensions than the tensor has");
  }
  Margins out{Sizes(self.sizes.size(), 0), Sizes(self.sizes.size(), 0)};
  for (std::size_t i = 0; i < pad.size(); i += 2) {
    const std::size_t d = self.sizes.size() - 1 - i / 2;
    out.before[d] = pad[i];
    out.after[d] = pad[i + 1];
  }
  return out;
}

Sizes padded_sizes(const Tensor& self, const Margins& margins) {
  Sizes sizes = self.sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t& size = sizes[d];
    if (__builtin_add_overflow(size, margins.before[d], &size) || size < 0 ||
        __builtin_add_overflow(size, margins.after[d], &size) || size < 0) {
      throw OpError("pad: dimension " + std::to_string(d) + " would have a size below 0");
    }
  }
  return sizes;
}

// The operand without what negative margins cut off, and without negative margins.
TensorRef cropped(const TensorRef& self, Margins& margins) {
  TensorRef out = self;
  for (std::size_t d = 0; d < self->sizes.size(); ++d) {
    const std::int64_t front = std::max<std::int64_t>(-margins.before[d], 0);
    const std::int64_t back = std::max<std::int64_t>(-margins.after[d], 0);
    const std::int64_t length = out->sizes[d] - front - back;
    if (length < 0) throw OpError("pad: more is cut than there is");
    if (front + back > 0) out = narrowed(*out, static_cast<std::int64_t>(d), front, length);
    margins.before[d] += front;
    margins.after[d] += back;
  }
  return out;
}

TensorRef padded_with_constant(Mode mode, const TensorRef& self, const Sizes& pad,
                               const Datum& value) {
  Margins margins = margins_of(*self, pad);
  const Sizes sizes = padded_sizes(*self, margins);
  const TensorRef inner = cropped(self, margins);
  if (inner->sizes == sizes) return copy_of(*inner, strides_like(*inner, MemoryFormat::kPreserve));
  TensorRef out = new_tensor(self->dtype, sizes, strides_in_format(sizes, suggested_format(*self)),
                             self->device);
  fill(mode, *out, value);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) offset += margins.before[d] * out->strides[d];
  assign(mode, *view_of(*out, inner->sizes, out->strides, offset), *inner);
  return out;
}

void constant_pad_nd(Call& call) {
  emit_made(call, padded_with_constant(call.mode(), call.tensor("self"), call.integers("pad"),
                                       call.datum("value")));
}

// Where an index outside [0, size) takes its element from.
using Outside = std::int64_t (*)(std::int64_t index, std::int64_t size);

std::int64_t reflected(std::int64_t index, std::int64_t size) {
  if (index < 0) return -index;
  return index < size ? index : 2 * (size - 1) - index;
}
std::int64_t replicated(std::int64_t index, std::int64_t size) {
  return std::clamp<std::int64_t>(index, 0, size - 1);
}
std::int64_t wrapped(std::int64_t index, std::int64_t size) { return (index % size + size) % size; }

TensorRef padded_with_elements(const Tensor& self, const Margins& margins, Outside outside,
                               MemoryFormat format) {
  const Sizes sizes = padded_sizes(self, margins);
  TensorRef out = new_tensor(self.dtype, sizes, strides_in_format(sizes, format), self.device);
  std::vector<std::int64_t> from;
  for_each_index(sizes, [&](const Sizes& index) {
    std::int64_t position = self.offset;
    for (std::size_t d = 0; d < index.size(); ++d) {
      position += outside(index[d] - margins.before[d], self.sizes[d]) * self.strides[d];
    }
    from.push_back(position);
  });
  move_elements(*out, self, from);
  return out;
}

// The operand has `dims` spatial dimensions behind one or two others. Only the batch may be empty.
void check_spatial(const Tensor& self, std::size_t dims, const char* op) {
  const std::size_t rank = self.sizes.size();
  const bool right_rank = rank == dims + 1 || rank == dims + 2;
  const std::size_t first = rank == dims + 2 ? 1 : 0;
  const bool has_elements =
      right_rank && std::all_of(self.sizes.begin() + static_cast<std::ptrdiff_t>(first),
                                self.sizes.end(), [](std::int64_t size) { return size != 0; });
  if (has_elements) return;
  throw OpError(std::string(op) + ": expected a tensor of rank " + std::to_string(dims + 1) +
                " or " + std::to_string(dims + 2) + " with non-zero sizes, but for the batch");
}

TensorRef padded_by_reflection(const Tensor& self, const Sizes& pad) {
  check_spatial(self, pad.size() / 2, "reflection_pad");
  const Margins margins = margins_of(self, pad);
  for (std::size_t d = self.sizes.size() - pad.size() / 2; d < self.sizes.size(); ++d) {
    if (margins.before[d] < self.sizes[d] && margins.after[d] < self.sizes[d]) continue;
    throw OpError("reflection_pad: padding must be less than the size of its dimension " +
                  std::to_string(d));
  }
  const bool may_be_channels_last = pad.size() > 2;
  return padded_with_elements(
      self, margins, reflected,
      may_be_channels_last ? suggested_format(self) : MemoryFormat::kContiguous);
}

TensorRef padded_by_replication(const Tensor& self, const Sizes& pad) {
  check_spatial(self, pad.size() / 2, "replication_pad");
  const bool may_be_channels_last = pad.size() > 2;
  return padded_with_elements(
      self, margins_of(self, pad), replicated,
      may_be_channels_last ? suggested_format(self) : MemoryFormat::kContiguous);
}

// What negative margins leave is wrapped.
TensorRef padded_circularly(const TensorRef& self, const Sizes& pad) {
  Margins margins = margins_of(*self, pad);
  static_cast<void>(padded_sizes(*self, margins));  // throws for margins out of range
  for (std::size_t d = 0; d < self->sizes.size(); ++d) {
    if (margins.before[d] > self->sizes[d] || margins.after[d] > self->sizes[d]) {
      throw OpError("pad: circular padding wraps around more than once");
    }
  }
  const TensorRef inner = cropped(self, margins);
  for (std::size_t d = 0; d < inner->sizes.size(); ++d) {
    if (inner->sizes[d] == 0 && margins.before[d] + margins.after[d] > 0) {
      throw OpError("pad: nothing is left to wrap around");
    }
  }
  return padded_with_elements(*inner, margins, wrapped, MemoryFormat::kContiguous);
}

void check_pad_length(const Sizes& pad, std::size_t length) {
  if (pad.size() != length) {
    throw OpError("padding size is expected to be " + std::to_string(length));
  }
}

template <std::size_t kDims>
void reflection_pad(Call& call) {
  const Sizes pad = call.integers("padding");
  check_pad_length(pad, 2 * kDims);
  emit_made(call, padded_by_reflection(*call.tensor("self"), pad));
}
template <std::size_t kDims>
void replication_pad(Call& call) {
  const Sizes pad = call.integers("padding");
  check_pad_length(pad, 2 * kDims);
  emit_made(call, padded_by_replication(*call.tensor("self"), pad));
}

// The way back of reflection and of replication: an element gets the gradients of all its copies.
void padding_backward(Call& call, std::size_t dims, Outside outside) {
  const Tensor& self = *call.tensor("self");
  const Tensor& gradient = *call.tensor("grad_output");
  const Sizes pad = call.integers("padding");
  check_pad_length(pad, 2 * dims);
  check_spatial(self, dims, "padding");
  const Margins margins = margins_of(self, pad);
  if (gradient.sizes != padded_sizes(self, margins) || gradient.dtype != self.dtype) {
    throw OpError("padding: grad_output is not like the padded tensor");
  }
  if (!spec::is_floating_point(self.dtype)) throw OpError("padding: gradients are floats");
  const std::size_t first = self.sizes.size() - dims;
  for (std::size_t d = first; d < self.sizes.size(); ++d) {
    const bool fits = margins.before[d] < self.sizes[d] && margins.after[d] < self.sizes[d];
    if (outside == reflected && !fits) throw OpError("padding: more is reflected than there is");
  }
  const auto format = dims > 1 ? suggested_format(self) : MemoryFormat::kContiguous;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> out = plane_gradient<N>(
        gradient, self.sizes, dims, Partials::kOwnDtype, [&](const Sizes& place, const auto& send) {
          std::int64_t position = 0;
          for (std::size_t d = 0; d < dims; ++d) {
            const std::int64_t size = self.sizes[first + d];
            position = position * size + outside(place[d] - margins.before[first + d], size);
          }
          send(position, [](const N& g) { return g; });
        });
    call.emit(out, self.dtype, strides_in_format(self.sizes, format));
  });
}
template <std::size_t kDims>
void reflection_pad_backward(Call& call) {
  padding_backward(call, kDims, reflected);
}
template <std::size_t kDims>
void replication_pad_backward(Call& call) {
  padding_backward(call, kDims, replicated);
}

void pad(Call& call) {
  const TensorRef& self = call.tensor("self");
  const Sizes list = call.integers("pad");
  const std::string_view mode = call.text("mode");
  if (mode == "constant") {
    const Datum value{call.optional_real("value").value_or(0.0)};
    return emit_made(call, padded_with_constant(call.mode(), self, list, value));
  }
  if (call.optional_real("value").value_or(0.0) != 0) {
    throw OpError("padding mode '" + std::string(mode) + "' does not take a value");
  }
  if (list.empty() || list.size() > 6) throw OpError("pad: 1 to 3 dimensions can be padded so");
  if (mode == "reflect") return emit_made(call, padded_by_reflection(*self, list));
  if (mode == "replicate") return emit_made(call, padded_by_replication(*self, list));
  if (mode == "circular") return emit_made(call, padded_circularly(self, list));
  throw OpError("unrecognised padding mode '" + std::string(mode) + "'");
}

constexpr std::array kPaddingOps = {
    OpBody{"aten.constant_pad_nd", constant_pad_nd}.any_dtype().moves("self"),
    OpBody{"aten.pad", pad}.any_dtype().moves("self"),
    OpBody{"aten.reflection_pad1d", reflection_pad<1>}.any_dtype().moves("self"),
    OpBody{"aten.reflection_pad1d_backward", reflection_pad_backward<1>},
    OpBody{"aten.reflection_pad2d", reflection_pad<2>}.any_dtype().moves("self"),
    OpBody{"aten.reflection_pad2d_backward", reflection_pad_backward<2>},
    OpBody{"aten.reflection_pad3d", reflection_pad<3>}.any_dtype().moves("self"),
    OpBody{"aten.reflection_pad3d_backward", reflection_pad_backward<3>},
    OpBody{"aten.replication_pad1d", replication_pad<1>}.any_dtype().moves("self"),
    OpBody{"aten.replication_pad1d_backward", replication_pad_backward<1>},
    OpBody{"aten.replication_pad2d", replication_pad<2>}.any_dtype().moves("self"),
    OpBody{"aten.replication_pad2d_backward", replication_pad_backward<2>},
    OpBody{"aten.replication_pad3d", replication_pad<3>}.any_dtype().moves("self"),
    OpBody{"aten.replication_pad3d_backward", replication_pad_backward<3>},
};

}  // namespace

std::span<const OpBody> padding_ops() { return kPaddingOps; }

}  // namespace graphgate::reference
