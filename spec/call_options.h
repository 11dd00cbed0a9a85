// How one call is asked to run: what a scenario says of a call beside its sizes and inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace graphgate::spec {

// Without one the executor chooses.
enum class CallMode : std::uint8_t { kEager, kCaptured };

// `flags` are what dispatch depends on beside sizes, by the dispatcher's names ("uniform_decode" ->
// "true", "lora" -> "2"). An executor ignores flags that it does not know.
struct CallOptions {
  std::optional<CallMode> mode;
  std::map<std::string, std::string> flags;
  friend bool operator==(const CallOptions&, const CallOptions&) = default;
};

}  // namespace graphgate::spec
