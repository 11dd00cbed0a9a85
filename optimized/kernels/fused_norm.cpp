// What add+RMSNorm and RMSNorm+quantization fusions run: one pass over the rows, with every
// rounding of the nodes that they replace (see spec/ops/graphgate.txt).
#include <cmath>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/row_text.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fused_quant.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

enum class Quant : std::uint8_t { kNone, kStatic, kDynamic };

Tensor like(const Tensor& tensor, Sizes strides) {
  Tensor out = tensor;
  out.strides = std::move(strides);
  return out;
}

Tensor cast_of(const Tensor& tensor) {
  return like(tensor, strides_like(tensor, spec::MemoryFormat::kPreserve));
}

Sizes row_sizes(const Tensor& x) {
  Sizes out = x.sizes;
  out.back() = 1;
  return out;
}

void check_operands(const KernelCall& call, const Tensor& x) {
  const Tensor& weight = call.tensor("weight");
  if (x.rank() == 0 || weight.sizes != Sizes{x.sizes.back()}) {
    throw OpError("the weight has one element per column of the input");
  }
  if (!spec::is_floating_point(x.dtype) || !spec::is_floating_point(weight.dtype)) {
    throw OpError("the input and the weight must be floating-point");
  }
  const DType compute = *call.optional_dtype("compute");
  const bool is_wider = compute == DType::kFloat32 && x.dtype != DType::kFloat64;
  if (compute != x.dtype && !is_wider) throw OpError("rows compute in their own dtype or float32");
}

// The strides that the replaced chain of pointwise nodes would have left, step by step.
template <Quant quant>
void infer_norm(Inference& call) {
  Tensor x = call.tensor("input");
  if (call.has("residual")) {
    const Tensor& residual = call.tensor("residual");
    if (residual.sizes != x.sizes || residual.dtype != x.dtype) {
      throw OpError("the residual and the input differ in sizes or dtype");
    }
    x.strides = pointwise_strides({&residual, &x}, x.sizes);
    call.make(x.dtype, x.sizes, x.strides);
  }
  check_operands(call, x);
  Tensor wide = cast_of(x);
  Tensor factor = wide;
  factor.sizes = row_sizes(x);
  factor.strides = row_major_strides(factor.sizes);
  wide = cast_of(like(wide, pointwise_strides({&wide, &factor}, x.sizes)));
  const Tensor norm = like(x, pointwise_strides({&call.tensor("weight"), &wide}, x.sizes));
  if constexpr (quant == Quant::kNone) {
    call.make(x.dtype, x.sizes, norm.strides);
  } else {
    Tensor values = cast_of(norm);
    const Tensor& scale = quant == Quant::kStatic ? call.tensor("scale") : factor;
    values = cast_of(like(values, pointwise_strides({&values, &scale}, x.sizes)));
    call.make(*call.optional_dtype("dtype"), x.sizes, values.strides);
  }
  if constexpr (quant == Quant::kDynamic) {
    if (x.sizes.back() == 0) throw OpError("rows without elements have no scale");
    call.make(DType::kFloat32, factor.sizes);
  }
}

template <class C>
void round_to(DType dtype, C* values, std::int64_t n) {
  const bool is_native = dtype == (std::is_same_v<C, double> ? DType::kFloat64 : DType::kFloat32);
  if (!is_native) round_values<C>(dtype, values, n);
}
template <class C>
C rounded(DType dtype, C value) {
  round_to<C>(dtype, &value, 1);
  return value;
}

// What one normalization needs of its operands.
template <class C>
struct FusedNormalizer {
  DType dtype, compute;
  C epsilon;
  bool by_power;
  std::vector<C> weight, squares;

  // In place, rounded to `dtype` but for the last product.
  void operator()(C* x) {
    const std::size_t n = weight.size();
    const auto length = static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < n; ++i)
      squares[i] = by_power ? element::square_by_power(x[i]) : x[i] * x[i];
    round_to<C>(compute, squares.data(), length);
    const C mean = rounded<C>(compute, ordered_sum(squares.data(), length) / static_cast<C>(n));
    const C factor = rounded<C>(compute, rsqrt(rounded<C>(compute, mean + epsilon)));
    for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
    round_to<C>(compute, x, length);
    round_to<C>(dtype, x, length);
    for (std::size_t i = 0; i < n; ++i) x[i] *= weight[i];
  }
};

// What a device does. Nothing where it cannot. In fast arithmetic the sum of one row comes apart
// from its norm: who makes what is added makes the sum as well, and who multiplies the norm makes
// that (join_works.h).
DeviceWorks norm_works(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const bool adds = call.has("residual");
  RmsNormWork norm{call.result(adds ? 1 : 0),
                   adds ? call.result(0) : input,
                   nullptr,
                   nullptr,
                   call.tensor("weight"),
                   *call.optional_dtype("compute"),
                   call.boolean("by_power"),
                   call.real("epsilon")};
  DeviceWorks works;
  const bool is_apart = call.listener()->is_fast() && input.count() == input.sizes.back();
  if (adds && is_apart) {
    const DType compute = input.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    works.emplace_back(
        PointwiseWork{call.result(0),
                      input.dtype,
                      compute,
                      "element::Add{}",
                      {{call.tensor("residual"), input.dtype}, {input, input.dtype}}});
  } else if (adds) {
    norm.input = input;
    norm.residual = &call.tensor("residual");
    norm.sum = &call.result(0);
  }
  auto text = rms_norm_text(*call.listener(), norm);
  if (!text) return {};
  works.emplace_back(*std::move(text));
  return works;
}

// The places of results: sum, then the normalized or quantized rows, then scales.
template <Quant quant>
Launch bind_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const std::vector<std::int64_t> last = {input.rank() - 1};
  const std::size_t first = call.has("residual") ? 1 : 0;
  std::optional<Rows> residuals;
  std::optional<Rows> sums;
  if (first == 1) {
    residuals.emplace(call.tensor("residual"), last);
    sums.emplace(call.result(0), last);
  }
  std::optional<FixedQuant> fixed;
  std::optional<RowQuant> per_row;
  std::optional<Rows> scales;
  if constexpr (quant == Quant::kStatic) fixed.emplace(call, call.tensor("scale"));
  if constexpr (quant == Quant::kDynamic) {
    per_row.emplace(call);
    scales.emplace(call.result(first + 1), last);
  }
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
    return [=, inputs = Rows(input, last), weights = Rows(call.tensor("weight"), {0}),
            out = Rows(call.result(first), last), dtype = input.dtype,
            compute = *call.optional_dtype("compute"), by_power = call.boolean("by_power"),
            epsilon = static_cast<C>(call.real("epsilon"))] {
      const auto n = static_cast<std::size_t>(inputs.length());
      FusedNormalizer<C> normalize{dtype,    compute,           epsilon,
                                   by_power, std::vector<C>(n), std::vector<C>(n)};
      weights.template load<C>(0, normalize.weight.data());
      std::vector<C> x(n);
      std::vector<C> more(n);
      std::optional<QuantRun> run;
      if (fixed) run.emplace(*fixed);
      for (std::int64_t r = 0; r < inputs.count(); ++r) {
        inputs.template load<C>(r, x.data());
        if (residuals) {
          residuals->template load<C>(r, more.data());
          for (std::size_t i = 0; i < n; ++i) x[i] = more[i] + x[i];
          round_to<C>(dtype, x.data(), inputs.length());
          sums->template store<C>(r, x.data());
        }
        normalize(x.data());
        if constexpr (quant != Quant::kNone && std::is_same_v<C, float>) {
          round_to<C>(dtype, x.data(), inputs.length());
          if (per_row) {
            const float scale = per_row->scale_of(x.data(), inputs.length());
            scales->template store_one<float>(r, scale);
            run.emplace(*per_row, scale);
          }
          if (run) run->apply(x.data(), inputs.length());
        }
        out.template store<C>(r, x.data());
      }
    };
  });
  if (quant != Quant::kNone || call.listener() == nullptr) return launch;
  auto works = norm_works(call);
  if (works.empty()) return launch;
  return described(std::move(launch), std::move(works));
}

constexpr Overlap kOverlap = Overlap::kSameGeometry;
}  // namespace

std::span<const Kernel> fused_norm_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"graphgate.rms_norm", infer_norm<Quant::kNone>, bind_norm<Quant::kNone>, kOverlap}
          .fuses(Fusion::kLastDim),
      Kernel{"graphgate.add_rms_norm", infer_norm<Quant::kNone>, bind_norm<Quant::kNone>, kOverlap}
          .fuses(Fusion::kLastDim),
      Kernel{"graphgate.rms_norm_static_quant", infer_norm<Quant::kStatic>,
             bind_norm<Quant::kStatic>, kOverlap}
          .fuses(Fusion::kLastDim),
      Kernel{"graphgate.add_rms_norm_static_quant", infer_norm<Quant::kStatic>,
             bind_norm<Quant::kStatic>, kOverlap}
          .fuses(Fusion::kLastDim),
      Kernel{"graphgate.rms_norm_dynamic_quant", infer_norm<Quant::kDynamic>,
             bind_norm<Quant::kDynamic>, kOverlap}
          .fuses(Fusion::kLastDim),
      Kernel{"graphgate.add_rms_norm_dynamic_quant", infer_norm<Quant::kDynamic>,
             bind_norm<Quant::kDynamic>, kOverlap}
          .fuses(Fusion::kLastDim),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
