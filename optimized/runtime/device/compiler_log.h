// What compilers of kernels have to say, for messages: NVRTC's log, and the emulator's compiler's.
#pragma once

#include <cstddef>
#include <string>

namespace graphgate::optimized {

// On one line: from the first error on, which warnings may stand before, and not all of it.
[[nodiscard]] inline std::string shortened(std::string log) {
  constexpr std::size_t kShown = 600;
  const std::size_t error = log.find("error");
  const std::size_t end = error == std::string::npos ? error : log.rfind('\n', error);
  if (end != std::string::npos) log.erase(0, end + 1);
  if (log.size() > kShown) log.resize(kShown);
  for (char& c : log) c = c == '\n' || c == '\0' ? ' ' : c;
  while (!log.empty() && log.back() == ' ') log.pop_back();
  return log;
}

}  // namespace graphgate::optimized
