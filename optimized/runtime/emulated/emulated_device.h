// A device for machines without one: generated kernels run on the processor, thread by thread.
//
// The text that a GPU would be given is compiled by this machine's C++ compiler, with words of CUDA
// C++ in front of it (text/), and run block after block (block.h). So what kernels compute, which
// bytes they touch, and whether their threads wait for each other rightly is tested where there is
// no GPU. It does not test that NVRTC takes the text, how memory behaves between threads that do
// run at once, or speed.
//
// Used by: `--device emulated`, and tests. It wants a C++ compiler at run time ($CXX, or c++).
//
// It is as unkind as a GPU may be. Memory is apart from the host's, holds no zeros when it is new,
// and lies between bytes that finish() finds written. Threads and blocks run in an order of no
// meaning. Calls on several streams go in another order that streams and events allow at every
// launch, so that a missing event shows as other bits. In fast arithmetic a call that is behind one
// other alone begins before the one that runs has done anything but that, up to where it waits
// (codegen/text/fast.cuh). What it does there may not touch shared memory.
//
// With guarded memory arenas lie as a GPU's then do (device/memory.h): what a GPU would fault on is
// a SIGSEGV of the process.
#pragma once

#include <memory>

#include "base/result.h"
#include "optimized/runtime/device/device.h"

namespace graphgate::optimized::emulated {

// The compiler that it takes, as a shell has it: $CXX, which may have options, or c++.
// kInfrastructure where there is none.
[[nodiscard]] Result<std::string> find_compiler();

// A device of its own, for one thread at a time. kInfrastructure without a compiler. Its load()
// throws DeviceError where a text does not compile.
[[nodiscard]] Result<std::shared_ptr<Device>> make_emulated_device(
    DeviceMemoryMode mode = DeviceMemoryMode::kPlain);

}  // namespace graphgate::optimized::emulated
