#include "fuzz/reduce/judge_case.h"

#include <algorithm>
#include <set>

#include "base/stage_clock.h"
#include "conformance/run/runs.h"
#include "fuzz/generate/features.h"
#include "spec/option.h"
#include "spec/provenance_words.h"

namespace graphgate::fuzz {
namespace {

using conformance::Runs;
using conformance::Script;

class NoFiles final : public conformance::CaseFiles {
 public:
  [[nodiscard]] Result<std::map<std::string, spec::HostTensor, std::less<>>> tensors(
      const std::string& file) const override {
    return bad_input(file + ": this case has no folder of files");
  }
};

const conformance::ExecutorSource& oracle_for(const CaseExecutors& executors,
                                              const conformance::Configuration& options) {
  return options.contains(spec::option::kAllowZeroAndOne) ? executors.wide_oracle
                                                          : executors.oracle;
}

Result<Script> checked_script(const spec::CaseFile& the_case, const CaseExecutors& executors) {
  const Stage stage("reading");
  GRAPHGATE_TRY_VOID(spec::check_case(the_case));
  return conformance::script_of(the_case, executors.files);
}

// "operand 1" and "written 1" are of one tensor.
std::optional<std::string_view> number_of(const spec::ProvenanceRow& row, std::string_view kind) {
  const std::string_view port = row.port;
  if (row.node.empty() || !port.starts_with(kind)) return std::nullopt;
  return port.substr(kind.size());
}

bool reads_unwritten(const std::vector<spec::ProvenanceRow>& rows) {
  std::set<std::pair<std::string_view, std::string_view>> written;  // node, number of the operand
  for (const spec::ProvenanceRow& row : rows) {
    if (const auto number = number_of(row, "written ")) written.emplace(row.node, *number);
  }
  return std::any_of(rows.begin(), rows.end(), [&](const spec::ProvenanceRow& row) {
    const auto number = number_of(row, "operand ");
    return number && !written.contains({row.node, *number}) &&
           std::find(row.words.begin(), row.words.end(), spec::kUnwrittenWord) != row.words.end();
  });
}

// Whether a node writes one value as two of its operands: [%b, %b] in place. Nothing promises what
// is in it then.
bool writes_twice(const spec::Graph& graph, const spec::OpTable& ops) {
  const auto does = [&](const spec::Node& node) {
    const spec::OpRow* row = ops.find(node.op);
    if (!row) return false;
    std::set<spec::ValueId> written;
    bool is_repeated = false;
    for (std::size_t a = 0; a < row->schema.arguments.size(); ++a) {
      if (!row->writes(a)) continue;
      for (const spec::NamedArgument& named : node.arguments) {
        if (named.name != row->schema.arguments[a].name) continue;
        spec::for_each_value(named.argument, [&](spec::ValueId id) {
          is_repeated = !written.insert(id).second || is_repeated;
        });
      }
    }
    return is_repeated;
  };
  return std::ranges::any_of(graph.nodes, does) ||
         std::ranges::any_of(graph.subgraphs, [&](const spec::Graph& subgraph) {
           return writes_twice(subgraph, ops);
         });
}

// Asks again where the machine failed: what it did not give it may give now, and no candidate is
// lost to that.
template <class Ask>
auto asked_twice(const Ask& ask) {
  auto answer = ask();
  if (answer.ok() || answer.error().kind != ErrorKind::kInfrastructure) return answer;
  return ask();
}

bool writes_twice(const spec::CaseFile& the_case, const CaseExecutors& executors) {
  const auto script = checked_script(the_case, executors);
  return script.ok() && std::ranges::any_of(the_case.programs, [&](const spec::Program& program) {
           return writes_twice(program.graph, *script.value().ops);
         });
}

}  // namespace

const conformance::CaseFiles& no_files() {
  static const NoFiles files;
  return files;
}

Result<conformance::CaseReport> judge_case(const spec::CaseFile& the_case,
                                           const CaseExecutors& executors,
                                           const JudgeChoice& choice, CaseShown* shown,
                                           std::optional<Score> target) {
  GRAPHGATE_TRY(const Script script, checked_script(the_case, executors));
  Runs runs(script, executors.subject, oracle_for(executors, script.options));
  auto report = conformance::judge_script(runs, choice.judges, choice.settings);
  if (!shown || !report.ok()) return report;
  const Stage stage("features");
  // The judges have run it already.
  const auto trace = runs.subject();
  if (!trace.ok()) return report;
  shown->features = features_of(the_case, *trace.value(), *script.ops);
  if (target) shown->score = score_of(*target, *trace.value(), report.value());
  return report;
}

Result<conformance::Trace> run_reference(const spec::CaseFile& the_case,
                                         const CaseExecutors& executors, std::string_view mode) {
  GRAPHGATE_TRY(const Script script, checked_script(the_case, executors));
  return asked_twice([&]() -> Result<conformance::Trace> {
    Runs runs(script, executors.subject, oracle_for(executors, script.options));
    GRAPHGATE_TRY(conformance::Trace trace, runs.oracle_on(script, mode));
    if (trace.error && trace.error->kind == ErrorKind::kInfrastructure) return *trace.error;
    return trace;
  });
}

Result<void> check_reference_takes(const spec::CaseFile& the_case, const CaseExecutors& executors) {
  GRAPHGATE_TRY(const conformance::Trace trace, run_reference(the_case, executors, "eager"));
  if (!trace.error || the_case.expectation.refusal) return {};
  return *trace.error;
}

bool reads_unwritten(const spec::CaseFile& the_case, const CaseExecutors& executors) {
  const auto trace = run_reference(the_case, executors, "provenance");
  if (!trace.ok()) return false;
  const auto& calls = trace.value().calls;
  return std::any_of(calls.begin(), calls.end(), [](const conformance::CallRecord& call) {
    return reads_unwritten(call.result.provenance);
  });
}

std::function<CheckResult(const spec::CaseFile&)> refusing_void(
    std::function<CheckResult(const spec::CaseFile&)> classify, const spec::CaseFile& original,
    const CaseExecutors& executors) {
  const bool may_read = reads_unwritten(original, executors);
  const bool may_write = writes_twice(original, executors);
  return [classify = std::move(classify), executors, may_read,
          may_write](const spec::CaseFile& candidate) {
    const CheckResult result = classify(candidate);
    if (result != CheckResult::kSame) return result;
    const bool is_void = (!may_write && writes_twice(candidate, executors)) ||
                         (!may_read && reads_unwritten(candidate, executors));
    return is_void ? CheckResult::kOther : result;
  };
}

CheckResult check_signature(const spec::CaseFile& the_case, const CaseExecutors& executors,
                            const Signature& signature,
                            const conformance::JudgeSettings& settings) {
  JudgeChoice choice;
  choice.judges = {};
  choice.settings = settings;
  choice.settings.localize = false;
  if (const auto judge = judge_of(signature)) choice.judges.add(*judge);
  const auto report = asked_twice([&] { return judge_case(the_case, executors, choice); });
  if (!report.ok()) return CheckResult::kOther;
  const std::vector<Signature> found = signatures_of(report.value(), the_case);
  const bool shows = std::any_of(found.begin(), found.end(),
                                 [&](const Signature& one) { return one.same_fault(signature); });
  const bool is_good = shows || report.value().outcome == spec::Outcome::kPass;
  if (!is_good || !check_reference_takes(the_case, executors).ok()) return CheckResult::kOther;
  return shows ? CheckResult::kSame : CheckResult::kPasses;
}

}  // namespace graphgate::fuzz
