// graphgate gate: whether a candidate may take a baseline's place.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "base/formatted.h"
#include "base/sha256.h"
#include "base/stop_signals.h"
#include "fuzz/reduce/judge_case.h"
#include "spec/option.h"
#include "tools/cli/flags.h"
#include "tools/cli/quantities.h"
#include "tools/cli/verb.h"
#include "tools/executors/exchange_folder.h"
#include "tools/executors/optimized_options.h"
#include "tools/gate/gate_inputs.h"
#include "tools/gate/gate_journal.h"
#include "tools/gate/gate_overrides.h"
#include "tools/gate/gate_report.h"
#include "tools/gate/gate_view.h"
#include "tools/gate/run_sides.h"
#include "tools/gate/side_choice.h"
#include "tools/report/forms.h"
#include "tools/report/replay_line.h"
#include "tools/report/trace_events.h"
#include "tools/store/bundled_data.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct GateVerb {
  std::string baseline;                 // tools/gate/side_choice.h
  std::vector<std::string> candidates;  // the same, oldest first
  std::string overrides;                // "vllm", or a path; over both sides
  std::vector<std::string> corpus;      // folders; empty: the usual one
  std::string only;                     // a part of the names of cases
  std::size_t limit = 0;                // of cases; 0: all
  std::string resume;                   // a journal; empty: none
  std::string judges;                   // empty: all
  std::string waivers;                  // a file
  double plan_threshold_percent = 5;
  double time_threshold_percent = 100;
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;
  AnswerFlags answers;
  int reruns = 2;
  std::string time;  // for drawn cases; empty: none
  std::uint64_t seed = 1;
  spec::Configuration programs;  // of the corpus; cases say their own
  spec::Configuration device;    // of profiles
  std::string save;              // a .json for the candidate's side
  ReportPaths reports;
  std::string trace;  // a file
};

Result<SideOptions> side_options_of(const GateVerb& verb) {
  SideOptions options;
  options.jobs = verb.jobs;
  options.timeout_seconds = verb.timeout_seconds;
  options.reruns = verb.reruns;
  options.look.seed = verb.seed;
  options.look.program_options = verb.programs;
  options.time_threshold = verb.time_threshold_percent / 100;
  if (verb.judges.empty()) return options;
  GRAPHGATE_TRY(options.look.judges, judges_named(verb.judges));
  return options;
}

// The sides as they were asked for.
struct Choices {
  SideChoice baseline;
  std::vector<SideChoice> candidates;
};

Result<Choices> choices_of(const GateVerb& verb, const std::string& exchange) {
  GRAPHGATE_TRY(const SubjectSettings settings, subject_settings(verb.answers, exchange));
  Choices choices;
  GRAPHGATE_TRY(choices.baseline, parse_side(verb.baseline, settings));
  for (const std::string& candidate : verb.candidates) {
    GRAPHGATE_TRY(choices.candidates.emplace_back(), parse_side(candidate, settings));
  }
  return choices;
}

// Profiles and overrides that there are not are refused before anything runs.
Result<void> check_side(const SideChoice& side, const GateVerb& verb) {
  if (side.is_stored() && !verb.time.empty()) {
    return bad_input("--time draws cases, which a stored side ('" + side.file + "') cannot run");
  }
  if (side.is_process() && !verb.overrides.empty()) {
    return bad_input("--overrides is for profiles, and '" + side.name + "' is a command");
  }
  if (!side.is_profile()) return {};
  const auto profile = check_options(ProfileSide{side.profile, ""}.flags());
  if (!profile.ok()) {
    return bad_input("'" + side.name + "': " + profile.error().message +
                     "; other sides are cmd:COMMAND, python:PATH, vllm:PATH and FILE.json");
  }
  const auto both = check_options(ProfileSide{side.profile, verb.overrides}.flags());
  return both.ok() ? both : both.error().at("--overrides");
}

Result<void> check_verb(const GateVerb& verb, const Choices& choices) {
  if (!verb.save.empty() && choices.candidates.size() != 1) {
    return bad_input("--save goes with exactly one candidate");
  }
  if (!verb.resume.empty() && !verb.time.empty()) {
    return bad_input("--resume goes on with the corpus; it does not go with --time");
  }
  const auto is_process = [](const SideChoice& side) { return side.is_process(); };
  const bool has_process =
      is_process(choices.baseline) ||
      std::any_of(choices.candidates.begin(), choices.candidates.end(), is_process);
  if (!has_process) {
    GRAPHGATE_TRY_VOID(refuse_answer_flags(verb.answers, "where no side is a command"));
  }
  GRAPHGATE_TRY_VOID(check_device(verb.device));
  bool has_profile = choices.baseline.is_profile();
  for (const SideChoice& candidate : choices.candidates) {
    GRAPHGATE_TRY_VOID(check_side(candidate, verb));
    has_profile |= candidate.is_profile();
  }
  if (!is_on_host(verb.device) && !has_profile) {
    return bad_input("--device is for profiles, and no side is one");
  }
  return check_side(choices.baseline, verb);
}

// The words that run a case on a side again: in the environment that a command was started in.
ReplayWords replay_words(const SideChoice& side, const GateVerb& verb) {
  if (side.is_stored()) return {};
  std::vector<std::string> flags;
  const auto add = [&](const std::string& name, const std::string& value) {
    for (std::string& word : flag_words(name, value)) flags.push_back(std::move(word));
  };
  if (side.is_process()) {
    add("executor", side.text);
    add("executor-timeout", formatted("%g", verb.answers.seconds));
    if (verb.answers.bytes != AnswerFlags().bytes) add("answer-limit", verb.answers.bytes);
  } else {
    add(spec::option::kProfile, side.profile);
    if (!verb.overrides.empty()) add(spec::option::kOverrides, verb.overrides);
    for (std::string& word : option_words(verb.device)) flags.push_back(std::move(word));
  }
  const std::string environment = side.is_process() ? replay_environment() : "";
  const auto line = [&](const char* name, const std::string& judges,
                        const std::vector<std::string>& more) {
    std::vector<std::string> words = {"graphgate", name};
    if (!judges.empty()) words.insert(words.end(), {"--judges", judges});
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), more.begin(), more.end());
    return replay_line(environment, words) + " ";
  };
  const std::string judges = verb.judges.empty() ? "all" : verb.judges;
  return {line("check", judges, {}), line("check", judges, option_words(verb.programs)),
          line("replay", verb.judges, {})};
}

// What is told of a side to who watches.
std::string shown_name(const SideChoice& choice, const GateSide& side) {
  return choice.is_stored() ? choice.name : side.name;
}

// When each look was had, for --trace: a track for each side, and for each worker of it.
class GateTrace {
 public:
  void add(const std::string& side, const std::string& name, const LookDone& look) {
    if (++count_ > kMostLooks) return;
    std::string track = side;
    if (look.worker > 0) track += ", worker " + std::to_string(look.worker);
    Json args = {{"outcome", spec::outcome_name(look.came_to->outcome)}};
    for (const GateFinding& finding : look.came_to->findings) {
      args["signatures"].push_back(finding.signature);
    }
    looks_[{look.side, look.worker}].push_back(
        {track, name, clock_.seconds() - look.seconds, look.seconds, std::move(args)});
  }
  [[nodiscard]] std::string print() const {
    std::vector<TraceSpan> spans;
    for (const auto& [place, looks] : looks_) spans.insert(spans.end(), looks.begin(), looks.end());
    std::string title = "cases";
    if (count_ > kMostLooks) {
      title += " (" + std::to_string(count_ - kMostLooks) + " later looks left out)";
    }
    TraceEvents trace;
    trace.add_spans(title, spans);
    return trace.print();
  }

 private:
  static constexpr std::size_t kMostLooks = 50'000;

  const TraceClock clock_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<TraceSpan>> looks_;
  std::size_t count_ = 0;
};

class GateRun {
 public:
  GateRun(const GateVerb& verb, Choices choices, std::vector<GateInput> inputs, SideOptions options,
          const ExchangeFolder& exchange, GateView& view, GateTrace& trace)
      : verb_(verb),
        exchange_(exchange),
        view_(view),
        trace_(trace),
        inputs_(std::move(inputs)),
        options_(std::move(options)) {
    choices_.push_back(std::move(choices.baseline));
    for (SideChoice& choice : choices.candidates) choices_.push_back(std::move(choice));
    options_.should_stop = [this] { return was_stopped(); };
    options_.killed = [this] { remove_leftovers(exchange_.path()); };
  }

  Result<GateReport> run(CompareOptions compare) {
    // What can be refused at once is, before anything is started.
    if (!verb_.resume.empty()) {
      GRAPHGATE_TRY(corpus_digest_, digest_of(verb_.corpus));
    }
    GRAPHGATE_TRY_VOID(greet());
    GRAPHGATE_TRY(const double seconds,
                  verb_.time.empty() ? Result<double>(0.0) : parse_duration(verb_.time));
    GRAPHGATE_TRY_VOID(begin_sides());
    GRAPHGATE_TRY_VOID(open_journal());
    progress_.planned = runners_.empty() ? 0 : inputs_.size();
    progress_.planned_seconds = seconds;
    std::vector<std::string> names;
    names.reserve(sides_.size());
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      names.push_back(shown_name(choices_[i], sides_[i]));
    }
    begin_ = std::chrono::steady_clock::now();  // starts of processes come once
    view_.begin(names, progress_, verb_.jobs);
    GRAPHGATE_TRY_VOID(run_corpus());
    GateReport report;
    report.not_run = leave_out_unrun();
    if (!verb_.save.empty()) {
      GRAPHGATE_TRY_VOID(write_text(print_json(json_of(sides_[1])), verb_.save));
    }
    GRAPHGATE_TRY_VOID(draw(seconds));
    for (const GateInput& input : inputs_) report.paths[input.name] = input.path;
    compare.is_partial = was_stopped() || is_part();
    for (std::size_t i = 1; i < sides_.size(); ++i) {
      GRAPHGATE_TRY(GateStep step, step_of(i, compare));
      report.steps.push_back(std::move(step));
    }
    report.is_interrupted = was_stopped();
    if (report.is_interrupted) {
      for (GateStep& step : report.steps) step.overrides.clear();
    }
    view_.end(progress_now(), report.is_interrupted);
    return report;
  }

 private:
  // Whether cases of the corpus were left out on purpose.
  [[nodiscard]] bool is_part() const { return !verb_.only.empty() || verb_.limit > 0; }

  Result<GateStep> step_of(std::size_t candidate, const CompareOptions& compare) const {
    const SideChoice& choice = choices_[candidate];
    GateStep step{compare_sides(sides_.front(), sides_[candidate], compare), {}, {}};
    step.on_baseline = replay_words(choices_.front(), verb_);
    step.on_candidate = replay_words(choice, verb_);
    if (!drawn_.empty()) step.drawn = weigh_drawn(step.comparison, drawn_);
    if (verb_.overrides.empty() || !choice.is_profile()) return step;
    // A stored baseline has no versions: what applies is told of the candidate alone.
    const bool has_versions = choices_.front().is_profile();
    GRAPHGATE_TRY(step.overrides,
                  judge_overrides(profile_of(has_versions ? choices_.front() : choice),
                                  profile_of(choice), sides_[candidate], inputs_, options_));
    return step;
  }

  // Commands that do not start are told before anything runs. They start side by side: one that
  // imports vLLM works for ten seconds and more before it can answer.
  Result<void> greet() {
    for (const SideChoice& side : choices_) {
      if (side.is_process()) side.subject->launch();
    }
    for (const SideChoice& side : choices_) {
      if (!side.is_process()) continue;
      view_.starting(side.name);
      GRAPHGATE_TRY_VOID(side.subject->start());
      side.subject->rest();
    }
    return {};
  }

  // Sides with a name and, where they are stored, with all that they came to.
  Result<void> begin_sides() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const SideChoice& choice = choices_[i];
      GRAPHGATE_TRY(sides_.emplace_back(), begin_side(choice));
      if (choice.is_stored()) continue;
      runners_.push_back(i);
      executors_.push_back({choice.subject});
      if (choice.is_profile()) executors_.back().flags = profile_of(choice).flags();
    }
    return {};
  }

  [[nodiscard]] Result<GateSide> begin_side(const SideChoice& choice) const {
    if (choice.is_stored()) {
      GRAPHGATE_TRY(const std::string text, read_text(choice.file));
      GRAPHGATE_TRY(GateSide side, read_gate_side(text, choice.file));
      if (is_part()) keep_chosen(side);
      return side;
    }
    GateSide side;
    side.name = choice.is_profile() ? profile_of(choice).name() : choice.name;
    if (choice.is_process()) side.identity = choice.subject->identity();
    return side;
  }

  void keep_chosen(GateSide& side) const {
    std::set<std::string> chosen;
    for (const GateInput& input : inputs_) chosen.insert(input.name);
    std::erase_if(side.cases, [&](const auto& one) { return !chosen.contains(one.first); });
  }

  // What a run depends on. Flags that only say how much of it runs, or how fast, are none of it.
  [[nodiscard]] Result<GateKey> key() const {
    GateKey key;
    key["graphgate"] = GRAPHGATE_VERSION;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const std::string name = i == 0 ? "baseline" : "candidate " + std::to_string(i);
      key[name] = choices_[i].text;
      if (choices_[i].is_process()) key[name + "'s greeting"] = sides_[i].identity;
      if (!choices_[i].is_stored()) continue;
      GRAPHGATE_TRY(const std::string text, read_text(choices_[i].file));
      key[name + "'s digest"] = sha256_hex(text);
    }
    key["judges"] = verb_.judges.empty() ? "all" : verb_.judges;
    key["seed"] = std::to_string(verb_.seed);
    key["reruns"] = std::to_string(verb_.reruns);
    key["device"] = spec::print_configuration(verb_.device);
    if (!verb_.programs.empty()) key["of programs"] = spec::print_configuration(verb_.programs);
    key["overrides"] = verb_.overrides;
    if (!verb_.overrides.empty() && verb_.overrides != "vllm") {
      GRAPHGATE_TRY(const std::string text, read_text(verb_.overrides));
      key["digest of the overrides"] = sha256_hex(text);
    }
    key["corpus"] = corpus_digest_;
    return key;
  }

  // Takes over what an earlier run has written down.
  Result<void> open_journal() {
    if (verb_.resume.empty()) return {};
    GRAPHGATE_TRY(const GateKey of, key());
    GRAPHGATE_TRY(GateJournal journal, GateJournal::open(verb_.resume, of, runners_.size()));
    journal_.emplace(std::move(journal));
    for (const GateInput& input : inputs_) {
      const auto found = journal_->cases().find(input.name);
      if (found == journal_->cases().end()) continue;
      take(input.name, found->second);
      ++progress_.resumed;
    }
    return {};
  }

  void take(const std::string& name, const std::vector<GateCase>& cases) {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      sides_[runners_[i]].cases.emplace(name, cases[i]);
    }
    if (sides_differ(news_of(name))) ++progress_.differing;
    if (drawn_.contains(name)) {
      ++progress_.drawn;
    } else {
      ++progress_.cases;
    }
  }

  [[nodiscard]] std::vector<SideNews> news_of(const std::string& name) const {
    std::vector<SideNews> news;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const auto found = sides_[i].cases.find(name);
      if (found == sides_[i].cases.end()) continue;
      news.push_back({shown_name(choices_[i], sides_[i]), &found->second});
    }
    return news;
  }

  Result<void> run_corpus() {
    std::vector<GateInput> left;
    for (const GateInput& input : inputs_) {
      const bool is_done = runners_.empty() || sides_[runners_.front()].cases.contains(input.name);
      if (!is_done) left.push_back(input);
    }
    return run_inputs(left, options_);
  }

  // On all sides that are not stored.
  Result<void> run_inputs(const std::vector<GateInput>& inputs, SideOptions options) {
    options.tick = [&](const std::vector<LookInWork>& in_work) { tell(inputs, in_work); };
    options.looked = [&](const LookDone& look) {
      const std::size_t side = runners_[look.side];
      trace_.add(shown_name(choices_[side], sides_[side]), inputs[look.input].name, look);
    };
    return run_sides(
        executors_, inputs, options,
        [&](const GateInput& input, const std::vector<GateCase>& cases) -> Result<void> {
          take(input.name, cases);
          if (journal_) {
            GRAPHGATE_TRY_VOID(journal_->add(input.name, cases));
          }
          view_.done(input.name, news_of(input.name), progress_now());
          return {};
        });
  }

  // Rounds of drawn cases on all sides, until the time is up. They are judged as those of a
  // campaign are.
  Result<void> draw(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    SideOptions options = options_;
    if (verb_.judges.empty()) {
      GRAPHGATE_TRY(options.look.judges, conformance::parse_judges(fuzz::kQuickJudges));
    }
    while (std::chrono::steady_clock::now() < end && !was_stopped()) {
      const std::size_t round = 16 * static_cast<std::size_t>(verb_.jobs);
      const auto inputs = draw_gate_inputs(verb_.seed, drawn_.size(), round);
      for (const GateInput& input : inputs) drawn_.insert(input.name);
      GRAPHGATE_TRY_VOID(run_inputs(inputs, options));
      if (!was_stopped()) continue;
      for (const GateInput& input : inputs) {
        if (!sides_[runners_.front()].cases.contains(input.name)) drawn_.erase(input.name);
      }
    }
    return {};
  }

  [[nodiscard]] bool was_stopped() const { return stop_.came() != 0; }

  // After an interruption, takes those that did not run from all sides: how many.
  std::size_t leave_out_unrun() {
    if (!was_stopped() || runners_.empty()) return 0;
    std::size_t count = 0;
    for (const GateInput& input : inputs_) {
      if (sides_[runners_.front()].cases.contains(input.name)) continue;
      ++count;
      for (GateSide& side : sides_) side.cases.erase(input.name);
    }
    return count;
  }

  [[nodiscard]] GateProgress progress_now() const {
    GateProgress now = progress_;
    const auto spent = std::chrono::steady_clock::now() - begin_;
    now.seconds = std::chrono::duration<double>(spent).count();
    now.planned_seconds = std::max(0.0, now.planned_seconds);
    return now;
  }

  void tell(const std::vector<GateInput>& inputs, const std::vector<LookInWork>& in_work) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> since = now - told_;
    if (since.count() < view_.progress_seconds()) return;
    told_ = now;
    GateProgress progress = progress_now();
    for (const LookInWork& look : in_work) {
      const std::size_t side = runners_[look.side];
      progress.in_work.emplace_back(
          "'" + inputs[look.input].name + "' on " + shown_name(choices_[side], sides_[side]),
          look.seconds);
    }
    std::stable_sort(progress.in_work.begin(), progress.in_work.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    view_.progress(progress);
  }

  [[nodiscard]] ProfileSide profile_of(const SideChoice& choice) const {
    const bool is_usual = is_on_host(verb_.device);  // then each case's own device counts
    return {choice.profile, verb_.overrides, is_usual ? spec::Configuration() : verb_.device};
  }

  const StopSignals stop_;
  const GateVerb& verb_;
  const ExchangeFolder& exchange_;  // of the sides' processes; what was killed leaves things there
  GateView& view_;
  GateTrace& trace_;
  std::vector<SideChoice> choices_;  // the baseline, then the candidates; so are the sides
  std::vector<GateInput> inputs_;
  SideOptions options_;
  std::vector<GateSide> sides_;
  std::vector<std::size_t> runners_;     // places of the sides that run
  std::vector<SideExecutor> executors_;  // of these
  std::string corpus_digest_;            // of a run with a journal
  std::optional<GateJournal> journal_;
  GateProgress progress_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point told_ = begin_;
  std::set<std::string> drawn_;  // ids
};

Result<ExitCode> run_gate(GateVerb verb) {
  ReportPaths outputs = verb.reports;
  outputs["trace"] = verb.trace;
  const ExchangeFolder exchange;
  GRAPHGATE_TRY(Choices choices, choices_of(verb, exchange.path()));
  GRAPHGATE_TRY_VOID(check_verb(verb, choices));
  CompareOptions compare;
  compare.plan_threshold = verb.plan_threshold_percent / 100;
  compare.time_threshold = verb.time_threshold_percent / 100;
  if (!verb.waivers.empty()) {
    GRAPHGATE_TRY(const std::string text, read_text(verb.waivers));
    GRAPHGATE_TRY(compare.waivers, parse_waivers(text, verb.waivers));
  }
  GRAPHGATE_TRY(const SideOptions options, side_options_of(verb));
  if (verb.corpus.empty()) {
    GRAPHGATE_TRY(verb.corpus.emplace_back(),
                  usual_corpus("golden/cases", "name a folder with --corpus"));
  }
  GRAPHGATE_TRY(std::vector<GateInput> inputs, find_gate_inputs(verb.corpus));
  GRAPHGATE_TRY(inputs, choose_inputs(std::move(inputs), verb.only, verb.limit));
  const auto view = gate_view_for(stderr);
  GateTrace trace;
  GateRun run(verb, std::move(choices), std::move(inputs), options, exchange, *view, trace);
  GRAPHGATE_TRY(const GateReport gate, run.run(std::move(compare)));
  Report report = report_of(gate);
  if (has_form(verb.reports, kHtmlForm)) report.panels.push_back(gate_matrix(gate));
  if (!verb.trace.empty()) GRAPHGATE_TRY_VOID(write_text(trace.print(), verb.trace));
  GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
  if (to_stdout(outputs) == 0) print_lines(report);
  return report.code;
}

}  // namespace

Verb add_gate(CLI::App& app) {
  const auto owned = std::make_shared<GateVerb>();
  GateVerb& verb = *owned;
  CLI::App* gate = app.add_subcommand(
      "gate", "tell whether a candidate may take a baseline's place, by what the corpus shows");
  gate->add_option("--baseline", verb.baseline,
                   "what is in use: a profile (docs/profiles.md), a .json that --save wrote, "
                   "cmd:COMMAND (an executor, docs/executors.md), python:PATH[:BACKEND] (an "
                   "environment with PyTorch), or vllm:PATH[:COMPILER] (one with vLLM); "
                   "NAME=cmd:... is called NAME")
      ->type_name(takes::kSide)
      ->required();
  gate->add_option("--candidate", verb.candidates,
                   "what is to come, in the same forms (repeatable, oldest first: the first bad "
                   "one is told)")
      ->type_name(takes::kSide)
      ->required()
      ->allow_extra_args(false);
  gate->add_option(std::string("--") + spec::option::kOverrides, verb.overrides,
                   "workarounds over both: vllm, or a JSON file; each is judged on the candidate")
      ->type_name(takes::kOverridesFile);
  gate->add_option("--corpus", verb.corpus,
                   "a folder of cases and programs (repeatable; default: golden/cases here, else "
                   "the cases that come with the program)")
      ->type_name(takes::kFolder)
      ->allow_extra_args(false);
  gate->add_option("--only", verb.only,
                   "cases of the corpus whose names hold this; * and ? stand for anything")
      ->type_name(takes::kName);
  gate->add_option("--limit", verb.limit, "at most so many cases, spread evenly over the corpus")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}));
  gate->add_option("--resume", verb.resume,
                   "keep in this file what has run, as it comes, and go on where it says; begin "
                   "where it is missing")
      ->type_name(takes::kOutput);
  gate->add_option("--judges", verb.judges, "all, or names with commas (docs/judges.md)")
      ->type_name(takes::kNames);
  gate->add_option("--waivers", verb.waivers,
                   "a file of findings that may pass for a while (docs/gating.md)")
      ->type_name(takes::kFile);
  gate->add_option("--plan-threshold", verb.plan_threshold_percent,
                   "percent by which a case's plans may cost more")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  gate->add_option("--time-threshold", verb.time_threshold_percent,
                   "percent by which the answers of a command may take longer, if it is half a "
                   "second at least")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  gate->add_option("--jobs,-j", verb.jobs, "cases run at a time")->check(CLI::Range(1, 1024));
  gate->add_option("--timeout", verb.timeout_seconds, "seconds for one case")
      ->check(CLI::Range(1, 1'000'000));
  add_answer_flags(*gate, verb.answers);
  gate->add_option("--reruns", verb.reruns, "looks at a case that fails, to tell flaky ones")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  gate->add_option("--time", verb.time,
                   "draw cases beside the corpus for so long (8h, 90s), and run them on all sides")
      ->type_name(takes::kDuration);
  gate->add_option("--seed", verb.seed,
                   "seed of drawn cases, and of inputs where there is no recording");
  add_option_flag(*gate, *spec::find_option(spec::option::kAllowZeroAndOne), verb.programs);
  add_device_flags(*gate, verb.device);
  gate->add_option("--save", verb.save, "keep what the candidate came to in this .json")
      ->type_name(takes::kOutput);
  add_report_options(*gate, verb.reports, "the comparison");
  add_trace_flag(*gate, verb.trace, "which side was at which case, and when,");
  gate->get_option("--junit")->description("write it as JUnit XML to this file (- for stdout)");
  gate->get_option("--sarif")->description(
      "write it as SARIF 2.1.0 with baselineState to this file (- for stdout)");
  gate->footer(
      "Examples:\n  graphgate gate --baseline torch-2.9.0 --candidate torch-2.9.1\n"
      "  graphgate gate --baseline torch-2.9.0 --candidate torch-2.9.1 --candidate torch-2.11.0 "
      "--overrides vllm\n"
      "  graphgate gate --baseline old=cmd:'ssh host graphgate serve' "
      "--candidate new=cmd:'graphgate serve'\n"
      "  graphgate gate --baseline python:/opt/venv --candidate python:/opt/next_venv:compile\n"
      "  graphgate gate --baseline vllm:/opt/venv --candidate vllm:/opt/next_venv --limit 40 -j 2 "
      "--resume gate.journal\n\n"
      "Exit code: 0 nothing is worse, 1 something is, 2 inconclusive or interrupted, 3 "
      "infrastructure, 4 bad "
      "input.");
  return {gate, [owned](const auto& /*words*/) { return run_gate(*owned); }};
}

}  // namespace graphgate::tools
