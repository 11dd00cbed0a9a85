// A device that has its programs compiled for a GPU, and runs none: every job goes back to the
// host.
//
// So a machine without a GPU finds out whether NVRTC takes every kernel that it would be given, and
// fills a folder of cubins for a machine that has one and little time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "optimized/runtime/device/device.h"

namespace graphgate::optimized::cuda {

// Cubins are for an architecture as NVRTC calls it; "sm_90a" is what an H100 and an H200 are
// compiled for (architecture_of). They are kept in the folder `cubins`, unless that is empty.
// kInfrastructure, in one line, without NVRTC. load() throws DeviceError for what does not compile.
[[nodiscard]] Result<std::shared_ptr<Device>> make_compiling_device(
    const std::string& architecture, const std::filesystem::path& cubins = {});

}  // namespace graphgate::optimized::cuda
