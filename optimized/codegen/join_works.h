// Works of several launches in fewer: what a kernel is started for costs more than small works do.
//
//   y = x * c          one kernel: a thread has y when z wants it
//   z = y + w
//   keys[i] = z        one launch: its first blocks write keys, the others values
//   values[i] = x
//
// A pointwise work joins works of its sizes where every thread can go on with what it has
// (pointwise_text.h). What writes cells becomes a part of the group that makes all that it writes.
// Such groups and writes become the end of a product that makes what they read, where the product's
// threads can (epilogue_text.h). A norm becomes the beginning of the product of its one row. Then
// works that do not depend on each other stand side by side: a launch's blocks are divided among
// them. A work changes its place only over works with which it shares no byte that one of them
// writes (touched.h); one that does not tell what it touches stays, and nothing moves over it. So
// every read finds the bytes that it would have found one work after the other. In the end every
// byte is the same, but for results of which is_inner says that only works read them that now have
// them in registers.
//
// Works of several streams are joined stream by stream (call_order.h).
//
// Where several works find an index out of range, any of them may be the one that says so.
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// All works of what is launched together, in order; each of the result is a kernel.
[[nodiscard]] DeviceWorks join_works(const DeviceWorks& works);

}  // namespace graphgate::optimized
