// graphgate run: one program through one executor, results shown and saved.
#include <cstdio>
#include <memory>
#include <span>

#include "base/atomic_file.h"
#include "base/formatted.h"
#include "conformance/compare/element.h"
#include "conformance/run/seeded_inputs.h"
#include "interop/safetensors.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"
#include "tools/executors/optimized_options.h"
#include "tools/executors/subject.h"
#include "tools/report/forms.h"
#include "tools/report/trace_events.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct RunVerb {
  const CLI::App* app = nullptr;
  ProgramOptions programs;
  std::string mode = "eager";
  std::uint64_t seed = 1;
  int calls = 1;  // seeded calls, where there is no data
  std::string executor = "reference";
  spec::Configuration options;  // of the optimized executor
  std::string save;             // a .safetensors for outputs, final inputs and states
  std::string trace;
};

// What is written down of the times of all files.
struct RunTrace {
  TraceClock clock;
  std::vector<TraceSpan> spans;
  TraceEvents events;

  void add(const std::string& track, const std::string& name, double begin) {
    spans.push_back({track, name, begin, clock.seconds() - begin});
  }
};

using spec::HostTensor;

std::string describe(const HostTensor& tensor) {
  std::string text(spec::short_name(tensor.dtype));
  text += '[';
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(tensor.sizes[d]);
  }
  text += "] =";
  constexpr std::size_t kShown = 6;
  const std::vector<long double> numbers = conformance::decode_elements(tensor);
  const std::size_t parts = conformance::parts_of(tensor.dtype);
  const std::size_t count = numbers.size() / parts;
  for (std::size_t i = 0; i < count && i < kShown; ++i) {
    const std::span<const long double> element(&numbers[i * parts], parts);
    const bool is_real = spec::is_floating_point(tensor.dtype);
    text += ' ';
    if (parts == 2) {
      text += formatted("complex(%.6Lg, %.6Lg)", element[0], element[1]);
    } else {
      text += is_real ? formatted("%.6Lg", element[0])
                      : conformance::shown_element(element, tensor.dtype);
    }
  }
  return count > kShown ? text + " ..." : text;
}

// Prints one named result; tensors are also put into `saved`.
template <class Value>
void show(const std::string& name, const Value& value, interop::NamedTensors& saved) {
  std::string text = "None";
  if (const auto* tensor = std::get_if<HostTensor>(&value)) {
    text = describe(*tensor);
    saved.insert_or_assign(name, *tensor);
  } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
    text = std::to_string(*i);
  } else if (const auto* x = std::get_if<double>(&value)) {
    text = std::to_string(*x);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    text = *flag ? "True" : "False";
  }
  print_line(stdout, formatted("  %s %s", name.c_str(), text.c_str()));
}

void show_call(std::size_t index, const spec::CallResult& result, interop::NamedTensors& saved) {
  const std::string call = "call" + std::to_string(index);
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    show(call + ".output" + std::to_string(i), result.outputs[i], saved);
  }
  for (std::size_t i = 0; i < result.final_inputs.size(); ++i) {
    const auto* tensor = std::get_if<HostTensor>(&result.final_inputs[i]);
    if (tensor) saved.emplace(call + ".final_input" + std::to_string(i), *tensor);
  }
  for (std::size_t i = 0; i < result.final_states.size(); ++i) {
    saved.emplace(call + ".state." + result.state_targets[i], result.final_states[i]);
  }
}

// What compiling came to, of an executor that counts: those that are not 0.
void show_counts(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count != 0) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  }
  if (!counts.empty()) print_line(stdout, "  compiling: " + (text.empty() ? "nothing" : text));
}

Result<std::unique_ptr<spec::Executor>> executor_of(const RunVerb& verb, const spec::OpTable& ops) {
  SubjectSettings settings;
  settings.allow_zero_and_one = verb.options.contains(spec::option::kAllowZeroAndOne);
  GRAPHGATE_TRY(const auto subject, make_subject(verb.executor, settings));
  spec::Configuration options = taken_of(*subject, verb.options);
  if (verb.mode == "oracle") options[spec::option::kMode] = "sampled";
  return subject->make(options, ops);
}

Result<void> run_file(const std::string& path, const RunVerb& verb, const spec::OpTable& ops,
                      RunTrace& trace) {
  GRAPHGATE_TRY(const spec::Program program, read_program(path, ops));
  GRAPHGATE_TRY(const auto recorded, read_expected_calls(path, verb.programs.data));
  if (!recorded.empty()) {
    GRAPHGATE_TRY_VOID(refuse_beside_recording(*verb.app, path, {"seed", "calls"}));
  }
  GRAPHGATE_TRY(const auto executor, executor_of(verb, ops));
  double begin = trace.clock.seconds();
  GRAPHGATE_TRY(auto loaded, executor->load(program));
  trace.add(path, "load", begin);
  const std::size_t calls =
      recorded.empty() ? static_cast<std::size_t>(verb.calls) : recorded.size();
  interop::NamedTensors saved;
  print_line(stdout, formatted("%s: %zu nodes, %zu %s", path.c_str(), program.graph.nodes.size(),
                               calls, recorded.empty() ? "seeded calls" : "recorded calls"));
  std::shared_ptr<const spec::Plan> followed;
  for (std::size_t i = 0; i < calls; ++i) {
    std::vector<spec::InputValue> inputs;
    if (recorded.empty()) {
      GRAPHGATE_TRY(inputs, conformance::seeded_inputs(program, verb.seed, static_cast<int>(i)));
    } else {
      inputs = recorded[i].inputs;
    }
    begin = trace.clock.seconds();
    GRAPHGATE_TRY(const spec::CallResult result, loaded->call(inputs));
    trace.add(path, "call " + std::to_string(i), begin);
    const auto plan = loaded->plan();
    const bool is_new = plan && plan != followed;
    if (is_new) trace.spans.back().args["plan"] = "made in this call, or another one than before";
    if (is_new && !verb.trace.empty() && spec::check_plan(*plan).ok()) {
      trace.events.add_plan(path + ", call " + std::to_string(i), *plan);
    }
    followed = plan;
    show_call(i, result, saved);
  }
  show_counts(loaded->counts());
  loaded.reset();
  GRAPHGATE_TRY_VOID(executor->close());
  return verb.save.empty() ? Result<void>() : interop::write_safetensors(verb.save, saved);
}

Result<ExitCode> run_run(const RunVerb& verb) {
  if (verb.programs.files.size() != 1 && !(verb.programs.data.empty() && verb.save.empty())) {
    return bad_input("--data and --save go with exactly one program");
  }
  GRAPHGATE_TRY_VOID(check_device(verb.options));
  if (verb.executor == "reference" && !is_on_host(verb.options)) {
    return bad_input("--device " + device_of(verb.options) + " goes with --executor optimized");
  }
  for (const auto& [name, value] : verb.options) {
    const spec::OptionGroup group = spec::find_option(name)->group;
    const bool is_of_planner =
        group == spec::OptionGroup::kRuntime || group == spec::OptionGroup::kCache;
    if (verb.executor == "reference" && is_of_planner) {
      return bad_input("--" + name + " goes with --executor optimized");
    }
  }
  GRAPHGATE_TRY_VOID(check_options(verb.options));
  if (verb.executor == "optimized" && verb.mode != "eager") {
    return bad_input("--mode " + verb.mode + " goes with --executor reference");
  }
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.programs.custom_ops));
  ExitCode code = ExitCode::kGood;
  RunTrace trace;
  for (const std::string& path : verb.programs.files) {
    const auto done = run_file(path, verb, ops, trace);
    if (done.ok()) continue;
    const bool about_results = done.error().message.starts_with(verb.save + ": ");
    const Error error = about_results ? done.error() : in_file(done.error(), path);
    GRAPHGATE_TRY(code, after_unsupported(error));
  }
  if (verb.trace.empty()) return code;
  trace.events.add_spans("runs", trace.spans);
  GRAPHGATE_TRY_VOID(write_text(trace.events.print(), verb.trace));
  return code;
}

}  // namespace

Verb add_run(CLI::App& app) {
  const auto owned = std::make_shared<RunVerb>();
  RunVerb& verb = *owned;
  CLI::App* run = app.add_subcommand("run", "run programs and show the results");
  verb.app = run;
  add_program_options(*run, verb.programs);
  run->add_option("--mode", verb.mode, "eager rounds as PyTorch does; oracle keeps wide values")
      ->check(CLI::IsMember({"eager", "oracle"}));
  run->add_option("--executor", verb.executor, "who runs them")
      ->check(CLI::IsMember(built_in_names()));
  add_device_flags(*run, verb.options);
  add_wrapper_flags(*run, verb.options);
  run->add_option("--seed", verb.seed, "seed of the inputs where there is no recording");
  run->add_option("--calls", verb.calls, "how many calls where there is no recording")
      ->check(CLI::Range(1, 1'000'000));
  add_option_flag(*run, *spec::find_option(spec::option::kAllowZeroAndOne), verb.options);
  run->add_option("--save", verb.save,
                  "write outputs, final inputs and states to this .safetensors")
      ->type_name(takes::kOutput);
  add_trace_flag(*run, verb.trace, "the times of loads and calls, and plans,");
  run->footer(
      "Example:\n  graphgate run golden/models/cond_nonzero.pt2 --save results.safetensors");
  return {run, [owned](const auto& /*words*/) { return run_run(*owned); }};
}

}  // namespace graphgate::tools
