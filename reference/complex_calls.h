// Where an op's body is called: bodies of real numbers never see complex ones.
//
// A call with a complex tensor, number or dtype goes to the body that the op has for complex
// numbers (complex_ops() in registry.h). It goes to the op's only body where that takes elements of
// any dtype (OpBody::any_dtype). Else the op has no body for it, and Undecidable says so.
//
// A conjugate is a view in PyTorch: its elements are read with the other sign (Tensor::is_conj),
// and so is the imaginary part of one (Tensor::is_neg). Views pass the bits on; any other op is
// given tensors without them, and what it writes is written through them
// (ATen/native/MathBitsFallback.h).
#pragma once

#include "reference/registry.h"

namespace graphgate::reference {

// Whether one of these is a complex tensor, number or dtype, or a view with bits.
[[nodiscard]] bool touches_complex(std::span<const Datum> data);

// Runs `body`, that of the call's op, or what takes its place. The results are in call.results().
void run_call(Body body, Call& call);

}  // namespace graphgate::reference
