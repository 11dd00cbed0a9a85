// graphgate gate: whether a candidate may take a baseline's place.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>

#include "base/atomic_file.h"
#include "base/stop_signals.h"
#include "fuzz/reduce/judge_case.h"
#include "tools/cli/flags.h"
#include "tools/cli/quantities.h"
#include "tools/cli/verb.h"
#include "tools/executors/exchange_folder.h"
#include "tools/executors/optimized_options.h"
#include "tools/gate/gate_overrides.h"
#include "tools/gate/gate_report.h"
#include "tools/gate/run_side.h"
#include "tools/gate/side_choice.h"
#include "tools/report/forms.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct GateVerb {
  std::string baseline;                                // tools/gate/side_choice.h
  std::vector<std::string> candidates;                 // the same, oldest first
  std::string overrides;                               // "vllm", or a path; over both sides
  std::vector<std::string> corpus = {"golden/cases"};  // folders
  std::string judges;                                  // empty: all
  std::string waivers;                                 // a file
  double plan_threshold_percent = 5;
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;
  AnswerFlags answers;
  int reruns = 2;
  std::string time;  // for drawn cases; empty: none
  std::uint64_t seed = 1;
  spec::Configuration device;  // of profiles
  std::string save;            // a .json for the candidate's side
  ReportPaths reports;
};

Result<SideOptions> side_options_of(const GateVerb& verb) {
  SideOptions options;
  options.jobs = verb.jobs;
  options.timeout_seconds = verb.timeout_seconds;
  options.reruns = verb.reruns;
  options.seed = verb.seed;
  if (verb.judges.empty()) return options;
  GRAPHGATE_TRY(options.judges, judges_named(verb.judges));
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
  return check_options(ProfileSide{side.profile, verb.overrides}.flags());
}

Result<void> check_verb(const GateVerb& verb, const Choices& choices) {
  if (!verb.save.empty() && choices.candidates.size() != 1) {
    return bad_input("--save goes with exactly one candidate");
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

class GateRun {
 public:
  GateRun(const GateVerb& verb, Choices choices, std::vector<GateInput> inputs, SideOptions options,
          const ExchangeFolder& exchange)
      : verb_(verb),
        exchange_(exchange),
        choices_(std::move(choices)),
        inputs_(std::move(inputs)),
        options_(std::move(options)) {
    options_.should_stop = [this] { return was_stopped(); };
  }

  Result<GateReport> run(CompareOptions compare) {
    GRAPHGATE_TRY_VOID(greet());
    GRAPHGATE_TRY(const double seconds,
                  verb_.time.empty() ? Result<double>(0.0) : parse_duration(verb_.time));
    GRAPHGATE_TRY_VOID(begin_sides());
    GRAPHGATE_TRY_VOID(run_corpus());
    GateReport report;
    report.not_run = leave_out_unrun(inputs_);
    if (!verb_.save.empty()) {
      GRAPHGATE_TRY_VOID(write_text(print_json(json_of(candidates_.front())), verb_.save));
    }
    GRAPHGATE_TRY_VOID(draw(seconds));
    compare.is_partial = was_stopped();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      GRAPHGATE_TRY(GateStep step, step_of(choices_.candidates[i], candidates_[i], compare));
      report.steps.push_back(std::move(step));
    }
    report.is_interrupted = was_stopped();
    if (report.is_interrupted) {
      for (GateStep& step : report.steps) step.overrides.clear();
    }
    return report;
  }

 private:
  Result<GateStep> step_of(const SideChoice& choice, const GateSide& candidate,
                           const CompareOptions& compare) const {
    GateStep step{compare_sides(baseline_, candidate, compare), {}, {}};
    if (!drawn_.empty()) step.drawn = weigh_drawn(step.comparison, drawn_);
    if (verb_.overrides.empty() || !choice.is_profile()) return step;
    // A stored baseline has no versions: what applies is told of the candidate alone.
    const bool has_versions = choices_.baseline.is_profile();
    GRAPHGATE_TRY(step.overrides,
                  judge_overrides(profile_of(has_versions ? choices_.baseline : choice),
                                  profile_of(choice), candidate, inputs_, options_));
    return step;
  }

  // Commands that do not start are told before anything runs.
  Result<void> greet() {
    std::vector<const SideChoice*> sides = {&choices_.baseline};
    for (const SideChoice& candidate : choices_.candidates) sides.push_back(&candidate);
    for (const SideChoice* side : sides) {
      if (!side->is_process()) continue;
      GRAPHGATE_TRY_VOID(side->subject->start());
      side->subject->rest();
    }
    return {};
  }

  // Sides with a name and, where they are stored, with all that they came to.
  Result<void> begin_sides() {
    GRAPHGATE_TRY(baseline_, begin_side(choices_.baseline));
    for (const SideChoice& choice : choices_.candidates) {
      GRAPHGATE_TRY(candidates_.emplace_back(), begin_side(choice));
    }
    return {};
  }

  [[nodiscard]] Result<GateSide> begin_side(const SideChoice& choice) const {
    if (choice.is_stored()) {
      GRAPHGATE_TRY(const std::string text, read_text(choice.file));
      return read_gate_side(text, choice.file);
    }
    GateSide side;
    side.name = choice.is_profile() ? profile_of(choice).name() : choice.name;
    if (choice.is_process()) side.identity = choice.subject->identity();
    return side;
  }

  // Round by round over all sides, so that one that is interrupted can compare what it ran.
  Result<void> run_corpus() {
    for (std::size_t begin = 0; begin < inputs_.size() && !was_stopped(); begin += round()) {
      const std::size_t end = std::min(begin + round(), inputs_.size());
      GRAPHGATE_TRY_VOID(add({inputs_.begin() + static_cast<std::ptrdiff_t>(begin),
                              inputs_.begin() + static_cast<std::ptrdiff_t>(end)},
                             options_));
    }
    return {};
  }

  // Rounds of drawn cases on all sides, until the time is up. They are judged as those of a
  // campaign are.
  Result<void> draw(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    SideOptions options = options_;
    if (verb_.judges.empty()) {
      GRAPHGATE_TRY(options.judges, conformance::parse_judges(fuzz::kQuickJudges));
    }
    while (std::chrono::steady_clock::now() < end && !was_stopped()) {
      const auto inputs = draw_gate_inputs(verb_.seed, drawn_.size(), round());
      GRAPHGATE_TRY_VOID(add(inputs, options));
      for (const GateInput& input : inputs) drawn_.insert(input.name);
      (void)leave_out_unrun(inputs);
    }
    return {};
  }

  [[nodiscard]] std::size_t round() const { return 16 * static_cast<std::size_t>(verb_.jobs); }
  [[nodiscard]] bool was_stopped() const { return stop_.came() != 0; }

  // On all sides that are not stored.
  Result<void> add(const std::vector<GateInput>& inputs, const SideOptions& options) {
    GRAPHGATE_TRY_VOID(add_to(choices_.baseline, inputs, options, baseline_));
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      GRAPHGATE_TRY_VOID(add_to(choices_.candidates[i], inputs, options, candidates_[i]));
    }
    return {};
  }

  Result<void> add_to(const SideChoice& choice, const std::vector<GateInput>& inputs,
                      const SideOptions& options, GateSide& side) const {
    if (choice.is_stored()) return {};
    SideExecutor executor{choice.subject};
    if (choice.is_profile()) executor.flags = profile_of(choice).flags();
    GRAPHGATE_TRY(GateSide more, run_side(side.name, executor, inputs, options));
    exchange_.clear();
    side.cases.merge(more.cases);
    return {};
  }

  // After an interruption, takes those that some side did not come to from all sides: how many.
  std::size_t leave_out_unrun(const std::vector<GateInput>& inputs) {
    if (!was_stopped()) return 0;
    std::size_t count = 0;
    for (const GateInput& input : inputs) {
      const auto has_run = [&](const SideChoice& choice, const GateSide& side) {
        return choice.is_stored() || side.cases.contains(input.name);
      };
      bool is_whole = has_run(choices_.baseline, baseline_);
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        is_whole = is_whole && has_run(choices_.candidates[i], candidates_[i]);
      }
      if (is_whole) continue;
      ++count;
      drawn_.erase(input.name);
      baseline_.cases.erase(input.name);
      for (GateSide& candidate : candidates_) candidate.cases.erase(input.name);
    }
    return count;
  }

  [[nodiscard]] ProfileSide profile_of(const SideChoice& choice) const {
    const bool is_usual = is_on_host(verb_.device);  // then each case's own device counts
    return {choice.profile, verb_.overrides, is_usual ? spec::Configuration() : verb_.device};
  }

  const StopSignals stop_;
  const GateVerb& verb_;
  const ExchangeFolder& exchange_;  // of the sides' processes; what was killed leaves things there
  const Choices choices_;
  std::vector<GateInput> inputs_;
  SideOptions options_;
  GateSide baseline_;
  std::vector<GateSide> candidates_;
  std::set<std::string> drawn_;  // ids
};

Result<ExitCode> run_gate(const GateVerb& verb) {
  const ExchangeFolder exchange;
  GRAPHGATE_TRY(Choices choices, choices_of(verb, exchange.path()));
  GRAPHGATE_TRY_VOID(check_verb(verb, choices));
  CompareOptions compare;
  compare.plan_threshold = verb.plan_threshold_percent / 100;
  if (!verb.waivers.empty()) {
    GRAPHGATE_TRY(const std::string text, read_text(verb.waivers));
    GRAPHGATE_TRY(compare.waivers, parse_waivers(text, verb.waivers));
  }
  GRAPHGATE_TRY(const SideOptions options, side_options_of(verb));
  GRAPHGATE_TRY(std::vector<GateInput> inputs, find_gate_inputs(verb.corpus));
  GateRun run(verb, std::move(choices), std::move(inputs), options, exchange);
  GRAPHGATE_TRY(const GateReport gate, run.run(std::move(compare)));
  const Report report = report_of(gate);
  GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
  if (to_stdout(verb.reports) == 0) print_lines(report);
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
                   "cmd:COMMAND (an executor, docs/executors.md), or python:PATH[:BACKEND] (an "
                   "environment with PyTorch); NAME=cmd:... is called NAME")
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
  gate->add_option("--corpus", verb.corpus, "a folder of cases and programs (repeatable)")
      ->type_name(takes::kFolder)
      ->capture_default_str()
      ->allow_extra_args(false);
  gate->add_option("--judges", verb.judges, "all, or names with commas (docs/judges.md)")
      ->type_name(takes::kNames);
  gate->add_option("--waivers", verb.waivers,
                   "a file of findings that may pass for a while (docs/gating.md)")
      ->type_name(takes::kFile);
  gate->add_option("--plan-threshold", verb.plan_threshold_percent,
                   "percent by which a case's plans may cost more")
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
  add_device_flags(*gate, verb.device);
  gate->add_option("--save", verb.save, "keep what the candidate came to in this .json")
      ->type_name(takes::kOutput);
  add_report_options(*gate, verb.reports, "the comparison");
  gate->get_option("--junit")->description("write it as JUnit XML to this file (- for stdout)");
  gate->get_option("--sarif")->description(
      "write it as SARIF 2.1.0 with baselineState to this file (- for stdout)");
  gate->footer(
      "Examples:\n  graphgate gate --baseline torch-2.9.0 --candidate torch-2.9.1\n"
      "  graphgate gate --baseline torch-2.9.0 --candidate torch-2.9.1 --candidate torch-2.11.0 "
      "--overrides vllm\n"
      "  graphgate gate --baseline old=cmd:'ssh host graphgate serve' "
      "--candidate new=cmd:'graphgate serve'\n"
      "  graphgate gate --baseline python:/opt/venv --candidate python:/opt/next_venv:compile\n\n"
      "Exit code: 0 nothing is worse, 1 something is, 2 inconclusive or interrupted, 3 "
      "infrastructure, 4 bad "
      "input.");
  return {gate, [owned](const auto& /*words*/) { return run_gate(*owned); }};
}

}  // namespace graphgate::tools
