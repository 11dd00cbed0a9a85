// Any bytes as recorded calls of ops: lines of JSON up to a byte 0, and safetensors behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory_file_test.h"
#include "interop/op_cases.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const auto lines = static_cast<std::size_t>(zero - bytes.begin());
  const MemoryFile calls(bytes.first(lines));
  const MemoryFile tensors(bytes.subspan(std::min(lines + 1, size)));
  const spec::OpTable& ops = spec::builtin_op_table();
  (void)interop::read_op_calls(calls.path(), tensors.path(),
                               [&](interop::OpCall&& call) -> Result<void> {
                                 (void)interop::make_op_case(call, ops);
                                 return {};
                               });
  return 0;
}
