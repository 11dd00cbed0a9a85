// Any text as a case: what is accepted and makes sense prints as text that is the same case.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "spec/case_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = spec::parse_case(text);
  if (!read.ok()) {
    GRAPHGATE_CHECK(read.error().message.find('\n') == std::string::npos);
    return 0;
  }
  if (!spec::check_case(read.value()).ok()) return 0;
  const auto canonical = spec::print_case(read.value());
  if (!canonical.ok()) return 0;
  const auto again = spec::parse_case(canonical.value());
  GRAPHGATE_CHECK(again.ok());
  const auto printed = spec::print_case(again.value());
  GRAPHGATE_CHECK(printed.ok() && printed.value() == canonical.value());
  return 0;
}
