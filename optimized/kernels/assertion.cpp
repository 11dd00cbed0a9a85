// Assertions: they make nothing, and throw when what they state does not hold.
#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/tile.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

void infer_assert_scalar(Inference& call) {
  if (call.real("self") == 0)
    throw OpError("assertion failed: " + std::string(call.text("assert_msg")));
}

void infer_assert_async(Inference& call) {
  if (call.tensor("self").count() != 1) throw OpError("assertion: expected one element");
}
Launch bind_assert_async(const Binding& call) {
  const std::string message =
      call.has("assert_msg") ? std::string(call.text("assert_msg")) : "the element is zero";
  return [self = call.tensor("self"), message] {
    if (load_element<double>(self.dtype, self.data()) == 0) {
      throw OpError("assertion failed: " + message);
    }
  };
}

void infer_range(Inference& call) {
  const std::int64_t size = call.integer("size");
  const auto least = call.optional_integer("min");
  const auto most = call.optional_integer("max");
  if ((least && size < *least) || (most && size > *most)) {
    throw OpError("the size " + std::to_string(size) + " is out of the range that is stated");
  }
}

[[noreturn]] void differs(const char* what, const std::string& expected,
                          const std::string& actual) {
  throw OpError(std::string("the tensor's ") + what + " is " + actual + ", asserted to be " +
                expected);
}

void check_list(const Inference& call, const char* name, const Sizes& actual) {
  const auto expected = call.optional_integers(name);
  if (expected && *expected != actual) differs(name, print_sizes(*expected), print_sizes(actual));
}

// An index of -1 is any device of the type.
bool is_on_device(const spec::Device& a, const spec::Device& b) {
  return a.type == b.type && (a.index == b.index || a.index < 0 || b.index < 0);
}

void infer_assert_metadata(Inference& call) {
  const Tensor& tensor = call.tensor("a");
  check_list(call, "size", tensor.sizes);
  check_list(call, "stride", tensor.strides);
  if (const auto dtype = call.optional_dtype("dtype"); dtype && *dtype != tensor.dtype) {
    differs("dtype", std::string(spec::torch_name(*dtype)),
            std::string(spec::torch_name(tensor.dtype)));
  }
  const spec::Device device = call.device_or(tensor.device);
  if (!is_on_device(device, tensor.device)) {
    differs("device", spec::print_device(device), spec::print_device(tensor.device));
  }
  if (!call.has("layout")) return;
  const auto* layout = call.item("layout").as<spec::Layout>();
  if (layout && *layout != spec::Layout::kStrided) {
    differs("layout", std::string(spec::layout_name(*layout)), "strided");
  }
}

}  // namespace

std::span<const Kernel> assertion_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._assert_async", infer_assert_async, bind_assert_async},
      Kernel{"aten._assert_scalar", infer_assert_scalar}.rows(row_rules::states_sizes),
      Kernel{"aten._assert_tensor_metadata", infer_assert_metadata}.any_dtype().rows(
          row_rules::states_sizes),
      Kernel{"aten.sym_constrain_range", infer_range}.rows(row_rules::states_sizes),
      Kernel{"aten.sym_constrain_range_for_size", infer_range}.rows(row_rules::states_sizes),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
