#include "optimized/upstream/overrides.h"

#include <algorithm>

#include "optimized/upstream/embedded.h"
#include "optimized/upstream/json_rows.h"

namespace graphgate::optimized {
namespace {

using State = OverrideReport::State;

Result<Override> read_override(JsonRow& row) {
  Override out;
  GRAPHGATE_TRY(out.name, row.text("name"));
  GRAPHGATE_TRY(out.link, row.text("link"));
  GRAPHGATE_TRY(out.axis, row.text("axis"));
  GRAPHGATE_TRY(const auto equals, row.texts("equals"));
  for (const std::string& text : equals) {
    const auto version = parse_version(text);
    if (!version.ok()) return row.error(version.error().message);
    out.equals.push_back(version.value());
  }
  GRAPHGATE_TRY(out.at_least, row.version("at_least"));
  GRAPHGATE_TRY(out.below, row.version("below"));
  GRAPHGATE_TRY(const auto removes, row.texts("removes"));
  for (const std::string& name : removes) {
    GRAPHGATE_TRY(const spec::Deviation deviation, deviation_of(row, name));
    out.removes.push_back(deviation);
  }
  GRAPHGATE_TRY(const auto sets, row.named_texts("sets"));
  out.sets.insert(sets.begin(), sets.end());
  GRAPHGATE_TRY(out.informational, row.text_or_empty("informational"));
  GRAPHGATE_TRY(out.note, row.text_or_empty("note"));
  GRAPHGATE_TRY(out.enabled, row.flag("enabled", true));
  GRAPHGATE_TRY_VOID(row.finish());
  if (out.equals.empty() && !out.at_least && !out.below) {
    return row.error("expected a gate: 'equals', 'at_least' or 'below'");
  }
  if (out.removes.empty() && out.sets.empty() && out.informational.empty()) {
    return row.error("expected 'removes', 'sets', or 'informational' with the reason");
  }
  return out;
}

bool is_inside(const Override& override, const Version& version) {
  if (!override.equals.empty()) {
    return std::ranges::any_of(
        override.equals, [&](const Version& target) { return is_equal_release(version, target); });
  }
  return (!override.at_least || version >= *override.at_least) &&
         (!override.below || version < *override.below);
}

// What it took away or set, in words; empty when there was nothing.
std::string change(const Override& override, Profile& profile) {
  std::string changed;
  const auto add = [&changed](const std::string& what) {
    changed += (changed.empty() ? "" : ", ") + what;
  };
  for (const spec::Deviation deviation : override.removes) {
    if (!profile.deviations.has(deviation)) continue;
    profile.deviations.remove(deviation);
    add("removes " + std::string(spec::row_of(deviation).name));
  }
  for (const auto& [choice, value] : override.sets) {
    const auto found = profile.choices.find(choice);
    if (found != profile.choices.end() && found->second == value) continue;
    profile.choices[choice] = value;
    std::string change = "sets " + choice;
    change += " to ";
    change += value;
    add(change);
  }
  return changed;
}

OverrideReport apply(const Override& override, Profile& profile) {
  OverrideReport report{override.name, State::kDoesNotApply, {}};
  const std::string head = override.name + " (" + override.link + ") ";
  const auto written = profile.versions.find(override.axis);
  if (!override.enabled) {
    report.state = State::kOff;
    report.sentence =
        head + "is switched off" + (override.note.empty() ? "" : ": " + override.note);
  } else if (written == profile.versions.end()) {
    report.sentence = head + "does not apply: the profile has no " + override.axis + " version";
  } else if (!is_inside(override, parse_version(written->second).value())) {
    report.sentence = head + "does not apply to " + override.axis + " " + written->second;
  } else if (!override.informational.empty()) {
    report.state = State::kInformational;
    report.sentence = head + "is not modelled: " + override.informational;
  } else if (const std::string changed = change(override, profile); !changed.empty()) {
    report.state = State::kApplied;
    report.sentence = head + changed;
  } else {
    report.state = State::kNotNeeded;
    report.sentence =
        head + "is not needed: " + override.axis + " " + written->second + " does not decide so";
  }
  return report;
}

}  // namespace

Result<std::vector<Override>> read_overrides(std::string_view json, std::string_view source_name) {
  GRAPHGATE_TRY(const nlohmann::json parsed, parse_json(json, source_name));
  GRAPHGATE_TRY(JsonRow all, JsonRow::of(parsed, std::string(source_name)));
  GRAPHGATE_TRY(auto rows, all.rows("overrides"));
  std::vector<Override> out;
  for (JsonRow& row : rows) {
    GRAPHGATE_TRY(Override override, read_override(row));
    out.push_back(std::move(override));
  }
  GRAPHGATE_TRY_VOID(all.finish());
  return out;
}

const std::vector<Override>& vllm_overrides() {
  static const std::vector<Override> kOverrides = [] {
    auto overrides = read_overrides(kUpstreamTexts[1], kUpstreamTextsNames[1]);
    GRAPHGATE_CHECK(overrides.ok());
    return std::move(overrides).value();
  }();
  return kOverrides;
}

std::vector<OverrideReport> apply_overrides(std::span<const Override> overrides, Profile& profile) {
  std::vector<OverrideReport> reports;
  for (const Override& override : overrides) reports.push_back(apply(override, profile));
  return reports;
}

}  // namespace graphgate::optimized
