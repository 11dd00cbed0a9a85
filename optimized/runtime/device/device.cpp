#include "optimized/runtime/device/device.h"

namespace graphgate::optimized {

std::optional<double> bytes_of_each(std::span<const std::int64_t> free_bytes) {
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::size_t i = 1; i < free_bytes.size(); ++i) {
    if (free_bytes[i] > free_bytes[i - 1]) return {};  // somebody else gave some back
    if (free_bytes[i] == free_bytes[i - 1]) continue;
    if (first == 0) first = i;
    last = i;
  }
  if (first == last) return {};
  return static_cast<double>(free_bytes[first] - free_bytes[last]) /
         static_cast<double>(last - first);
}

}  // namespace graphgate::optimized
