// Adding (multiplying, taking the greatest) into places that index tensors tell: scatter_add,
// scatter_reduce, index_add, index_put with accumulate and their like.
//
// Contributions to one element are combined one after the other, in row-major order of the frame:
// the order depends on nothing else. Narrow floats are combined in float32, in scratch memory, and
// rounded once at the end; all other dtypes are combined in place.
#pragma once

#include "optimized/codegen/work.h"
#include "optimized/kernels/indexed_loop.h"

namespace graphgate::optimized {

enum class Combine : std::uint8_t { kAdd, kMultiply, kMaximum, kMinimum };

struct Accumulation {
  // The places in `target`, which has the sizes of self, with `others` beside it.
  std::function<IndexedCells(const Tensor& target, std::vector<Tensor> others)> cells;
  Combine how = Combine::kAdd;
  bool is_mean = false;          // kAdd, then divided by the number of contributions
  bool includes_self = true;     // whether self's own element is a contribution
  std::optional<Tensor> source;  // at their frame; else `constant` is combined
  Item constant;
  Item scale = {std::int64_t{1}};  // source is multiplied by it
};

// The name of a reduction of scatter_reduce ("sum", "prod", "mean", "amax", "amin") or of scatter
// ("add", "multiply"). Throws OpError for another.
void set_reduction(Accumulation& accumulation, std::string_view name);

// Scratch bytes of accumulate() for a tensor like `self`.
[[nodiscard]] std::int64_t accumulation_bytes(const Tensor& self, bool is_mean);

// result = self with the contributions. Result and self may be one tensor.
[[nodiscard]] Launch accumulate(const DeviceListener* listener, const Tensor& result,
                                const Tensor& self, const Accumulation& accumulation,
                                std::byte* workspace);

// Copies self into the result, unless the result is self. Throws OpError for differing dtypes.
[[nodiscard]] Launch start_from_self(const DeviceListener* listener, const Tensor& result,
                                     const Tensor& self);
// `value` as an element of `dtype`.
[[nodiscard]] std::array<std::byte, 8> element_bytes(spec::DType dtype, const Item& value);

}  // namespace graphgate::optimized
