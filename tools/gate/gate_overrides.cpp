#include "tools/gate/gate_overrides.h"

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "base/temporary_folder.h"
#include "optimized/upstream/embedded.h"
#include "optimized/upstream/overrides.h"
#include "spec/option.h"
#include "tools/executors/executor_sources.h"
#include "tools/report/forms.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

using optimized::OverrideReport;
using State = optimized::OverrideReport::State;

// The text of a file, or of the one that is bundled.
Result<std::string> overrides_text(const std::string& overrides) {
  if (overrides != "vllm") return read_text(overrides);
  return std::string(optimized::kUpstreamTexts[1]);
}

Result<std::vector<OverrideReport>> reports_for(const std::string& profile, const std::string& text,
                                                const std::string& source) {
  GRAPHGATE_TRY(const auto overrides, optimized::read_overrides(text, source));
  GRAPHGATE_TRY(optimized::Profile resolved, optimized::resolve_profile(profile));
  return optimized::apply_overrides(overrides, resolved);
}

// The file with one override switched off.
Result<std::string> without(const std::string& text, const std::string& name) {
  auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  for (auto& row : json["overrides"]) {
    if (row["name"] == name) row["enabled"] = false;
  }
  return print_json(json);
}

// Signatures by how many cases show them.
std::set<std::pair<std::string, std::string>> findings_of(const GateSide& side) {
  std::set<std::pair<std::string, std::string>> out;
  for (const auto& [name, one] : side.cases) {
    for (const GateFinding& finding : one.findings) out.emplace(finding.signature, name);
  }
  return out;
}

// Signatures of findings that `more` has and `fewer` has not, in a case where it shows.
std::vector<std::string> extra(const GateSide& more, const GateSide& fewer) {
  const auto known = findings_of(fewer);
  std::set<std::string> out;
  for (const auto& finding : findings_of(more)) {
    if (!known.contains(finding)) out.insert(finding.first);
  }
  return {out.begin(), out.end()};
}

class OverrideJudge {
 public:
  OverrideJudge(const ProfileSide& candidate, const GateSide& with,
                const std::vector<GateInput>& inputs, const SideOptions& options)
      : candidate_(candidate), with_(with), inputs_(inputs), options_(options) {}

  // Leaves it out and runs the corpus again.
  Result<void> judge_applied(const std::string& text, OverrideVerdict& verdict) const {
    GRAPHGATE_TRY(const TemporaryFolder folder, TemporaryFolder::make("overrides"));
    ProfileSide side = candidate_;
    side.overrides = folder.path() + "/overrides.json";
    GRAPHGATE_TRY(const std::string changed, without(text, verdict.name));
    GRAPHGATE_TRY_VOID(write_text(changed, side.overrides));
    GateSide left_out;
    const CaseDone keep = [&](const GateInput& input, std::vector<GateCase> sides) -> Result<void> {
      left_out.cases.emplace(input.name, std::move(sides.front()));
      return {};
    };
    GRAPHGATE_TRY_VOID(run_sides({{optimized_source(), side.flags()}}, inputs_, options_, keep));
    weigh_override(with_, left_out, verdict);
    return {};
  }

 private:
  const ProfileSide& candidate_;
  const GateSide& with_;
  const std::vector<GateInput>& inputs_;
  const SideOptions& options_;
};

}  // namespace

const char* use_name(OverrideUse use) {
  switch (use) {
    case OverrideUse::kStillNeeded:
      return "still needed";
    case OverrideUse::kNoLongerNeeded:
      return "no longer needed";
    case OverrideUse::kNoLongerApplies:
      return "no longer applies";
    case OverrideUse::kHarmful:
      return "harmful";
    case OverrideUse::kNeverApplied:
      return "applies to neither";
    case OverrideUse::kNotModelled:
      return "not modelled";
    case OverrideUse::kOff:
      return "off";
  }
  return "";
}

void weigh_override(const GateSide& with, const GateSide& left_out, OverrideVerdict& verdict) {
  verdict.use = OverrideUse::kHarmful;
  verdict.signatures = extra(with, left_out);
  if (!verdict.signatures.empty()) return;
  verdict.use = OverrideUse::kStillNeeded;
  verdict.signatures = extra(left_out, with);
  if (!verdict.signatures.empty()) return;
  verdict.use = OverrideUse::kNoLongerNeeded;
  verdict.sentence += "; no case of the corpus tells the difference";
}

conformance::Configuration ProfileSide::flags() const {
  conformance::Configuration flags = device;
  flags[spec::option::kProfile] = profile;
  if (!overrides.empty()) flags[spec::option::kOverrides] = overrides;
  return flags;
}

std::string ProfileSide::name() const {
  return overrides.empty() ? profile : profile + " with overrides " + overrides;
}

Result<std::vector<OverrideVerdict>> judge_overrides(const ProfileSide& baseline,
                                                     const ProfileSide& candidate,
                                                     const GateSide& with,
                                                     const std::vector<GateInput>& inputs,
                                                     const SideOptions& options) {
  GRAPHGATE_TRY(const std::string text, overrides_text(candidate.overrides));
  GRAPHGATE_TRY(const auto before, reports_for(baseline.profile, text, candidate.overrides));
  GRAPHGATE_TRY(const auto after, reports_for(candidate.profile, text, candidate.overrides));
  const OverrideJudge judge(candidate, with, inputs, options);
  std::vector<OverrideVerdict> verdicts;
  for (std::size_t i = 0; i < after.size(); ++i) {
    OverrideVerdict verdict{after[i].name, OverrideUse::kOff, after[i].sentence, {}};
    switch (after[i].state) {
      case State::kApplied:
        GRAPHGATE_TRY_VOID(judge.judge_applied(text, verdict));
        break;
      case State::kNotNeeded:
        verdict.use = OverrideUse::kNoLongerNeeded;
        break;
      case State::kDoesNotApply:
        verdict.use = before[i].state == State::kDoesNotApply ? OverrideUse::kNeverApplied
                                                              : OverrideUse::kNoLongerApplies;
        break;
      case State::kInformational:
        verdict.use = OverrideUse::kNotModelled;
        break;
      case State::kOff:
        break;
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace graphgate::tools
