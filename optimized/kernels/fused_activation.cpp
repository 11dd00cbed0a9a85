// silu(gate) * up in one pass, with the roundings of the nodes it replaces (see
// spec/ops/graphgate.txt).
#include "optimized/arithmetic/functions.h"
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
  call.make(gate.dtype, gate.sizes, pointwise_strides({&silu, &up}, gate.sizes));
}

// One value, rounded; the compute types' own dtypes need none.
template <class C>
C rounded(DType dtype, C value) {
  if (dtype == native_dtype<C>()) return value;
  std::array<std::byte, 8> bytes;
  store_element<C>(dtype, value, bytes.data());
  return load_element<C>(dtype, bytes.data());
}

Launch bind_silu_mul(const Binding& call) {
  const DType dtype = call.tensor("gate").dtype;
  const DType compute = *call.optional_dtype("compute");
  if (!call.boolean("by_sigmoid")) {
    return launch_pointwise<kPair>(call, [dtype]<class C>() {
      return [dtype](C x, C up) { return rounded<C>(dtype, x * sigmoid(x)) * up; };
    });
  }
  return launch_pointwise<kPair>(call, [dtype, compute]<class C>() {
    return [dtype, compute](C x, C up) {
      const C silu = rounded<C>(compute, x * rounded<C>(compute, sigmoid(x)));
      return rounded<C>(dtype, silu) * up;
    };
  });
}

constexpr Kernel kKernels[] = {
    {"graphgate.silu_mul", infer_silu_mul, bind_silu_mul, Overlap::kSameGeometry},
};

}  // namespace

std::span<const Kernel> fused_activation_kernels() { return kKernels; }

}  // namespace graphgate::optimized
