// Any bytes as a .pt2 archive: the reader returns a valid program or one line that says why not.
#include <cstddef>
#include <cstdint>
#include <span>

#include "interop/pt2_reader.h"
#include "spec/op_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const auto bytes = std::as_bytes(std::span(data, size));
  interop::Pt2Options options;
  options.ops = &spec::builtin_op_table();
  const auto program = interop::read_pt2_bytes(bytes, "fuzz.pt2", options);
  if (!program.ok()) GRAPHGATE_CHECK(program.error().message.find('\n') == std::string::npos);
  return 0;
}
