// From a profile to the options of the optimized executor.
#pragma once

#include "optimized/optimized.h"
#include "optimized/upstream/profile.h"

namespace graphgate::optimized {

// Sets the deviations and the choices of the profile:
//
//   split_graph   own, adjacent, adjacent_and_empty: the generation of split_graph
//   heavy_ops     what is realized on a CPU whenever it is reused
//   realize_cpu   30; 50; "50,users": how much a value may take that a CPU computes again, and
//                 whether many users lower that
//   realize       reads, bytes: the rule of should_realize_on_reuse
//   memory        pack, lines, pools
//
// kBadInput for another choice, or another value of one (an override file may hold anything).
[[nodiscard]] Result<void> apply_profile(const Profile& profile, Options& options);

}  // namespace graphgate::optimized
