// A command of the user's that says whether a file is still interesting.
//
// As with other reducers: it is run by `sh -c` with the file's path behind it; exit status 0 means
// yes. It runs in a process group of its own, which is killed when its time is up.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace graphgate::tools {

// The exit status; 128 and more for a signal, 124 for a command whose time was up. What it prints
// is dropped. kInfrastructure where no process can be made.
[[nodiscard]] Result<int> run_external_check(const std::string& command, const std::string& path,
                                             std::uint32_t timeout_seconds);

}  // namespace graphgate::tools
