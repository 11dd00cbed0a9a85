// Works along rows as kernels: a warp takes a row (codegen/text/prelude.cuh).
#pragma once

#include <span>

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// Rows of `self` along `dims`, read as `dtype`; result[r] = function(row r, length), rounded to
// `rounds_to`. `compute` is the dtype of the type that the function reads. Nothing for rows that
// are too long (2^30).
struct ReduceWork {
  Tensor result;
  Tensor self;
  std::vector<std::int64_t> dims;
  spec::DType dtype = spec::DType::kFloat32;
  spec::DType rounds_to = spec::DType::kFloat32;
  spec::DType compute = spec::DType::kFloat32;
  std::string function;  // a callable of rows.h
};
[[nodiscard]] std::optional<TextWork> reduce_text(const ReduceWork& work);

// A softmax of `self` along one dimension, read as `dtype` and rounded to it. `function` is one of
// the prelude: "softmax", "safe_softmax", "log_softmax".
[[nodiscard]] std::optional<TextWork> softmax_text(const Tensor& result, const Tensor& self,
                                                   std::int64_t dim, spec::DType dtype,
                                                   const std::string& function);

// Layer normalization along `dims`. Weight, bias, mean and deviation may be null; `weight` and
// `bias` have one element per element of a row, in its order, or the input's own sizes.
struct NormWork {
  Tensor result;
  Tensor input;
  std::vector<std::int64_t> dims;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* mean = nullptr;
  const Tensor* deviation = nullptr;
  spec::DType statistics = spec::DType::kFloat32;
  double epsilon = 0;
};
[[nodiscard]] std::optional<TextWork> norm_text(const NormWork& work);

// What graphgate.rms_norm does, and with a residual graphgate.add_rms_norm: the sum of input and
// residual goes into `sum`. `compute` is the dtype that the roundings on the way go through.
struct RmsNormWork {
  Tensor result;
  Tensor input;
  const Tensor* residual = nullptr;
  const Tensor* sum = nullptr;
  Tensor weight;
  spec::DType compute = spec::DType::kFloat32;
  bool by_power = false;
  double epsilon = 0;
  bool weight_is_constant = false;  // as told to TextWork::norm
};
[[nodiscard]] std::optional<TextWork> rms_norm_text(const DeviceListener& listener,
                                                    const RmsNormWork& work);
// Its epsilon, as text.
[[nodiscard]] std::string epsilon_text(const RmsNormWork& work);

}  // namespace graphgate::optimized
