#include "tools/cli/flags.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>

#include "base/atomic_file.h"
#include "conformance/mutations/plan_mutations.h"
#include "optimized/extension/extension.h"
#include "optimized/passes/pass.h"
#include "spec/deviation.h"
#include "tools/cli/manners.h"
#include "tools/cli/quantities.h"
#include "tools/executors/optimized_executor.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/forms.h"
#include "tools/report/replay_line.h"

namespace graphgate::tools {
namespace {

using spec::Configuration;
using spec::OptionGroup;
using spec::OptionKind;
using spec::OptionRow;

constexpr const char* kJudges = "judges";

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

// Says which word was probably meant; whoever makes an executor refuses the others. A mutation of
// plans may have a seed behind it, NAME:SEED.
std::string meant_word(const std::string& flag, const std::string& word) {
  const std::vector<std::string> known = known_words(flag);
  const std::string name = word.substr(0, word.find(':'));
  if (std::find(known.begin(), known.end(), name) != known.end()) return "";
  const std::string meant = did_you_mean(name, known);
  return meant.empty() ? "" : "none is called '" + name + "'" + meant;
}

CLI::Option* add_valued(CLI::App& app, const OptionRow& row, Configuration& given) {
  const std::string name(row.name);
  const CLI::callback_t take = [&given, &row, name](const CLI::results_t& words) {
    for (const std::string& word : words) {
      if (!spec::is_readable(row, word)) return false;
      // A path that somebody types is of code that they want to run.
      for (const std::string& element : spec::split_list(word)) {
        if (optimized::names_extension(element)) allow_extension(element);
      }
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
  if (!known_words(name).empty()) {
    flag->check([name](const std::string& word) { return meant_word(name, word); });
  }
  if (!row.usual.empty()) flag->default_str(std::string(row.usual));
  return flag;
}

bool is_path(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  constexpr const char* kPaths[] = {takes::kFile,         takes::kOutput,        takes::kFolder,
                                    takes::kOutputFolder, takes::kOverridesFile, takes::kCase};
  return std::any_of(std::begin(kPaths), std::end(kPaths),
                     [&](const char* path) { return name == path; });
}

}  // namespace

CLI::Option* add_option_flag(CLI::App& app, const OptionRow& row, Configuration& given) {
  const bool is_switch = row.kind == OptionKind::kSwitch;
  CLI::Option* flag =
      is_switch ? add_switch(app, std::string(row.name), given) : add_valued(app, row, given);
  return flag->description(std::string(row.help));
}

std::vector<std::string> given_flag_words(const CLI::App& app,
                                          const std::set<std::string>& left_out) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (left_out.contains(name) || spec::find_option(name)) continue;
    for (const std::string& value : option->results()) {
      const bool is_flag = option->get_items_expected_max() == 0;
      if (is_flag && value == "true") {
        words.push_back("--" + name);
        continue;
      }
      for (std::string& word : flag_words(name, value)) words.push_back(std::move(word));
    }
  }
  return words;
}

std::vector<std::string> known_words(const std::string& flag) {
  std::vector<std::string> words;
  if (flag == kJudges) {
    words.emplace_back("all");
    for (std::size_t i = 0; i < conformance::kJudgeCount; ++i) {
      words.emplace_back(conformance::judge_name(static_cast<conformance::Judge>(i)));
    }
  } else if (flag == spec::option::kDeviation || flag == spec::option::kNoDeviation) {
    for (const spec::DeviationRow& row : spec::deviations()) words.emplace_back(row.name);
  } else if (flag == spec::option::kPass || flag == spec::option::kNoPass) {
    for (const optimized::Pass& pass : optimized::builtin_passes()) words.push_back(pass.name);
  } else if (flag == spec::option::kPlanMutation) {
    for (const conformance::PlanMutation& row : conformance::plan_mutations()) {
      words.emplace_back(row.name);
    }
  }
  return words;
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

Result<optimized::Options> open_options(const Configuration& given, const spec::OpTable& ops) {
  std::vector<std::string> remarks;
  GRAPHGATE_TRY(optimized::Options options, options_of(given, ops, &remarks));
  GRAPHGATE_TRY_VOID(open_resources(given, options, &remarks));
  for (const std::string& remark : remarks) print_line(stderr, remark);
  return behind_wrapper(given, std::move(options));
}

void add_wrapper_flags(CLI::App& app, Configuration& given) {
  for (const char* name :
       {spec::option::kWrapper, spec::option::kGuards, spec::option::kRefuseUpdates,
        spec::option::kModelTag, spec::option::kCache, spec::option::kAheadOfTime}) {
    add_option_flag(app, *spec::find_option(name), given);
  }
}

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("files", options.files, "torch.export archives (.pt2), or graph text")
      ->type_name(takes::kFile)
      ->required();
  app.add_option("--data", options.data,
                 "recorded calls, a .safetensors with a .geometry.json beside it "
                 "(default: NAME.safetensors beside NAME.pt2)")
      ->type_name(takes::kFile);
  add_custom_ops_flag(app, options.custom_ops);
}

void add_custom_ops_flag(CLI::App& app, std::vector<std::string>& custom_ops) {
  app.add_option("--custom-ops", custom_ops,
                 "a file of op schemas to add to the op table (repeatable)")
      ->type_name(takes::kFile)
      ->allow_extra_args(false);
}

void add_subject_flags(CLI::App& app, SubjectFlags& flags) {
  app.add_option("--executor", flags.executor,
                 "who is under test: a command that speaks the protocol of docs/executors.md "
                 "(default: the optimized executor)")
      ->type_name(takes::kCommand);
  add_answer_flags(app, flags.answers);
}

void add_answer_flags(CLI::App& app, AnswerFlags& flags) {
  app.add_option("--executor-timeout", flags.seconds, "seconds for each answer of a command")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--answer-limit", flags.bytes,
                 "bytes of the tensors of such an answer, besides 16 for each byte that was sent: "
                 "512M, 8GiB")
      ->capture_default_str()
      ->type_name("BYTES");
  app.add_option("--log-protocol", flags.log,
                 "write what commands are asked and answer to this file, a line of JSON each "
                 "(docs/executors.md)")
      ->type_name(takes::kOutput);
}

Result<void> refuse_answer_flags(const AnswerFlags& flags, const std::string& where) {
  const AnswerFlags usual;
  const char* given = nullptr;
  if (flags.seconds != usual.seconds) given = "--executor-timeout";
  if (flags.bytes != usual.bytes) given = "--answer-limit";
  if (!flags.log.empty()) given = "--log-protocol";
  if (given == nullptr) return {};
  return bad_input(std::string(given) + " has no effect " + where);
}

Result<SubjectSettings> subject_settings(const AnswerFlags& flags, const std::string& exchange) {
  SubjectSettings settings{answer_time(flags.seconds), exchange};
  const auto bytes = parse_bytes(flags.bytes);
  if (!bytes.ok()) return bytes.error().at("--answer-limit");
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  settings.answer_bytes = static_cast<std::int64_t>(std::min(bytes.value(), kMost));
  if (!flags.log.empty()) {
    GRAPHGATE_TRY(settings.log, ProtocolLog::open(flags.log));
  }
  return settings;
}

Result<std::shared_ptr<const Subject>> choose_subject(const SubjectFlags& flags,
                                                      const spec::Configuration& options,
                                                      const std::string& exchange) {
  const std::string text = flags.executor.empty() ? "optimized" : flags.executor;
  GRAPHGATE_TRY(const SubjectSettings settings, subject_settings(flags.answers, exchange));
  auto made = make_subject(text, settings);
  if (!made.ok()) return made.error().at("'" + text + "'");
  std::shared_ptr<const Subject> subject = std::move(made).value();
  if (!subject->is_process()) {
    GRAPHGATE_TRY_VOID(refuse_answer_flags(flags.answers, "without a command as --executor"));
  }
  GRAPHGATE_TRY_VOID(subject->start());
  subject->rest();
  for (const auto& [name, value] : options) {
    if (subject->takes(name)) continue;
    return bad_input("--" + name + ": '" + std::string(subject->name()) + "' has no such option");
  }
  return subject;
}

fuzz::FoundIn found_in(const SubjectFlags& flags) {
  const bool is_built_in = flags.executor.empty() || flags.executor == "optimized";
  if (is_built_in) return {};
  return {flags.executor, replay_environment()};
}

Result<void> check_found_in(const spec::CaseFile& the_case, const std::string& path,
                            const std::vector<std::string>& verb, bool is_executor_named) {
  if (is_executor_named) return {};
  GRAPHGATE_TRY(const auto found, fuzz::stored_found_in(the_case));
  if (!found || found->executor.empty()) return {};
  std::vector<std::string> words = verb;
  words.insert(words.end(), {path, "--executor", found->executor});
  return bad_input(path + ": was found in another executor, and none is named here: " +
                   replay_line(found->environment, words) +
                   " (or --executor optimized for the built-in one)");
}

double usual_timeout(const SubjectFlags& subject, const Configuration& planner) {
  if (!subject.executor.empty()) return 600;
  return is_on_host(planner) ? 20 : 120;
}

Result<conformance::JudgeSet> judges_named(const std::string& names) {
  auto judges = conformance::parse_judges(names);
  if (judges.ok()) return judges;
  const std::vector<std::string> known = known_words(kJudges);
  for (const std::string& name : spec::split_list(names)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = did_you_mean(name, known);
    return bad_input(judges.error().message + meant).at("--judges");
  }
  return judges.error().at("--judges");
}

void add_report_options(CLI::App& app, ReportPaths& paths, const std::string& what) {
  for (const ReportForm& form : report_forms()) {
    std::string help = form.help;
    const std::size_t star = help.find('*');
    if (star != std::string::npos) help.replace(star, 1, what);
    app.add_option(std::string("--") + form.name, paths[form.name], help)
        ->type_name(takes::kOutput);
  }
}

void add_no_data_flag(CLI::App& app, bool& is_given, const std::string& what) {
  app.add_flag("--no-data", is_given, "leave " + what + ", which say so");
}

void leave_out(const std::string& what, Report& report) {
  report.left_out = what;
  report.facts["left_out"] = what;
}

void add_trace_flag(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--trace", path,
                 "write " + what + " as a trace for Perfetto to this file (- for stdout)")
      ->type_name(takes::kOutput);
}

void add_timings_flag(CLI::App& app, bool& is_given) {
  app.add_flag("--timings", is_given,
               "say where the time went, by the clock: by judge, by stage, and what was idle; in "
               "the JSON and on the page, too");
}

void add_json_flag(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--json", path, "write " + what + " as JSON to this file (- for stdout)")
      ->type_name(takes::kOutput);
}

void add_html_flag(CLI::App& app, std::string& path) {
  app.add_option(std::string("--") + kHtmlForm, path,
                 "write a page to look at, for a browser, to this file")
      ->type_name(takes::kOutput);
}

Result<void> write_json(const nlohmann::ordered_json& json, const std::string& path) {
  return path.empty() ? Result<void>() : write_text(print_json(json), path);
}

void refuse_wrong_words(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const std::string type = option->get_type_name();
    if (is_path(*option)) {
      option->check([](const std::string& path) {
        return path.empty() ? std::string("expected a path, found an empty one") : std::string();
      });
    }
    // As of "$ENGINE", which is not set: it would mean the executor that is built in.
    if (type == takes::kCommand) {
      option->check([](const std::string& command) {
        const bool is_blank = command.find_first_not_of(" \t") == std::string::npos;
        return is_blank ? std::string("expected a command, found an empty one") : std::string();
      });
    }
    // CLI11 would take -1 for 2^64 - 1.
    if (type == "UINT") {
      option->check([](const std::string& number) {
        return number.starts_with('-') ? "expected a number from 0 on, found " + number
                                       : std::string();
      });
    }
  }
  for (CLI::App* verb : app.get_subcommands({})) refuse_wrong_words(*verb);
}

Result<ExitCode> after_unsupported(const Error& error) {
  if (error.kind != ErrorKind::kUnsupported) return error;
  print_line(stderr, "graphgate: " + error.message);
  return exit_code_of(error.kind);
}

}  // namespace graphgate::tools
