// Casting rows of float32 values to an 8-bit float by a scale, as fused kernels do it. The
// roundings are those of div (or mul), clamp and the cast, each a node of its own in the program.
//
// Used by: fused_norm, fused_attention. Values are those of float32 tensors; the cast itself is
// the store into the result.
#pragma once

#include <cmath>

#include "optimized/arithmetic/tile.h"
#include "optimized/kernel.h"

namespace graphgate::optimized {

struct QuantLimits {
  explicit QuantLimits(const KernelCall& call)
      : low(static_cast<float>(call.real("min"))), high(static_cast<float>(call.real("max"))) {}
  float low;
  float high;
  // clamp: NaN stays.
  [[nodiscard]] float operator()(float x) const {
    const float raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

// One scale for all, read from memory when the launch runs.
struct FixedQuant {
  FixedQuant(const KernelCall& call, const Tensor& scale_tensor)
      : scale(scale_tensor), divides(call.boolean("divides")), limits(call) {
    if (scale.count() != 1 || scale.dtype != spec::DType::kFloat32) {
      throw OpError("the scale is one float32 number");
    }
  }
  Tensor scale;
  bool divides = false;
  QuantLimits limits;
};

// A scale for each row, from the row's greatest magnitude.
struct RowQuant {
  explicit RowQuant(const KernelCall& call)
      : floor_before(call.optional_real("floor_before")),
        floor_after(call.optional_real("floor_after")),
        factor(static_cast<float>(call.real("factor"))),
        factor_divides(call.boolean("factor_divides")),
        limits(call) {}

  // n > 0; NaN wins.
  [[nodiscard]] float scale_of(const float* x, std::int64_t n) const {
    float greatest = std::fabs(x[0]);
    for (std::int64_t i = 0; i < n; ++i) {
      const float magnitude = std::fabs(x[i]);
      if (magnitude != magnitude) {
        greatest = magnitude;
        break;
      }
      if (magnitude > greatest) greatest = magnitude;
    }
    const auto raise = [](float value, const std::optional<double>& floor) {
      const float limit = floor ? static_cast<float>(*floor) : value;
      return value < limit ? limit : value;
    };
    greatest = raise(greatest, floor_before);
    return raise(factor_divides ? greatest / factor : greatest * factor, floor_after);
  }

  std::optional<double> floor_before, floor_after;
  float factor = 1;
  bool factor_divides = false;
  QuantLimits limits;
};

// The values of a row, ready to be stored as 8-bit floats.
class QuantRun {
 public:
  explicit QuantRun(const FixedQuant& quant)
      : scale_(load_element<float>(quant.scale.dtype, quant.scale.data())),
        divides_(quant.divides),
        limits_(quant.limits) {}
  QuantRun(const RowQuant& quant, float scale)
      : scale_(scale), divides_(true), limits_(quant.limits) {}

  void apply(float* x, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) x[i] = limits_(divides_ ? x[i] / scale_ : x[i] * scale_);
  }

 private:
  float scale_;
  bool divides_;
  QuantLimits limits_;
};

}  // namespace graphgate::optimized
