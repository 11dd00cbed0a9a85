// Any text as overrides, as data of versions, and as a profile: each is refused in one line, or can
// be put over a profile.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "optimized/upstream/overrides.h"
#include "optimized/upstream/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto overrides = optimized::read_overrides(text, "fuzz.json");
  if (overrides.ok()) {
    optimized::Profile profile = optimized::resolve_profile("torch-2.9.0").value();
    const auto reports = optimized::apply_overrides(overrides.value(), profile);
    GRAPHGATE_CHECK(reports.size() == overrides.value().size());
  } else {
    GRAPHGATE_CHECK(overrides.error().message.find('\n') == std::string::npos);
  }
  (void)optimized::read_upstream_data(text, "fuzz.json");
  (void)optimized::resolve_profile(text);
  return 0;
}
