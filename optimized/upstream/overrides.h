// Overrides: workarounds that a user puts over an upstream version, each behind a version gate.
//
// vllm_overrides.json holds vLLM's own (its env_override module); users write files of the same
// form. What is applied, and what no longer needs to be, is reported for every override.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/upstream/profile.h"

namespace graphgate::optimized {

// The gate is on the version of `axis`: one of `equals` (is_equal_release), or in
// [at_least, below). `informational` says why there is nothing to model; then `removes` and `sets`
// are empty.
struct Override {
  std::string name;
  std::string link;
  std::string axis;
  std::vector<Version> equals;
  std::optional<Version> at_least;
  std::optional<Version> below;
  std::vector<spec::Deviation> removes;
  std::map<std::string, std::string> sets;  // choices
  std::string informational;
  std::string note;
  bool enabled = true;
};

// kBadInput naming the place: as read_upstream_data, and for an override without any gate or that
// does nothing and does not say why.
[[nodiscard]] Result<std::vector<Override>> read_overrides(std::string_view json,
                                                           std::string_view source_name);
[[nodiscard]] const std::vector<Override>& vllm_overrides();

struct OverrideReport {
  enum class State : std::uint8_t {
    kApplied,        // it changed the profile
    kNotNeeded,      // inside its versions, and nothing to change
    kDoesNotApply,   // outside its versions, or the profile has no such axis
    kInformational,  // inside its versions, and nothing that is modelled
    kOff,            // switched off in the file
  };
  std::string name;
  State state = State::kApplied;
  std::string sentence;  // for people, with the override's name and link
};

// Changes the profile, in order.
[[nodiscard]] std::vector<OverrideReport> apply_overrides(std::span<const Override> overrides,
                                                          Profile& profile);

}  // namespace graphgate::optimized
