// What kernels take for 0 because it is subnormal: oneDNN's, on processors with units for bfloat16,
// and cuDNN's convolutions of float32.
#pragma once

#include <cmath>

#include "reference/number/functions.h"

namespace graphgate::reference {

// Returns x, a factor or what `terms` of them were summed to, as oneDNN's bfloat16 kernels may have
// it. Intel's units (AVX512_BF16: VDPBF16PS, VCVTNEPS2BF16) take subnormal operands for 0, and give
// 0 for subnormal sums and results. Others keep them. CUDA's kernels do not ask oneDNN. Where a
// call asks for it (Arithmetic::flushes_float32), theirs do the same to float32: on an H200, cuDNN
// gives 0 for the convolution of factors whose products are subnormal.
inline double perhaps_flushed(double x, spec::DType /*dtype*/, double /*terms*/ = 1) { return x; }
template <class P>
Tracked<P> perhaps_flushed(const Tracked<P>& x, spec::DType dtype, double terms = 1) {
  const Arithmetic& kernels = declared_arithmetic();
  const bool may_flush = kernels.has_cuda_kernels
                             ? kernels.flushes_float32 && dtype == spec::DType::kFloat32
                             : dtype == spec::DType::kBFloat16;
  if (!may_flush) return x;
  if (x.value == 0 && x.radius == 0) return x;
  const double lost = terms * 0x1p-126;
  const auto reach = static_cast<long double>(P::kDecisionRadii * x.radius + lost);
  if (!(std::fabs(x.value) - reach < static_cast<long double>(lost))) return x;
  return {x.value, P::combine(x.radius, lost), x.arithmetic};
}

}  // namespace graphgate::reference
