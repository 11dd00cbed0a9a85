// Profiles: how one version of an upstream stack decides, as deviations and choices.
//
// A profile is resolved from version gates: upstream_data.json holds, for every deviation that some
// release had, when it came and went and how that is known. A deviation without such evidence is in
// no profile; it can be asked for by name, and serves as a mutant.
//
//   "torch-2.9.0"                what PyTorch 2.9.0 decided
//   "torch-2.9.1,vllm-0.11.1"    and vLLM's part, on an axis of its own
//   "fixed"                      nothing that is known to be wrong
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/upstream/version.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// `choices` are decisions of which neither is wrong, by the names of apply_profile().
struct Profile {
  std::string name;
  std::map<std::string, std::string> versions;  // axis -> version, as written
  spec::DeviationSet deviations;
  std::map<std::string, std::string> choices;
};

// Half-open: a version has it when introduced <= version < fixed. Without a bound: always.
struct VersionRange {
  std::optional<Version> introduced;
  std::optional<Version> fixed;
  [[nodiscard]] bool holds(const Version& version) const;
};

struct DeviationEvidence {
  spec::Deviation deviation = {};
  std::string axis;
  VersionRange range;
  std::string evidence;
};

struct ChoiceEvidence {
  std::string choice;
  std::string value;
  std::string axis;
  VersionRange range;
  std::string evidence;
};

struct UpstreamData {
  struct Axis {
    Version first;
    Version last;
    std::string first_text;
    std::string last_text;
  };
  std::map<std::string, Axis> axes;
  std::vector<DeviationEvidence> deviations;
  std::vector<ChoiceEvidence> choices;
};

// kBadInput naming the place in `source_name`: no JSON, a missing or unknown member, an unknown
// deviation or axis, a row without evidence.
[[nodiscard]] Result<UpstreamData> read_upstream_data(std::string_view json,
                                                      std::string_view source_name);
// The embedded data. A broken file is a programmer's error.
[[nodiscard]] const UpstreamData& upstream_data();

// kBadInput for an unknown axis, one that is named twice, and a version outside of those that the
// data speaks of.
[[nodiscard]] Result<Profile> resolve_profile(std::string_view text,
                                              const UpstreamData& data = upstream_data());

}  // namespace graphgate::optimized
