// Any bytes as a safetensors file: every tensor that is accepted lies inside its storage.
#include <cstddef>
#include <cstdint>
#include <span>

#include "interop/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto read = interop::read_safetensors_bytes(bytes, "fuzz.safetensors");
  if (!read.ok()) return 0;
  for (const auto& [name, tensor] : read.value().tensors) {
    const auto held = static_cast<std::int64_t>(tensor.storage->bytes.size());
    GRAPHGATE_CHECK(spec::geometry_fits(tensor, held));
  }
  return 0;
}
