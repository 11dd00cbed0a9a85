// Kernels that choose among values: clamp, masked_fill, where. Part of the family `comparison`,
// whose table names them.
//
// masked_fill and where move bits where no dtype changes: NaN payloads stay as they are.
#pragma once

#include <cstdint>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The number `item` as a bound of elements of `dtype`, from below or from above. One that no
// integer of the dtype reaches becomes the dtype's own limit; whatever is no number for integers
// stays as it is. Throws OpError where all integers lie beyond it.
enum class BoundSide : std::uint8_t { kBelow, kAbove };
[[nodiscard]] Item integer_bound(const Item& item, spec::DType dtype, BoundSide side);

// clamp, clamp_min and clamp_max, with numbers or tensors as bounds; either may be missing. Where
// min > max, max wins. NaN wins over everything, but a NaN that is a lone number bound is ignored.
void infer_clamp(Inference& call);
[[nodiscard]] Launch bind_clamp(const Binding& call);

// A row-major copy of self (broadcast with the mask), or self itself in place, with `value` where
// the mask is true. `value` is a number that fits self's dtype, or a tensor without dimensions.
void infer_masked_fill(Inference& call);
[[nodiscard]] Launch bind_masked_fill(const Binding& call);

// where(condition, self, other) with promotion. where(condition) alone is taken apart.
void infer_where(Inference& call);
[[nodiscard]] Launch bind_where(const Binding& call);

}  // namespace graphgate::optimized
