// Compiled programs, by content: source, headers, options, architecture and NVRTC's version.
//
// One store for the process. Compiling the same twice gives the same bytes, so that it does not
// matter who was first.
#pragma once

#include <memory>
#include <string>

#include "optimized/device/kernels.h"
#include "spec/result.h"

namespace graphgate::optimized::cuda {

// The cubin of a program for an architecture ("sm_90"). kInfrastructure without NVRTC, kInternal
// for text that does not compile.
[[nodiscard]] Result<std::shared_ptr<const std::string>> cubin_of(const DeviceProgramText& text,
                                                                  const std::string& architecture);

}  // namespace graphgate::optimized::cuda
