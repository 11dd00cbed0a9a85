// Complex tensors as this executor sees them: two numbers side by side in memory.
//
// No kernel computes with complex elements. Those that only move, make or see elements take them as
// they are; whatever computes is taken apart into ops on the two components when a graph is
// specialized (analysis/complex.h). refuse_complex() is the guard between the two: every call of a
// kernel passes it, so that none takes complex elements for integers.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The real (0) or imaginary (1) components of a complex tensor, in place: same sizes.
[[nodiscard]] Tensor component_of(const Tensor& tensor, int which);
// Both, in place: with a last dimension of 2.
[[nodiscard]] Tensor components_of(const Tensor& tensor);

// Whether a tensor, a number or a dtype among the arguments is complex.
[[nodiscard]] bool has_complex(const KernelCall& call);
// Whether the op's kernel takes such arguments as they are.
[[nodiscard]] bool moves_complex(const KernelCall& call);
// Throws Unsupported where a kernel would be given complex arguments that it does not take.
void refuse_complex(const KernelCall& call);

// "aten.gelu.default of complex64 is not supported"
[[nodiscard]] std::string no_complex_text(const KernelCall& call);

}  // namespace graphgate::optimized
