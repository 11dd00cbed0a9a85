// silu(gate) * up in one pass, with the roundings of the nodes it replaces (see
// spec/ops/graphgate.txt).
#include "optimized/arithmetic/format_dispatch.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr PointwiseSignature kPair{
    .operands = 2, .numbers = Numbers::kFloating, .all_one_dtype = true};

void infer_silu_mul(Inference& call) {
  const Tensor& gate = call.tensor("gate");
  const Tensor& up = call.tensor("up");
  if (gate.sizes != up.sizes || gate.dtype != up.dtype) {
    throw OpError("gate and up differ in sizes or dtype");
  }
  const DType compute = *call.optional_dtype("compute");
  if (compute != gate.dtype && (compute != DType::kFloat32 || gate.dtype == DType::kFloat64)) {
    throw OpError("silu computes in the tensors' dtype or float32");
  }
  (void)common_dtype(call, kPair);
  Tensor silu = gate;
  silu.strides = strides_like(gate, spec::MemoryFormat::kPreserve);
  silu.strides = pointwise_strides({&silu}, silu.sizes);
  const bool up_first = call.boolean("up_first");
  call.make(gate.dtype, gate.sizes,
            up_first ? pointwise_strides({&up, &silu}, gate.sizes)
                     : pointwise_strides({&silu, &up}, gate.sizes));
}

Launch bind_silu_mul(const Binding& call) {
  const DType dtype = call.tensor("gate").dtype;
  const bool is_wide = *call.optional_dtype("compute") != dtype;
  return with_float_format(dtype, [&]<class Own>() {
    if (!call.boolean("by_sigmoid")) {
      return launch_pointwise<kPair>(call, []<class C>() { return element::SiluMul<Own>(); });
    }
    if (!is_wide) {
      return launch_pointwise<kPair>(call,
                                     []<class C>() { return element::SigmoidMul<Own, Own>(); });
    }
    return launch_pointwise<kPair>(
        call, []<class C>() { return element::SigmoidMul<Plain<float>, Own>(); });
  });
}

}  // namespace

std::span<const Kernel> fused_activation_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"graphgate.silu_mul", infer_silu_mul, bind_silu_mul, Overlap::kSameGeometry}.fuses(
          Fusion::kPointwise),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
