// Calling a kernel: inference first, then a launch on given addresses.
//
// Between the two stands the one rule that kernels do not keep themselves: a kernel may not read
// bytes that it has already overwritten. Where an argument overlaps what is written in a way that
// the kernel does not stand (Kernel::overlap), the launch first copies that argument into the
// step's workspace, and the kernel reads the copy.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

// What a call makes, with the scratch bytes that it and its copies need.
[[nodiscard]] Inference infer_call(const Kernel& kernel, const spec::OpRow& row,
                                   std::vector<Item> arguments, bool has_data);

// Whether the call takes a step: it makes a tensor (be it one that is only allocated, as empty
// does), or writes one, or has a launch and no results at all. Views, numbers and assertions about
// numbers do not.
[[nodiscard]] bool takes_step(const Kernel& kernel, const Inference& inference);

// Results in order, lists unpacked; numbers and None as default Tensors.
[[nodiscard]] std::vector<Tensor> flat_tensors(std::vector<Made> made);

// The launch of a call whose tensors have addresses. `workspace` has the bytes that inference asked
// for, aligned to 64. Empty where the op only allocates. `listener` is told what it does.
[[nodiscard]] Launch bind_call(const Kernel& kernel, const spec::OpRow& row,
                               std::vector<Item> arguments, std::vector<Tensor> results,
                               std::byte* workspace, const DeviceListener* listener = nullptr);

}  // namespace graphgate::optimized
