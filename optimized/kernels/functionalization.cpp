// What undoing a functionalization needs.
#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/families.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

void infer_strided_clone(Inference& call) {
  const Tensor& self = call.tensor("self");
  call.make(self.dtype, self.sizes, self.strides, self.device);
  call.results().back().tensor.offset = self.offset;
}

Launch bind_strided_clone(const Binding& call) {
  return copy_launch(call.listener(), call.result(), call.tensor("self"));
}

}  // namespace

std::span<const Kernel> functionalization_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"graphgate.clone_preserve_strides", infer_strided_clone, bind_strided_clone,
             Overlap::kNone}
          .any_dtype()
          .rows(row_rules::pointwise)
          .copies("self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
