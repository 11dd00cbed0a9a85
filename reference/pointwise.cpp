#include "reference/pointwise.h"

#include <algorithm>
#include <cmath>

#include "reference/movement.h"

namespace graphgate::reference {
namespace {

using spec::DType;

[[noreturn]] void refuse(const Call& call, DType dtype) {
  throw OpError(call.row().schema.qualified_name() + " is not implemented for " +
                std::string(spec::torch_name(dtype)));
}

bool can_cast(DType from, DType to) {
  if (spec::is_complex(to)) return true;
  if (spec::is_complex(from)) return false;
  if (spec::is_floating_point(from) && !spec::is_floating_point(to)) return false;
  return from == DType::kBool || to != DType::kBool;
}

// Integers: what the dtype holds; unsigned ones also take the negative of it, which wraps.
bool integer_fits(long double x, DType dtype) {
  const auto bits = static_cast<int>(8 * spec::item_size_bytes(dtype));
  if (dtype == DType::kUInt8) return std::fabs(x) < 256;
  const long double end = std::ldexp(1.0L, bits - 1);
  return x >= -end && x < end;
}

bool number_fits(long double x, DType dtype) {
  if (dtype == DType::kBool) return true;
  if (!spec::is_floating_point(dtype)) return integer_fits(std::trunc(x), dtype);
  if (std::isinf(x)) return dtype != DType::kFloat8E4M3FN;
  return std::isnan(x) || std::fabs(x) <= static_cast<long double>(max_finite(dtype));
}

}  // namespace

Operands gather_operands(const Call& call, std::initializer_list<std::string_view> names) {
  Operands operands;
  operands.data.reserve(names.size());
  operands.tensors.reserve(names.size());
  for (const std::string_view name : names) {
    operands.data.push_back(call.datum(name));
    if (const auto* tensor = operands.data.back().as<TensorRef>()) {
      operands.tensors.push_back(*tensor);
    }
  }
  operands.common = result_type(operands.data);
  for (const TensorRef& tensor : operands.tensors) broadcast_with(operands.sizes, tensor->sizes);
  return operands;
}

Sizes operand_strides(const Operands& operands) {
  if (operands.like_self) {
    return strides_like(*operands.tensors.front(), spec::MemoryFormat::kPreserve);
  }
  const bool has_number = std::any_of(operands.data.begin(), operands.data.end(),
                                      [](const Datum& x) { return !x.as<TensorRef>(); });
  if (!has_number) return pointwise_strides(operands.tensors, operands.sizes);
  std::vector<TensorRef> all = operands.tensors;
  all.push_back(new_tensor(operands.common, {}, spec::Device{}));
  return pointwise_strides(all, operands.sizes);
}

Tensor stretched_operand(const Tensor& tensor, const Sizes& sizes) {
  Tensor wide = tensor;
  if (tensor.sizes == sizes) return wide;
  if (broadcast_sizes({tensor.sizes, sizes}) != sizes) {
    throw OpError("a tensor does not stretch to the sizes of the result");
  }
  wide.strides = stretched_strides(tensor, sizes);
  wide.sizes = sizes;
  return wide;
}

Operands read_before_writing(const Call& call, Operands operands) {
  for (Datum& datum : operands.data) {
    const auto* tensor = datum.as<TensorRef>();
    if (!tensor || call.reads_before_writing(**tensor, operands.sizes)) continue;
    datum = {copy_of(**tensor)};
  }
  return operands;
}

bool last_is_single(const Operands& operands) {
  const auto* tensor = operands.data.back().as<TensorRef>();
  return !tensor || (*tensor)->count() == 1;
}

void check_result_fits(const Call& call, DType dtype) {
  const TensorRef target = call.next_target();
  if (!target || can_cast(dtype, target->dtype)) return;
  throw OpError("result type " + std::string(spec::torch_name(dtype)) +
                " can't be cast to the desired output type " +
                std::string(spec::torch_name(target->dtype)));
}

void refuse_float8(const Call& call, DType dtype) {
  if (is_float8(dtype)) refuse(call, dtype);
}

void require_floating(const Call& call, DType dtype) {
  if (!spec::is_floating_point(dtype)) refuse(call, dtype);
}

void require_integral(const Call& call, DType dtype) {
  if (spec::is_floating_point(dtype)) refuse(call, dtype);
}

void refuse_bool(const Call& call, DType dtype) {
  if (dtype == DType::kBool) refuse(call, dtype);
}

void check_number_fits(const Datum& datum, DType dtype) {
  if (is_fitting(datum, [&](long double x) { return number_fits(x, dtype); })) return;
  throw OpError("value cannot be converted to type " + std::string(spec::torch_name(dtype)) +
                " without overflow");
}

}  // namespace graphgate::reference
