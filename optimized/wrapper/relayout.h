// The same elements in another layout.
//
// CompiledModel copies inputs whose layout nobody guards into the layout that the program was
// compiled for, and copies their final contents back into the caller's.
#pragma once

#include "spec/tensor.h"

namespace graphgate::optimized {

// Copies every element of `from` to its place in `to`. Same dtype and sizes; the storages differ.
void copy_elements(const spec::HostTensor& from, const spec::HostTensor& to);

}  // namespace graphgate::optimized
