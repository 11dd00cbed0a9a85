// The equation of an einsum, and its operands brought to common dimensions.
//
// Used by: einsum.cpp. An equation is "LABELS,LABELS,...->LABELS"; labels are letters, and an
// ellipsis stands for dimensions that broadcast. A label of the operands that the result lacks is
// summed over; without an arrow the result has the labels that occur once, A-Z before a-z.
#pragma once

#include <array>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// How many common dimensions there are. Those of the result come first, in its order.
struct EinsumOrder {
  std::array<std::int64_t, 128> position;  // of each label's first dimension, by character; or -1
  std::int64_t ellipsis_rank = 0;
  std::int64_t result_rank = 0;
  std::int64_t rank = 0;
};

struct Einsum {
  EinsumOrder order;
  // Views of rank order.rank: a size of 1 for a dimension that an operand lacks, a diagonal for a
  // label that it has twice.
  std::vector<Tensor> operands;
};

// Reads `equation` and `tensors`. Throws OpError where they do not fit one another.
[[nodiscard]] Einsum read_einsum(const KernelCall& call);

}  // namespace graphgate::optimized
