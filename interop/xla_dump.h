// Reads what XLA writes with --xla_dump_to and --xla_dump_hlo_as_text about the memory of a module:
//
//   NAME-buffer-assignment.txt   where each value lies
//   NAME.txt                     the scheduled module that it is for
//   NAME-live-range.txt          how long XLA holds each value; may be missing
//
// jax on a CPU makes them with NAME = module_0004.jit_f.cpu_after_optimizations.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "spec/hlo.h"

namespace graphgate::interop {

// Returns the module of HLO text. Errors begin with "NAME:LINE:". kUnsupported for what is no fault
// of the text: a module without a schedule, tiled layouts, sizes that change, control flow that
// runs beside the rest. What is returned is well formed: operands stand before users, callees
// before callers, each computation with control flow has one caller, and shapes of both agree.
[[nodiscard]] Result<spec::HloModule> parse_hlo(std::string_view text, std::string_view name);

// Reads allocations and values into `plan`, whose module is there. Errors as above.
[[nodiscard]] Result<void> parse_buffer_assignment(std::string_view text, std::string_view name,
                                                   spec::HloPlan& plan);

// Reads live ranges into `plan`, whose module is there. Errors as above.
[[nodiscard]] Result<void> parse_live_ranges(std::string_view text, std::string_view name,
                                             spec::HloPlan& plan);

// Reads a buffer assignment, and the files beside it. kBadInput for a path that does not end in
// "-buffer-assignment.txt", or without a module beside it.
[[nodiscard]] Result<spec::HloPlan> read_xla_dump(const std::string& assignment_path);

}  // namespace graphgate::interop
