// Layer, group and RMS normalization, for the family `normalization`.
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
void infer_group_norm(Inference& call);
void infer_native_group_norm(Inference& call);
[[nodiscard]] Launch bind_group_norm(const Binding& call);  // either form

// The root of the mean square of each row is divided out: without a mean, and without a bias. The
// fused form also gives the factors, in the compute dtype.
void infer_rms_norm(Inference& call);
void infer_fused_rms_norm(Inference& call);
[[nodiscard]] Launch bind_rms_norm(const Binding& call);  // either form

}  // namespace graphgate::optimized
