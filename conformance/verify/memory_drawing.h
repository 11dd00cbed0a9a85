// A small picture of buffers over time and bytes, for findings about memory.
//
//   0x0200 |..bbbb..         b $t       [512, 768)  steps 2 to 5
//   0x0100 |aaXXXX..         a $x       [256, 768)  steps 0 to 4
//   0x0000 |........
//           0      7  step   X two of them at once
//
// One column a step, or several steps where there are many; one row between two borders of the
// buffers that are drawn.
#pragma once

#include <string>
#include <vector>

#include "conformance/verify/accesses.h"

namespace graphgate::verify {

// The buffers must lie in one pool. Ends in a line end; empty for a plan without steps.
[[nodiscard]] std::string draw_buffers(const Accesses& accesses,
                                       const std::vector<spec::BufferId>& buffers);

}  // namespace graphgate::verify
