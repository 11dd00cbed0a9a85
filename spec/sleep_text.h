// The words for a part of what sleeps: in scenarios, in the protocol, and in stored runs.
#pragma once

#include <optional>
#include <string_view>

#include "spec/sleep.h"

namespace graphgate::spec {

// Returns "weights" or "caches".
[[nodiscard]] constexpr std::string_view sleep_part_name(SleepPart part) {
  return part == SleepPart::kWeights ? "weights" : "caches";
}

// Returns the part of that name; nothing where there is none.
[[nodiscard]] constexpr std::optional<SleepPart> parse_sleep_part(std::string_view name) {
  for (const SleepPart part : {SleepPart::kWeights, SleepPart::kCaches}) {
    if (name == sleep_part_name(part)) return part;
  }
  return std::nullopt;
}

}  // namespace graphgate::spec
