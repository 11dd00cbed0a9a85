// What pointwise kernels compute of one element: every function that they use, by name.
//
// Each is a small callable struct, for one source serves two machines. The host's kernels call them
// in their loops; generated device kernels name them in their text (codegen/type_text.h), and that
// text includes these very headers. Hence the rules here: only arithmetic/ and the standard
// functions that are exact (fabs, floor, copysign, sqrt...), no exceptions, and every member of a
// struct is one number of the compute type C.
#pragma once

#include "optimized/kernels/elements/activations.h"   // IWYU pragma: export
#include "optimized/kernels/elements/binary.h"        // IWYU pragma: export
#include "optimized/kernels/elements/choices.h"       // IWYU pragma: export
#include "optimized/kernels/elements/quantization.h"  // IWYU pragma: export
#include "optimized/kernels/elements/unary.h"         // IWYU pragma: export
#include "optimized/kernels/elements/activations.h"  // IWYU pragma: export
#include "optimized/kernels/elements/binary.h"       // IWYU pragma: export
#include "optimized/kernels/elements/choices.h"      // IWYU pragma: export
#include "optimized/kernels/elements/gradients.h"    // IWYU pragma: export
#include "optimized/kernels/elements/losses.h"       // IWYU pragma: export
#include "optimized/kernels/elements/unary.h"        // IWYU pragma: export
#include "optimized/kernels/elements/activations.h"             // IWYU pragma: export
#include "optimized/kernels/elements/binary.h"                  // IWYU pragma: export
#include "optimized/kernels/elements/choices.h"                 // IWYU pragma: export
#include "optimized/kernels/elements/orthogonal_polynomials.h"  // IWYU pragma: export
#include "optimized/kernels/elements/special.h"                 // IWYU pragma: export
#include "optimized/kernels/elements/unary.h"                   // IWYU pragma: export
