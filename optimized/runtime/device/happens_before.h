// Whether a captured graph orders all that has to stay in order: judged by its edges alone, and by
// the bytes that its kernels touch.
//
//   a writes x ──> b reads x ──> d writes x      a, b and d are in order, c and d are not:
//             └──> c reads x                     no path leads from c to d
//
// Of two calls that touch a byte, one of which writes it, the later one has to be behind the end of
// the earlier one. A full edge says that. A programmatic one says less: the later kernel may begin
// when the earlier one has, and waits for its end itself, before it touches anything but what it
// reads early (fast.cuh). A call that does not tell what it touches is in order with all others.
//
// Used by: the CUDA backend, on every graph that it has captured, and tests.
#pragma once

#include <optional>
#include <span>

#include "optimized/codegen/kernels.h"
#include "optimized/runtime/device/capture.h"

namespace graphgate::optimized {

// Whether a call tells all that it touches: a pointer that is none of its accesses may lead
// anywhere. Without pointers it touches nothing: what fills registers that nobody reads.
[[nodiscard]] bool tells_all(const DeviceCall& call);

// Two calls that no path orders.
struct Disorder {
  std::size_t earlier = 0;  // calls, by their numbers
  std::size_t later = 0;
  std::optional<ByteRange> bytes;  // addresses of the host's; nothing where one does not tell
};

// The first one. The capture's kernels are the calls, in their order, and its edges lead forward.
// `kernels_wait`: they wait themselves for what programmatic edges let them overlap with; those of
// other programs have no order by such an edge.
[[nodiscard]] std::optional<Disorder> first_disorder(const DeviceCapture& capture,
                                                     std::span<const DeviceCall> calls,
                                                     bool kernels_wait);

}  // namespace graphgate::optimized
