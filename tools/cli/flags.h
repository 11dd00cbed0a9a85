// The flags that several verbs have: those of an executor's options, declared from their table
// (spec/option.h), of programs, of who is under test, of where reports go. Also what the word
// behind a flag is, as --help names it: `--json OUTPUT`.
//
// Every option whose word is a path says so by one of the names of paths. Empty paths are refused
// by it, and a test (cli_paths_test.cpp) tries every such option with every kind of bad path. An
// option that takes a word has a name for it, too: the test knows no word called TEXT.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "fuzz/campaign/reduce_case.h"
#include "optimized/optimized.h"
#include "spec/option.h"
#include "tools/executors/subject.h"
#include "tools/report/forms.h"

namespace graphgate::tools {

namespace takes {

// Paths.
inline constexpr const char* kFile = "FILE";               // is read
inline constexpr const char* kOutput = "OUTPUT";           // is written
inline constexpr const char* kFolder = "FOLDER";           // is read
inline constexpr const char* kOutputFolder = "NEWFOLDER";  // is made where it is missing
// Words that may be paths.
inline constexpr const char* kOverridesFile = "vllm|FILE";
inline constexpr const char* kCase = "CASE";        // a file, a name in a corpus, or an id
inline constexpr const char* kSide = "SIDE";        // of a gate: a profile, FILE.json, a command
inline constexpr const char* kCommand = "COMMAND";  // of a shell

// Other words.
inline constexpr const char* kName = "NAME";
inline constexpr const char* kNames = "NAMES";  // with commas
inline constexpr const char* kDuration = "DURATION";
inline constexpr const char* kBytes = "BYTES";
inline constexpr const char* kWords = "WORDS";  // free text

}  // namespace takes

// Adds checks to the options of the app and of its verbs: no path and no command is empty, and a
// number that has no sign comes without one.
void refuse_wrong_words(CLI::App& app);

// ---- options of an executor ----

// Their heading in --help.
inline constexpr const char* kPlannerGroup = "Planner of the optimized executor";

// What is given goes into a configuration as it was typed. All of the optimized executor, in a
// group of their own in --help: what check, plan, fuzz, golden check, serve, reduce and replay
// share.
void add_planner_flags(CLI::App& app, spec::Configuration& given);

// Where captured partitions run alone: of run, gate and bench.
void add_device_flags(CLI::App& app, spec::Configuration& given);

// A model that is compiled once, and where its plans are kept: of run.
void add_wrapper_flags(CLI::App& app, spec::Configuration& given);

// One of them. `row` is of option_rows().
CLI::Option* add_option_flag(CLI::App& app, const spec::OptionRow& row, spec::Configuration& given);

// What the options come to, with their caches and devices open. Tells standard error what a user
// should know of them.
[[nodiscard]] Result<optimized::Options> open_options(const spec::Configuration& given,
                                                      const spec::OpTable& ops);

// Returns the flags that a verb was given, with their values, as words: all but those of an
// executor's options (option_words), and those named here.
[[nodiscard]] std::vector<std::string> given_flag_words(const CLI::App& app,
                                                        const std::set<std::string>& left_out);

// Returns the words that a flag of this name takes (without dashes) where --help has no room for
// them: judges, deviations, passes, mutations of plans. Empty for every other flag.
[[nodiscard]] std::vector<std::string> known_words(const std::string& flag);

// ---- programs, subjects, judges ----

// What every verb that reads programs takes.
struct ProgramOptions {
  std::vector<std::string> files;       // .pt2 archives or graph text
  std::string data;                     // recorded calls; default: beside each file
  std::vector<std::string> custom_ops;  // op table text with the user's own ops
};
void add_program_options(CLI::App& app, ProgramOptions& options);
void add_custom_ops_flag(CLI::App& app, std::vector<std::string>& custom_ops);

// What each answer of a command may take.
struct AnswerFlags {
  double seconds = 60;
  std::string bytes = "2GiB";  // of its tensors
  std::string log;             // takes what is said; empty: nothing does
};
void add_answer_flags(CLI::App& app, AnswerFlags& flags);

// Returns kBadInput where one of them is not as usual: it has no effect, `where` says when.
[[nodiscard]] Result<void> refuse_answer_flags(const AnswerFlags& flags, const std::string& where);
// What the flags say, and where tensors are exchanged. Opens the log. kBadInput for what are no
// bytes, kInfrastructure for a log that cannot be written.
[[nodiscard]] Result<SubjectSettings> subject_settings(const AnswerFlags& flags,
                                                       const std::string& exchange);

// The executor under test where cases are drawn, replayed or reduced.
struct SubjectFlags {
  std::string executor;  // empty: the optimized executor
  AnswerFlags answers;
};
void add_subject_flags(CLI::App& app, SubjectFlags& flags);

// Makes the subject. A process has said what it takes, and rests: each process that is forked from
// here starts its own. kInfrastructure where it does not answer, kBadInput for an option of the
// command line that it does not take. `exchange` is that of SubjectSettings.
[[nodiscard]] Result<std::shared_ptr<const Subject>> choose_subject(
    const SubjectFlags& flags, const spec::Configuration& options, const std::string& exchange);

// Returns who is under test as a stored case keeps it.
[[nodiscard]] fuzz::FoundIn found_in(const SubjectFlags& flags);
// Says where a case was found in another executor than the one that is asked, and none was named:
// what it comes to here says nothing of what was found. kBadInput has the line that asks the right
// one; `verb` are the words before the case, "graphgate replay".
[[nodiscard]] Result<void> check_found_in(const spec::CaseFile& the_case, const std::string& path,
                                          const std::vector<std::string>& verb,
                                          bool is_executor_named);

// Seconds for one case of a campaign where --timeout says nothing: long enough that none is stopped
// that would have ended, with as many workers as processors. A device's kernels are compiled in the
// case, a command may compile all of it.
[[nodiscard]] double usual_timeout(const SubjectFlags& subject, const spec::Configuration& planner);

// The judges that --judges names.
[[nodiscard]] Result<conformance::JudgeSet> judges_named(const std::string& names);

// ---- reports ----

// `what` is reported: "the result".
void add_report_options(CLI::App& app, ReportPaths& paths, const std::string& what);

// Does what a verb of several programs does about one that it cannot run. Where the error is
// kUnsupported, says so on standard error; the verb goes on, to end with the code that is returned.
// Every other error ends the verb.
[[nodiscard]] Result<ExitCode> after_unsupported(const Error& error);

// Adds --no-data. `what` is left out: "weights and inputs".
void add_no_data_flag(CLI::App& app, bool& is_given, const std::string& what);
// Says in the report that `what` is left out.
void leave_out(const std::string& what, Report& report);

// --trace, of what `what` says: "the plans that were followed".
void add_trace_flag(CLI::App& app, std::string& path, const std::string& what);

// --timings: where the time went, in every report.
void add_timings_flag(CLI::App& app, bool& is_given);

// --json where `what` has no other form.
void add_json_flag(CLI::App& app, std::string& path, const std::string& what);
// --html of a verb that has no other forms than this and --json.
void add_html_flag(CLI::App& app, std::string& path);
// Writes to that path, or nothing where none was given. kInfrastructure where it cannot be written.
[[nodiscard]] Result<void> write_json(const nlohmann::ordered_json& json, const std::string& path);

}  // namespace graphgate::tools
