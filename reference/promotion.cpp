#include "reference/promotion.h"

#include <algorithm>
#include <optional>

namespace graphgate::reference {
namespace {

using spec::DType;

// bool 0, integers 1, floating 2, complex 3.
int category(DType dtype) {
  if (spec::is_complex(dtype)) return 3;
  if (spec::is_floating_point(dtype)) return 2;
  return dtype == DType::kBool ? 0 : 1;
}

DType promote_floats(DType a, DType b) {
  if (a == DType::kFloat64 || b == DType::kFloat64) return DType::kFloat64;
  const bool has_half = (a == DType::kFloat16 || b == DType::kFloat16);
  const bool has_bfloat = (a == DType::kBFloat16 || b == DType::kBFloat16);
  const bool has_single = (a == DType::kFloat32 || b == DType::kFloat32);
  if (has_single || (has_half && has_bfloat)) return DType::kFloat32;
  if (has_half) return DType::kFloat16;
  GRAPHGATE_CHECK(has_bfloat);
  return DType::kBFloat16;
}

DType promote_integers(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kUInt8 && b == DType::kInt8) return DType::kInt16;
  if (a == DType::kInt8 && b == DType::kUInt8) return DType::kInt16;
  return spec::item_size_bytes(a) > spec::item_size_bytes(b) ? a : b;
}

DType promote_complex(DType a, DType b) {
  const bool is_wide =
      spec::component_dtype(a) == DType::kFloat64 || spec::component_dtype(b) == DType::kFloat64;
  return is_wide ? DType::kComplex128 : DType::kComplex64;
}

// The complex dtype of a floating one's width.
DType complex_of_width(DType dtype) {
  if (dtype == DType::kFloat64) return DType::kComplex128;
  if (dtype == DType::kFloat32) return DType::kComplex64;
  throw Undecidable("complex numbers of the width of " + std::string(spec::torch_name(dtype)) +
                    " are not supported");
}

// The running result of one priority class.
struct Class {
  std::optional<DType> dtype;
  void include(DType next) { dtype = dtype ? promote(*dtype, next) : next; }
};

// What a lower class adds to a higher one: nothing unless its category is higher.
std::optional<DType> merge(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || category(*lower) <= category(*higher)) return higher;
  if (category(*higher) == 2) return complex_of_width(*higher);
  return promote(*higher, *lower);
}

}  // namespace

bool is_float8(spec::DType dtype) {
  return spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) == 1;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b)) {
    throw OpError("promotion for 8-bit floating dtypes is not supported: " +
                  std::string(spec::torch_name(a)) + " with " + std::string(spec::torch_name(b)));
  }
  if (spec::is_complex(a) || spec::is_complex(b)) return promote_complex(a, b);
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  return category(a) == 2 ? promote_floats(a, b) : promote_integers(a, b);
}

DType result_type(std::span<const Datum> operands) {
  Class with_dims;
  Class without_dims;
  Class numbers;
  for (const Datum& operand : operands) {
    if (const auto* tensor = operand.as<TensorRef>()) {
      ((*tensor)->rank() > 0 ? with_dims : without_dims).include((*tensor)->dtype);
    } else if (operand.as<bool>()) {
      numbers.include(DType::kBool);
    } else if (operand.as<std::int64_t>()) {
      numbers.include(DType::kInt64);
    } else if (is_float(operand)) {
      numbers.include(DType::kFloat32);
    } else if (operand.as<spec::ComplexNumber>()) {
      numbers.include(DType::kComplex64);
    }
  }
  const auto dtype = merge(merge(with_dims.dtype, without_dims.dtype), numbers.dtype);
  if (!dtype) throw OpError("an op needs at least one tensor or number");
  return *dtype;
}

DType to_floating(DType dtype) { return spec::is_floating_point(dtype) ? dtype : DType::kFloat32; }

}  // namespace graphgate::reference
