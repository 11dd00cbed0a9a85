#include "tools/golden/record_program.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "conformance/run/runs.h"
#include "conformance/run/static_inputs.h"
#include "spec/effects.h"
#include "spec/option.h"
#include "spec/plan_text.h"
#include "spec/type_text.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/executor_sources.h"
#include "tools/golden/golden_values.h"
#include "tools/golden/kernel_collector.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using conformance::CallRecord;
using conformance::CaseReport;
using conformance::Runs;
using conformance::Script;
using conformance::Trace;
using spec::HostTensor;

struct Read {
  Script script;
  std::string sources;
  bool is_archive = false;
};

// A case by its own text without comments, so that words about it may change.
Result<Read> read_case_of(const std::string& path) {
  Read read;
  GRAPHGATE_TRY(const std::string text, read_text(path));
  GRAPHGATE_TRY(spec::CaseFile the_case, parse_checked_case(text, path));
  GRAPHGATE_TRY(read.script, read_case(text, path));
  the_case.header.clear();
  GRAPHGATE_TRY(const std::string canonical, spec::print_case(the_case));
  read.sources = digest_of(canonical);
  return read;
}

// An archive by its bytes, and by what its recorded calls pass.
Result<Read> read_archive(const std::string& path) {
  Read read;
  read.is_archive = true;
  auto ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  GRAPHGATE_TRY(std::string sources, read_text(path));
  GRAPHGATE_TRY(spec::Program program, read_program(path, *ops));
  GRAPHGATE_TRY(const auto calls, read_expected_calls(path, ""));
  if (calls.empty()) return bad_input(path + ": has no recorded calls beside it");
  for (const conformance::ExpectedCall& call : calls) {
    for (const spec::InputValue& input : call.inputs) {
      const GoldenValue value = golden_value("", input);
      sources += value.type + value.digest;
      if (value.digest.empty()) sources += value.elements.front();
    }
  }
  GRAPHGATE_TRY(read.script,
                conformance::script_of(std::make_shared<const spec::Program>(std::move(program)),
                                       calls, 0, 0, std::move(ops)));
  read.sources = digest_of(sources);
  return read;
}

Result<Read> read_source(const std::string& path) {
  const bool is_archive = std::filesystem::path(path).extension() == ".pt2";
  return in_file(is_archive ? read_archive(path) : read_case_of(path), path);
}

bool same_bytes(const HostTensor& a, const HostTensor& b) {
  return spec::type_of(a) == spec::type_of(b) && spec::packed_bytes(a) == spec::packed_bytes(b);
}

bool same_input(const spec::InputValue& a, const spec::InputValue& b) {
  const auto* x = std::get_if<HostTensor>(&a);
  const auto* y = std::get_if<HostTensor>(&b);
  return x && y ? same_bytes(*x, *y) : !x && !y;  // a number is never written
}

// Contents of states as the last call left them, by program and target.
using States = std::map<std::pair<std::size_t, std::string>, HostTensor>;

States states_of(const Script& script) {
  States states;
  for (std::size_t p = 0; p < script.programs.size(); ++p) {
    for (const auto& [target, tensor] : script.programs[p]->tensors) {
      states.emplace(std::pair(p, target), tensor);
    }
  }
  return states;
}

// Lists what a call returned and changed. Storages are called by the first that has them: inputs,
// states, outputs.
class CallValues {
 public:
  CallValues(const CallRecord& call, States& states) : result_(call.result) {
    for (std::size_t i = 0; i < result_.final_inputs.size(); ++i) {
      const spec::InputValue& value = result_.final_inputs[i];
      add("input " + std::to_string(i), value,
          i >= call.inputs.size() || !same_input(call.inputs[i], value));
    }
    for (std::size_t i = 0; i < result_.final_states.size(); ++i) {
      const std::string& target = result_.state_targets[i];
      const HostTensor& tensor = result_.final_states[i];
      const auto before = states.find({call.program, target});
      const bool is_changed = before == states.end() || !same_bytes(before->second, tensor);
      add("state " + spec::quote_string(target), tensor, is_changed);
      if (is_changed) states.insert_or_assign({call.program, target}, tensor);
    }
    for (std::size_t i = 0; i < result_.outputs.size(); ++i) {
      add("output " + std::to_string(i), result_.outputs[i], true);
    }
  }
  [[nodiscard]] std::vector<GoldenValue> take() { return std::move(values_); }

 private:
  const HostTensor* tensor_in(const HostTensor& tensor) { return &tensor; }
  template <class Value>
  const HostTensor* tensor_in(const Value& value) {
    return std::get_if<HostTensor>(&value);
  }
  template <class Value>
  void add(const std::string& place, const Value& value, bool is_listed) {
    std::string shares;
    if (const HostTensor* tensor = tensor_in(value)) {
      const auto [known, is_new] = owners_.emplace(tensor->storage.get(), place);
      if (!is_new) shares = known->second;
    }
    if (!is_listed) return;
    values_.push_back(golden_value(place, value));
    values_.back().shares = std::move(shares);
  }

  const spec::CallResult& result_;
  std::map<const spec::HostStorage*, std::string> owners_;
  std::vector<GoldenValue> values_;
};

// The place of a plan among those that the record has; equal texts are one plan.
std::size_t place_of(const spec::Plan& plan, const spec::OpTable& ops, GoldenRecord& record) {
  GoldenPlan golden;
  golden.text = spec::print_plan(spec::number_plan(plan), ops);
  golden.digest = digest_of(golden.text);
  golden.figures = conformance::quality_of(plan);
  const auto known = std::find(record.plans.begin(), record.plans.end(), golden);
  const auto place = static_cast<std::size_t>(known - record.plans.begin());
  if (place == record.plans.size()) record.plans.push_back(std::move(golden));
  return place;
}

void record_calls(const Trace& trace, const Script& script, GoldenRecord& record) {
  States states = states_of(script);
  for (const CallRecord& call : trace.calls) {
    GoldenCall& golden = record.calls.emplace_back();
    golden.program = script.programs[call.program]->name;
    golden.values = CallValues(call, states).take();
    if (!call.plan || !spec::check_plan(*call.plan).ok()) continue;
    golden.plan = place_of(*call.plan, *script.ops, record);
    record.provenance.arithmetic = call.plan->arithmetic;
  }
  if (trace.error) {
    record.end = "step " + std::to_string(trace.error_step) + ": " + trace.error->message;
  }
}

void add_effects(const spec::Graph& graph, const spec::OpTable& ops, std::set<std::string>& out) {
  for (const spec::Node& node : graph.nodes) {
    const spec::OpRow* row = ops.find(node.op);
    if (!row) continue;
    const bool aliases = std::any_of(row->effects.returns.begin(), row->effects.returns.end(),
                                     [](const auto& each) { return !each.aliases.empty(); });
    if (aliases || row->effects.mutates()) {
      out.insert(spec::print_effects(row->schema, row->effects));
    }
  }
  for (const spec::Graph& inner : graph.subgraphs) add_effects(inner, ops, out);
}

// What the rules of plans find, as the judges of plans alone run them.
Result<void> record_findings(Runs& runs, GoldenRecord& record) {
  GRAPHGATE_TRY(const conformance::JudgeSet judges,
                conformance::parse_judges("verifier,happens-before,quality"));
  conformance::JudgeSettings settings;
  settings.localize = false;
  GRAPHGATE_TRY(const CaseReport report, conformance::judge_script(runs, judges, settings));
  const auto add = [&](const std::vector<spec::Finding>& findings) {
    for (const spec::Finding& finding : findings) {
      record.findings.push_back(finding.rule + " " +
                                std::string(spec::outcome_name(finding.outcome)) + " " +
                                finding.message);
    }
  };
  add(report.findings);
  for (const conformance::JudgeReport& judge : report.judges) add(judge.findings);
  return {};
}

// Of a run that the machine let down (no memory, no room) nothing is recorded.
Result<void> refuse_without_machine(const Trace& trace) {
  for (const auto* error : {&trace.error, &trace.closing_error}) {
    if (*error && (*error)->kind == ErrorKind::kInfrastructure) return **error;
  }
  return {};
}

// What a GPU would run. An executor that does not go before a device has no kernels.
Result<void> record_kernels(const Script& script, const conformance::ExecutorSource& oracle,
                            RecordedProgram& recorded) {
  const auto device = std::make_shared<KernelCollector>();
  const CollectingSource source(device);
  Runs runs(script, source, oracle);
  GRAPHGATE_TRY(const Trace* trace, runs.subject());
  GRAPHGATE_TRY_VOID(refuse_without_machine(*trace));
  for (const auto& [name, count] : device->launches()) {
    recorded.record.kernels.push_back(name + " " + std::to_string(count));
  }
  for (const std::string& text : device->sources()) recorded.kernels += text;
  return {};
}

// "" where all pass, or fail as the case expects.
Result<std::string> objection_to(Runs& runs) {
  conformance::JudgeSettings settings;
  settings.localize = false;
  GRAPHGATE_TRY(const CaseReport report,
                conformance::judge_script(runs, conformance::JudgeSet::all(), settings));
  if (report.outcome == spec::Outcome::kPass || report.outcome == spec::Outcome::kXFail) {
    return std::string();
  }
  std::string who = "the run";
  for (const conformance::JudgeReport& judge : report.judges) {
    if (judge.outcome != report.outcome) continue;
    who = "judge " + std::string(conformance::judge_name(judge.judge));
    break;
  }
  return who + ": " + std::string(spec::outcome_name(report.outcome)) + ": " + report.reason;
}

}  // namespace

Result<RecordedProgram> record_program(const std::string& folder, const GoldenProgram& program,
                                       const RecordOptions& options) {
  RecordedProgram recorded;
  GRAPHGATE_TRY(Read read, read_source(folder + "/" + program.path));
  Script& script = read.script;
  script.options = options_under(script.options, options.flags);
  if (read.is_archive) {
    GRAPHGATE_TRY_VOID(conformance::keep_promised_static(script, script.options));
  }
  recorded.name = script.name;
  recorded.ops = script.ops;
  GoldenRecord& record = recorded.record;
  record.provenance.program = program.path;
  record.provenance.arithmetic = "strict";
  record.provenance.sources = read.sources;
  record.provenance.generator = std::string("graphgate ") + GRAPHGATE_VERSION;

  const auto subject = optimized_source();
  const auto oracle = reference_source(script.options.contains(option::kAllowZeroAndOne));
  Runs runs(script, *subject, *oracle);
  GRAPHGATE_TRY(const Trace* trace, runs.subject());
  GRAPHGATE_TRY_VOID(refuse_without_machine(*trace));
  record_calls(*trace, script, record);
  GRAPHGATE_TRY_VOID(record_findings(runs, record));
  GRAPHGATE_TRY_VOID(record_kernels(script, *oracle, recorded));
  std::set<std::string> effects;
  for (const auto& each : script.programs) add_effects(each->graph, *script.ops, effects);
  record.effects.assign(effects.begin(), effects.end());
  if (program.is_brief) {
    for (GoldenPlan& plan : record.plans) plan.text.clear();
  }
  if (options.with_judges) {
    GRAPHGATE_TRY(recorded.objection, objection_to(runs));
  }
  return recorded;
}

}  // namespace graphgate::tools
