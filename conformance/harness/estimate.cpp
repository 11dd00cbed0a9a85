#include "conformance/harness/estimate.h"

#include <algorithm>

namespace graphgate::conformance {
namespace {

bool is_among(const Difference& difference, const std::vector<Difference>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Difference& other) {
    return other.subject == difference.subject && other.where == difference.where;
  });
}

// What is wrong with a tensor as a whole is so in any arithmetic.
bool is_of_element(const Difference& difference) {
  return difference.kind == Difference::Kind::kNumber ||
         difference.kind == Difference::Kind::kExact;
}

}  // namespace

Result<EstimatedCall> judge_by_estimate(Runs& runs, const Trace& subject, std::size_t index,
                                        const ExpectedCall& expected, const JudgeOptions& options) {
  const auto judged = [&](const spec::CallResult& oracle, const JudgeOptions& with) {
    return judge_call(subject.executor, subject.calls[index].result, oracle, expected, with);
  };
  EstimatedCall out;
  GRAPHGATE_TRY(const Trace* const oracle, runs.oracle("sampled"));
  out.call = judged(oracle->calls[index].result, options);
  std::vector<Difference>& differences = out.call.differences;
  if (differences.empty()) return out;
  std::vector<Difference> proofs = differences;
  GRAPHGATE_TRY(const Trace* const bounds, runs.oracle("worst-case"));
  if (index < bounds->calls.size()) {
    JudgeOptions by_worst_case = options;
    by_worst_case.multiple = 1;
    proofs = judged(bounds->calls[index].result, by_worst_case).differences;
  }
  const auto is_proved = [&](const Difference& difference) {
    return !is_of_element(difference) || is_among(difference, proofs);
  };
  if (!std::all_of(differences.begin(), differences.end(), is_proved)) {
    GRAPHGATE_TRY(const auto* const widened, runs.widened_oracle());
    const CallReport again = judged(widened->at(index), options);
    out.explained = static_cast<std::int64_t>(std::erase_if(differences, [&](const auto& it) {
      return !is_proved(it) && !is_among(it, again.differences);
    }));
    if (out.explained > 0) {
      out.call.worst_ratio = again.worst_ratio;
      out.call.worst_error = again.worst_error;
      out.call.worst_allowed = again.worst_allowed;
    }
  }
  for (const Difference& difference : differences) {
    out.is_proved.push_back(is_proved(difference));
  }
  return out;
}

}  // namespace graphgate::conformance
