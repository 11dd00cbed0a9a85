#include "tools/gate/look.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <new>
#include <set>
#include <stdexcept>

#include "base/file_io.h"
#include "conformance/run/runs.h"
#include "fuzz/campaign/case_runs.h"
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

// A case, or a program as one, with what signatures are made of.
struct ReadInput {
  conformance::Script script;
  spec::CaseFile the_case;
};

Result<ReadInput> read_input(const GateInput& input, const LookOptions& options) {
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
  read.script.options = conformance::merged(read.script.options, options.program_options);
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
                             const LookOptions& options) {
  GRAPHGATE_TRY(ReadInput read, read_input(input, options));
  const Subject& subject = *executor.subject;
  const Configuration asked = subject.is_process()
                                  ? read.script.options
                                  : options_under(read.script.options, executor.flags);
  reference::VersionLog log;
  const auto oracle = reference_source(asked.contains(option::kAllowZeroAndOne), &log);
  GRAPHGATE_TRY_VOID(subject.start());
  const double asked_before = subject.times().asked;
  suit(read.script, subject, asked);
  Runs runs(read.script, subject, *oracle);
  conformance::JudgeSettings settings;
  settings.seed = options.seed;
  settings.localize = false;
  const auto judged = conformance::judge_script(runs, options.judges, settings);
  GateCase out;
  out.torch = runs.promises().torch;
  out.version_facts = log.met();
  if (!judged.ok()) {
    // What one release takes and another refuses is no bad input.
    const bool is_bad = judged.error().kind == ErrorKind::kBadInput;
    if (!is_bad || out.version_facts.empty()) return judged.error();
    out.outcome = Outcome::kUnsupported;
    out.reason = "PyTorch " + spec::print_torch_release(out.torch) +
                 " refuses it: " + judged.error().message;
    return out;
  }
  const conformance::CaseReport& report = judged.value();
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
  if (subject.is_process()) out.answer_seconds = {subject.times().asked - asked_before};
  return out;
}

// What is too large for the machine is no end of this process, where another is the side.
Result<GateCase> judge_safely(const GateInput& input, const SideExecutor& executor,
                              const LookOptions& options) {
  if (!executor.subject->is_process()) return judge_input(input, executor, options);
  try {
    return judge_input(input, executor, options);
  } catch (const std::bad_alloc&) {
    return infrastructure(input.name + ": out of memory");
  } catch (const std::length_error&) {
    return infrastructure(input.name + ": out of memory");
  }
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
  if (!is_late && child.signal == SIGKILL) {
    out.outcome = Outcome::kInfra;
    out.reason = child.describe() + ", which is not its doing: the machine may lack memory";
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

std::set<std::string> signatures_in(const GateCase& one) {
  std::set<std::string> out;
  for (const GateFinding& finding : one.findings) out.insert(finding.signature);
  return out;
}

}  // namespace

std::string look_text(const Result<GateCase>& looked) {
  return looked.ok() ? child_text(json_of(looked.value(), Times::kToo))
                     : child_text(looked.error());
}

Result<GateCase> look_at(const GateInput& input, const SideExecutor& executor,
                         const LookOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Result<GateCase> judged = judge_safely(input, executor, options);
  if (judged.ok()) {
    const auto spent = std::chrono::steady_clock::now() - begin;
    judged.value().seconds = std::chrono::duration<double>(spent).count();
  }
  if (!judged.ok() || !judged.value().findings.empty()) executor.subject->rest();
  return judged;
}

Result<GateCase> look_of(const GateInput& input, const SideExecutor& executor,
                         const ChildResult& child) {
  const auto timed = [&](GateCase one) {
    one.seconds = child.seconds;
    return one;
  };
  if (child.ending != ChildEnding::kExited) return timed(of_ending(child, executor));
  const auto json = nlohmann::json::parse(child.output, nullptr, false);
  if (json.is_discarded()) return timed(of_ending(child, executor));
  const std::optional<Error> error = child_error(json);
  if (!error) return read_gate_case(interop::JsonCursor(json, input.path));
  GateCase out;
  if (error->kind == ErrorKind::kBadInput) {
    out.outcome = Outcome::kInfra;
    out.is_bad_input = true;
    out.reason = in_file(*error, input.path).message;
    return timed(std::move(out));
  }
  out.outcome = error->kind == ErrorKind::kUnsupported ? Outcome::kUnsupported : Outcome::kInfra;
  out.reason = error->message;
  return timed(std::move(out));
}

void merge_look(const GateCase& again, GateCase& one) {
  const auto says_nothing = [](const GateCase& look) {
    return did_not_answer(look) || look.outcome == Outcome::kInfra;
  };
  const double seconds = one.seconds + again.seconds;
  if (says_nothing(one) && !says_nothing(again)) {
    one = again;
  } else if (!says_nothing(again)) {
    one.answer_seconds.insert(one.answer_seconds.end(), again.answer_seconds.begin(),
                              again.answer_seconds.end());
    if (signatures_in(again) != signatures_in(one)) {
      one.is_flaky = true;
      for (const GateFinding& finding : again.findings) {
        if (!signatures_in(one).contains(finding.signature)) one.findings.push_back(finding);
      }
    }
  }
  one.seconds = seconds;
}

}  // namespace graphgate::tools
