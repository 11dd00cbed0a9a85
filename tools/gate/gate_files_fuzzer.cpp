// Any text as what a gate reads: the results of a side, waivers, and lines of quality.
#include <cstddef>
#include <cstdint>
#include <string>

#include "conformance/judges/plan_quality.h"
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
  return 0;
}
