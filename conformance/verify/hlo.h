// What XLA's buffer assignment is held to: the memory of a scheduled module, without its numbers.
//
// The module runs once, by hand: each instruction finds out whether the bytes that it reads still
// hold what it should read, and then its results take theirs. So a place is wrong exactly where
// somebody would read something else, and no list of who may share with whom is needed. The body of
// a loop runs once, with a condition before and behind it, for an iteration whose number is not
// known; branches run one by one from the same memory.
//
//   %a = f32[8] negate(%x)      a takes [0, 32)
//   %b = f32[8] negate(%x)      b takes [0, 32), too
//   %c = f32[8] add(%a, %b)     V3.overlap: c reads a, and finds b
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "spec/finding.h"
#include "spec/hlo.h"

namespace graphgate::verify {

// Kernels of XLA on a CPU promise this much to LLVM, of every buffer.
inline constexpr std::int64_t kHloAlignmentBytes = 64;

// Returns all that is wrong: V1.unwritten-read, V3.overlap, V3.kept-bytes, V3.capacity,
// V3.in-place, V3.alignment, V3.geometry, V4.wrong-operand, V4.wrong-version, V5.use-after-free,
// V5.freed-output. The plan is well formed, as interop/xla_dump.h returns it. kUnsupported where
// loops stand in each other deeper than can be followed.
[[nodiscard]] Result<std::vector<spec::Finding>> verify_hlo(const spec::HloPlan& plan);

}  // namespace graphgate::verify
