// Tensors in a launch's workspace.
//
// Used by: kernels that need an operand in another layout or dtype (einsum, addbmm, distances).
// `infer` asks for scratch_bytes() of each; `bind` carves the tensors out in the same order, and
// the launch fills them before it reads them. A workspace is shared by nothing else while its step
// runs.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

// Bytes of a dense tensor, rounded up to 64.
[[nodiscard]] inline std::int64_t scratch_bytes(spec::DType dtype, const Sizes& sizes) {
  return (checked_count(sizes) * spec::item_size_bytes(dtype) + 63) / 64 * 64;
}

// A dense row-major tensor at `workspace`, which moves on behind it; a null workspace (while shapes
// are inferred) stays null.
[[nodiscard]] inline Tensor scratch_tensor(spec::DType dtype, const Sizes& sizes,
                                           std::byte*& workspace) {
  Tensor out{
      .dtype = dtype, .sizes = sizes, .strides = row_major_strides(sizes), .bytes = workspace};
  if (workspace) workspace += scratch_bytes(dtype, sizes);
  return out;
}

}  // namespace graphgate::optimized
