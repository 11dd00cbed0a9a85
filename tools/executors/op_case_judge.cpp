#include "tools/executors/op_case_judge.h"

#include <algorithm>

#include "conformance/bounds/judge_call.h"
#include "interop/op_cases.h"
#include "reference/reference.h"
#include "tools/executors/subject.h"

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

Result<spec::CallResult> run_once(spec::Executor& executor, const interop::OpCase& op_case) {
  GRAPHGATE_TRY(const auto program, executor.load(op_case.program));
  return program->call(op_case.inputs);
}

// An op in place keeps the sizes of what it writes, unless it is there to change them. PyTorch's
// addbmm_ does not: its recording has no right result (docs/torch.md, addbmm-resizes).
Result<void> check_recording(const interop::OpCase& op_case, const spec::OpRow& row) {
  if (!row.effects.is_in_place || row.has_tag("inplace_view")) return {};
  for (const auto& [position, after] : op_case.mutated) {
    const auto* before = std::get_if<spec::HostTensor>(&op_case.inputs[position]);
    if (before != nullptr && before->sizes != after.sizes) {
      return unsupported("the recording is wrong: an op in place resized what it writes");
    }
  }
  return {};
}

Result<CallReport> judge(const interop::OpCase& op_case, const spec::OpRow& row,
                         spec::Executor& executor, spec::Executor& bounds) {
  GRAPHGATE_TRY_VOID(check_recording(op_case, row));
  GRAPHGATE_TRY(const auto actual, run_once(executor, op_case));
  GRAPHGATE_TRY(const auto oracle, run_once(bounds, op_case));
  conformance::JudgeOptions options;
  options.multiple = 1;
  options.lists_changed_inputs = false;  // only those that the schema declares
  return conformance::judge_call(std::string(executor.name()), actual, oracle, expectation(op_case),
                                 options);
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
    if (tally.skipped++ == 0) tally.reason = report.error().message;
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

Result<OpCasesReport> judge_op_cases(const OpCasesRequest& request, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const auto subject, make_subject(request.executor));
  GRAPHGATE_TRY(const auto executor, subject->make({}, ops));
  reference::Options options;
  options.mode = reference::Mode::kWorstCase;
  options.ops = &ops;
  const auto bounds = reference::make_executor(options);
  OpCasesReport report;
  const auto visit = [&](const interop::OpCase& op_case) {
    if (op_case.op.find(request.pattern) == std::string::npos) return true;
    OpTally& tally = report.by_op[op_case.op];
    const spec::OpRow& row = *ops.find(op_case.op);
    tally.family = reference::family_of(row);
    count(op_case, judge(op_case, row, *executor, *bounds), request.failures_kept, tally);
    return true;
  };
  const auto pass_over = [&](const interop::OpCall& call, const Error& reason) {
    if (call.op.find(request.pattern) == std::string::npos) return;
    OpTally& tally = report.by_op[call.op];
    if (tally.skipped++ == 0) tally.reason = reason.message;
  };
  GRAPHGATE_TRY_VOID(interop::read_op_cases(request.file, ops, visit, pass_over));
  return report;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace graphgate::tools
