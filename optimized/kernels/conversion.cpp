// Conversions between dtypes, devices and layouts, and fills.
#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

using spec::DType;
using spec::MemoryFormat;

bool is_same_device(const spec::Device& a, const spec::Device& b) {
  return a.type == b.type && std::max(a.index, 0) == std::max(b.index, 0);
}

// What a conversion asks for.
struct Target {
  DType dtype;
  spec::Device device;
  MemoryFormat format;
};

Target target_of(const KernelCall& call, const Tensor& self) {
  if (const Tensor* other = call.has("other") ? &call.tensor("other") : nullptr) {
    return {other->dtype, other->device,
            call.optional_format("memory_format").value_or(MemoryFormat::kPreserve)};
  }
  return {call.optional_dtype("dtype").value_or(self.dtype), call.device_or(self.device),
          call.optional_format("memory_format").value_or(MemoryFormat::kPreserve)};
}

void infer_to_copy(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Target target = target_of(call, self);
  call.make(target.dtype, self.sizes, strides_like(self, target.format), target.device);
  if (!call.has("other")) call.follows_operands();
}

// A conversion that has nothing to do returns its argument.
void infer_to(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Target target = target_of(call, self);
  const bool keeps_format =
      target.format == MemoryFormat::kPreserve || suggested_format(self) == target.format;
  if (target.dtype == self.dtype && is_same_device(target.device, self.device) && keeps_format &&
      !call.boolean_or("copy", false)) {
    return call.make_same(self);
  }
  infer_to_copy(call);
}

void infer_clone(Inference& call) {
  const Tensor& self = call.tensor("self");
  const auto format = call.optional_format("memory_format").value_or(MemoryFormat::kPreserve);
  call.make(self.dtype, self.sizes, strides_like(self, format), self.device);
  call.follows_operands();
}

void infer_contiguous(Inference& call) {
  const Tensor& self = call.tensor("self");
  const auto format = call.optional_format("memory_format").value_or(MemoryFormat::kContiguous);
  if (format == MemoryFormat::kPreserve) throw OpError("preserve_format is no contiguous format");
  if (is_contiguous_in(self, format)) return call.make_same(self);
  call.make(self.dtype, self.sizes, strides_in_format(self.sizes, format), self.device);
}

void infer_lift_fresh(Inference& call) { call.make_same(call.tensor("self")); }

void infer_lift_fresh_copy(Inference& call) {
  const Tensor& self = call.tensor("self");
  call.make(self.dtype, self.sizes, {}, self.device);
}

Launch bind_copy_of_self(const Binding& call) {
  return copy_launch(call.listener(), call.result(), call.tensor("self"));
}

// Whether two indices are one element (or may be: ATen asks the same of sizes and strides alone).
bool overlaps_itself(const Tensor& tensor) {
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] > 1 && tensor.strides[d] == 0) return true;
  }
  return false;
}

// copy keeps the place of self in its storage, gaps included; copy_ writes whatever self is.
void infer_copy(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (broadcast_sizes(self.sizes, call.tensor("src").sizes) != self.sizes) {
    throw OpError("src " + print_sizes(call.tensor("src").sizes) + " does not broadcast to self " +
                  print_sizes(self.sizes));
  }
  const bool overlaps = overlaps_itself(self);
  call.make(self.dtype, self.sizes,
            overlaps ? strides_like(self, MemoryFormat::kPreserve) : self.strides, self.device);
  call.follows_operands();
  Made& made = call.results().back();
  if (made.kind == Made::Kind::kNew && !overlaps) made.tensor.offset = self.offset;
}

Launch bind_copy(const Binding& call) {
  return copy_launch(call.listener(), call.result(), call.tensor("src"));
}

void infer_type_as(Inference& call) { infer_to(call); }

// fill of a tensor's kind; `value` must fit its dtype.
void infer_fill(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (!call.is_tensor("value")) {
    if (spec::is_complex(self.dtype) || call.item("value").as<spec::ComplexNumber>()) {
      (void)element_of(call.item("value"), self.dtype);
    } else {
      check_number(call.item("value"), self.dtype);
    }
  } else if (call.tensor("value").rank() != 0) {
    throw OpError("fill wants a value without dimensions, not " +
                  print_sizes(call.tensor("value").sizes));
  }
  call.make(self.dtype, self.sizes, strides_like(self, MemoryFormat::kPreserve), self.device);
}

// Fills a result of any dtype with a number, rounded to `dtype` first.
Launch fill_rounded(const DeviceListener* listener, const Tensor& result, DType dtype,
                    const Item& value) {
  if (spec::is_complex(result.dtype) || spec::is_complex(dtype) ||
      value.as<spec::ComplexNumber>()) {
    return fill_launch(listener, result, element_of(value, result.dtype));
  }
  return with_compute(dtype, [&]<class C>() {
    std::array<Source<C>, 1> source = {Source<C>(value, dtype)};
    return launch_sources<C>(listener, result, dtype, std::move(source), element::Identity());
  });
}

Launch bind_fill(const Binding& call) {
  if (call.is_tensor("value"))
    return copy_launch(call.listener(), call.result(), call.tensor("value"));
  return fill_rounded(call.listener(), call.result(), call.tensor("self").dtype,
                      call.item("value"));
}

void infer_zero(Inference& call) {
  const Tensor& self = call.tensor("self");
  call.make(self.dtype, self.sizes, strides_like(self, MemoryFormat::kPreserve), self.device);
}

Launch bind_zero(const Binding& call) {
  return fill_rounded(call.listener(), call.result(), call.result().dtype, {std::int64_t{0}});
}

// The one element of a tensor, as a number of its category.
void infer_item(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.count() != 1) {
    throw OpError("a tensor of sizes " + print_sizes(self.sizes) + " is no number");
  }
  if (!call.has_data()) Inference::needs_data();
  if (spec::is_floating_point(self.dtype)) {
    return call.make_number({load_element<double>(self.dtype, self.data())});
  }
  const auto value = load_element<std::int64_t>(self.dtype, self.data());
  call.make_number(self.dtype == DType::kBool ? Item{value != 0} : Item{value});
}

}  // namespace

std::span<const Kernel> conversion_kernels() {
  static const Kernel kKernels[] = {
      {"aten._local_scalar_dense", infer_item},
      Kernel{"aten._to_copy", infer_to_copy, bind_copy_of_self}
          .any_dtype()
          .fuses(Fusion::kPointwise)
          .rows(row_rules::pointwise)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf)
          .copies("self"),
      Kernel{"aten.clone", infer_clone, bind_copy_of_self}
          .any_dtype()
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf)
          .copies("self"),
      Kernel{"aten.contiguous", infer_contiguous, bind_copy_of_self}
          .any_dtype()
          .rows(row_rules::pointwise)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf)
          .copies("self"),
      Kernel{"aten.copy", infer_copy, bind_copy, Overlap::kSameGeometry}
          .any_dtype()
          .fuses(Fusion::kPointwise)
          .rows(row_rules::pointwise)
          .row_major(RowMajorRule::kLikeSelfInPlace)
          .copies("src", "self"),
      Kernel{"aten.fill", infer_fill, bind_fill, Overlap::kSameGeometry}
          .any_dtype()
          .fuses(Fusion::kPointwise)
          .rows(row_rules::pointwise),
      {"aten.item", infer_item},
      Kernel{"aten.lift_fresh", infer_lift_fresh}.any_dtype().rows(row_rules::pointwise),
      Kernel{"aten.lift_fresh_copy", infer_lift_fresh_copy, bind_copy_of_self}
          .any_dtype()
          .rows(row_rules::pointwise)
          .copies("self"),
      Kernel{"aten.to", infer_to, bind_copy_of_self}
          .any_dtype()
          .rows(row_rules::pointwise)
          .row_numbers()
          .row_major(RowMajorRule::kLikeSelf)
          .copies("self", "other"),
      Kernel{"aten.type_as", infer_type_as, bind_copy_of_self}
          .any_dtype()
          .rows(row_rules::pointwise)
          .copies("self", "other"),
      Kernel{"aten.zero", infer_zero, bind_zero, Overlap::kSameGeometry}.any_dtype().rows(
          row_rules::pointwise),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
