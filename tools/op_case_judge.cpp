#include "tools/op_case_judge.h"

#include <algorithm>

#include "conformance/harness/judge_call.h"
#include "interop/op_cases.h"
#include "reference/reference.h"

namespace graphgate::tools {
namespace {

using conformance::CallReport;
using conformance::ExpectedCall;

ExpectedCall expectation(const interop::OpCase& op_case) {
  ExpectedCall expected;
  expected.inputs = op_case.inputs;
  expected.outputs = op_case.expected;
  for (const spec::OutputValue& output : op_case.expected) {
    const auto* tensor = std::get_if<spec::HostTensor>(&output);
    expected.geometries.push_back(tensor ? std::optional(conformance::geometry_of(*tensor))
                                         : std::nullopt);
  }
  for (const auto& [index, tensor] : op_case.mutated) expected.final_inputs.emplace(index, tensor);
  return expected;
}

Result<spec::CallResult> run_once(reference::Mode mode, const interop::OpCase& op_case,
                                  const spec::OpTable& ops) {
  reference::Options options;
  options.mode = mode;
  options.ops = &ops;
  const auto executor = reference::make_executor(options);
  GRAPHGATE_TRY(const auto program, executor->load(op_case.program));
  return program->call(op_case.inputs);
}

Result<CallReport> judge(const interop::OpCase& op_case, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const auto actual, run_once(reference::Mode::kEager, op_case, ops));
  GRAPHGATE_TRY(const auto oracle, run_once(reference::Mode::kWorstCase, op_case, ops));
  conformance::JudgeOptions options;
  options.multiple = 1;
  options.lists_changed_inputs = false;  // only those that the schema declares
  return conformance::judge_call("reference", actual, oracle, expectation(op_case), options);
}

// The first thing wrong with a case, or "".
std::string verdict(const Result<CallReport>& report) {
  if (!report.ok()) return report.error().message;
  if (report.value().differences.empty()) return "";
  const conformance::Difference& first = report.value().differences.front();
  return first.subject + ": " + first.where + ": " + first.message;
}

void count(const interop::OpCase& op_case, const Result<CallReport>& report,
           std::size_t failures_kept, OpTally& tally) {
  if (!report.ok() && report.error().kind == ErrorKind::kUnsupported) {
    ++tally.skipped;
    return;
  }
  const std::string message = verdict(report);
  if (message.empty()) {
    ++tally.passed;
    const auto& ratios = report.value().recording_ratios;
    tally.ratios.insert(tally.ratios.end(), ratios.begin(), ratios.end());
    return;
  }
  ++tally.failed;
  if (tally.failures.size() < failures_kept) {
    tally.failures.push_back(op_case.program.name + ": " + message);
  }
}

}  // namespace

Result<OpCasesReport> judge_op_cases(const std::string& file, const std::string& pattern,
                                     std::size_t failures_kept, const spec::OpTable& ops) {
  OpCasesReport report;
  const auto visit = [&](const interop::OpCase& op_case) {
    if (op_case.op.find(pattern) == std::string::npos) return true;
    OpTally& tally = report.by_op[op_case.op];
    tally.family = reference::family_of(*ops.find(op_case.op));
    count(op_case, judge(op_case, ops), failures_kept, tally);
    return true;
  };
  GRAPHGATE_TRY_VOID(interop::read_op_cases(file, ops, visit));
  return report;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace graphgate::tools
