// Kernels of fast arithmetic as text (codegen/text/fast.cuh): for a listener that is_fast() alone.
#pragma once

#include <optional>

#include "optimized/codegen/attention_work.h"
#include "optimized/gemm.h"

namespace graphgate::optimized {

// A product with a weight whose terms lie next to each other, in a 16-bit dtype, on tensor cores:
// up to 32 rows at once, more in tiles. Where tiles are few their depth is split among the blocks
// of a cluster. Nothing for other products.
[[nodiscard]] std::optional<DeviceWorks> fast_product_works(const DeviceListener& listener,
                                                            const Product& product);

// Returns the works of attention of one query row per head, in a 16-bit dtype. Keys are cut into
// chunks, each for a block. What a few chunks give is joined within a cluster, and what many give
// by a second kernel. Returns nothing for other calls, and for many chunks where nobody reserves.
[[nodiscard]] std::optional<DeviceWorks> one_row_attention_works(const DeviceListener& listener,
                                                                 const AttentionWork& work);

}  // namespace graphgate::optimized
