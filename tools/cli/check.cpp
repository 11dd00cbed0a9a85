// graphgate check: programs and cases through the judges, several at a time.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/atomic_file.h"
#include "base/on_threads.h"
#include "base/stage_clock.h"
#include "base/stop_signals.h"
#include "conformance/bounds/tiles.h"
#include "conformance/run/runs.h"
#include "conformance/run/static_inputs.h"
#include "spec/graph_text.h"
#include "spec/plan_text.h"
#include "tools/cli/against.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/executor_sources.h"
#include "tools/executors/optimized_options.h"
#include "tools/executors/stored_subject.h"
#include "tools/report/check_report.h"
#include "tools/report/escape.h"
#include "tools/report/plan_panel.h"
#include "tools/report/replay_line.h"
#include "tools/report/timings.h"
#include "tools/report/trace_events.h"
#include "tools/store/bundle.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"
#include "tools/store/trace_store.h"

namespace graphgate::tools {
namespace {

using conformance::Configuration;
using conformance::Runs;
using conformance::Script;

struct CheckVerb {
  ProgramOptions programs;
  std::vector<std::string> executors;  // names or commands; empty: what fits file and judges
  AnswerFlags answers;
  std::uint64_t seed = 1;
  int calls = 2;
  int jobs = 1;
  double false_alarm_rate = 1e-9;
  bool judge_nodes = false;
  std::string quality_baseline;      // a file of lines that `plan --quality` prints
  bool every_configuration = false;  // the whole table, not only the first few
  std::string judges;  // "all", or names; empty: all for cases, bounds and state for programs
  spec::Configuration planner;
  ReportPaths reports;
  std::string bundle;  // a .zip, or a folder
  std::string record;  // a folder for stored runs
  std::string trace;   // a file
  bool with_timings = false;
  bool without_data = false;   // reports and bundle have no weights and inputs
  bool is_quiet = false;       // says nothing of what passes
  bool is_verbose = false;     // says all of it
  bool ends_early = false;     // at the first failure
  std::string only;            // a part of a path, or a pattern
  std::string against;         // a program, a case or an executor; empty: no comparison
  std::string judge_recorded;  // a folder with stored runs, instead of files
  const CLI::App* app = nullptr;
};

// The plans that were followed and the times by the clock, of several threads: what a trace and a
// profile show. All times are of the stage clocks of the threads.
class CheckTimes {
 public:
  // What a thread did until now.
  void add(StageClock& clock) {
    const std::vector<StageSpan> spans = clock.take_spans();
    const StageTimes times = clock.take();
    const std::lock_guard lock(mutex_);
    const std::size_t job = job_of_thread();
    if (job >= lanes_.size()) lanes_.resize(job + 1);
    lanes_[job].times.add(times);
    for (const StageSpan& span : spans) {
      spans_.push_back({"job " + std::to_string(job), span.name, seconds_at(span.begin_nanoseconds),
                        seconds_at(span.end_nanoseconds) - seconds_at(span.begin_nanoseconds)});
    }
  }
  void add_plan(const std::string& name, const spec::Plan& plan) {
    const std::lock_guard lock(mutex_);
    events_.add_plan(name, plan);
  }
  // Of this thread, between two moments of its clock.
  void add_span(const std::string& name, std::uint64_t begin, std::uint64_t end, Json args) {
    const std::lock_guard lock(mutex_);
    spans_.push_back({"job " + std::to_string(job_of_thread()), name, seconds_at(begin),
                      seconds_at(end) - seconds_at(begin), std::move(args)});
  }
  // Of so many jobs, until now.
  [[nodiscard]] Timings timings(int jobs) {
    const std::lock_guard lock(mutex_);
    Timings timings;
    timings.seconds = seconds_at(monotonic_nanoseconds());
    timings.lanes = lanes_;
    timings.lanes.resize(std::max(lanes_.size(), static_cast<std::size_t>(jobs)));
    for (std::size_t i = 0; i < timings.lanes.size(); ++i) {
      timings.lanes[i].name = "job " + std::to_string(i);
    }
    return timings;
  }
  [[nodiscard]] std::string print() {
    const std::lock_guard lock(mutex_);
    TraceEvents whole = events_;
    whole.add_spans("judging", spans_);
    return whole.print();
  }

 private:
  [[nodiscard]] double seconds_at(std::uint64_t nanoseconds) const {
    return static_cast<double>(nanoseconds - begin_) * 1e-9;
  }
  std::size_t job_of_thread() {
    return threads_.emplace(std::this_thread::get_id(), threads_.size()).first->second;
  }

  const std::uint64_t begin_ = monotonic_nanoseconds();
  std::mutex mutex_;  // and all below
  TraceEvents events_;
  std::vector<TimingLane> lanes_;
  std::vector<TraceSpan> spans_;
  std::map<std::thread::id, std::size_t> threads_;
};

// What all files of a run share.
struct Setting {
  const CheckVerb& verb;
  std::shared_ptr<const spec::OpTable> ops;
  conformance::JudgeSet judges;
  std::vector<std::string> record_names;  // parallel to the files
  std::string quality_baseline;           // the text of verb.quality_baseline
  CheckTimes& times;
};

// Has said who it is.
MadeSubject started_subject(const std::string& executor, const Configuration& options,
                            const CheckVerb& verb) {
  GRAPHGATE_TRY(SubjectSettings settings, subject_settings(verb.answers, ""));
  settings.allow_zero_and_one = options.contains(spec::option::kAllowZeroAndOne);
  auto subject = make_subject(executor, settings);
  if (!subject.ok()) return subject.error().at("'" + executor + "'");
  GRAPHGATE_TRY_VOID(subject.value()->start());
  return subject;
}

// A part of a file's name: commands have blanks and slashes.
std::string file_word(const Subject& subject) {
  return subject.is_process() ? "external" : std::string(subject.name());
}

conformance::JudgeSettings settings_of(const Setting& setting, bool is_case) {
  conformance::JudgeSettings settings;
  settings.seed = setting.verb.seed;
  settings.false_alarm_rate = setting.verb.false_alarm_rate;
  settings.judge_nodes = setting.verb.judge_nodes || is_case || !setting.verb.judges.empty();
  settings.every_configuration = setting.verb.every_configuration;
  settings.quality_baseline = setting.quality_baseline;
  // Files have the threads before tiles do.
  constexpr unsigned kMostTiles = 4;
  const unsigned cores = std::thread::hardware_concurrency();
  settings.tiles.jobs =
      setting.verb.jobs > 1 ? 1 : static_cast<int>(std::clamp(cores, 1U, kMostTiles));
  return settings;
}

conformance::JudgeSet judges_of(const Setting& setting, bool is_case) {
  if (!setting.verb.judges.empty()) return setting.judges;
  if (is_case) return conformance::JudgeSet::all();
  conformance::JudgeSet judges;
  judges.add(conformance::Judge::kBounds);
  judges.add(conformance::Judge::kState);
  return judges;
}

std::vector<std::string> executors_of(const Setting& setting, bool is_case) {
  if (!setting.verb.executors.empty()) return setting.verb.executors;
  if (is_case || !setting.verb.judges.empty()) return {"optimized"};
  return built_in_names();
}

void describe_script(const Script& script, FileReport& report) {
  report.name = script.name;
  report.calls = script.calls();
  std::set<std::string> ops;
  for (const auto& program : script.programs) {
    report.nodes += program->graph.nodes.size();
    for (const spec::Node& node : program->graph.nodes) ops.insert(node.op);
  }
  report.ops.assign(ops.begin(), ops.end());
}

// What the judges said of the executor, as a page marks it in a plan.
PlanPanelFacts panel_facts(const spec::Plan& plan, const std::string& file,
                           const ExecutorReport& report) {
  PlanPanelFacts facts;
  facts.title = file + ", " + report.executor;
  facts.place = file;
  for (const conformance::JudgeReport& judge : report.judged.judges) {
    if (!judge.node_ratios.empty()) facts.ratios = judge.node_ratios;
    for (const spec::Finding& finding : judge.findings) {
      const bool is_of_plan = finding.program.empty() || finding.program == plan.name;
      if (is_of_plan) facts.findings.push_back(plain_finding(finding));
    }
  }
  return facts;
}

void add_plans(const Runs& runs, const Setting& setting, const std::string& file,
               ExecutorReport& report) {
  const bool with_text = !setting.verb.bundle.empty();
  const bool with_panels = has_form(setting.verb.reports, kHtmlForm);
  const auto found = runs.subject_traces().find(Configuration{});
  if (found == runs.subject_traces().end()) return;
  std::set<const spec::Plan*> seen;
  for (const conformance::CallRecord& call : found->second->calls) {
    if (!call.plan || !spec::check_plan(*call.plan).ok()) continue;
    report.plan = conformance::plan_stats(*call.plan);
    if (!seen.insert(call.plan.get()).second) continue;
    const spec::OpTable& ops = *runs.script().ops;
    if (!setting.verb.trace.empty()) {
      setting.times.add_plan(file + " on " + report.executor, *call.plan);
    }
    if (with_text) report.plans.push_back(spec::print_plan(*call.plan, ops));
    if (!with_panels) continue;
    report.panels.push_back(plan_panel(*call.plan, ops, panel_facts(*call.plan, file, report)));
  }
}

// What would decide an undecided file.
std::string words_that_decide(bool is_case, bool recorded) {
  if (is_case) {
    return "to decide it: give the case inputs on which no two candidates tie (docs/formats.md), "
           "or "
           "another seed";
  }
  if (recorded) return "to decide it: record other inputs, on which no two candidates tie (--data)";
  return "to decide it: record real inputs, 'python3 -m graphgate_torch export FILE.py:FUNCTION "
         "NAME.pt2' (docs/torch.md), or draw others with --seed";
}

// The processor time of each judge, and what it came to.
Json times_of(const ExecutorReport& report) {
  Json args = {{"outcome", spec::outcome_name(report.judged.outcome)}};
  for (const conformance::JudgeReport& judge : report.judged.judges) {
    args["processor seconds"][std::string(conformance::judge_name(judge.judge))] = judge.seconds;
  }
  return args;
}

// The thread goes on with another stage at this moment, which is returned.
std::uint64_t begin_stage(const char* stage) {
  StageClock* const clock = StageClock::of_thread();
  return clock ? clock->change(stage) : monotonic_nanoseconds();
}

Result<void> judge(Runs& runs, const std::string& executor, bool is_case, const Setting& setting,
                   FileReport& report,
                   const std::shared_ptr<conformance::PassedTiles>& passed = {}) {
  ExecutorReport made;
  made.executor = executor;
  const std::uint64_t begin = begin_stage("judging");
  conformance::JudgeSettings settings = settings_of(setting, is_case);
  settings.tiles.passed = passed;
  GRAPHGATE_TRY(made.judged,
                conformance::judge_script(runs, judges_of(setting, is_case), settings));
  if (made.judged.outcome == spec::Outcome::kUndecided) {
    made.judged.localization.push_back(words_that_decide(is_case, report.recorded));
  }
  const std::uint64_t end = begin_stage("reporting");
  setting.times.add_span(executor, begin, end, times_of(made));
  add_plans(runs, setting, report.file, made);
  report.executors.push_back(std::move(made));
  return {};
}

// kBadInput where --pad means a symbol that no program of the file has.
Result<void> check_padded_symbol(const Script& script, const Configuration& flags) {
  const auto pad = flags.find(spec::option::kPad);
  if (pad == flags.end()) return {};
  const bool is_there =
      std::any_of(script.programs.begin(), script.programs.end(),
                  [&](const auto& program) { return program->symbols.contains(pad->second); });
  if (is_there) return {};
  return bad_input("pad: there is no symbol '" + pad->second + "'");
}

Result<void> check_with_all(const CheckInput& input, std::size_t index, const Setting& setting,
                            FileReport& report) {
  GRAPHGATE_TRY_VOID(check_padded_symbol(input.script, setting.verb.planner));
  const Configuration options = conformance::merged(input.script.options, setting.verb.planner);
  const auto oracle = reference_source(options.contains(spec::option::kAllowZeroAndOne));
  std::vector<std::unique_ptr<Script>> scripts;
  std::vector<std::unique_ptr<Subject>> subjects;
  std::vector<std::unique_ptr<Runs>> runs;
  const std::vector<std::string> names = executors_of(setting, input.is_case);
  const auto passed = names.size() > 1 ? conformance::no_passed_tiles() : nullptr;
  for (const std::string& name : names) {
    (void)begin_stage("starting the subject");
    GRAPHGATE_TRY(subjects.emplace_back(), started_subject(name, options, setting.verb));
    const Subject& subject = *subjects.back();
    scripts.push_back(std::make_unique<Script>(input.script));
    suit(*scripts.back(), subject, options);
    if (!input.is_case) {
      GRAPHGATE_TRY_VOID(conformance::keep_promised_static(*scripts.back(), options));
    }
    runs.push_back(std::make_unique<Runs>(*scripts.back(), subject, *oracle));
    if (runs.size() > 1) runs.back()->share_oracle(*runs.front());
    GRAPHGATE_TRY_VOID(judge(*runs.back(), name, input.is_case, setting, report, passed));
    if (setting.verb.record.empty()) {
      runs.back()->forget_subject();
      continue;
    }
    const std::string folder =
        setting.verb.record + "/" + setting.record_names[index] + "." + file_word(subject);
    const RunHead head = {name, input.is_case, input.recorded,
                          subject.promises(scripts.back()->options)};
    GRAPHGATE_TRY_VOID(write_run(folder, *scripts.back(), head, runs.back()->subject_traces()));
  }
  return {};
}

// The line that judges one file, or one stored run, as this run does.
std::string replay_line_of(const CheckVerb& verb, const std::string& path) {
  std::vector<std::string> words = {"graphgate", "check"};
  if (!verb.judge_recorded.empty()) words.emplace_back("--judge-recorded");
  words.push_back(path);
  std::set<std::string> left_out = {"jobs",         "bundle", "record",    "judge-recorded",
                                    "quiet",        "only",   "exitfirst", "verbose",
                                    "log-protocol", "trace",  "no-data",   "timings"};
  for (const ReportForm& form : report_forms()) left_out.insert(form.name);
  const std::vector<std::string> flags = given_flag_words(*verb.app, left_out);
  words.insert(words.end(), flags.begin(), flags.end());
  const std::vector<std::string> options = option_words(verb.planner);
  words.insert(words.end(), options.begin(), options.end());
  const bool has_command =
      std::any_of(verb.executors.begin(), verb.executors.end(), [](const std::string& name) {
        const auto& built_in = built_in_names();
        return std::find(built_in.begin(), built_in.end(), name) == built_in.end();
      });
  return replay_line(has_command ? replay_environment() : "", words);
}

// Says where a case was found in a command that this run does not ask.
Result<void> check_finder(const CheckVerb& verb, const std::string& path) {
  if (!verb.executors.empty()) return {};
  GRAPHGATE_TRY(const std::string text, read_text(path));
  if (text.find("\n# Executor: ") == std::string::npos) return {};
  GRAPHGATE_TRY(const spec::CaseFile the_case, parse_checked_case(text, path));
  return check_found_in(the_case, path, {"graphgate", "check"}, /*is_executor_named=*/false);
}

// What a bundle tells of a file beside what came out.
Result<void> note_for_bundle(const CheckInput& input, const std::string& path,
                             const Setting& setting, FileReport& report) {
  if (setting.verb.without_data) {
    for (const auto& program : input.script.programs) {
      report.graphs.push_back(spec::print_program(*program, *input.script.ops));
    }
  }
  if (!input.is_case) return {};
  GRAPHGATE_TRY(const std::string text, read_text(path));
  GRAPHGATE_TRY(const spec::CaseFile the_case, parse_checked_case(text, path));
  report.tensor_files = tensor_files_of(the_case);
  return {};
}

// Leaves one seeded call of a program that takes more elements than this, unless somebody says how
// many: its tensors are held for every call.
void leave_one_large_call(Script& script) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 25;
  const auto* call =
      script.steps.empty() ? nullptr : std::get_if<conformance::ScriptCall>(&script.steps.front());
  if (!call) return;
  std::int64_t elements = 0;
  for (const spec::InputValue& input : call->inputs) {
    const auto* tensor = std::get_if<spec::HostTensor>(&input);
    elements += tensor ? spec::element_count(tensor->sizes) : 0;
  }
  if (elements > kLarge) script.steps.resize(1);
}

// Without --judges, programs are judged by bounds and state alone.
Result<void> refuse_for_judges_of_cases(const CheckVerb& verb, const std::string& path) {
  if (!verb.judges.empty()) return {};
  const char* flag = nullptr;
  if (!verb.quality_baseline.empty()) flag = "--quality-baseline";
  if (verb.every_configuration) flag = "--every-configuration";
  if (flag == nullptr) return {};
  return bad_input(path + ": " + flag + " has no effect on a program without --judges");
}

Result<FileReport> check_file(const std::string& path, std::size_t index, const Setting& setting) {
  FileReport report;
  report.file = path;
  GRAPHGATE_TRY(
      CheckInput input,
      read_check_input(path, {setting.verb.programs.data, setting.verb.calls, setting.verb.seed},
                       setting.ops));
  report.is_case = input.is_case;
  report.recorded = input.recorded;
  const bool is_count_given = setting.verb.app->get_option("--calls")->count() > 0;
  if (input.is_case && is_count_given) {
    return bad_input(path + ": --calls has no effect on a case, which says what it calls");
  }
  if (!input.is_case) GRAPHGATE_TRY_VOID(refuse_for_judges_of_cases(setting.verb, path));
  if (!input.is_case && !input.recorded && !is_count_given) leave_one_large_call(input.script);
  if (input.recorded) {
    GRAPHGATE_TRY_VOID(refuse_beside_recording(*setting.verb.app, path, {"calls"}));
  }
  if (input.is_case) GRAPHGATE_TRY_VOID(check_finder(setting.verb, path));
  report.replay = replay_line_of(setting.verb, path);
  describe_script(input.script, report);
  if (!setting.verb.bundle.empty()) {
    GRAPHGATE_TRY_VOID(note_for_bundle(input, path, setting, report));
  }
  const std::uint64_t begin = begin_stage("starting the subject");
  const auto checked = check_with_all(input, index, setting, report);
  setting.times.add_span(path, begin, begin_stage("reporting"),
                         {{"nodes", report.nodes}, {"calls", report.calls}});
  if (!checked.ok()) return checked.error();
  return report;
}

Result<FileReport> judge_stored(const std::string& folder, const Setting& setting) {
  FileReport report;
  report.file = folder;
  GRAPHGATE_TRY(StoredRun stored, read_run(folder));
  report.replay = replay_line_of(setting.verb, folder);
  report.is_case = stored.is_case;
  report.recorded = stored.recorded;
  describe_script(stored.script, report);
  const auto oracle =
      reference_source(stored.script.options.contains(spec::option::kAllowZeroAndOne));
  const auto subject = stored_subject(stored);
  Runs runs(stored.script, *subject, *oracle);
  for (auto& [changes, trace] : stored.traces) runs.provide(std::move(*trace), changes);
  GRAPHGATE_TRY_VOID(judge(runs, stored.executor, stored.is_case, setting, report));
  return report;
}

// Turns an exception into the outcome of the file that caused it: the others are still checked, and
// a thread never ends the process.
Result<FileReport> check_guarded(const std::string& path, std::size_t index,
                                 const Setting& setting) {
  try {
    return in_file(setting.verb.judge_recorded.empty() ? check_file(path, index, setting)
                                                       : judge_stored(path, setting),
                   path);
  } catch (const std::bad_alloc&) {
    return infrastructure(path + ": out of memory");
  } catch (const std::length_error&) {
    return infrastructure(path + ": out of memory");
  } catch (const std::system_error& error) {
    return infrastructure(path + ": the machine refused: " + error.what());
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal, path + ": " + error.what()};
  }
}

// The same, by a clock of this thread.
Result<FileReport> check_safely(const std::string& path, std::size_t index,
                                const Setting& setting) {
  StageClock clock("reading", /*keeps_spans=*/!setting.verb.trace.empty());
  auto report = check_guarded(path, index, setting);
  setting.times.add(clock);
  return report;
}

// The lines of a file that passes: the first no wider than 100 columns, what stands behind its
// first semicolon and parts that no longer fit are left to --verbose. The others, of judges that
// had nothing to say, stay.
std::string short_lines(const std::string& text) {
  constexpr std::size_t kColumns = 100;
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::size_t numbers = std::min(text.find(" nodes, "), end);
  std::string line = text.substr(0, std::min(text.find(';', numbers), end));
  while (line.size() > kColumns) {
    const std::size_t comma = line.rfind(", ");
    if (comma == std::string::npos || comma < numbers) break;
    line.resize(comma);
  }
  return line + text.substr(end);
}

// Writes down what the files came to, and returns the code of the run.
using Conclude = std::function<Result<ExitCode>(const std::vector<FileReport>& reports)>;

class CheckRun {
 public:
  CheckRun(const std::vector<std::string>& files, const Setting& setting, const Conclude& conclude)
      : files_(files),
        setting_(setting),
        conclude_(conclude),
        reports_(files.size()),
        is_done_(files.size(), false) {}

  // Where a signal comes, concludes with the files that are done, and ends the process.
  std::vector<FileReport> run() {
    const OnStop on_stop([this](int signal) { stop(signal); });
    on_threads(files_.size(), setting_.verb.jobs, [this](std::size_t i) {
      if (has_failed_) {
        const std::lock_guard lock(printing_);
        reports_[i].file = files_[i];
        reports_[i].interruption = "another file failed before it was judged (-x)";
        is_done_[i] = true;
        while (printed_ < files_.size() && is_done_[printed_]) print_next();
        return;
      }
      auto report = check_safely(files_[i], i, setting_);
      const std::lock_guard lock(printing_);
      if (report.ok()) {
        reports_[i] = std::move(report).value();
      } else {
        reports_[i].file = files_[i];
        reports_[i].error = report.error();
      }
      is_done_[i] = true;
      const bool is_failure = count_of(reports_[i].exit_code()) == Count::kFailed;
      if (setting_.verb.ends_early && is_failure) has_failed_ = true;
      while (printed_ < files_.size() && is_done_[printed_]) print_next();
    });
    return std::move(reports_);
  }

 private:
  void print_next() {
    const FileReport& ready = reports_[printed_++];
    if (to_stdout(setting_.verb.reports) > 0 && !ready.error) return;
    ReportItem item = item_of(ready, !setting_.verb.judges.empty() || ready.is_case);
    const bool is_pass = !ready.error && ready.exit_code() == ExitCode::kGood;
    if (is_pass && setting_.verb.is_quiet) return;
    if (is_pass && !setting_.verb.is_verbose) item.text = short_lines(item.text);
    // What -x left out is counted at the end.
    if (!ready.interruption.empty() && has_failed_) return;
    print_item(item);
  }

  // The lock is kept: what ends later is not told.
  [[noreturn]] void stop(int signal) {
    printing_.lock();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (is_done_[i]) continue;
      reports_[i].file = files_[i];
      reports_[i].interruption = std::string(signal_name(signal)) + " came before it was judged";
    }
    while (printed_ < files_.size()) print_next();
    auto code = conclude_(reports_);
    const auto logged = ProtocolLog::close_all();
    if (code.ok() && !logged.ok()) code = logged.error();
    if (code.ok()) end_process(static_cast<int>(code.value()));
    print_line(stderr, "graphgate: " + code.error().message);
    end_process(static_cast<int>(exit_code_of(code.error().kind)));
  }

  const std::vector<std::string>& files_;
  const Setting& setting_;
  const Conclude& conclude_;
  std::vector<FileReport> reports_;
  std::atomic<bool> has_failed_ = false;
  std::mutex printing_;  // and all below
  std::vector<bool> is_done_;
  std::size_t printed_ = 0;
};

// A name for each file, without its folder and ending; the second of a name is NAME-2.
std::vector<std::string> names_of(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  std::set<std::string> used;
  for (const std::string& file : files) {
    const std::string stem = std::filesystem::path(file).stem().string();
    std::string name = stem;
    for (int n = 2; !used.insert(name).second; ++n) name = stem + "-" + std::to_string(n);
    names.push_back(std::move(name));
  }
  return names;
}

// Reports in the order of the files (with --judge-recorded: of the stored runs), whatever thread
// made them; printed as they come unless standard output is for JSON. An Error is about the command
// line; what is wrong with a file is in its report.
Result<std::vector<FileReport>> check_files(const CheckVerb& verb, const Conclude& conclude,
                                            CheckTimes& times) {
  Setting setting{verb, nullptr, {}, {}, {}, times};
  if (!verb.quality_baseline.empty()) {
    GRAPHGATE_TRY(setting.quality_baseline, read_text(verb.quality_baseline));
  }
  GRAPHGATE_TRY(spec::OpTable ops, load_op_table(verb.programs.custom_ops));
  GRAPHGATE_TRY_VOID(open_options(verb.planner, ops));
  setting.ops = std::make_shared<const spec::OpTable>(std::move(ops));
  if (!verb.judges.empty()) {
    GRAPHGATE_TRY(setting.judges, judges_named(verb.judges));
  }
  GRAPHGATE_TRY(std::vector<std::string> files, files_of(verb.programs.files));
  if (verb.judge_recorded.empty()) {
    GRAPHGATE_TRY(files, files_like(files, verb.only));
  }
  if (!verb.judge_recorded.empty()) {
    GRAPHGATE_TRY(files, find_runs(verb.judge_recorded));
  }
  setting.record_names = names_of(files);
  return CheckRun(files, setting, conclude).run();
}

void add_output_options(CLI::App& check, CheckVerb& verb) {
  add_report_options(check, verb.reports, "the reports");
  check
      .add_option("--bundle", verb.bundle,
                  "pack reports, plans, versions and a statement into this .zip, or folder")
      ->type_name(takes::kOutput);
  add_no_data_flag(check, verb.without_data,
                   "weights and inputs out of the bundle and the reports");
  add_trace_flag(check, verb.trace, "plans that were followed, and times,");
  add_timings_flag(check, verb.with_timings);
  check
      .add_option("--record", verb.record,
                  "keep what the executor showed in this folder, to be judged again")
      ->type_name(takes::kOutputFolder);
  check
      .add_option("--judge-recorded", verb.judge_recorded,
                  "judge the runs kept in this folder, without running the executor")
      ->type_name(takes::kFolder);
}

Result<void> check_combination(const CheckVerb& verb) {
  const bool has_files = !verb.programs.files.empty();
  if (verb.judge_recorded.empty() != has_files) {
    return bad_input(has_files ? "--judge-recorded goes without files"
                               : "files is required: programs or cases to check");
  }
  if (!verb.judge_recorded.empty() && !verb.record.empty()) {
    return bad_input("--record and --judge-recorded contradict each other");
  }
  if (!verb.programs.data.empty() && verb.programs.files.size() != 1) {
    return bad_input("--data goes with exactly one program");
  }
  if (!verb.judge_recorded.empty()) {
    std::set<std::string> allowed = {"judge-recorded",   "judges", "false-alarm-rate",
                                     "judge-nodes",      "jobs",   "every-configuration",
                                     "quality-baseline", "seed",   "bundle",
                                     "no-data",          "quiet",  "verbose",
                                     "exitfirst",        "timings"};
    for (const ReportForm& form : report_forms()) allowed.insert(form.name);
    GRAPHGATE_TRY_VOID(refuse_without_effect(*verb.app, {"with --judge-recorded", allowed}));
  }
  const bool has_report = std::any_of(verb.reports.begin(), verb.reports.end(),
                                      [](const auto& report) { return !report.second.empty(); });
  if (verb.without_data && !has_report && verb.bundle.empty()) {
    return bad_input("--no-data has no effect without --bundle or a report");
  }
  if (verb.is_quiet && verb.is_verbose) return bad_input("-q and -v contradict each other");
  const auto has_judge = [&](const char* judge) {
    return verb.judges.empty() || verb.judges == "all" ||
           spec::place_in_list(verb.judges, judge).has_value();
  };
  if (!verb.quality_baseline.empty() && !has_judge("quality")) {
    return bad_input("--quality-baseline has no effect without the judge quality");
  }
  if (verb.every_configuration && !has_judge("configurations")) {
    return bad_input("--every-configuration has no effect without the judge configurations");
  }
  const bool has_command = std::any_of(
      verb.executors.begin(), verb.executors.end(),
      [](const std::string& name) { return name != "reference" && name != "optimized"; });
  for (const char* flag : {"--executor-timeout", "--answer-limit", "--log-protocol"}) {
    if (verb.app->get_option(flag)->count() == 0 || has_command || !verb.against.empty()) continue;
    return bad_input(std::string(flag) + " has no effect without a command as --executor");
  }
  return {};
}

Result<ExitCode> compare_nodes(const CheckVerb& verb) {
  if (verb.programs.files.size() != 1 || verb.executors.size() > 1) {
    return bad_input("--against goes with exactly one file, and one --executor at most");
  }
  GRAPHGATE_TRY_VOID(refuse_without_effect(
      *verb.app, {"with --against",
                  {"against", "executor", "executor-timeout", "answer-limit", "custom-ops", "data",
                   "calls", "seed", "false-alarm-rate", "html", "json"},
                  /*takes_planner=*/true}));
  GRAPHGATE_TRY(spec::OpTable ops, load_op_table(verb.programs.custom_ops));
  GRAPHGATE_TRY_VOID(open_options(verb.planner, ops));
  AgainstRequest request;
  request.file = verb.programs.files.front();
  request.against = verb.against;
  if (!verb.executors.empty()) request.executor = verb.executors.front();
  GRAPHGATE_TRY(request.subject, subject_settings(verb.answers, ""));
  request.calls = {verb.programs.data, verb.calls, verb.seed};
  request.planner = verb.planner;
  request.false_alarm_rate = verb.false_alarm_rate;
  request.reports = verb.reports;
  return run_against(request, std::make_shared<const spec::OpTable>(std::move(ops)));
}

Result<ExitCode> run_check(const CheckVerb& verb, const std::vector<std::string>& words) {
  GRAPHGATE_TRY_VOID(check_combination(verb));
  if (!verb.against.empty()) return compare_nodes(verb);
  CheckTimes times;
  const Conclude conclude = [&](const std::vector<FileReport>& reports) -> Result<ExitCode> {
    Report report = report_of(reports);
    if (verb.without_data) {
      leave_out(kDataLeftOut, report);
    }
    if (verb.with_timings) {
      add_timings(times.timings(std::max(verb.jobs, 1)), has_form(verb.reports, kHtmlForm), report);
    }
    if (!verb.trace.empty()) GRAPHGATE_TRY_VOID(write_text(times.print(), verb.trace));
    GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
    if (!verb.bundle.empty()) {
      const BundleRequest request = {words, verb.judges, verb.false_alarm_rate, verb.programs.data,
                                     verb.without_data};
      GRAPHGATE_TRY_VOID(write_bundle(verb.bundle, request, reports, report.code));
    }
    if (to_stdout(verb.reports) == 0) print_plain(stdout, report.totals);
    return report.code;
  };
  GRAPHGATE_TRY(const std::vector<FileReport> reports, check_files(verb, conclude, times));
  return conclude(reports);
}

}  // namespace

Verb add_check(CLI::App& app) {
  const auto owned = std::make_shared<CheckVerb>();
  CheckVerb& verb = *owned;
  CLI::App* check = app.add_subcommand(
      "check", "judge programs and cases: against the oracle, recordings, and themselves");
  verb.app = check;
  add_program_options(*check, verb.programs);
  check->get_option("files")->required(false)->description(
      "torch.export archives (.pt2), graph text, cases, or folders of them");
  check
      ->add_option("--against", verb.against,
                   "compare node by node instead, and say where they part: with another program or "
                   "case (a file) on the same data, or with another executor")
      ->type_name(takes::kSide);
  check
      ->add_option(
          "--executor", verb.executors,
          "an executor to check: reference, optimized, or a command that speaks the protocol of "
          "docs/executors.md (repeatable; default: both for programs, optimized for cases and with "
          "--judges)")
      ->type_name(takes::kCommand)
      ->allow_extra_args(false);
  add_answer_flags(*check, verb.answers);
  check->add_option("--seed", verb.seed, "seed of the inputs where there is no recording");
  check
      ->add_option(
          "--calls", verb.calls,
          "how many calls where there is no recording (default: 2, and 1 of more than 2^25 "
          "elements)")
      ->check(CLI::Range(1, 1'000'000));
  check->add_option("--jobs,-j", verb.jobs, "programs checked at a time")
      ->check(CLI::Range(1, 1024));
  check
      ->add_option("--false-alarm-rate", verb.false_alarm_rate,
                   "probability that one right call is called SUSPECT")
      ->check([](const std::string& text) {
        const double rate = std::strtod(text.c_str(), nullptr);
        const bool good = rate >= 1e-300 && rate <= 1e-8;
        return good ? std::string() : "expected a number from 1e-300 to 1e-8, found " + text;
      });
  check->add_flag("-q,--quiet", verb.is_quiet, "say nothing of what passes");
  check->add_flag("-v,--verbose", verb.is_verbose,
                  "say all of what passes: partitions, memory, judges");
  check
      ->add_option("-k,--only", verb.only,
                   "only files whose path has this part, or is like this pattern with * and ?")
      ->type_name(takes::kName);
  check->add_flag("-x,--exitfirst", verb.ends_early,
                  "end at the first file that fails: the others are not judged");
  check->add_flag("--judge-nodes", verb.judge_nodes,
                  "also hold every node to its own worst-case bound, on the bytes that it read");
  check
      ->add_option("--judges", verb.judges,
                   "all, or names with commas (docs/judges.md; default: all for cases, bounds and "
                   "state for programs)")
      ->type_name(takes::kNames);
  check->add_flag("--every-configuration", verb.every_configuration,
                  "compare every configuration, not only the first few (judge configurations)");
  check
      ->add_option("--quality-baseline", verb.quality_baseline,
                   "fail plans that cost more than this file says (judge quality; lines of "
                   "'graphgate plan --quality')")
      ->type_name(takes::kFile);
  add_planner_flags(*check, verb.planner);
  add_output_options(*check, verb);
  check->footer(
      "Examples:\n  graphgate check golden/models/quant_mixed.pt2\n"
      "  graphgate check --profile torch-2.9.0 --overrides vllm golden/models/*.pt2\n"
      "  graphgate check --judges all golden/cases/*.case\n\n"
      "Exit code: 0 all passed, 1 findings, 2 inconclusive or interrupted, 3 infrastructure, 4 "
      "bad input.");
  return {check, [owned](const auto& words) { return run_check(*owned, words); }};
}

}  // namespace graphgate::tools
