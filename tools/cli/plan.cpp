// graphgate plan: what the optimized executor would do with a program, printed.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "conformance/judges/plan_quality.h"
#include "conformance/run/input_layout.h"
#include "conformance/run/seeded_inputs.h"
#include "interop/plan_json.h"
#include "optimized/analysis/symbols.h"
#include "optimized/compile.h"
#include "spec/plan_diff.h"
#include "spec/plan_text.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/pack_csv.h"
#include "tools/cli/plan_verify.h"
#include "tools/cli/quantities.h"
#include "tools/cli/verb.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/plan_dot.h"
#include "tools/report/plan_panel.h"
#include "tools/report/plan_words.h"
#include "tools/report/trace_events.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct PlanVerb {
  ProgramOptions programs;
  int call = 0;
  std::uint64_t seed = 1;
  spec::Configuration planner;
  bool text = false;  // the canonical text instead of the summary
  bool dot = false;
  bool quality = false;  // one line of numbers for each call
  bool verbose = false;  // the time of each stage, on stderr
  PackCsvOptions pack;   // of a CSV file, instead of a program
  std::string diff;      // a stored plan to compare with
  std::string json;
  std::string html;
  std::string trace;
  std::string places;                     // where to write how buffers came to their bytes
  std::vector<std::string> verify_files;  // stored plans, instead of programs
  std::string verify_form = "auto";
  std::string pack_time;     // of --csv
  PlanVerifyOptions verify;  // of each of them
  const CLI::App* app = nullptr;
};

// What stands for what is done, and what means something beside it.
Result<void> check_flags(const PlanVerb& verb) {
  if (!verb.verify_files.empty()) {
    return refuse_without_effect(
        *verb.app, {"with --verify",
                    {"verify", "format", "program", "custom-ops", "capacity", "json", "html"}});
  }
  if (!verb.pack.csv.empty()) {
    return refuse_without_effect(
        *verb.app,
        {"with --csv", {"csv", "capacity", "alignment", "effort", "out", "time", "jobs", "seed"}});
  }
  FlagMode mode{"without --verify or --csv",
                {"data", "custom-ops", "call", "seed", "verbose", "text", "dot", "quality", "json",
                 "html", "trace", "diff", "places"},
                /*takes_planner=*/true};
  const auto forget = [&](const char* with, std::initializer_list<const char*> names) {
    mode.name = with;
    for (const char* name : names) mode.allowed.erase(name);
  };
  if (verb.quality) {
    forget("with --quality", {"text", "dot", "json", "html", "trace", "diff"});
  } else if (!verb.diff.empty()) {
    forget("with --diff", {"text", "dot"});
  } else if (verb.json == "-") {
    forget("with --json -", {"text", "dot"});
  } else if (verb.trace == "-") {
    forget("with --trace -", {"text", "dot"});
  }
  return refuse_without_effect(*verb.app, mode);
}

Result<std::vector<spec::InputValue>> inputs_of_call(const std::string& path,
                                                     const spec::Program& program,
                                                     const PlanVerb& verb) {
  GRAPHGATE_TRY(const auto recorded, read_expected_calls(path, verb.programs.data));
  if (recorded.empty()) return conformance::seeded_inputs(program, verb.seed, verb.call);
  GRAPHGATE_TRY_VOID(refuse_beside_recording(*verb.app, path, {"seed"}));
  if (static_cast<std::size_t>(verb.call) >= recorded.size()) {
    return bad_input("--call " + std::to_string(verb.call) + ": the recording has " +
                     std::to_string(recorded.size()) + " calls");
  }
  std::vector<spec::InputValue> inputs = recorded[static_cast<std::size_t>(verb.call)].inputs;
  conformance::lay_out_inputs(program, inputs);
  return inputs;
}

// The plan that a call follows: of the sizes that dispatch chooses, where there are any to choose.
Result<spec::Plan> plan_of_call(const spec::Program& program,
                                const std::vector<spec::InputValue>& inputs,
                                const optimized::Options& options) {
  const auto executor = optimized::make_executor(options);
  GRAPHGATE_TRY(const auto loaded, executor->load(program));
  GRAPHGATE_TRY_VOID(loaded->call(inputs));
  return *loaded->plan();
}

Result<spec::Plan> plan_of(const std::string& path, const PlanVerb& verb,
                           const optimized::Options& options) {
  GRAPHGATE_TRY(const spec::Program program, read_program(path, *options.compile.ops));
  GRAPHGATE_TRY(const auto inputs, inputs_of_call(path, program, verb));
  const optimized::RuntimeOptions& runtime = options.runtime;
  if (!runtime.capture_sizes.empty() || runtime.mode != optimized::GraphMode::kPiecewise ||
      !runtime.static_inputs.empty() || options.plan_store) {
    return plan_of_call(program, inputs, options);
  }
  GRAPHGATE_TRY(const auto symbols,
                optimized::bind_symbols(program, inputs, options.allow_zero_and_one));
  GRAPHGATE_TRY(const spec::Graph prepared, optimized::prepare(program, options.compile));
  GRAPHGATE_TRY(spec::Plan plan,
                optimized::compile(program, prepared, inputs, symbols, options.compile));
  const auto checked = spec::check_plan(plan);
  if (!checked.ok()) return Error{ErrorKind::kInternal, checked.error().message};
  return plan;
}

// A stored plan: JSON (.json), or the canonical text.
Result<spec::Plan> read_plan(const std::string& path, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const std::string text, read_text(path));
  if (path.ends_with(".json")) return interop::read_plan_json(text, path);
  GRAPHGATE_TRY(spec::Plan plan, spec::parse_plan(text, ops, path));
  const auto checked = spec::check_plan(plan);
  if (!checked.ok()) return checked.error().at(path);
  return plan;
}

// The page that was asked for.
std::string page_of(const spec::Plan& plan, const PlanVerb& verb, const spec::OpTable& ops) {
  if (verb.text) return spec::print_plan(spec::number_plan(plan), ops);
  return verb.dot ? plan_to_dot(plan, ops) : summarize_plan(plan);
}

// A line for the plan of every recorded call, or of the one asked for: what golden/quality.txt has.
Result<void> show_quality(const std::string& path, const PlanVerb& verb,
                          const optimized::Options& options, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const spec::Program program, read_program(path, ops));
  GRAPHGATE_TRY(const auto recorded, read_expected_calls(path, verb.programs.data));
  const int last = recorded.empty() ? verb.call : static_cast<int>(recorded.size()) - 1;
  for (int call = verb.call; call <= last; ++call) {
    PlanVerb one = verb;
    one.call = call;
    GRAPHGATE_TRY(const spec::Plan plan, plan_of(path, one, options));
    const std::string line = conformance::print_quality(
        program.name, static_cast<std::size_t>(call), conformance::quality_of(plan));
    GRAPHGATE_TRY_VOID(write_text(line, "-"));
  }
  return {};
}

// What a plan is, as an item of a page.
ReportItem item_of(const std::string& file, const spec::Plan& plan) {
  ReportItem item;
  item.place = file;
  item.text = describe_plan(conformance::plan_stats(plan)) + "\n";
  std::set<std::string> ops;
  for (const spec::PlanStep& step : plan.steps) {
    if (step.body.empty()) ops.insert(step.node.op);
    for (const spec::Node& node : step.body) ops.insert(node.op);
  }
  item.ops.assign(ops.begin(), ops.end());
  return item;
}

// Adds a plan to the page, beside the one that it is compared with.
void add_to_page(Report& page, const std::string& file, const spec::Plan& plan,
                 const spec::Plan* before, const PlanVerb& verb, const spec::OpTable& ops) {
  nlohmann::ordered_json panel = plan_panel(plan, ops, {.title = file, .place = file});
  if (before) add_other_plan(panel, plan_panel(*before, ops, {.title = verb.diff}));
  page.panels.push_back(std::move(panel));
  page.sections.front().items.push_back(item_of(file, plan));
}

// Says on the page what changed, too.
void add_changes(Report& page, const std::vector<std::string>& changes) {
  if (page.items().empty()) return;
  ReportItem& item = page.sections.front().items.back();
  for (const std::string& change : changes) item.remarks.push_back(plain_text(change));
  if (changes.empty()) return;
  item.outcome = spec::Outcome::kFail;
  item.reason = "another plan: " + changes.front();
}

void add_csv_options(CLI::App& plan, PackCsvOptions& pack, std::string& time) {
  constexpr const char* kGroup = "Packing alone";
  auto* csv = plan.add_option("--csv", pack.csv,
                              "pack the buffers of this file (id,lower,upper,size) instead")
                  ->type_name(takes::kFile)
                  ->group(kGroup);
  plan.add_option("--capacity", pack.capacity_bytes,
                  "go on until the arena is no larger; exit 1 when it cannot be")
      ->group(kGroup);
  plan.add_option("--alignment", pack.alignment_bytes, "of every offset")
      ->needs(csv)
      ->group(kGroup);
  plan.add_option("--time", time, "how long to go on, as 90s or 1h (default with --capacity: 60s)")
      ->type_name(takes::kDuration)
      ->needs(csv)
      ->group(kGroup);
  plan.add_option("--jobs,-j", pack.jobs, "threads that search")
      ->check(CLI::Range(1, 1024))
      ->needs(csv)
      ->group(kGroup);
  plan.add_option("--effort", pack.effort,
                  "end after so much work (default without --capacity and --time: " +
                      std::to_string(kDefaultPackEffort) + "); 0: near-linear methods only")
      ->needs(csv)
      ->group(kGroup);
  plan.add_option("--out", pack.out, "write offsets to this CSV file (- for stdout)")
      ->type_name(takes::kOutput)
      ->needs(csv)
      ->group(kGroup);
}

// Stage times as they come in, where they are wanted, and where buffers come from.
class PlanLog final : public optimized::CompileLog {
 public:
  explicit PlanLog(bool is_verbose) : is_verbose_(is_verbose) {}

  void stage(std::string_view name, double seconds) override {
    if (!is_verbose_) return;
    std::fprintf(stderr, "%-12.*s %9.6f s\n", static_cast<int>(name.size()), name.data(), seconds);
  }
  void warning(std::string_view message) override {
    if (is_verbose_) print_line(stderr, "warning: " + std::string(message));
  }
  void placed(std::string_view buffer, std::string_view how, std::string_view old) override {
    nlohmann::ordered_json line{{"buffer", buffer}, {"how", how}};
    if (!old.empty()) line["old"] = old;
    places_ += json_line(line) + "\n";
  }

  [[nodiscard]] const std::string& places() const { return places_; }

 private:
  bool is_verbose_;
  std::string places_;
};

// The files one by one. What is UNSUPPORTED in one costs the others nothing.
Result<ExitCode> verify_all(const PlanVerb& verb) {
  if (verb.verify_files.size() > 1 && !verb.verify.program.empty()) {
    return bad_input("--program goes with one plan");
  }
  if (verb.verify_files.size() > 1 && !verb.json.empty()) {
    return bad_input("--json goes with one plan");
  }
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.programs.custom_ops));
  PlanVerifyOptions options = verb.verify;
  options.capacity_bytes = verb.pack.capacity_bytes;
  options.json = verb.json;
  options.is_stdout_taken = verb.json == "-" || verb.html == "-";
  Report page = one_section("graphgate plan --verify");
  if (!verb.html.empty()) options.page = &page;
  const auto form = std::find(kPlanForms.begin(), kPlanForms.end(), verb.verify_form);
  options.form = static_cast<PlanForm>(form - kPlanForms.begin());
  ExitCode all = ExitCode::kGood;
  for (const std::string& file : verb.verify_files) {
    options.file = file;
    const auto code = run_plan_verify(options, ops);
    if (!code.ok()) {
      GRAPHGATE_TRY(const ExitCode unsupported, after_unsupported(code.error()));
      all = worse(all, unsupported);
    } else {
      all = worse(all, code.value());
    }
  }
  page.code = all;
  GRAPHGATE_TRY_VOID(write_report(page, {{kHtmlForm, verb.html}}));
  return all;
}

Result<ExitCode> run_plan(const PlanVerb& verb) {
  if (!verb.verify_files.empty()) {
    if (!verb.programs.files.empty() || !verb.pack.csv.empty()) {
      return bad_input("--verify goes without programs and --csv; --program names the program");
    }
    GRAPHGATE_TRY_VOID(check_flags(verb));
    return verify_all(verb);
  }
  if (verb.pack.csv.empty() && verb.pack.capacity_bytes) {
    return bad_input("--capacity goes with --csv or --verify");
  }
  GRAPHGATE_TRY_VOID(check_flags(verb));
  if (!verb.pack.csv.empty()) {
    if (!verb.programs.files.empty()) return bad_input("--csv goes without programs");
    PackCsvOptions options = verb.pack;
    options.seed = verb.seed;
    if (!verb.pack_time.empty()) {
      const auto seconds = parse_duration(verb.pack_time);
      if (!seconds.ok()) return seconds.error().at("--time");
      options.seconds = seconds.value();
    }
    return run_pack_csv(options);
  }
  if (verb.programs.files.empty()) return bad_input("expected a program, or --csv FILE");
  const bool one_file = verb.programs.files.size() == 1;
  if (!one_file && !(verb.json.empty() && verb.places.empty() && verb.programs.data.empty() &&
                     verb.diff.empty())) {
    return bad_input("--json, --places, --diff and --data go with exactly one program");
  }
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.programs.custom_ops));
  GRAPHGATE_TRY(optimized::Options options, open_options(verb.planner, ops));
  PlanLog log(verb.verbose);
  if (verb.verbose || !verb.places.empty()) options.compile.log = &log;
  ExitCode code = ExitCode::kGood;
  Report page = one_section("graphgate plan");
  TraceEvents trace;
  const bool is_stdout_taken =
      verb.json == "-" || verb.html == "-" || verb.trace == "-" || verb.places == "-";
  for (const std::string& file : verb.programs.files) {
    if (verb.quality) {
      const auto shown = in_file(show_quality(file, verb, options, ops), file);
      if (shown.ok()) continue;
      GRAPHGATE_TRY(code, after_unsupported(shown.error()));
      continue;
    }
    const auto made = in_file(plan_of(file, verb, options), file);
    if (!made.ok()) {
      GRAPHGATE_TRY(code, after_unsupported(made.error()));
      continue;
    }
    const spec::Plan& plan = made.value();
    if (!verb.trace.empty()) trace.add_plan(file, plan);
    if (!verb.places.empty()) {
      GRAPHGATE_TRY_VOID(write_text(log.places(), verb.places));
    }
    if (!verb.json.empty()) {
      GRAPHGATE_TRY(const std::string json, interop::print_plan_json(plan));
      GRAPHGATE_TRY_VOID(write_text(json, verb.json));
    }
    std::optional<spec::Plan> before;
    if (!verb.diff.empty()) {
      GRAPHGATE_TRY(before, read_plan(verb.diff, ops));
    }
    if (!verb.html.empty()) {
      add_to_page(page, file, plan, before ? &*before : nullptr, verb, ops);
    }
    if (before) {
      const std::vector<std::string> changes = spec::diff_plans(*before, plan);
      add_changes(page, changes);
      if (!changes.empty()) code = ExitCode::kFindings;
      if (is_stdout_taken) continue;
      for (const std::string& change : changes) print_line(stdout, change);
    } else if (!is_stdout_taken) {
      GRAPHGATE_TRY_VOID(write_text(page_of(plan, verb, ops), "-"));
    }
  }
  page.code = code;
  GRAPHGATE_TRY_VOID(write_report(page, {{kHtmlForm, verb.html}}));
  if (!verb.trace.empty()) GRAPHGATE_TRY_VOID(write_text(trace.print(), verb.trace));
  return code;
}

}  // namespace

Verb add_plan(CLI::App& app) {
  const auto owned = std::make_shared<PlanVerb>();
  PlanVerb& verb = *owned;
  CLI::App* plan = app.add_subcommand(
      "plan", "print partitions, signatures and memory of the optimized executor's plan");
  verb.app = plan;
  add_program_options(*plan, verb.programs);
  plan->get_option("files")->required(false);
  plan->add_option("--call", verb.call, "plan for the sizes of this call, from 0")
      ->check(CLI::Range(0, 1'000'000));
  plan->add_option("--seed", verb.seed, "seed of the inputs where there is no recording");
  add_planner_flags(*plan, verb.planner);
  add_csv_options(*plan, verb.pack, verb.pack_time);
  plan->add_flag("-v,--verbose", verb.verbose, "print the time of each stage to stderr");
  auto* text = plan->add_flag("--text", verb.text, "print the plan's canonical text");
  plan->add_flag("--dot", verb.dot, "print a Graphviz graph")->excludes(text);
  plan->add_flag("--quality", verb.quality,
                 "print what the plan of each recorded call costs, one line each (what "
                 "golden/quality.txt holds)")
      ->excludes(text);
  plan->add_option("--json", verb.json, "write the plan as JSON to this file (- for stdout)")
      ->type_name(takes::kOutput);
  add_html_flag(*plan, verb.html);
  add_trace_flag(*plan, verb.trace, "the plan: partitions, streams and memory");
  plan->add_option("--places", verb.places,
                   "write a line of JSON for each buffer of the plan to this file (- for stdout): "
                   "whether it was allocated, or whose bytes it took over")
      ->type_name(takes::kOutput);
  auto* verify = plan->add_option("--verify", verb.verify_files,
                                  "verify these plans (text, JSON, CSV tables with offsets, or "
                                  "XLA's *-buffer-assignment.txt) instead of making one")
                     ->type_name(takes::kFile);
  plan->add_option("--format", verb.verify_form, "of --verify's plans; auto: their content says")
      ->check(CLI::IsMember(std::vector<std::string>(kPlanForms.begin(), kPlanForms.end())))
      ->needs(verify);
  plan->add_option("--program", verb.verify.program, "the program that --verify's plan is for")
      ->type_name(takes::kFile)
      ->needs(verify);
  plan->add_option("--diff", verb.diff,
                   "compare with this stored plan (text, or .json) and print what changed")
      ->type_name(takes::kFile);
  plan->footer(
      "Examples:\n  graphgate plan golden/models/mutations.pt2\n"
      "  graphgate plan golden/models/mutations.pt2 --text > mutations.plan\n"
      "  graphgate plan golden/models/mutations.pt2 --no-reuse --diff mutations.plan\n"
      "  graphgate plan --verify mutations.plan --program golden/models/mutations.pt2\n"
      "  graphgate plan --verify dump/*-buffer-assignment.txt --format xla\n"
      "  graphgate plan --csv golden/memplan/C.1048576.csv --capacity 1048576\n\n"
      "Exit code: 0 good, 1 the plan differs from that of --diff, --verify "
      "has findings or no packing meets the capacity, 2 none was found in time that meets it, "
      "3 infrastructure, 4 bad input.");
  return {plan, [owned](const auto& /*words*/) { return run_plan(*owned); }};
}

}  // namespace graphgate::tools
