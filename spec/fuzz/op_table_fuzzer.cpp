// Any text as rows of ops, over the built-in ones: what is accepted prints as rows that read back
// as themselves.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "spec/op_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schema = spec::parse_schema(text);
  if (schema.ok()) {
    const std::string printed = spec::print_schema(schema.value());
    const auto again = spec::parse_schema(printed);
    GRAPHGATE_CHECK(again.ok() && spec::print_schema(again.value()) == printed);
  }
  spec::OpTable table;
  const auto added = table.add_text(text, "fuzz.ops");
  if (!added.ok()) {
    GRAPHGATE_CHECK(added.error().message.find('\n') == std::string::npos);
    GRAPHGATE_CHECK(table.rows().empty());
    (void)spec::OpTable(spec::builtin_op_table()).add_text(text, "fuzz.ops");
    return 0;
  }
  const auto print = [](const spec::OpTable& rows) {
    std::string printed;
    for (const auto& [name, row] : rows.rows()) printed += spec::print_row(*row) + "\n";
    return printed;
  };
  const std::string printed = print(table);
  spec::OpTable again;
  GRAPHGATE_CHECK(again.add_text(printed, "again.ops").ok() && print(again) == printed);
  return 0;
}
