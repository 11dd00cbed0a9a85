// Any text as a program: what is accepted and valid prints as canonical text, which prints as
// itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "spec/op_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const spec::OpTable& ops = spec::builtin_op_table();
  const auto program = spec::parse_program(text, ops);
  if (!program.ok() || !spec::check_program(program.value(), ops).ok()) return 0;
  const std::string canonical = spec::print_program(program.value(), ops);
  const auto again = spec::parse_program(canonical, ops);
  GRAPHGATE_CHECK(again.ok());
  GRAPHGATE_CHECK(spec::print_program(again.value(), ops) == canonical);
  return 0;
}
