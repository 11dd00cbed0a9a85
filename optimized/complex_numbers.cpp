#include "optimized/complex_numbers.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "optimized/synonyms.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// Ops whose kernels look at bytes of elements and never at numbers.
std::unordered_set<std::string_view> make_moving_ops() {
  std::unordered_set<std::string_view> ops = {
      // views, and copies of them
      "aten._unsafe_view", "aten.alias", "aten.alias_copy", "aten.as_strided",
      "aten.as_strided_copy", "aten.broadcast_to", "aten.chunk", "aten.detach", "aten.diagonal",
      "aten.diagonal_copy", "aten.expand", "aten.expand_copy", "aten.flatten", "aten.narrow",
      "aten.narrow_copy", "aten.numpy_T", "aten.permute", "aten.permute_copy", "aten.reshape",
      "aten.reshape_as", "aten.resize", "aten.resize_as", "aten.select", "aten.select_copy",
      "aten.slice", "aten.slice_copy", "aten.split", "aten.split_with_sizes",
      "aten.split_with_sizes_copy", "aten.squeeze", "aten.squeeze_copy", "aten.t", "aten.t_copy",
      "aten.tensor_split", "aten.transpose", "aten.transpose_copy", "aten.unbind",
      "aten.unbind_copy", "aten.unflatten", "aten.unfold", "aten.unfold_copy", "aten.unsafe_split",
      "aten.unsafe_split_with_sizes", "aten.unsqueeze", "aten.unsqueeze_copy", "aten.view",
      "aten.view_copy", "prims.broadcast_in_dim", "prims.collapse", "prims.collapse_view",
      "prims.split_dim", "prims.squeeze", "prims.view_of",
      // what asks for sizes and dtypes alone
      "aten._assert_tensor_metadata", "aten.sym_numel", "aten.sym_size", "aten.sym_storage_offset",
      "aten.sym_stride",
      // copies and conversions
      "aten._to_copy", "aten.clone", "aten.contiguous", "aten.copy", "aten.lift_fresh",
      "aten.lift_fresh_copy", "aten.to", "aten.type_as", "graphgate.clone_preserve_strides",
      // new tensors
      "aten.diag", "aten.diag_embed", "aten.empty", "aten.empty_like", "aten.empty_permuted",
      "aten.empty_strided", "aten.eye", "aten.fill", "aten.full", "aten.full_like",
      "aten.new_empty", "aten.new_empty_strided", "aten.new_full", "aten.new_ones",
      "aten.new_zeros", "aten.ones", "aten.ones_like", "aten.scalar_tensor", "aten.zero",
      "aten.zeros", "aten.zeros_like",
      // elements elsewhere
      "aten._chunk_cat", "aten._unsafe_index", "aten._unsafe_masked_index", "aten.channel_shuffle",
      "aten.im2col", "aten.native_channel_shuffle", "aten.pixel_shuffle", "aten.pixel_unshuffle",
      "aten.as_strided_scatter", "aten.block_diag", "aten.cat", "aten.concat", "aten.concatenate",
      "aten.complex", "aten.constant_pad_nd", "aten.diagonal_scatter", "aten.embedding",
      "aten.flip", "aten.gather", "aten.index", "aten.index_copy", "aten.index_put",
      "aten._index_put_impl", "aten._unsafe_index_put", "aten.index_select", "aten.masked_scatter",
      "aten.masked_select", "aten.pad", "aten.put", "aten.reflection_pad1d",
      "aten.reflection_pad2d", "aten.reflection_pad3d", "aten.repeat", "aten.repeat_interleave",
      "aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d", "aten.roll",
      "aten.rot90", "aten.scatter", "aten.select_scatter", "aten.slice_scatter", "aten.stack",
      "aten.take"};
  for (const SameOp& same : same_ops()) {
    if (ops.contains(same.op)) ops.insert(same.name);
  }
  return ops;
}

const std::unordered_set<std::string_view>& moving_ops() {
  static const std::unordered_set<std::string_view> kOps = make_moving_ops();
  return kOps;
}

// The first complex dtype of an argument.
std::optional<DType> complex_dtype(const Item& item) {
  std::optional<DType> dtype;
  if (const auto* tensor = item.as<Tensor>()) dtype = tensor->dtype;
  if (const auto* named = item.as<DType>()) dtype = *named;
  if (item.as<spec::ComplexNumber>()) dtype = DType::kComplex64;
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) {
      if (const auto inner = complex_dtype(element)) return inner;
    }
  }
  return dtype && spec::is_complex(*dtype) ? dtype : std::nullopt;
}

std::optional<DType> complex_dtype(const KernelCall& call) {
  for (const Item& item : call.arguments()) {
    if (const auto dtype = complex_dtype(item)) return dtype;
  }
  return std::nullopt;
}

// Whether a conversion is one to bool, which asks what the number is.
bool asks_for_bool(const KernelCall& call, const std::string& name) {
  const auto is_bool = [&](std::string_view argument) {
    return call.is_tensor(argument) && call.tensor(argument).dtype == DType::kBool;
  };
  const Tensor* const written = call.written_result(0);
  if (written != nullptr && written->dtype == DType::kBool) return true;
  if (name == "aten.copy" || name == "aten.fill") return is_bool("self");
  if (name == "aten.type_as" || name == "aten.to") {
    if (is_bool("other")) return true;
  }
  const bool converts = name == "aten.to" || name == "aten._to_copy";
  return converts && call.has("dtype") && call.optional_dtype("dtype") == DType::kBool;
}

// Whether it adds numbers up where they meet, or writes one that is no tensor's.
bool needs_numbers(const KernelCall& call, const std::string& name) {
  const bool is_number = name == "aten.scatter" && !call.is_tensor("src");
  return is_number || call.has("reduce") || call.boolean_or("accumulate", false);
}

}  // namespace

Tensor component_of(const Tensor& tensor, int which) {
  Tensor out = tensor;
  out.dtype = spec::component_dtype(tensor.dtype);
  out.offset = 2 * tensor.offset + which;
  for (std::int64_t& stride : out.strides) stride *= 2;
  return out;
}

Tensor components_of(const Tensor& tensor) {
  Tensor out = component_of(tensor, 0);
  out.sizes.push_back(2);
  out.strides.push_back(1);
  return out;
}

bool has_complex(const KernelCall& call) { return complex_dtype(call).has_value(); }

bool moves_complex(const KernelCall& call) {
  const std::string name = call.row().schema.ns + "." + call.row().schema.base_name();
  return moving_ops().contains(name) && !asks_for_bool(call, name) && !needs_numbers(call, name);
}

void refuse_complex(const KernelCall& call) {
  if (!has_complex(call) || moves_complex(call)) return;
  throw Unsupported(no_complex_text(call));
}

std::string no_complex_text(const KernelCall& call) {
  const auto dtype = complex_dtype(call);
  return call.row().schema.qualified_name() + " of " +
         std::string(spec::torch_name(dtype.value_or(DType::kComplex64))) + " is not supported";
}

}  // namespace graphgate::optimized
