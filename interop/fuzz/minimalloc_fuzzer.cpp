// Any text as buffers in CSV, with places and without: what is accepted lives for a while.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interop/minimalloc.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto buffers = interop::parse_minimalloc(text, "fuzz.csv");
  if (buffers.ok()) {
    for (const auto& buffer : buffers.value()) {
      GRAPHGATE_CHECK(buffer.lower < buffer.upper && buffer.size_bytes >= 0);
    }
  }
  const auto placed = interop::parse_placed_minimalloc(text, "fuzz.csv");
  if (placed.ok()) {
    for (const auto& each : placed.value()) {
      GRAPHGATE_CHECK(each.buffer.lower < each.buffer.upper && each.buffer.size_bytes >= 0);
    }
  }
  return 0;
}
