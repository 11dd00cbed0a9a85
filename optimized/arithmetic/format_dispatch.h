// From a dtype to its storage format as a type.
#pragma once

#include <utility>

#include "base/result.h"
#include "optimized/arithmetic/formats.h"
#include "spec/dtype.h"

namespace graphgate::optimized {

// f.operator()<Format>() with the format of a floating-point dtype.
template <class F>
auto with_float_format(spec::DType dtype, F&& f) {
  switch (dtype) {
    case spec::DType::kFloat64:
      return std::forward<F>(f).template operator()<Plain<double>>();
    case spec::DType::kFloat16:
      return std::forward<F>(f).template operator()<F16>();
    case spec::DType::kBFloat16:
      return std::forward<F>(f).template operator()<BF16>();
    case spec::DType::kFloat8E4M3FN:
      return std::forward<F>(f).template operator()<F8E4M3FN>();
    case spec::DType::kFloat8E5M2:
      return std::forward<F>(f).template operator()<F8E5M2>();
    default:
      GRAPHGATE_CHECK(dtype == spec::DType::kFloat32);
      return std::forward<F>(f).template operator()<Plain<float>>();
  }
}

// Calls visit with the format of `dtype`.
template <class Visit>
void with_format(spec::DType dtype, Visit visit) {
  switch (dtype) {
    case spec::DType::kFloat64:
      return visit(Plain<double>{});
    case spec::DType::kFloat32:
      return visit(Plain<float>{});
    case spec::DType::kFloat16:
      return visit(F16{});
    case spec::DType::kBFloat16:
      return visit(BF16{});
    case spec::DType::kFloat8E4M3FN:
      return visit(F8E4M3FN{});
    case spec::DType::kFloat8E5M2:
      return visit(F8E5M2{});
    case spec::DType::kInt64:
      return visit(Plain<std::int64_t>{});
    case spec::DType::kInt32:
      return visit(Plain<std::int32_t>{});
    case spec::DType::kInt16:
      return visit(Plain<std::int16_t>{});
    case spec::DType::kInt8:
      return visit(Plain<std::int8_t>{});
    case spec::DType::kUInt8:
      return visit(Plain<std::uint8_t>{});
    case spec::DType::kBool:
      return visit(Boolean{});
    case spec::DType::kComplex64:
    case spec::DType::kComplex128:
      break;  // two numbers an element
  }
  GRAPHGATE_CHECK(false);
}

}  // namespace graphgate::optimized
