// Any text as a printed SymPy tree: what is accepted prints and reads back as the same tree.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interop/sympy_expr.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = interop::parse_sympy(text);
  if (!parsed.ok()) return 0;
  // Printing may nest deeper than reading allows (CeilDiv is three operators).
  const auto again = interop::parse_sympy(interop::print_sympy(parsed.value(), {}));
  GRAPHGATE_CHECK(!again.ok() || again.value() == parsed.value());
  return 0;
}
