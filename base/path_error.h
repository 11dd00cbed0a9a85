// Tells a path that is wrong from a machine that cannot open it.
#pragma once

#include <string>

#include "base/result.h"

namespace graphgate {

// What errno's `code` says of a path that was given: kInfrastructure where it tells of the machine
// (no more files, no memory, a disk that fails), else kBadInput. "WHAT: No such file or directory".
[[nodiscard]] Error failed_path(const std::string& what, int code);

}  // namespace graphgate
