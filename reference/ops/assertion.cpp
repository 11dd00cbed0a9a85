// Ops that compute nothing: a run stops where what they assert does not hold.
#include <array>

#include "reference/registry.h"

namespace graphgate::reference {
namespace {

void assert_scalar(Call& call) {
  if (call.real("self") == 0) throw OpError(std::string(call.text("assert_msg")));
}

// An oracle that cannot tell whether the assertion holds goes on: no result depends on it.
void assert_async(Call& call) {
  const Tensor& tensor = *call.tensor("self");
  if (tensor.count() != 1) {
    throw OpError("the truth of a tensor with other than one element is ambiguous");
  }
  if (!is_decided(tensor) || load<double>(tensor, spec::DType::kFloat64)[0] != 0) return;
  throw OpError(call.has("assert_msg") ? std::string(call.text("assert_msg"))
                                       : "expected a tensor with one element that is not zero");
}

void constrain_range(Call& call) {
  const std::int64_t size = call.integer("size");
  const std::int64_t least = call.optional_integer("min").value_or(size);
  const std::int64_t most = call.optional_integer("max").value_or(size);
  if (size >= least && size <= most) return;
  throw OpError("Invalid value range for " + std::to_string(size) + " between [" +
                std::to_string(least) + ", " + std::to_string(most) + "].");
}

void expect(bool holds, const std::string& what, const std::string& found,
            const std::string& expected) {
  if (holds) return;
  throw OpError("tensor " + what + " mismatch: expected " + expected + ", found " + found);
}

// A device without an index is any device of its type.
bool same_device(const spec::Device& a, const spec::Device& b) {
  return a.type == b.type && (a.index == b.index || a.index < 0 || b.index < 0);
}

void assert_tensor_metadata(Call& call) {
  const Tensor& tensor = *call.tensor("a");
  if (const auto sizes = call.optional_integers("size")) {
    expect(*sizes == tensor.sizes, "sizes", print_sizes(tensor.sizes), print_sizes(*sizes));
  }
  if (const auto strides = call.optional_integers("stride")) {
    expect(*strides == tensor.strides, "strides", print_sizes(tensor.strides),
           print_sizes(*strides));
  }
  if (const auto dtype = call.optional_dtype("dtype")) {
    expect(*dtype == tensor.dtype, "dtype", std::string(spec::torch_name(tensor.dtype)),
           std::string(spec::torch_name(*dtype)));
  }
  const spec::Device device = call.device_or(tensor.device);
  expect(same_device(device, tensor.device), "device", spec::print_device(tensor.device),
         spec::print_device(device));
  const auto* layout = call.datum("layout").as<spec::Layout>();
  expect(!layout || *layout == spec::Layout::kStrided, "layout", "strided", "another one");
}

constexpr std::array kAssertionOps = {
    OpBody{"aten._assert_async", assert_async},
    OpBody{"aten._assert_scalar", assert_scalar},
    OpBody{"aten._assert_tensor_metadata", assert_tensor_metadata}.any_dtype(),
    OpBody{"aten.sym_constrain_range", constrain_range},
    OpBody{"aten.sym_constrain_range_for_size", constrain_range},
};

}  // namespace

std::span<const OpBody> assertion_ops() { return kAssertionOps; }

}  // namespace graphgate::reference
