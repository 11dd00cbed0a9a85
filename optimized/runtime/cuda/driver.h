// The CUDA driver's functions, from libcuda.so.1 as this machine has it.
//
// Used by: everything in runtime/cuda. The library is opened at the first load_driver() and
// stays open; a machine without it gets an error, and nothing else. Calls that fail throw
// DeviceError with the call's name and CUDA's name for what went wrong:
//
//   GRAPHGATE_CUDA(driver, cuMemAlloc, &address, bytes);
//   -> "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
#pragma once

#include <cuda.h>

#include <string>

#include "base/result.h"
#include "optimized/runtime/device/device.h"

// The macros of cuda.h choose the version of each function (cuMemAlloc is cuMemAlloc_v2).
#define GRAPHGATE_CUDA_FUNCTIONS(APPLY) \
  APPLY(cuCtxSetCurrent)                \
  APPLY(cuCtxSynchronize)               \
  APPLY(cuDeviceGet)                    \
  APPLY(cuDeviceGetAttribute)           \
  APPLY(cuDeviceGetCount)               \
  APPLY(cuDeviceGetName)                \
  APPLY(cuDevicePrimaryCtxRetain)       \
  APPLY(cuDeviceTotalMem)               \
  APPLY(cuDriverGetVersion)             \
  APPLY(cuEventCreate)                  \
  APPLY(cuEventDestroy)                 \
  APPLY(cuEventElapsedTime)             \
  APPLY(cuEventRecord)                  \
  APPLY(cuEventSynchronize)             \
  APPLY(cuGetErrorName)                 \
  APPLY(cuGetErrorString)               \
  APPLY(cuFuncSetAttribute)             \
  APPLY(cuGraphDestroy)                 \
  APPLY(cuGraphExecDestroy)             \
  APPLY(cuGraphGetEdges_v2)             \
  APPLY(cuGraphGetNodes)                \
  APPLY(cuGraphInstantiateWithFlags)    \
  APPLY(cuGraphKernelNodeGetAttribute)  \
  APPLY(cuGraphKernelNodeGetParams)     \
  APPLY(cuGraphLaunch)                  \
  APPLY(cuGraphNodeGetType)             \
  APPLY(cuGraphUpload)                  \
  APPLY(cuInit)                         \
  APPLY(cuLaunchKernelEx)               \
  APPLY(cuMemAddressFree)               \
  APPLY(cuMemAddressReserve)            \
  APPLY(cuMemAlloc)                     \
  APPLY(cuMemAllocHost)                 \
  APPLY(cuMemCreate)                    \
  APPLY(cuMemFree)                      \
  APPLY(cuMemGetAllocationGranularity)  \
  APPLY(cuMemGetInfo)                   \
  APPLY(cuMemMap)                       \
  APPLY(cuMemRelease)                   \
  APPLY(cuMemSetAccess)                 \
  APPLY(cuMemUnmap)                     \
  APPLY(cuMemcpyDtoHAsync)              \
  APPLY(cuMemcpyHtoDAsync)              \
  APPLY(cuMemsetD8Async)                \
  APPLY(cuModuleGetFunction)            \
  APPLY(cuModuleLoadData)               \
  APPLY(cuModuleUnload)                 \
  APPLY(cuStreamBeginCapture)           \
  APPLY(cuStreamCreate)                 \
  APPLY(cuStreamDestroy)                \
  APPLY(cuStreamEndCapture)             \
  APPLY(cuStreamSynchronize)            \
  APPLY(cuStreamWaitEvent)

namespace graphgate::optimized::cuda {

struct Driver {
#define GRAPHGATE_DECLARE(function) decltype(&::function) function = nullptr;
  GRAPHGATE_CUDA_FUNCTIONS(GRAPHGATE_DECLARE)
#undef GRAPHGATE_DECLARE

  // Throws DeviceError unless `result` is success. `call` is the function's name. A kernel's fault
  // comes out of whatever is called next, and out of all that is called later.
  void check(CUresult result, const char* call) const;
  // "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
  [[nodiscard]] std::string name_of(CUresult result) const;
};

// The driver of this process, after cuInit. kInfrastructure where there is none, where it lacks a
// function, or does not start: one line that says which.
[[nodiscard]] Result<const Driver*> load_driver();

}  // namespace graphgate::optimized::cuda

#define GRAPHGATE_CUDA(driver, function, ...) \
  (driver).check((driver).function(__VA_ARGS__), #function)
