// Each stage's options as factors of the key: one function for each struct in CompileOptions.
//
// Every field of every struct is listed; a test counts them, so that a new option cannot be
// forgotten here unseen.
#pragma once

#include "optimized/cache/key.h"

namespace graphgate::optimized {

// Sections "partition", "memory", ... "arithmetic" and "deviations".
void add_option_factors(const CompileOptions& options, KeyFactors& factors);

// "toolchain" (code, compiler, form of artifacts) and "host" (the machine that plans are for).
void add_build_factors(KeyFactors& factors);

}  // namespace graphgate::optimized
