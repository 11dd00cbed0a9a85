// Any bytes as a recording: its geometry in JSON up to a byte 0, and safetensors behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory_file_test.h"
#include "interop/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const auto text = static_cast<std::size_t>(zero - bytes.begin());
  const MemoryFile geometry(bytes.first(text));
  const MemoryFile tensors(bytes.subspan(std::min(text + 1, size)));
  (void)interop::read_recording(tensors.path(), geometry.path());
  return 0;
}
