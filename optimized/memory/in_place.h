// In place: a node's result takes over the bytes of an operand that dies there.
//
//   step         3        4        5
//   a        ]────read by 4]
//   b = neg(a)            [written─────   the same bytes: a plan shows two buffers over one place,
//                                         and b's first step is a's last
//
// The rules are those of torch._inductor's decide_inplace_update, for launches of our kernels:
//
//   the operand    an intermediate of the same block, not returned, whose last use is this node
//                  through this geometry; nothing else that the node reads lies in its storage,
//                  and all its readers are on one stream
//   the result     the node's only new tensor; the operand's dtype, sizes, strides, offset and
//                  device; of at most the operand's bytes, and at least 95% of them
//   the kernel     reads an element before it writes it (Overlap::kSameGeometry): any operand of a
//                  pointwise op; of others only `self`, of which they begin with a copy
//   fused nodes    the body reads the operand row by row, and no more once it has made the result:
//                  a launch reads the rows of a tile before it writes those of the same place
//
// With MemoryStrategy::kLines also what upstream's scheduler minds, though no byte would be wrong:
//
//   the operand    is made by a launch, and reads nothing that a later node of the block writes:
//                  there the writer counts as one more user, which waits for what was read
#pragma once

#include "optimized/memory/storage_use.h"

namespace graphgate::optimized {

// By StorageIndex: the storage whose bytes the storage takes over, or kNoStorage. No storage is
// taken over twice. Every storage that is taken over comes before the one that takes it.
[[nodiscard]] std::vector<StorageIndex> decide_in_place(
    const MemoryInput& input, const std::vector<StorageUse>& uses,
    const spec::DeviationSet& deviations, MemoryStrategy strategy = MemoryStrategy::kPack);

}  // namespace graphgate::optimized
