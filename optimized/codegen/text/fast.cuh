// Kernels of fast arithmetic: they keep to the bounds of tensor cores, and not to the host's bits.
//
// Launches overlap. A kernel lets the next one begin at once, and waits for those before it when it
// first touches what they make or read (griddepcontrol, PTX ISA 9.0). Before that it reads weights.
// Every thread waits, so that a kernel that has ended stands for all before it.
#pragma once

#include "optimized/codegen/text/fast_attention.cuh"
#include "optimized/codegen/text/fast_norm.cuh"
#include "optimized/codegen/text/fast_product.cuh"
#include "optimized/codegen/text/ptx.cuh"

namespace graphgate::optimized::device {

inline void begin_in_turn() {
  let_next_launch_begin();
  wait_for_launches_before();
}

}  // namespace graphgate::optimized::device
