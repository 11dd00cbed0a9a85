// States the types of node results that a case leaves out, as the reference has them.
//
// People leave types out, and so may generators. A reducer that cuts a value out of its program has
// to know what an input in its place would be.
#pragma once

#include "fuzz/reduce/judge_case.h"

namespace graphgate::fuzz {

// The case with types for tensors that nodes of root graphs make, where the reference runs it. In a
// program with symbols a size is stated as the symbol whose value it has, where there is one. A
// type that is stated is not touched; what cannot be told stays open.
[[nodiscard]] spec::CaseFile with_stated_types(const spec::CaseFile& the_case,
                                               const CaseExecutors& executors);

}  // namespace graphgate::fuzz
