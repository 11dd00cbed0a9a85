// graphgate gate: whether a candidate may take a baseline's place.
#include <chrono>
#include <cstdio>
#include <set>

#include "tools/gate/gate_report.h"
#include "tools/gate/run_side.h"
#include "tools/programs.h"
#include "tools/quantities.h"
#include "tools/report_formats.h"
#include "tools/verb_fuzz.h"
#include "tools/verbs.h"

namespace graphgate::tools {
namespace {

// A stored side (a file that `--save` wrote), or a profile.
bool is_stored(const std::string& side) { return side.ends_with(".json"); }

Result<SideOptions> options_of(const GateVerb& verb) {
  SideOptions options;
  options.jobs = verb.jobs;
  options.timeout_seconds = verb.timeout_seconds;
  options.reruns = verb.reruns;
  options.seed = verb.seed;
  if (verb.judges.empty()) return options;
  const auto judges = conformance::parse_judges(verb.judges);
  if (!judges.ok()) return judges.error().at("--judges");
  options.judges = judges.value();
  return options;
}

// Profiles and overrides that there are not are refused before anything runs.
Result<void> check_side(const ProfileSide& side) {
  PlannerFlags flags;
  flags.profile = side.profile;
  flags.overrides = side.overrides;
  GRAPHGATE_TRY_VOID(choose_planner(flags, spec::builtin_op_table()));
  return {};
}

Result<void> check_verb(const GateVerb& verb) {
  if (!verb.save.empty() && verb.candidates.size() != 1) {
    return bad_input("--save goes with exactly one candidate");
  }
  std::vector<std::string> sides = verb.candidates;
  sides.push_back(verb.baseline);
  for (const std::string& side : sides) {
    if (is_stored(side) && !verb.time.empty()) {
      return bad_input("--time draws cases, which a stored side ('" + side + "') cannot run");
    }
    if (is_stored(side)) continue;
    GRAPHGATE_TRY_VOID(check_side({side, verb.overrides}));
  }
  return {};
}

class GateRun {
 public:
  GateRun(const GateVerb& verb, std::vector<GateInput> inputs, SideOptions options)
      : verb_(verb), inputs_(std::move(inputs)), options_(options) {}

  Result<GateReport> run(const CompareOptions& compare) {
    GRAPHGATE_TRY(baseline_, side(verb_.baseline));
    for (const std::string& name : verb_.candidates) {
      GRAPHGATE_TRY(GateSide candidate, side(name));
      candidates_.push_back(std::move(candidate));
    }
    if (!verb_.save.empty()) {
      GRAPHGATE_TRY_VOID(write_text(print_json(json_of(candidates_.front())), verb_.save));
    }
    GRAPHGATE_TRY(const double seconds,
                  verb_.time.empty() ? Result<double>(0.0) : parse_duration(verb_.time));
    GRAPHGATE_TRY_VOID(draw(seconds));
    GateReport report;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      GRAPHGATE_TRY(GateStep step, step_of(verb_.candidates[i], candidates_[i], compare));
      report.steps.push_back(std::move(step));
    }
    return report;
  }

 private:
  Result<GateStep> step_of(const std::string& name, const GateSide& candidate,
                           const CompareOptions& compare) const {
    GateStep step{compare_sides(baseline_, candidate, compare), {}, {}};
    if (!drawn_.empty()) step.drawn = weigh_drawn(step.comparison, drawn_);
    if (verb_.overrides.empty() || is_stored(name)) return step;
    // A stored baseline has no versions: what applies is told of the candidate alone.
    const std::string& before = is_stored(verb_.baseline) ? name : verb_.baseline;
    GRAPHGATE_TRY(step.overrides,
                  judge_overrides({before, verb_.overrides}, {name, verb_.overrides}, candidate,
                                  inputs_, options_));
    return step;
  }

  // Rounds of drawn cases on all sides, until the time is up. They are judged as those of a
  // campaign are.
  Result<void> draw(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    SideOptions options = options_;
    if (verb_.judges.empty()) {
      GRAPHGATE_TRY(options.judges, conformance::parse_judges(kQuickJudges));
    }
    const std::size_t round = 16 * static_cast<std::size_t>(verb_.jobs);
    while (std::chrono::steady_clock::now() < end) {
      const auto inputs = draw_gate_inputs(verb_.seed, drawn_.size(), round);
      GRAPHGATE_TRY_VOID(add_drawn(verb_.baseline, inputs, options, baseline_));
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        GRAPHGATE_TRY_VOID(add_drawn(verb_.candidates[i], inputs, options, candidates_[i]));
      }
      for (const GateInput& input : inputs) drawn_.insert(input.name);
    }
    return {};
  }

  Result<void> add_drawn(const std::string& name, const std::vector<GateInput>& inputs,
                         const SideOptions& options, GateSide& side) const {
    const ProfileSide profile{name, verb_.overrides};
    GRAPHGATE_TRY(GateSide drawn, run_side(side.name, profile.flags(), inputs, options));
    side.cases.merge(drawn.cases);
    return {};
  }

  [[nodiscard]] Result<GateSide> side(const std::string& name) const {
    if (is_stored(name)) {
      GRAPHGATE_TRY(const std::string text, read_text(name));
      return read_gate_side(text, name);
    }
    const ProfileSide profile{name, verb_.overrides};
    return run_side(profile.name(), profile.flags(), inputs_, options_);
  }

  const GateVerb& verb_;
  std::vector<GateInput> inputs_;
  SideOptions options_;
  GateSide baseline_;
  std::vector<GateSide> candidates_;
  std::set<std::string> drawn_;  // ids
};

Result<void> write_reports(const GateVerb& verb, const GateReport& report) {
  if (!verb.json.empty()) GRAPHGATE_TRY_VOID(write_text(print_json(json_of(report)), verb.json));
  if (!verb.markdown.empty()) GRAPHGATE_TRY_VOID(write_text(print_markdown(report), verb.markdown));
  const std::vector<FileReport> files = file_reports(report);
  if (!verb.junit.empty()) {
    GRAPHGATE_TRY_VOID(write_text(print_junit(files, "graphgate gate"), verb.junit));
  }
  if (!verb.sarif.empty()) GRAPHGATE_TRY_VOID(write_text(print_sarif(files), verb.sarif));
  return {};
}

bool prints_text(const GateVerb& verb) {
  return verb.json != "-" && verb.markdown != "-" && verb.junit != "-" && verb.sarif != "-";
}

}  // namespace

CLI::App* add_gate(CLI::App& app, GateVerb& verb) {
  CLI::App* gate = app.add_subcommand(
      "gate", "tell whether a candidate may take a baseline's place, by what the corpus shows");
  gate->add_option("--baseline", verb.baseline,
                   "what is in use: a profile (docs/profiles.md), or a .json that --save wrote")
      ->required();
  gate->add_option("--candidate", verb.candidates,
                   "what is to come, in the same forms (repeatable, oldest first: the first bad "
                   "one is told)")
      ->required()
      ->allow_extra_args(false);
  gate->add_option("--overrides", verb.overrides,
                   "workarounds over both: vllm, or a JSON file; each is judged on the candidate");
  gate->add_option("--corpus", verb.corpus, "a folder of cases and programs (repeatable)")
      ->capture_default_str()
      ->allow_extra_args(false);
  gate->add_option("--judges", verb.judges, "all, or names with commas (docs/judges.md)");
  gate->add_option("--waivers", verb.waivers,
                   "a file of findings that may pass for a while (docs/gating.md)");
  gate->add_option("--plan-threshold", verb.plan_threshold_percent,
                   "percent by which a case's plans may cost more")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  gate->add_option("--jobs,-j", verb.jobs, "cases run at a time")->check(CLI::Range(1, 1024));
  gate->add_option("--timeout", verb.timeout_seconds, "seconds for one case")
      ->check(CLI::Range(1, 1'000'000));
  gate->add_option("--reruns", verb.reruns, "looks at a case that fails, to tell flaky ones")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  gate->add_option("--time", verb.time,
                   "draw cases beside the corpus for so long (8h, 90s), and run them on all sides");
  gate->add_option("--seed", verb.seed,
                   "seed of drawn cases, and of inputs where there is no recording");
  gate->add_option("--save", verb.save, "keep what the candidate came to in this .json");
  gate->add_option("--json", verb.json, "write the comparison as JSON to this file (- for stdout)");
  gate->add_option("--markdown", verb.markdown,
                   "write a summary for a pull request to this file (- for stdout)");
  gate->add_option("--junit", verb.junit, "write it as JUnit XML to this file (- for stdout)");
  gate->add_option("--sarif", verb.sarif,
                   "write it as SARIF 2.1.0 with baselineState to this file (- for stdout)");
  gate->footer(
      "Examples:\n  graphgate gate --baseline torch-2.9.0 --candidate torch-2.9.1\n"
      "  graphgate gate --baseline torch-2.9.0 --candidate torch-2.9.1 --candidate torch-2.11.0 "
      "--overrides vllm\n\n"
      "Exit code: 0 nothing is worse, 1 something is, 2 inconclusive, 3 infrastructure, 4 bad "
      "input.");
  return gate;
}

Result<ExitCode> run_gate(const GateVerb& verb) {
  GRAPHGATE_TRY_VOID(check_verb(verb));
  CompareOptions compare;
  compare.plan_threshold = verb.plan_threshold_percent / 100;
  if (!verb.waivers.empty()) {
    GRAPHGATE_TRY(const std::string text, read_text(verb.waivers));
    GRAPHGATE_TRY(compare.waivers, parse_waivers(text, verb.waivers));
  }
  GRAPHGATE_TRY(const SideOptions options, options_of(verb));
  GRAPHGATE_TRY(std::vector<GateInput> inputs, find_gate_inputs(verb.corpus));
  GRAPHGATE_TRY(const GateReport report, GateRun(verb, std::move(inputs), options).run(compare));
  GRAPHGATE_TRY_VOID(write_reports(verb, report));
  if (prints_text(verb)) std::printf("%s", describe(report).c_str());
  return exit_code_of(report);
}

}  // namespace graphgate::tools
