// Which workarounds a candidate still needs: each is left out in turn, and the corpus says what
// comes back.
#pragma once

#include <string>
#include <vector>

#include "tools/gate/run_sides.h"

namespace graphgate::tools {

enum class OverrideUse : std::uint8_t {
  kStillNeeded,      // without it the candidate shows more
  kNoLongerNeeded,   // inside its versions, and nothing comes without it
  kNoLongerApplies,  // outside its versions now, and not on the baseline
  kHarmful,          // with it the candidate shows more
  kNeverApplied,     // outside its versions on both sides
  kNotModelled,      // inside its versions, and no decision of a planner is behind it
  kOff,              // switched off in the file
};
// "still needed", "no longer needed", "no longer applies", "harmful", ...
[[nodiscard]] const char* use_name(OverrideUse use);

struct OverrideVerdict {
  std::string name;
  OverrideUse use = OverrideUse::kOff;
  std::string sentence;                 // what the version gate says, with its link
  std::vector<std::string> signatures;  // that come without it, or with it where it is harmful
};

// A side as it is run: a profile, a file of overrides ("" for none), and where.
struct ProfileSide {
  std::string profile;
  std::string overrides;
  conformance::Configuration device = {};
  [[nodiscard]] conformance::Configuration flags() const;
  [[nodiscard]] std::string name() const;  // "torch-2.9.1 with overrides vllm"
};

// What the corpus says of an override that changes the candidate: kHarmful before kStillNeeded,
// else kNoLongerNeeded, with the signatures that say so.
void weigh_override(const GateSide& with, const GateSide& left_out, OverrideVerdict& verdict);

// `with` is what the candidate came to with all its overrides. kBadInput for a file of overrides
// that there is not, or with a fault.
[[nodiscard]] Result<std::vector<OverrideVerdict>> judge_overrides(
    const ProfileSide& baseline, const ProfileSide& candidate, const GateSide& with,
    const std::vector<GateInput>& inputs, const SideOptions& options);

}  // namespace graphgate::tools
