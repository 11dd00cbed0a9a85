// Any text as the state of a campaign: what is accepted prints as text that reads back as itself,
// and adds up with nothing that it holds already.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/campaign/campaign_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto state = fuzz::parse_state(text, "fuzz.campaign");
  if (!state.ok()) return 0;
  const std::string printed = fuzz::print_state(state.value());
  const auto again = fuzz::parse_state(printed, "again.campaign");
  GRAPHGATE_CHECK(again.ok());
  GRAPHGATE_CHECK(fuzz::print_state(again.value()) == printed);
  GRAPHGATE_CHECK(fuzz::merge_states({state.value()}).ok());
  (void)fuzz::merge_states({state.value(), again.value()});
  return 0;
}
