// Any text as a golden record: what is accepted prints as text that prints as itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/golden/golden_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = tools::parse_golden(text, "fuzz.golden");
  if (!record.ok()) return 0;
  const std::string printed = tools::print_golden(record.value());
  const auto again = tools::parse_golden(printed, "again.golden");
  GRAPHGATE_CHECK(again.ok() && tools::print_golden(again.value()) == printed);
  return 0;
}
