// Layer and group normalization, for the family `normalization`.
//
// The native forms also give the mean and the reciprocal deviation of every group of elements, in
// the input's dtype, or in float32 where the weight or bias of a 16-bit input is float32.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

void infer_layer_norm(Inference& call);
void infer_native_layer_norm(Inference& call);
[[nodiscard]] Launch bind_layer_norm(const Binding& call);  // either form

// The result is channels_last where the input is.
void infer_native_group_norm(Inference& call);
[[nodiscard]] Launch bind_native_group_norm(const Binding& call);

}  // namespace graphgate::optimized
