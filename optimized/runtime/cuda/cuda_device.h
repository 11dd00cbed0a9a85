// The CUDA backend: a Device whose kernels are compiled by NVRTC and replayed as CUDA graphs.
//
// One context (the GPU's primary one), one stream and those that jobs fork to (streams.h), and
// arenas (cuda_memory.h). A captured job is recorded into a graph (capture mode thread-local,
// modules loaded before), checked, instantiated and uploaded; launch() replays it. The check wants
// kernels alone, as many as there are calls, with no pointer but theirs. They must be in order
// wherever two of them touch a byte that one writes. Other jobs launch kernel by kernel. Nothing is
// run while a job is made ready, so that no step's effect is there twice.
//
// Pointers are baked into graphs. Where arenas have come or gone since, every launch compares them
// with what memory() says now, and refuses to run with one that has moved.
//
// With guarded memory every launch is waited for, so that a fault is told of the job that did it.
//
// What is refused while a job is made ready (a launch, the end of a capture, memory for its graph)
// is a DeviceError that names the job, the call and CUDA's name for it. The capture is ended,
// nothing of the program stays, and the device takes the next one.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "optimized/runtime/device/device.h"

namespace graphgate::optimized::cuda {

struct Driver;

// A device of its own on GPU 0, for one thread at a time. kInfrastructure, in one line, without a
// GPU, a driver, NVRTC, or CUDA in this build. Programs are kept in the folder `cubins`, unless
// that is empty.
[[nodiscard]] Result<std::shared_ptr<Device>> make_cuda_device(
    DeviceMemoryMode mode = DeviceMemoryMode::kPlain, const std::filesystem::path& cubins = {});

// The same over functions of the caller's, which outlive the process's last device: for tests in
// which some of them refuse. Not in builds without CUDA.
[[nodiscard]] Result<std::shared_ptr<Device>> make_cuda_device_over(
    const Driver& driver, DeviceMemoryMode mode = DeviceMemoryMode::kPlain,
    const std::filesystem::path& cubins = {});

}  // namespace graphgate::optimized::cuda
