// What a device has captured of a job: kernels, with their shapes and the values of their
// parameters, as the device itself has them.
//
//   plan ─> arenas at a ─> capture  k_1<<<2, 256>>>(a + 0, a + 64)     k_2<<<1, 256>>>(a + 64)
//        └> arenas at b ─> capture  k_1<<<2, 256>>>(b + 0, b + 64)     k_2<<<1, 256>>>(b + 64)
//
// The same plan over two sets of arenas gives captures that differ by where the arenas lie, and in
// nothing else. An address from elsewhere, which no arena holds, shows so, whatever it hides in.
//
// Used by: the CUDA backend, to check what it has captured, and tests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimized/runtime/device/memory.h"

namespace graphgate::optimized {

struct CapturedKernel {
  std::string name;
  std::array<unsigned, 3> grid = {1, 1, 1};
  std::array<unsigned, 3> block = {1, 1, 1};
  unsigned shared_bytes = 0;  // dynamic
  unsigned cluster = 1;       // blocks of one
  std::vector<std::uint64_t> arguments;
  bool operator==(const CapturedKernel&) const = default;
};

// `to` begins behind `from`: numbers of kernels.
struct CapturedEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  unsigned type = 0;  // CUgraphDependencyType: 0 waits for its end
  bool operator==(const CapturedEdge&) const = default;
  auto operator<=>(const CapturedEdge&) const = default;
};

struct DeviceCapture {
  std::vector<CapturedKernel> kernels;  // of the job's calls, in their order
  std::vector<CapturedEdge> edges;      // sorted
};

// A capture whose kernels stand in any order that its edges allow, in the order of the calls that
// they are of; nothing unless they are those, each once. Of equal kernels the first is the first
// call's: no other order of the graph's nodes gives another capture, but where edges leave equal
// ones free.
[[nodiscard]] std::optional<DeviceCapture> in_order_of(std::span<const CapturedKernel> calls,
                                                       const DeviceCapture& capture);

// One capture beside another one of the same job: `other` with arenas of its own, in the same
// order. One line that says where they differ by more than where the arenas lie; "" where they do
// not.
struct PlacedCapture {
  const DeviceCapture& capture;
  std::span<const DeviceArena> arenas;
};
[[nodiscard]] std::string first_difference(const PlacedCapture& one, const PlacedCapture& other);

}  // namespace graphgate::optimized
