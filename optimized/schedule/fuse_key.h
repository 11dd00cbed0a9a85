// Keys of calls: calls with equal keys do the same to storages of other numbers.
//
// Layers of a model repeat, so most calls and launches are like one before. What is asked of
// geometry alone (possible rows, tiles, layouts) is asked once for each key: CandidateFinder keeps
// answers by call, fuse.cpp by launch.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "optimized/schedule/fuse_rows.h"

namespace graphgate::optimized {

// Of everything that a row, a kernel or a layout can see in the calls: ops, arguments, geometries,
// which tensors share a storage, and `is_inner` of each storage. Storages are numbered in the order
// of their first mention. Bytes for a map, not for a file: rows and kernels are addresses.
[[nodiscard]] std::string key_of(std::span<const TileCall> calls,
                                 const std::function<bool(StorageIndex)>& is_inner);

}  // namespace graphgate::optimized
