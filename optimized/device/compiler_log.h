// What compilers of kernels have to say, for messages: NVRTC's log, and the emulator's compiler's.
#pragma once

#include <cstddef>
#include <string>

namespace graphgate::optimized {

// The first lines, on one line.
[[nodiscard]] inline std::string shortened(std::string log) {
  constexpr std::size_t kShown = 600;
  if (log.size() > kShown) log.resize(kShown);
  for (char& c : log) c = c == '\n' || c == '\0' ? ' ' : c;
  while (!log.empty() && log.back() == ' ') log.pop_back();
  return log;
}

}  // namespace graphgate::optimized
