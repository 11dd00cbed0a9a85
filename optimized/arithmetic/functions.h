// The optimized executor's own elementary functions, all of them.
//
// Used by: the pointwise, softmax and normalisation kernels. Every function has a float and a
// double overload in this namespace (call them by their plain names, with arguments of one type).
// The float ones are correctly rounded but for about one argument in a thousand (error < 0.501
// ulp). The double ones state their bounds in their headers. They use IEEE basic operations and
// tables alone, so a result depends on the argument only: not on the machine, the vector width, the
// place in a tile or the C library. This holds only where contraction is off (-ffp-contract=off).
#pragma once

#include "optimized/arithmetic/bessel.h"          // IWYU pragma: export
#include "optimized/arithmetic/error_function.h"  // IWYU pragma: export
#include "optimized/arithmetic/exponential.h"     // IWYU pragma: export
#include "optimized/arithmetic/gamma.h"           // IWYU pragma: export
#include "optimized/arithmetic/logarithm.h"       // IWYU pragma: export
#include "optimized/arithmetic/power.h"           // IWYU pragma: export
#include "optimized/arithmetic/trigonometric.h"   // IWYU pragma: export
