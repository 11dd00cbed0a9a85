// Signatures of a campaign that are no executor's: of the generator, of the harness, of the
// machine.
#pragma once

#include <string_view>

namespace graphgate::fuzz {

// The generator has drawn what the reference refuses.
inline constexpr std::string_view kInvalidCase = "generator invalid-case [] {}";
// The harness broke down.
inline constexpr std::string_view kHarnessError = "harness error [] {}";
// The machine, or an adapter, could not: no room, no process, no device.
inline constexpr std::string_view kMachineFailed = "machine failed [] {}";

}  // namespace graphgate::fuzz
