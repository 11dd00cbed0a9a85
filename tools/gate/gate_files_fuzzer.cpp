// Any text as what a gate reads: the results of a side, waivers, lines of quality, and its journal.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/memory_file_test.h"
#include "conformance/judges/plan_quality.h"
#include "tools/gate/gate_journal.h"
#include "tools/gate/gate_results.h"
#include "tools/gate/waivers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto side = tools::read_gate_side(text, "side.json");
  if (side.ok()) {
    const std::string printed = tools::json_of(side.value()).dump();
    const auto again = tools::read_gate_side(printed, "again.json");
    GRAPHGATE_CHECK(again.ok() && again.value().cases == side.value().cases);
  }
  const auto waivers = tools::parse_waivers(text, "waivers.txt");
  if (waivers.ok()) {
    for (const auto& [name, waiver] : waivers.value()) {
      GRAPHGATE_CHECK(!name.empty() && !waiver.issue.empty() && waiver.last_day.size() == 10);
    }
  }
  (void)conformance::parse_quality(text);
  const MemoryFile file(std::as_bytes(std::span(data, size)));
  const auto journal = tools::GateJournal::open(file.path(), {}, 2);
  if (!journal.ok()) return 0;
  for (const auto& [name, cases] : journal.value().cases()) GRAPHGATE_CHECK(cases.size() == 2);
  return 0;
}
