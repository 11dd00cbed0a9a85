// Works that do not depend on each other as one launch, whose blocks are divided among them.
#pragma once

#include <vector>

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// Each text is a function of its own thread and pointers, so that its `return` ends it alone; equal
// texts are one function. All of them share launches.
[[nodiscard]] TextWork side_by_side(const std::vector<TextWork>& texts);

}  // namespace graphgate::optimized
