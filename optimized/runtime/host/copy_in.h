// Bringing a call's bytes into the static slots of a plan.
//
// A plan without a padding has slots as large as what the caller gives: the storage is copied
// whole. A padded plan has larger slots, and the elements go one by one into their leading part:
//
//   caller   [3, 4]          slot   [8, 4]      rows 0-2: the caller's
//                                               rows 3-7: the pad
//
// Nothing that is returned may depend on the pad (analysis/padding.h proves it). Only its integers
// matter at all: an index out of range is refused before anyone knows that its row is not wanted.
// So integers and booleans of the pad are cleared; what other tensors have there stays.
#pragma once

#include <cstdint>
#include <span>

#include "optimized/tensor.h"
#include "spec/deviation.h"
#include "spec/tensor.h"

namespace graphgate::optimized {

// One tensor of a call. `bytes` are those of its storage, wherever they are read.
struct InputSource {
  const spec::HostTensor* tensor = nullptr;
  std::span<const std::byte> bytes;
};

// What a test puts into the pad. Integers get a copy of the first row, which is in range.
enum class PadFill : std::uint8_t { kKeep, kNan, kHuge };

// The whole storage. Where sizes differ (a plan taken for another call's), what fits.
void copy_storage(const InputSource& from, std::span<std::byte> slot);

// The elements, to the leading part of `slot` along `dim`; both agree in all other dimensions, and
// the slot is at least as large in this one. Then the pad, as `fill` and the dtype say.
void copy_padded(const InputSource& from, const Tensor& slot, std::uint32_t dim, PadFill fill,
                 const spec::DeviationSet& deviations);

// Rows [begin, size) of a tensor along `dim`.
[[nodiscard]] Tensor rows_from(const Tensor& tensor, std::uint32_t dim, std::int64_t begin);

// Elements of `from` to places of `to`: the same sizes, any strides, one item size.
void copy_elements(const std::byte* from, const Sizes& from_strides, std::byte* to,
                   const Sizes& to_strides, const Sizes& sizes, std::int64_t item_bytes);

}  // namespace graphgate::optimized
