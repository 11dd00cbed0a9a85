// A command of the user's that only says yes or no.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace graphgate::tools {

// Runs `sh -c COMMAND` with `argument` as $1, without input; what it prints is dropped. Returns the
// exit status; 128 and more for a signal; 124 where its time was up, or `should_stop`, where it is
// given, said so. Then, and when it has ended, all that it has started is killed (keeper.h).
// kInfrastructure where no process can be made.
[[nodiscard]] Result<int> run_command(const std::string& command, const std::string& argument,
                                      std::uint32_t timeout_seconds,
                                      const std::function<bool()>& should_stop = {});

}  // namespace graphgate::tools
