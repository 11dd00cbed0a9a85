#include "optimized/upstream/profile.h"

#include "optimized/upstream/embedded.h"
#include "optimized/upstream/json_rows.h"

namespace graphgate::optimized {
namespace {

struct Gate {
  std::string axis;
  VersionRange range;
  std::string evidence;
};

Result<Gate> read_gate(JsonRow& row, const UpstreamData& data) {
  Gate gate;
  GRAPHGATE_TRY(gate.axis, row.text("axis"));
  if (!data.axes.contains(gate.axis)) return row.error("no axis is called '" + gate.axis + "'");
  GRAPHGATE_TRY(gate.range.introduced, row.version("introduced"));
  GRAPHGATE_TRY(gate.range.fixed, row.version("fixed"));
  GRAPHGATE_TRY(gate.evidence, row.text("evidence"));
  GRAPHGATE_TRY_VOID(row.finish());
  return gate;
}

Result<void> read_axes(JsonRow& all, UpstreamData& data) {
  GRAPHGATE_TRY(auto axes, all.named_rows("axes"));
  for (auto& [name, row] : axes) {
    UpstreamData::Axis axis;
    GRAPHGATE_TRY(axis.first_text, row.text("first"));
    GRAPHGATE_TRY(axis.last_text, row.text("last"));
    GRAPHGATE_TRY(const auto first, row.version("first"));
    GRAPHGATE_TRY(const auto last, row.version("last"));
    axis.first = *first;
    axis.last = *last;
    GRAPHGATE_TRY_VOID(row.finish());
    data.axes.emplace(name, std::move(axis));
  }
  return {};
}

// "torch-2.9.0" -> {"torch", "2.9.0"}.
Result<std::pair<std::string, std::string>> split_part(std::string_view part) {
  const std::size_t dash = part.find('-');
  if (dash == std::string_view::npos) {
    return bad_input("expected 'fixed' or AXIS-VERSION (torch-2.9.0), found '" + std::string(part) +
                     "'");
  }
  return std::pair(std::string(part.substr(0, dash)), std::string(part.substr(dash + 1)));
}

// Gates know nothing of versions before the first and behind the last that were looked at. A later
// patch of the last minor version counts as the last.
Result<Version> known_version(const std::string& name, const std::string& text,
                              const UpstreamData::Axis& axis) {
  GRAPHGATE_TRY(const Version version, parse_version(text));
  Version next_minor = axis.last;
  next_minor.release.resize(2);
  ++next_minor.release[1];
  next_minor.phase = Version::Phase::kDevelopment;
  next_minor.development = 0;
  if (version < axis.first || version >= next_minor) {
    return bad_input("profile " + name + "-" + text + ": versions from " + axis.first_text +
                     " to " + axis.last_text + " are known");
  }
  return version;
}

void add_axis(const UpstreamData& data, const std::string& axis, const Version& version,
              Profile& profile) {
  for (const DeviationEvidence& row : data.deviations) {
    if (row.axis == axis && row.range.holds(version)) profile.deviations.add(row.deviation);
  }
  for (const ChoiceEvidence& row : data.choices) {
    if (row.axis == axis && row.range.holds(version)) profile.choices[row.choice] = row.value;
  }
}

}  // namespace

bool VersionRange::holds(const Version& version) const {
  return (!introduced || version >= *introduced) && (!fixed || version < *fixed);
}

Result<UpstreamData> read_upstream_data(std::string_view json, std::string_view source_name) {
  GRAPHGATE_TRY(const nlohmann::json parsed, parse_json(json, source_name));
  GRAPHGATE_TRY(JsonRow all, JsonRow::of(parsed, std::string(source_name)));
  UpstreamData data;
  GRAPHGATE_TRY_VOID(read_axes(all, data));
  GRAPHGATE_TRY(auto deviations, all.rows("deviations"));
  for (JsonRow& row : deviations) {
    GRAPHGATE_TRY(const std::string name, row.text("deviation"));
    GRAPHGATE_TRY(const spec::Deviation deviation, deviation_of(row, name));
    GRAPHGATE_TRY(Gate gate, read_gate(row, data));
    data.deviations.push_back(
        {deviation, std::move(gate.axis), std::move(gate.range), std::move(gate.evidence)});
  }
  GRAPHGATE_TRY(auto choices, all.rows("choices"));
  for (JsonRow& row : choices) {
    ChoiceEvidence choice;
    GRAPHGATE_TRY(choice.choice, row.text("choice"));
    GRAPHGATE_TRY(choice.value, row.text("value"));
    GRAPHGATE_TRY(Gate gate, read_gate(row, data));
    choice.axis = std::move(gate.axis);
    choice.range = std::move(gate.range);
    choice.evidence = std::move(gate.evidence);
    data.choices.push_back(std::move(choice));
  }
  GRAPHGATE_TRY_VOID(all.finish());
  return data;
}

const UpstreamData& upstream_data() {
  static const UpstreamData kData = [] {
    auto data = read_upstream_data(kUpstreamTexts[0], kUpstreamTextsNames[0]);
    GRAPHGATE_CHECK(data.ok());
    return std::move(data).value();
  }();
  return kData;
}

Result<Profile> resolve_profile(std::string_view text, const UpstreamData& data) {
  Profile profile;
  profile.name = text;
  if (text == "fixed") return profile;
  while (true) {
    const std::string_view part = text.substr(0, text.find(','));
    GRAPHGATE_TRY(const auto split, split_part(part));
    const auto& [axis, written] = split;
    const auto known = data.axes.find(axis);
    if (known == data.axes.end()) {
      std::string names;
      for (const auto& [name, bounds] : data.axes) {
        if (!names.empty()) names += ", ";
        names += name;
      }
      std::string line = "profile " + profile.name + ": no axis is called '";
      line.append(axis).append("' (there are ").append(names).append(")");
      return bad_input(std::move(line));
    }
    if (!profile.versions.emplace(axis, written).second) {
      return bad_input("profile " + profile.name + ": " + axis + " is named twice");
    }
    GRAPHGATE_TRY(const Version version, known_version(axis, written, known->second));
    add_axis(data, axis, version, profile);
    if (part.size() == text.size()) return profile;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace graphgate::optimized
