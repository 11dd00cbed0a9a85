// What a fused step does, for a device: its pointwise nodes in few kernels, the others in one each.
#pragma once

#include <optional>

#include "optimized/codegen/work.h"
#include "optimized/schedule/fuse_rows.h"

namespace graphgate::optimized {

// Whether a device can do what a node does; shapes suffice. Tensors need no addresses.
[[nodiscard]] bool has_device_kernel(const Kernel& kernel, const spec::OpRow& row,
                                     std::vector<Item> arguments, std::vector<Tensor> results);

// `calls` are those of a step's body, with addresses in all tensors but inner ones, whose storages
// begin at `first_inner`. Nothing where a call does not tell the listener what it does.
[[nodiscard]] std::optional<DeviceWorks> fused_works(std::span<const TileCall> calls,
                                                     StorageIndex first_inner,
                                                     const DeviceListener& listener);

}  // namespace graphgate::optimized
