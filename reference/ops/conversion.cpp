// Copies, casts, fills, and reading one element as a number. The 8-bit floating dtypes can do these
// and little else.
#include <array>

#include "reference/movement.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using spec::MemoryFormat;

// Emits the elements of `self`, cast to `dtype`: into the written argument (cast to its dtype
// instead), or into a new tensor.
void emit_cast(Call& call, const Tensor& self, DType dtype, Sizes strides,
               const spec::Device& device) {
  const TensorRef target = call.next_target();
  const TensorRef out =
      new_tensor(target ? target->dtype : dtype, self.sizes, std::move(strides), device);
  assign(call.mode(), *out, self);
  emit_made(call, out);
}

MemoryFormat format_or_preserve(const Call& call) {
  return call.optional_format("memory_format").value_or(MemoryFormat::kPreserve);
}

void clone(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_cast(call, self, self.dtype, strides_like(self, format_or_preserve(call)), self.device);
}

void lift_fresh_copy(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_cast(call, self, self.dtype, spec::contiguous_strides(self.sizes), self.device);
}

void to_copy(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_cast(call, self, call.optional_dtype("dtype").value_or(self.dtype),
            strides_like(self, format_or_preserve(call)), call.device_or(self.device));
}

// "cuda" is "cuda:0".
bool same_device(const spec::Device& a, const spec::Device& b) {
  return a.type == b.type && std::max(a.index, 0) == std::max(b.index, 0);
}

// The argument itself when nothing would change.
void to(Call& call) {
  const TensorRef& self = call.tensor("self");
  const TensorRef other = call.has("other") ? call.tensor("other") : nullptr;
  const DType dtype = other ? other->dtype : call.optional_dtype("dtype").value_or(self->dtype);
  const spec::Device device = call.device_or(other ? other->device : self->device);
  const MemoryFormat format = format_or_preserve(call);
  const bool keeps_format = format == MemoryFormat::kPreserve || format == suggested_format(*self);
  const bool copies = call.has("copy") && call.boolean("copy");
  if (!copies && keeps_format && dtype == self->dtype && same_device(device, self->device)) {
    return call.emit_datum({self});
  }
  emit_cast(call, *self, dtype, strides_like(*self, format), device);
}

void type_as(Call& call) {
  const TensorRef& self = call.tensor("self");
  const Tensor& other = *call.tensor("other");
  if (self->dtype == other.dtype && same_device(self->device, other.device)) {
    return call.emit_datum({self});
  }
  emit_cast(call, *self, other.dtype, strides_like(*self, MemoryFormat::kPreserve), other.device);
}

void contiguous(Call& call) {
  const TensorRef& self = call.tensor("self");
  const auto format = call.optional_format("memory_format").value_or(MemoryFormat::kContiguous);
  if (format == MemoryFormat::kPreserve || is_contiguous_in(*self, format)) {
    return call.emit_datum({self});
  }
  emit_cast(call, *self, self->dtype, strides_in_format(self->sizes, format), self->device);
}

void lift_fresh(Call& call) { call.emit_datum({call.tensor("self")}); }

// self with the elements of src; the result keeps the strides and the offset of self, unless two
// of its elements share memory.
TensorRef copy_target(const Tensor& self) {
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (self.strides[d] != 0 || self.sizes[d] < 2) continue;
    return new_tensor(self.dtype, self.sizes, strides_like(self, MemoryFormat::kPreserve),
                      self.device);
  }
  auto out = std::make_shared<Tensor>(self);
  out->storage = std::make_shared<Storage>(*self.storage);
  out->storage->borrowed = true;  // the bytes are still self's; the first write copies them
  return out;
}

void copy(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& source = *call.tensor("src");
  if (broadcast_sizes({self.sizes, source.sizes}) != self.sizes) {
    throw OpError("the source of copy does not broadcast to the sizes of its target");
  }
  const TensorRef target = call.next_target();
  if (target && target->sizes != self.sizes) call.resize_out(target, self.sizes);
  const TensorRef cast = new_tensor(target ? target->dtype : self.dtype, source.sizes, self.device);
  assign(call.mode(), *cast, source);
  const TensorRef out = target ? target : copy_target(self);
  assign(call.mode(), *out, *view_of(*cast, self.sizes, stretched_strides(*cast, self.sizes), 0));
  call.emit_datum({out});
}

void fill(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Datum& value = call.datum("value");
  const auto* scalar = value.as<TensorRef>();
  if (scalar && (*scalar)->rank() != 0) {
    throw OpError("fill only supports a 0-dimensional value tensor");
  }
  if (!scalar) check_number_fits(value, self.dtype);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const N x = scalar ? load<N>(**scalar, self.dtype)[0] : number<N>(value, self.dtype);
    call.emit(Array<N>(self.sizes, x), self.dtype, strides_like(self, MemoryFormat::kPreserve));
  });
}

void zero(Call& call) {
  const Tensor& self = *call.tensor("self");
  with_number(call.mode(), self.dtype, [&]<class N>() {
    call.emit(Array<N>(self.sizes), self.dtype, strides_like(self, MemoryFormat::kPreserve));
  });
}

// The one element of a tensor, as a number.
void local_scalar_dense(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.count() != 1) throw OpError("a tensor of one element is wanted");
  if (spec::is_floating_point(self.dtype)) {
    if (!is_decided(self)) return call.emit_datum({RoundedFloat{copy_of(self)}});
    return call.emit_datum({load<double>(self, self.dtype)[0]});
  }
  require_decided(self);
  const std::int64_t value = load<Whole>(self, self.dtype)[0].value;
  if (self.dtype == DType::kBool) return call.emit_datum({value != 0});
  call.emit_datum({value});
}

constexpr std::array kConversionOps = {
    OpBody{"aten._local_scalar_dense", local_scalar_dense},
    OpBody{"aten.item", local_scalar_dense},
    OpBody{"aten._to_copy", to_copy}.any_dtype().moves("self"),
    OpBody{"aten.clone", clone}.any_dtype().moves("self"),
    OpBody{"aten.contiguous", contiguous}.any_dtype().moves("self"),
    OpBody{"aten.copy", copy}.any_dtype().moves("self", "src"),
    OpBody{"aten.fill", fill, true},
    OpBody{"aten.lift_fresh", lift_fresh}.any_dtype(),
    OpBody{"aten.lift_fresh_copy", lift_fresh_copy}.any_dtype().moves("self"),
    OpBody{"aten.to", to}.any_dtype().moves("self", "other"),
    OpBody{"aten.type_as", type_as}.any_dtype().moves("self", "other"),
    OpBody{"aten.zero", zero, true},
};

}  // namespace

std::span<const OpBody> conversion_ops() { return kConversionOps; }

}  // namespace graphgate::reference
