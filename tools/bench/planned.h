// What benches ask of a program whose inputs are all buffers: its plan, and what a run of it starts
// on a device.
#pragma once

#include <vector>

#include "optimized/compile.h"
#include "optimized/runtime/host/host_program.h"
#include "spec/program.h"

namespace graphgate::tools {

// Errors are the compiler's own.
[[nodiscard]] Result<spec::Plan> plan_of(const spec::Program& program,
                                         const optimized::CompileOptions& options);

// The launches of a run, in order, as long as the program is recorded as it is. kInternal where any
// step runs on the host.
[[nodiscard]] Result<std::vector<const optimized::OnDevice::Unit*>> units_of(
    const optimized::HostProgram& program);

}  // namespace graphgate::tools
