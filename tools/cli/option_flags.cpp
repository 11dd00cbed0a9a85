#include "tools/cli/option_flags.h"

#include <iterator>

#include "tools/cli/option_types.h"

namespace graphgate::tools {
namespace {

using spec::Configuration;
using spec::OptionGroup;
using spec::OptionKind;
using spec::OptionRow;

constexpr const char* kPlannerGroup = "Planner of the optimized executor";

// What --help calls a value, in the order of OptionKind.
constexpr const char* kTypes[] = {"TEXT",
                                  "TEXT",
                                  takes::kName,
                                  takes::kName,
                                  takes::kName,
                                  takes::kName,
                                  takes::kName,
                                  "UINT",
                                  "UINT",
                                  "INT",
                                  "INT",
                                  "INT",
                                  "BYTE",
                                  "BEGIN:END",
                                  "NAME=VALUE",
                                  takes::kOutputFolder,
                                  takes::kOverridesFile};
static_assert(std::size(kTypes) == static_cast<std::size_t>(OptionKind::kOverrides) + 1);

// What --help tells of the values that are taken.
std::string limits_of(const OptionRow& row) {
  if (row.most > 0) return "INT in [1 - " + std::to_string(row.most) + "]";
  return row.values.empty() ? "" : "{" + std::string(row.values) + "}";
}

// A switch may be typed as --NAME=false, too. One that turns something off stands for "false".
CLI::Option* add_switch(CLI::App& app, const std::string& name, Configuration& given) {
  const bool turns_off = name.starts_with("no-");
  const auto read = [&given, name, turns_off](const std::string& text) {
    bool is_on = false;
    if (!CLI::detail::lexical_cast(text, is_on)) {
      throw CLI::ConversionError("--" + name, std::vector<std::string>{text});
    }
    if (is_on == turns_off) {
      given.erase(name);
    } else {
      given[name] = "";
    }
  };
  return app.add_flag((turns_off ? "!--" : "--") + name)->each(read);
}

CLI::Option* add_valued(CLI::App& app, const OptionRow& row, Configuration& given) {
  const std::string name(row.name);
  const CLI::callback_t take = [&given, &row, name](const CLI::results_t& words) {
    for (const std::string& word : words) {
      if (!spec::is_readable(row, word)) return false;
    }
    given[name] = spec::join_list(words);
    return true;
  };
  CLI::Option* flag =
      app.add_option("--" + name, take)->type_name(kTypes[static_cast<std::size_t>(row.kind)]);
  if (row.is_several()) {
    flag->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  }
  if (row.kind == OptionKind::kSeveralInt64) flag->delimiter(',');
  const std::string limits = limits_of(row);
  if (!limits.empty()) {
    flag->check(CLI::Validator(
        [&row](const std::string& word) { return spec::objection_to(row, word); }, limits));
  }
  if (!row.usual.empty()) flag->default_str(std::string(row.usual));
  return flag;
}

}  // namespace

CLI::Option* add_option_flag(CLI::App& app, const OptionRow& row, Configuration& given) {
  const bool is_switch = row.kind == OptionKind::kSwitch;
  CLI::Option* flag =
      is_switch ? add_switch(app, std::string(row.name), given) : add_valued(app, row, given);
  return flag->description(std::string(row.help));
}

void add_planner_flags(CLI::App& app, Configuration& given) {
  for (const OptionRow& row : spec::option_rows()) {
    if (row.group == OptionGroup::kReference) continue;
    CLI::Option* flag = add_option_flag(app, row, given);
    if (row.group != OptionGroup::kProgram) flag->group(kPlannerGroup);
  }
}

void add_device_flags(CLI::App& app, Configuration& given) {
  for (const OptionRow& row : spec::option_rows()) {
    if (row.group == OptionGroup::kDevice) add_option_flag(app, row, given);
  }
}

}  // namespace graphgate::tools
