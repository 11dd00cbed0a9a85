#include "tools/gate/run_side.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include "base/child_processes.h"
#include "base/file_io.h"
#include "conformance/judges/judge_report.h"
#include "conformance/run/runs.h"
#include "fuzz/campaign/case_runs.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/signature.h"
#include "spec/option.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/executor_sources.h"
#include "tools/report/json.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
namespace option = spec::option;
using conformance::Configuration;
using conformance::Runs;
using spec::Outcome;

// A process of PyTorch's takes seconds to start, and as long to compile a case.
constexpr std::size_t kCasesOfProcess = 8;

// Whether a right executor passes the case as it is.
bool tells_of_a_side(const spec::CaseFile& the_case) {
  if (the_case.expectation.outcome != Outcome::kPass) return false;
  const auto& asked = the_case.options;
  return !asked.contains(option::kDeviation) && !asked.contains(option::kPlanMutation) &&
         !asked.contains(option::kProfile);
}

// A case, or a program as one, with what signatures are made of.
struct ReadInput {
  conformance::Script script;
  spec::CaseFile the_case;
};

Result<ReadInput> read_input(const GateInput& input, const SideOptions& options) {
  ReadInput read;
  if (input.drawn) {
    read.the_case = *input.drawn;
    GRAPHGATE_TRY(read.script, conformance::script_of(read.the_case, fuzz::no_files()));
    return read;
  }
  if (fs::path(input.path).extension() == ".case") {
    GRAPHGATE_TRY(const std::string text, read_text(input.path));
    GRAPHGATE_TRY(read.the_case, parse_checked_case(text, input.path));
    GRAPHGATE_TRY(read.script, conformance::script_of(read.the_case, *files_beside(input.path)));
    return read;
  }
  CallSource from;
  from.seed = options.seed;
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table({}));
  GRAPHGATE_TRY(CheckInput found,
                read_check_input(input.path, from, std::make_shared<const spec::OpTable>(ops)));
  read.script = std::move(found.script);
  for (const auto& program : read.script.programs) read.the_case.programs.push_back(*program);
  return read;
}

void add_plans(const Runs& runs, GateCase& out) {
  const auto found = runs.subject_traces().find(Configuration{});
  if (found == runs.subject_traces().end()) return;
  for (const conformance::CallRecord& call : found->second->calls) {
    if (call.plan && spec::check_plan(*call.plan).ok()) {
      out.plans.push_back(conformance::quality_of(*call.plan));
    }
  }
}

Result<GateCase> judge_input(const GateInput& input, const SideExecutor& executor,
                             const SideOptions& options) {
  GRAPHGATE_TRY(ReadInput read, read_input(input, options));
  const Subject& subject = *executor.subject;
  const Configuration asked = subject.is_process()
                                  ? read.script.options
                                  : options_under(read.script.options, executor.flags);
  const auto oracle = reference_source(asked.contains(option::kAllowZeroAndOne));
  GRAPHGATE_TRY_VOID(subject.start());
  read.script.options = taken_of(subject, asked);
  Runs runs(read.script, subject, *oracle);
  conformance::JudgeSettings settings;
  settings.seed = options.seed;
  settings.localize = false;
  GRAPHGATE_TRY(const conformance::CaseReport report,
                conformance::judge_script(runs, options.judges, settings));
  GateCase out;
  out.outcome = report.outcome;
  out.reason = report.reason;
  out.not_compared = report.not_compared;
  for (fuzz::Signature& signature : fuzz::signatures_of(report, read.the_case)) {
    const spec::Finding* finding = fuzz::finding_of(report, signature.rule);
    signature.configuration.clear();
    out.findings.push_back(
        {fuzz::print_signature(signature), finding ? finding->message : report.reason});
  }
  add_plans(runs, out);
  return out;
}

// What is too large for the machine is no end of this process, where another is the side.
Result<GateCase> judge_safely(const GateInput& input, const SideExecutor& executor,
                              const SideOptions& options) {
  if (!executor.subject->is_process()) return judge_input(input, executor, options);
  try {
    return judge_input(input, executor, options);
  } catch (const std::bad_alloc&) {
    return infrastructure(input.name + ": out of memory");
  } catch (const std::length_error&) {
    return infrastructure(input.name + ": out of memory");
  }
}

std::string to_text(const Result<GateCase>& looked) {
  return looked.ok() ? child_text(json_of(looked.value())) : child_text(looked.error());
}

// A case has no limit of memory in a gate: it is the machine that has none.
GateCase of_ending(const ChildResult& child) {
  const bool is_late = child.ending == ChildEnding::kTimedOut;
  GateCase out;
  if (child.ending == ChildEnding::kNoMemory) {
    out.outcome = Outcome::kInfra;
    out.reason = "the process that judges it was " + child.describe();
    return out;
  }
  out.outcome = is_late ? Outcome::kTimeout : Outcome::kCrash;
  out.reason = child.describe();
  // One that ended by itself, and said nothing, has crashed as well.
  const fuzz::Signature signature = fuzz::ending_of(child, {}).value_or(
      fuzz::signature_of_ending("crash", fuzz::crash_rule(child.signal), {}));
  out.findings.push_back({fuzz::print_signature(signature), out.reason});
  return out;
}

// Where another process is the side, this one is not: only an answer too late is its doing.
GateCase of_ending(const ChildResult& child, const SideExecutor& executor) {
  if (!executor.subject->is_process() || child.ending == ChildEnding::kTimedOut) {
    return of_ending(child);
  }
  GateCase out;
  out.outcome = Outcome::kInfra;
  const std::string how = child.describe();
  out.reason = "the process of graphgate that judges it was " + (how.empty() ? "no use" : how);
  return out;
}

// What a child handed back. What the reference refuses, too, is bad input and ends the gate; what
// the machine or the harness could not do is the case's own outcome.
Result<GateCase> from_child(const GateInput& input, const SideExecutor& executor,
                            const ChildResult& child) {
  if (child.ending != ChildEnding::kExited) return of_ending(child, executor);
  const auto json = nlohmann::json::parse(child.output, nullptr, false);
  if (json.is_discarded()) return of_ending(child, executor);
  const std::optional<Error> error = child_error(json);
  if (!error) return read_gate_case(interop::JsonCursor(json, input.path));
  if (error->kind == ErrorKind::kBadInput) return in_file(*error, input.path);
  GateCase out;
  out.outcome = error->kind == ErrorKind::kUnsupported ? Outcome::kUnsupported : Outcome::kInfra;
  out.reason = error->message;
  return out;
}

// Those that ended, by their places in `inputs`. With a share, a process runs so many cases; one
// that shows something is the last that it runs. Nothing is ever started in this process.
Result<std::map<std::size_t, GateCase>> look(const std::vector<GateInput>& inputs,
                                             const SideExecutor& executor,
                                             const SideOptions& options, std::size_t share) {
  const auto judge = [&](std::size_t i) {
    const Result<GateCase> judged = judge_safely(inputs[i], executor, options);
    if (!judged.ok() || !judged.value().findings.empty()) executor.subject->rest();
    return to_text(judged);
  };
  GRAPHGATE_TRY(
      const std::vector<ChildResult> children,
      run_children(inputs.size(),
                   {options.jobs, options.timeout_seconds, 0, share, options.should_stop}, judge));
  std::map<std::size_t, GateCase> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (children[i].ending == ChildEnding::kStopped) continue;
    GRAPHGATE_TRY(GateCase one, from_child(inputs[i], executor, children[i]));
    out.emplace(i, std::move(one));
  }
  return out;
}

std::set<std::string> signatures_in(const GateCase& one) {
  std::set<std::string> out;
  for (const GateFinding& finding : one.findings) out.insert(finding.signature);
  return out;
}

// What another look adds: a case that shows something else is flaky, and has all that it ever
// showed.
void merge_look(const GateCase& again, GateCase& one) {
  if (signatures_in(again) == signatures_in(one)) return;
  one.is_flaky = true;
  for (const GateFinding& finding : again.findings) {
    if (!signatures_in(one).contains(finding.signature)) one.findings.push_back(finding);
  }
}

}  // namespace

Result<std::vector<GateInput>> find_gate_inputs(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> by_name;
  for (const std::string& folder : folders) {
    GRAPHGATE_TRY(const auto files, list_files(folder, "", Depth::kBelow));
    for (const std::string& file : files) {
      const fs::path path(file);
      if (path.extension() != ".case" && path.extension() != ".pt2") continue;
      if (path.extension() == ".case") {
        GRAPHGATE_TRY(const std::string text, read_text(path.string()));
        const auto the_case = parse_checked_case(text, path.string());
        // A case with an op that nobody knows is judged, and comes to UNSUPPORTED.
        const bool is_unknown = !the_case.ok() && the_case.error().kind == ErrorKind::kUnsupported;
        if (!the_case.ok() && !is_unknown) return the_case.error();
        if (the_case.ok() && !tells_of_a_side(the_case.value())) continue;
      }
      const std::string name = path.lexically_relative(folder).replace_extension().string();
      if (!by_name.emplace(name, path.string()).second) {
        return bad_input(path.string() + ": another file of the corpus is called '" + name +
                         "', too");
      }
    }
  }
  if (by_name.empty())
    return bad_input(conformance::join_names(folders, folders.size()) +
                     ": no case and no program is there");
  std::vector<GateInput> inputs;
  inputs.reserve(by_name.size());
  for (auto& [name, path] : by_name) inputs.push_back({name, std::move(path)});
  return inputs;
}

std::vector<GateInput> draw_gate_inputs(std::uint64_t seed, std::uint64_t begin,
                                        std::size_t count) {
  const fuzz::Alphabet alphabet;
  std::vector<GateInput> inputs;
  inputs.reserve(count);
  for (std::uint64_t index = begin; index < begin + count; ++index) {
    const std::string id = fuzz::print_case_id({fuzz::kGeneratorVersion, seed, {index, {}}});
    const auto genes = fuzz::genes_of(seed, index);
    inputs.push_back(
        {id, id, std::make_shared<const spec::CaseFile>(fuzz::draw_case(genes, alphabet))});
  }
  return inputs;
}

Result<GateSide> run_side(const std::string& name, const SideExecutor& executor,
                          const std::vector<GateInput>& inputs, const SideOptions& options) {
  const std::size_t share = executor.subject->is_process() ? kCasesOfProcess : 1;
  GRAPHGATE_TRY(auto cases, look(inputs, executor, options, share));
  std::vector<GateInput> failing;
  std::vector<std::size_t> places;
  for (const auto& [place, one] : cases) {
    if (one.findings.empty()) continue;
    failing.push_back(inputs[place]);
    places.push_back(place);
  }
  for (int rerun = 0; rerun < options.reruns && !failing.empty(); ++rerun) {
    GRAPHGATE_TRY(const auto again, look(failing, executor, options, 1));
    for (const auto& [i, one] : again) merge_look(one, cases.at(places[i]));
  }
  GateSide side;
  side.name = name;
  for (auto& [place, one] : cases) side.cases.emplace(inputs[place].name, std::move(one));
  return side;
}

}  // namespace graphgate::tools
