// The families of kernels: one file in kernels/ for each, with the same name as in the other
// folders. A family defines NAME_kernels() and is a word in this list; no op is named anywhere
// else.
#pragma once

#include <span>

#include "optimized/kernel.h"

#define GRAPHGATE_FAMILIES(FAMILY) \
  FAMILY(activation)               \
  FAMILY(activation_backward)      \
  FAMILY(assertion)                \
  FAMILY(attention)                \
  FAMILY(batch_norm)               \
  FAMILY(binning)                  \
  FAMILY(class_loss)               \
  FAMILY(comparison)               \
  FAMILY(contraction)              \
  FAMILY(conversion)               \
  FAMILY(convolution)              \
  FAMILY(creation)                 \
  FAMILY(diagonal)                 \
  FAMILY(distance)                 \
  FAMILY(embedding_bag)            \
  FAMILY(equality)                 \
  FAMILY(extremum)                 \
  FAMILY(folding)                  \
  FAMILY(foreach)                  \
  FAMILY(fractional_max_pooling)   \
  FAMILY(functionalization)        \
  FAMILY(fused_activation)         \
  FAMILY(fused_attention)          \
  FAMILY(fused_norm)               \
  FAMILY(grid_sampler)             \
  FAMILY(histogram)                \
  FAMILY(indexing)                 \
  FAMILY(joining)                  \
  FAMILY(linalg_factor)            \
  FAMILY(linalg_solve)             \
  FAMILY(linalg_spectral)          \
  FAMILY(loss)                     \
  FAMILY(matmul)                   \
  FAMILY(max_pooling)              \
  FAMILY(normalization)            \
  FAMILY(orthogonal_polynomial)    \
  FAMILY(padding)                  \
  FAMILY(pointwise_binary)         \
  FAMILY(pointwise_division)       \
  FAMILY(pointwise_unary)          \
  FAMILY(pooling)                  \
  FAMILY(prims)                    \
  FAMILY(quantization)             \
  FAMILY(random)                   \
  FAMILY(reduction)                \
  FAMILY(region_scatter)           \
  FAMILY(renorm)                   \
  FAMILY(scan)                     \
  FAMILY(scatter)                  \
  FAMILY(segment_reduce)           \
  FAMILY(shuffle)                  \
  FAMILY(sorting)                  \
  FAMILY(special)                  \
  FAMILY(splitting)                \
  FAMILY(symbolic)                 \
  FAMILY(unique)                   \
  FAMILY(unpooling)                \
  FAMILY(upsample)                 \
  FAMILY(variance)                 \
  FAMILY(view)                     \
  FAMILY(vllm)

namespace graphgate::optimized {

#define GRAPHGATE_DECLARE(name) [[nodiscard]] std::span<const Kernel> name##_kernels();
GRAPHGATE_FAMILIES(GRAPHGATE_DECLARE)
#undef GRAPHGATE_DECLARE

}  // namespace graphgate::optimized
