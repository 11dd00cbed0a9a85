// Compiled programs, by content: source, headers, options, architecture and NVRTC's version.
//
// One store for the process, and a folder for many (cubin_folder.h). Compiling the same twice gives
// the same bytes, so that it does not matter who was first.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "optimized/codegen/kernels.h"

namespace graphgate::optimized::cuda {

// The cubin of a program for an architecture ("sm_90"). kInfrastructure without NVRTC, kInternal
// for text that does not compile. It is looked for and kept in `folder`, unless that is empty.
[[nodiscard]] Result<std::shared_ptr<const std::string>> cubin_of(
    const DeviceProgramText& text, const std::string& architecture,
    const std::filesystem::path& folder = {});

// From now on cubins of this process that are given no folder of their own are looked for and kept
// in this one; empty: in none.
void keep_cubins_in(const std::filesystem::path& folder);

// The name that it has there: a hash. kInfrastructure without NVRTC.
[[nodiscard]] Result<std::string> cubin_key(const DeviceProgramText& text,
                                            const std::string& architecture);

}  // namespace graphgate::optimized::cuda
